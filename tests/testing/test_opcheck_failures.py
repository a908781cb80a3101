"""`opcheck` finds a fault of each kind, by the line for it, in its smallest case, in words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faults import differs_under_jit, loops_over_lanes
from jax.custom_batching import custom_vmap

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import GradcheckError, opcheck, OpcheckError


X = jnp.asarray([[0.3, -1.7, 2.2], [1.4, 0.6, -0.9]], "float32")


def sine(jvp_factor=1.0, vjp_factor=1.0):
    return derivative_rules(
        jnp.sin,
        jvp=lambda primals, output, tangents: jvp_factor * jnp.cos(primals[0]) * tangents[0],
        vjp=lambda primals, output, cotangent: (vjp_factor * jnp.cos(primals[0]) * cotangent,),
    )


wrong_at_second_order = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: jax.lax.stop_gradient(jnp.cos(primals[0])) * tangents[0],
)
looks_for_zeros = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: jnp.cos(primals[0]) * tangents[0],
    vjp=lambda primals, output, cotangent: (
        jnp.where(cotangent == 0, 0, jnp.cos(primals[0]) * cotangent),
    ),
)


widens = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: jnp.cos(primals[0]) * tangents[0],
    vjp=lambda primals, output, cotangent: (cotangent.astype("float64"),),
)


def differs_where_committed(x):
    return x + 1 if not isinstance(x, jax.core.Tracer) and x.committed else x


class Triples(functx.Function):
    """Its rule for batches computes something else."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, x):
        return x * 3, in_dims[0]


def one_failure(f, *args, check, **options):
    report = opcheck(f, *args, checks=[check], **options)
    [line] = report.lines
    assert line.verdict == "failed" and line.check == check, report
    assert line.said and line.remedy and "Traceback" not in str(report)
    with pytest.raises(OpcheckError, match=check):
        report.raise_if_failed()
    return report, line


@pytest.mark.parametrize(
    "check, wrong, said",
    [
        ("jit", differs_under_jit, "jit(differs_under_jit)"),
        ("layouts", differs_where_committed, "arguments committed"),
        ("vmap", Triples.apply, "vmap(Triples.apply)"),
        ("vmap_rule", loops_over_lanes, "equations for 2 lanes"),
        ("vjp", sine(jvp_factor=2.0), "<J* w, t>"),
        ("grad", sine(vjp_factor=2.0), "<J* w, t>"),
        ("pullback_at_zero", looks_for_zeros, "pullback at zero"),
        ("gradient", sine(2.0, 2.0), "by differences"),
        ("second_gradient", wrong_at_second_order, "by differences"),
        ("gradcheck", sine(2.0, 2.0), "Jacobian mismatch for output 0 with respect to input 0"),
        ("gradgradcheck", wrong_at_second_order, "Jacobian mismatch"),
    ],
)
def test_what_differs_is_found_in_its_smallest_case(check, wrong, said):
    report, line = one_failure(wrong, X, check=check, attempts=6)
    assert said in line.said
    assert report.smallest.check == check
    (least,) = report.smallest.args
    assert least.shape == (1, 1)
    assert float(least[0, 0]) in (0.0, 1.0)
    assert f"args[0]: {'f64' if least.dtype == 'float64' else 'f32'}[1,1] [[" in str(report)


def test_a_smaller_case_has_the_same_fault():
    def wrong_where_large(x):
        return jnp.where(x > 1, sine(2.0, 2.0)(x), jnp.sin(x)) + jnp.abs(x)

    report, _ = one_failure(wrong_where_large, X, check="gradcheck", attempts=12)
    (least,) = report.smallest.args
    assert bool((least > 1).any()) and least.size < X.size
    with pytest.raises(GradcheckError):
        functx.testing.gradcheck(wrong_where_large, report.smallest.args)


def test_dimensions_that_must_agree_stay_equal():
    def product(x, y):
        return sine(vjp_factor=2.0)(x @ y)

    report, _ = one_failure(product, X, X.T, check="grad", attempts=6)
    assert [x.shape for x in report.smallest.args] == [(1, 1), (1, 1)]


@pytest.mark.parametrize(
    "check, f, said, remedy",
    [
        ("call", lambda x: x @ x, "raises TypeError: dot_general", "arguments that it takes"),
        ("call", lambda x: "text", "at least one array of numbers, got 'text'", "a tree of arrays"),
        ("repeat", lambda x: x + functx.rand(3, dtype="float32"), "called again", "`key` argument"),
        ("repeat", lambda x: x * np.random.rand(), "called again", "no globals"),
        ("jit", lambda x: jnp.asarray(np.sin(x)), "as a NumPy array", "in functx or jax.numpy"),
        ("jit", lambda x: x if x[0, 0] > 0 else -x, "whether an array is true", "functx.where"),
        ("vmap", lambda x: in_numpy(x), "raises NotImplementedError: vmap", "`vmap_method` of"),
        ("forward", lambda x: in_numpy(x), "raises ValueError: Pure callbacks", "modes=('reverse'"),
        (
            "reverse",
            lambda x: widens(x),
            "must have the dtype of f32[2,3]",
            "mend its reverse rule",
        ),
        ("reverse", lambda x: in_numpy(x), "raises ValueError: Pure callbacks", "functx.Function"),
    ],
)
def test_what_raises_says_what_happened_and_the_remedy(check, f, said, remedy):
    _, line = one_failure(f, X, check=check, attempts=2)
    assert said in line.said and remedy in line.remedy
    assert "\n" not in line.said


def in_numpy(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_a_fault_is_one_line_and_what_follows_from_it_is_left_out():
    names = ["forward", "reverse", "vmap", "vjp", "vmap_vjp", "gradcheck"]
    report = opcheck(in_numpy, X, checks=names, attempts=0)
    assert [line.check for line in report.failures] == ["forward", "vmap"]
    assert {line.said for line in report.left_out} == {"raises the same: see `forward`"}


def test_random_functions_are_not_checked_further():
    names = ["repeat", "vmap", "vjp", "gradcheck"]
    report = opcheck(lambda x: x * np.random.rand(), X, checks=names, attempts=0)
    assert [line.check for line in report.failures] == ["repeat"]
    assert {line.said for line in report.left_out} == {"see `repeat`"}


def test_a_rule_in_numpy_is_differentiated_eagerly():
    class Wrong(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return jnp.asarray(np.sin(np.asarray(x)))

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return jnp.sin(x) * grad_output

    names = ["jit", "vjp", "gradcheck"]
    report = opcheck(Wrong.apply, X, checks=names, modes=["reverse"], attempts=6)
    assert [line.check for line in report.failures] == ["jit", "gradcheck"]
    assert report.smallest.check == "gradcheck" and report.smallest.args[0].shape == (1, 1)


def test_a_large_mask_among_the_arguments_hides_no_difference():
    softmax = custom_vmap(lambda x, mask: jax.nn.softmax(x + mask, -1))

    @softmax.def_vmap
    def _(size, mapped, x, mask):
        return jax.nn.softmax(x + mask, -1) * 1.01, True

    x, mask = X, jnp.where(jnp.eye(*X.shape) > 0, -1e9, 0).astype(X.dtype)
    report = opcheck(softmax, x, mask, checks=["vmap", "vmap_eager", "jit"])
    assert {line.check for line in report.failures} == {"vmap", "vmap_eager"}, report


def test_sums_that_cancel_may_lose_the_digits_of_their_terms():
    def total(x):
        traced = isinstance(x, jax.core.Tracer)
        return jnp.sum(jax.lax.reduce_precision(x, 8, 19) if traced else x, -1)

    at = jnp.asarray([[10000.123, -10000.0, 0.25]], "float32")
    assert opcheck(total, at, checks=["jit", "vmap"]).passed


def test_functions_of_users_may_lean_on_implicit_promotion():
    mixed = lambda x: x[None] * jnp.arange(3) + jnp.ones((2, 2, 3)) + x
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        assert opcheck(mixed, jnp.ones(3)).passed
