"""`gradgradcheck` finds what is wrong at second order only, in either mode over reverse mode."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_batching import custom_vmap

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import gradcheck, GradcheckError, gradgradcheck


X = np.array([0.7, -0.4, 1.2])
Y = np.array([1.1, 0.6, -0.9])
BOTH = {"check_rev_over_rev": True, "check_fwd_over_rev": True}
both_modes = pytest.mark.parametrize("fast_mode", [False, True])


def sine(slope):
    """`sin`, whose gradient is `slope(x)` times its cotangent."""
    return derivative_rules(jnp.sin, vjp=lambda xs, _, ct: (slope(xs[0]) * ct,))


def cosine(*, forward=1.0, reverse=1.0):
    """`cos`, whose derivatives are off by these factors."""
    down = lambda x: -jnp.sin(x)
    return derivative_rules(
        jnp.cos,
        jvp=lambda xs, _, ts: forward * down(xs[0]) * ts[0],
        vjp=lambda xs, _, ct: (reverse * down(xs[0]) * ct,),
    )


def seen_only_with(option, function, inputs, match, fast_mode=False, **others):
    options = {"fast_mode": fast_mode, **others}
    assert gradgradcheck(function, inputs, **{**options, **dict.fromkeys(option, False)})
    with pytest.raises(GradcheckError, match=match):
        gradgradcheck(function, inputs, **{**options, **option})


@both_modes
@pytest.mark.parametrize(
    "function, inputs",
    [
        (functx.sin, X),
        (jax.jit(lambda t, n: {"p": n * t["a"] * t["b"] ** 2, "i": jnp.argmax(t["a"])}), None),
        (jax.jit(lambda z: (z * z, (z * z.conj()).real)), X + 1j * Y),
        (jax.jit(lambda x: functx.nn.functional.softmax(x, 0)), X),
        (jnp.argmax, X),
        (lambda x: (), X),
    ],
    ids=["array", "trees", "complex", "operator", "integers", "nothing"],
)
def test_what_is_right_passes(function, inputs, fast_mode):
    inputs = ({"a": X, "b": Y}, 3) if inputs is None else inputs
    assert gradgradcheck(function, inputs, fast_mode=fast_mode, check_batched_grad=True, **BOTH)


@both_modes
def test_a_second_derivative_is_seen_by_its_own_mode(fast_mode):
    backward, forward = sine(cosine(reverse=2.0)), sine(cosine(forward=2.0))
    assert gradcheck(backward, X, check_forward_ad=True, fast_mode=fast_mode)
    match = r"gradgradcheck: Jacobian mismatch for output 0 with respect to input 0 \(`inputs\[0\]`"
    options = {"check_undefined_grad": False, "fast_mode": fast_mode}
    assert gradgradcheck(backward, X, check_fwd_over_rev=True, check_rev_over_rev=False, **options)
    with pytest.raises(GradcheckError, match=match):
        gradgradcheck(backward, X, **options)
    match = "gradgradcheck: Jacobian computed with forward mode mismatch for output 0"
    seen_only_with({"check_fwd_over_rev": True}, forward, X, match, fast_mode)


@both_modes
def test_a_second_derivative_wrong_for_one_part_only_is_seen(fast_mode):
    drop = lambda ct: jax.lax.complex(ct.real, 0 * ct.imag)
    slope = derivative_rules(jnp.cos, vjp=lambda zs, _, ct: (-jnp.sin(zs[0]) * drop(ct),))
    with pytest.raises(GradcheckError, match="the imaginary part of complex outputs only"):
        gradgradcheck(sine(slope), X + 1j * Y, fast_mode=fast_mode)


@both_modes
def test_a_derivative_by_the_cotangent_is_checked(fast_mode):
    """The gradient is right as a number; to be differentiated again, its cotangent is cut off."""
    cut = derivative_rules(
        jnp.sin, vjp=lambda xs, _, ct: (jnp.cos(xs[0]) * jax.lax.stop_gradient(ct),)
    )
    assert gradcheck(cut, X, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match=r"with respect to input 1 \(`grad_outputs\[0\]`\)"):
        gradgradcheck(cut, X, fast_mode=fast_mode)


@both_modes
def test_a_gradient_that_is_cut_off_beside_others_is_checked(fast_mode):
    """To `gradcheck` an output like that is meant so; a gradient that ends here is a mistake."""
    cut = derivative_rules(
        jnp.multiply,
        vjp=lambda xs, _, ct: (jax.lax.stop_gradient(xs[1] * ct), xs[0] * ct),
    )
    assert gradcheck(cut, (X, Y), fast_mode=fast_mode)
    match = r"mismatch for output 0 with respect to input 1 \(`inputs\[1\]`\)"
    with pytest.raises(GradcheckError, match=match):
        gradgradcheck(cut, (X, Y), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradgradcheck(lambda y: cut(y, Y), X, fast_mode=fast_mode)


def test_cotangents_may_be_given():
    """Here the second derivative is wrong where the cotangent is negative."""
    down = derivative_rules(
        lambda x, ct: jnp.cos(x),
        vjp=lambda xs, _, ct: (jnp.where(xs[1] < 0, 2.0, -jnp.sin(xs[0])) * ct, None),
    )
    function = derivative_rules(
        lambda x: {"sin": jnp.sin(x), "n": jnp.argmax(x)},
        vjp=lambda xs, _, cts: (down(xs[0], cts["sin"]) * cts["sin"],),
    )
    assert gradgradcheck(function, X, {"sin": np.ones(3), "n": None})
    assert not gradgradcheck(function, X, {"sin": -np.ones(3), "n": None}, raise_exception=False)
    with pytest.raises(ValueError, match=r"gradgradcheck: `grad_outputs\['sin'\]` must be like"):
        gradgradcheck(function, X, {"sin": np.ones(2), "n": None})
    with pytest.raises(ValueError, match="`grad_outputs` must have the structure of the output"):
        gradgradcheck(function, X, [np.ones(3)])


@both_modes
def test_a_second_pullback_that_is_not_deterministic_is_seen(fast_mode):
    random = np.random.default_rng(0)

    def identity(x, by):
        function = jax.custom_vjp(lambda x: x)
        jitter = lambda ct: 1 + by * random.random(ct.shape)
        function.defvjp(lambda x: (x, None), lambda _, ct: (identity(ct, by) * jitter(ct),))
        return function(x)

    options = {"fast_mode": fast_mode}
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        gradgradcheck(lambda x: identity(x, 1e-12), X, **options)
    assert gradgradcheck(lambda x: identity(x, 0.0), X, **options)
    assert gradgradcheck(lambda x: identity(x, 1e-12), X, nondet_tol=1e-5, **options)


def doubling(backward, **options):
    """Twice its argument, with this rule."""
    function = jax.custom_vjp(lambda *xs: tuple(2 * x for x in xs))
    value = (lambda x: x.value) if options else (lambda x: x)
    run = lambda *xs: (tuple(2 * value(x) for x in xs), None)
    function.defvjp(run, lambda _, cts: backward(cts), **options)
    return function


def through(inner):
    """The sum of two arrays; `inner` gives their gradients, each twice the cotangent."""
    function = jax.custom_vjp(jnp.add)
    function.defvjp(lambda x, y: (x + y, None), lambda _, ct: inner(ct / 2, ct / 2))
    return function


@both_modes
def test_undefined_cotangents_at_second_order_are_seen(fast_mode):
    raising = doubling(lambda cts: (2 * cts[0], 2 * cts[1]), symbolic_zeros=True)
    match = "gradgradcheck: Expected backward function to handle undefined output grads"
    option = {"check_undefined_grad": True}
    seen_only_with(option, through(raising), (X, Y), match, fast_mode)


@both_modes
def test_a_wrong_batching_rule_at_second_order_is_seen(fast_mode):
    double = custom_vmap(lambda x: 2 * x)
    double.def_vmap(lambda size, batched, x: (3 * x, True))
    wrong = doubling(lambda cts: (double(cts[0]), 2 * cts[1]))
    match = "(?s)failed while testing batched gradient computation"
    seen_only_with({"check_batched_grad": True}, through(wrong), (X, Y), match, fast_mode)


@both_modes
def test_a_wrong_dtype_at_second_order_is_seen(fast_mode):
    wrong = doubling(lambda cts: ((2 * cts[0]).astype("complex128"),))
    function = jax.custom_vjp(lambda x: 2 * x)
    function.defvjp(lambda x: (2 * x, None), lambda _, ct: wrong(ct))
    match = r"gradgradcheck: Gradient has dtype mismatch: of input 1 \(`grad_outputs\[0\]`\)"
    seen_only_with({"check_grad_dtypes": True}, function, X, match, fast_mode)


def test_argnums_leave_inputs_out():
    wrong = sine(cosine(reverse=2.0))
    function = jax.jit(lambda x, y: jnp.sin(x) * wrong(y))
    assert gradgradcheck(function, (X, Y), argnums=0)
    assert not gradgradcheck(function, (X, Y), argnums=1, raise_exception=False)
    assert not gradgradcheck(function, (X, Y), raise_exception=False)


@pytest.mark.parametrize(
    "options, match",
    [
        ({"check_rev_over_rev": False}, "Expected at least one of check_fwd_over_rev or"),
        (
            {"check_rev_over_rev": False, "check_fwd_over_rev": True},
            "check_undefined_grad=True requires check_rev_over_rev=True",
        ),
        (
            {
                "check_rev_over_rev": False,
                "check_fwd_over_rev": True,
                "check_undefined_grad": False,
                "check_batched_grad": True,
            },
            "check_batched_grad=True requires check_rev_over_rev=True",
        ),
    ],
)
def test_options_that_would_check_nothing_are_refused(options, match):
    with pytest.raises(AssertionError, match=match):
        gradgradcheck(jnp.sin, X, raise_exception=False, **options)


def test_low_precision_is_warned_of_once_for_each_input():
    with pytest.warns(UserWarning, match="is not a double precision") as caught:
        assert gradgradcheck(lambda x: 2 * x, X.astype("float32"), atol=0.5)
    assert [warning.filename for warning in caught] == [__file__] * 2
    assert "Input #1" in str(caught[1].message) and "grad_outputs[0]" in str(caught[1].message)


def test_options_without_meaning_are_taken():
    assert gradgradcheck(jnp.sin, X, gen_non_contig_grad_outputs=True, masked=True)
