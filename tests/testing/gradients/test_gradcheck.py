"""`gradcheck` passes what is right, refuses what is wrong, and says where and by how much."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import gradcheck, GradcheckError


X = np.array([0.7, -0.4, 1.2])
Y = np.array([1.1, 0.6, -0.9])
Z = X + 1j * Y
EVERYTHING = {
    "check_forward_ad": True,
    "check_grad_dtypes": True,
    "check_batched_grad": True,
    "check_batched_forward_grad": True,
}
both_modes = pytest.mark.parametrize("fast_mode", [False, True])


def off(function, *, by=1e-2):
    """`function`, with a pullback that adds `by` to each gradient."""
    forward = lambda *xs: jax.vjp(function, *xs)
    backward = lambda pull, ct: jax.tree.map(lambda g: g + jnp.asarray(by, g.dtype), pull(ct))
    wrong = jax.custom_vjp(lambda *xs: function(*xs))
    wrong.defvjp(forward, backward)
    return wrong


def half_tangent(function):
    """`function`, right in reverse mode, whose tangents are half as long as they should be."""
    return derivative_rules(
        function,
        jvp=lambda xs, _, ts: jax.tree.map(lambda t: t / 2, jax.jvp(function, xs, ts)[1]),
        vjp=lambda xs, _, ct: jax.vjp(function, *xs)[1](ct),
    )


def wave(tree, scale):
    return {"sin": scale * jnp.sin(tree["a"]) * tree["b"][0], "sum": jnp.dot(tree["a"], tree["a"])}


@both_modes
@pytest.mark.parametrize(
    "function, inputs",
    [
        (functx.sin, X),
        (jax.jit(wave), ({"a": X, "b": [Y]}, 3.0)),
        (jax.jit(lambda x, z: (z * z, (z * z.conj()).real * x, x.sum())), (X, Z)),
        (jax.jit(functx.linalg.det), (np.outer(X, Y) + np.eye(3),)),
        (jnp.sin, X[:0]),
    ],
    ids=["array", "trees", "complex", "matrix", "nothing"],
)
def test_what_is_right_passes_every_check(function, inputs, fast_mode):
    assert gradcheck(function, inputs, fast_mode=fast_mode, **EVERYTHING) is True


@both_modes
def test_a_wrong_gradient_is_reported_with_both_jacobians(fast_mode):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(off(lambda x, t: t["u"] * 2), (X, {"u": Y}), argnums=1, fast_mode=fast_mode)
    message = str(caught.value)
    where = "gradcheck: Jacobian mismatch for output 0 with respect to input 0 (`inputs[1]['u']`)\n"
    assert message.startswith(where + "numerical:\n[[")
    assert "[0.01 2.01 0.01]" in message and "columns of the input" in message
    assert ("in fast mode, as projections" in message) is fast_mode
    assert ("max per-element difference (slow mode) is: 0.01" in message) is fast_mode


def test_fast_mode_tells_when_slow_mode_would_pass():
    """Each element is within `rtol`; the projection, in which large ones cancel, is not."""
    u = np.random.default_rng(0).random(2)
    row = 1e3 * np.array([u[1], -u[0]])
    wrong = derivative_rules(
        lambda x: row @ x, vjp=lambda xs, _, ct: (ct * row * np.array([1 + 5e-4, 1 - 5e-4]),)
    )
    assert gradcheck(wrong, X[:2])
    hint = "Fast gradcheck failed but element-wise differences are small"
    with pytest.raises(GradcheckError, match=hint):
        gradcheck(wrong, X[:2], fast_mode=True)


@both_modes
def test_complex_outputs_are_checked_part_by_part(fast_mode):
    imaginary = "While considering the imaginary part of complex outputs only, Jacobian mismatch"
    for function, at in ((lambda z: 2 * z, Z), (lambda x: jax.lax.complex(x, x), X)):
        with pytest.raises(GradcheckError, match=imaginary):
            gradcheck(off(function), at, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match=r"gradcheck: Jacobian mismatch for output 0 with"):
        gradcheck(off(jnp.real), Z, fast_mode=fast_mode)


@both_modes
def test_a_gradient_wrong_for_one_part_only_is_found(fast_mode):
    real_only = derivative_rules(
        lambda z: 2 * z, vjp=lambda zs, _, ct: (2 * jax.lax.complex(ct.real, 0 * X),)
    )
    assert gradcheck(lambda z: real_only(z).real, Z, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="imaginary part of complex outputs only"):
        gradcheck(real_only, Z, fast_mode=fast_mode)
    imaginary_only = derivative_rules(
        lambda z: 2 * z, vjp=lambda zs, _, ct: (2 * jax.lax.complex(0 * X, ct.imag),)
    )
    with pytest.raises(GradcheckError, match="the real part of complex outputs only"):
        gradcheck(imaginary_only, Z, fast_mode=fast_mode)


@both_modes
def test_gradients_of_complex_functions_follow_pytorch(fast_mode):
    """The same rule with the conjugates of PyTorch's cotangents, JAX's, is right; theirs is not."""
    right = derivative_rules(lambda z: 1j * z, vjp=lambda zs, _, ct: (1j * ct,))
    wrong = derivative_rules(lambda z: 1j * z, vjp=lambda zs, _, ct: (-1j * ct,))
    assert gradcheck(right, Z, fast_mode=fast_mode)
    assert not gradcheck(wrong, Z, fast_mode=fast_mode, raise_exception=False)


@both_modes
@pytest.mark.parametrize("x, y", [(X, Y), (Z, Y), (X, Z)], ids=["real", "mixed", "complex"])
def test_a_wrong_tangent_is_named_by_output_and_input(x, y, fast_mode):
    halved = half_tangent(lambda y: y)
    message = "computed with forward mode mismatch for output 0 with respect to input 1"
    only = {"check_forward_ad": True, "check_backward_ad": False}
    assert gradcheck(lambda x, y: (functx.add(x, y), y), (x, y), fast_mode=fast_mode, **only)
    with pytest.raises(GradcheckError, match=message) as caught:
        gradcheck(lambda x, y: (functx.add(x, halved(y)), y), (x, y), fast_mode=fast_mode, **only)
    imaginary = "the imaginary part of complex inputs only" in str(caught.value)
    assert imaginary is np.iscomplexobj(y)


@both_modes
def test_without_derivatives_differences_must_be_zero(fast_mode):
    options = {"fast_mode": fast_mode}
    for end in (jax.lax.stop_gradient, lambda x: (1e7 * x).astype("int64")):
        with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be"):
            gradcheck(end, X, **options)
        with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be"):
            gradcheck(end, X, check_forward_ad=True, check_backward_ad=False, **options)
    assert gradcheck(jnp.argmax, X, **options)
    assert gradcheck(lambda x: jax.random.key(3), X, **options)
    assert gradcheck(lambda x: (), X, **options)


def test_outputs_without_derivative_beside_others_are_left_out():
    def function(x):
        key = jax.random.key(1)
        rounded = (1e7 * x).astype(int).astype(float)
        return jnp.sin(x), jax.lax.stop_gradient(x), rounded, jnp.argsort(x), key, 2.0, None

    for whole in (function, jax.jit(function)):
        assert gradcheck(whole, X, **EVERYTHING)
        assert gradcheck(whole, X, check_forward_ad=True, check_backward_ad=False)
    with pytest.raises(GradcheckError, match="for output 0"):
        gradcheck(lambda x: (x * jax.lax.stop_gradient(x), jnp.argsort(x)), X)


@both_modes
@pytest.mark.parametrize("forgotten", [0, 1])
def test_an_output_that_a_rule_forgets_is_not_left_out(forgotten, fast_mode):
    """Its derivative is known to be zero, by a rule that is wrong."""
    known = 1 - forgotten

    def jvp(xs, output, tangents):
        return tuple((k + 1) * tangents[0] if k == known else 0 * X for k in range(2))

    double = derivative_rules(
        lambda x: (x, 2 * x), jvp=jvp, vjp=lambda xs, _, cts: ((known + 1) * cts[known],)
    )
    inlined = jax.custom_jvp(lambda x: (x, 2 * x))
    inlined.defjvp(lambda xs, ts: ((xs[0], 2 * xs[0]), jvp(xs, None, ts)))
    forward_only = {"check_forward_ad": True, "check_backward_ad": False}
    for function, options in ((double, {}), (double, forward_only), (inlined, forward_only)):
        with pytest.raises(GradcheckError, match=f"for output {forgotten} with respect to input 0"):
            gradcheck(function, X, fast_mode=fast_mode, **options)


@both_modes
def test_fast_mode_tolerates_of_each_element_what_slow_mode_does(fast_mode):
    for by, verdict in ((0.9e-5, True), (1.1e-5, False)):
        pull = lambda xs, _, ct, by=by: (jnp.full(3, by, ct.dtype) * ct.sum(),)
        nearly = derivative_rules(lambda x: 0 * x, vjp=pull)
        assert gradcheck(nearly, X, fast_mode=fast_mode, raise_exception=False) is verdict
        assert gradcheck(nearly, Z, fast_mode=fast_mode, raise_exception=False) is verdict


@both_modes
@pytest.mark.parametrize(
    "what, other",
    [
        ("shape", lambda x: jnp.concatenate([x, x])),
        ("dtype", lambda x: x.astype("float32")),
        ("structure", lambda x: [x]),
    ],
)
def test_outputs_must_stay_alike_when_inputs_move(what, other, fast_mode):
    function = lambda x: other(x) if x[0] >= 1 else x
    message = f"return outputs with the same {what} when inputs are perturbed"
    with pytest.raises(AssertionError, match=message):
        gradcheck(function, np.ones(1), fast_mode=fast_mode, raise_exception=False)


@both_modes
def test_something_must_be_differentiated(fast_mode):
    message = "at least one input tensor to require gradient"
    for inputs in ((), 2.0, (np.arange(3), 1.5, "name")):
        with pytest.raises(ValueError, match=message):
            gradcheck(lambda *xs: X, inputs, fast_mode=fast_mode, raise_exception=False)


def test_a_forgotten_return_is_no_function_to_check():
    for check in (gradcheck, functx.testing.gradgradcheck):
        with pytest.raises(TypeError, match="`func` must return arrays, got None"):
            check(lambda x: None, X)


@both_modes
def test_low_precision_is_warned_of(fast_mode):
    message = r"Input #0 requires gradient and is not a double precision.* `inputs\[0\]` is f32"
    with pytest.warns(UserWarning, match=message) as caught:
        assert gradcheck(lambda x, y: x, (X.astype("float32"), Y), atol=0.5, fast_mode=fast_mode)
    assert [warning.filename for warning in caught] == [__file__]


@both_modes
@pytest.mark.filterwarnings("ignore:Input #0 requires gradient")
def test_an_error_in_low_precision_says_that_it_may_be_rounding(fast_mode):
    x = X.astype("float32")
    with pytest.raises(GradcheckError, match=r"hint: `inputs\[0\]` is f32.* rounding errors: give"):
        gradcheck(jnp.sin, x, fast_mode=fast_mode)
    assert gradcheck(jnp.sin, x, fast_mode=fast_mode, eps=1e-2, atol=1e-2, rtol=2e-2)
    narrow = lambda x: jnp.sin(x).astype("float32")
    with pytest.raises(GradcheckError, match="hint: output 0 is f32.* rounding errors: give"):
        gradcheck(narrow, X, fast_mode=fast_mode)
    with pytest.raises(GradcheckError) as error:
        gradcheck(off(jnp.sin), X, fast_mode=fast_mode)
    assert "rounding" not in str(error.value)


def test_argnums_choose_what_is_differentiated():
    wrong_second = lambda x, y: x + off(lambda y: y)(y)
    assert gradcheck(wrong_second, (X, Y), argnums=0)
    assert gradcheck(wrong_second, [X, Y], argnums=(-2,))
    with pytest.raises(GradcheckError, match=r"input 1 \(`inputs\[1\]`\)"):
        gradcheck(wrong_second, (X, Y))
    with pytest.raises(GradcheckError, match=r"input 0 \(`inputs\[1\]`\)"):
        gradcheck(wrong_second, (X, Y), argnums=1)


@pytest.mark.parametrize(
    "argnums, error, match",
    [
        (2, IndexError, "`argnums` 2 is out of range for 2 inputs"),
        ("x", TypeError, "`argnums` must be an int or a tuple of ints, got 'x'"),
        (1, TypeError, r"`inputs\[1\]`, which `argnums` names, must hold a floating"),
    ],
)
def test_argnums_are_validated(argnums, error, match):
    with pytest.raises(error, match=match):
        gradcheck(lambda x, n: x, (X, 3), argnums=argnums)


@both_modes
def test_only_failures_of_the_check_are_gradcheck_errors(fast_mode):
    assert issubclass(GradcheckError, RuntimeError)
    assert gradcheck(off(jnp.sin), X, raise_exception=False, fast_mode=fast_mode) is False

    def raising(x):
        raise RuntimeError("not of the check")

    broken = derivative_rules(jnp.sin, vjp=lambda *_: raising(X))
    for function in (raising, broken):
        with pytest.raises(RuntimeError, match="not of the check") as caught:
            gradcheck(function, X, raise_exception=False, fast_mode=fast_mode)
        assert type(caught.value) is RuntimeError


@pytest.mark.parametrize(
    "options, match",
    [
        ({"check_backward_ad": False}, "Expected at least one of check_forward_ad or"),
        (
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            "check_batched_grad=True requires check_backward_ad=True",
        ),
        (
            {"check_batched_forward_grad": True},
            "check_batched_forward_grad=True requires check_forward_ad=True",
        ),
    ],
)
def test_options_that_would_check_nothing_are_refused(options, match):
    with pytest.raises(AssertionError, match=match):
        gradcheck(jnp.sin, X, raise_exception=False, **options)


@both_modes
def test_functions_of_numpy_with_rules_are_checked(fast_mode):
    """Neither the function nor its rule can be recorded: both look at values."""

    def forward(x):
        return jnp.asarray(np.sin(np.asarray(x))), x

    sine = jax.custom_vjp(lambda x: forward(x)[0])
    sine.defvjp(forward, lambda x, ct: (jnp.asarray(np.cos(np.asarray(x)) * np.asarray(ct)),))
    assert gradcheck(sine, X, fast_mode=fast_mode)
    called = derivative_rules(
        lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x),
        jvp=lambda xs, _, ts: jnp.cos(xs[0]) * ts[0],
    )
    assert gradcheck(called, X, fast_mode=fast_mode, check_forward_ad=True)
    branching = lambda x: jnp.sin(x) if x[0] > 0 else off(jnp.cos)(x)
    assert gradcheck(branching, X, fast_mode=fast_mode)
    assert not gradcheck(branching, -X, fast_mode=fast_mode, raise_exception=False)


def test_tolerances_and_steps_are_as_given():
    longer = derivative_rules(jnp.negative, vjp=lambda xs, _, ct: (-1.01 * ct,))
    assert not gradcheck(longer, X, raise_exception=False)
    assert gradcheck(longer, X, rtol=0.02)
    assert gradcheck(longer, X, atol=0.02, rtol=0)
    assert gradcheck(jnp.abs, np.full(3, 1e-3))
    assert not gradcheck(jnp.abs, np.full(3, 1e-3), eps=1e-2, raise_exception=False)


def test_a_check_in_a_region_without_gradients_is_the_same():
    with functx.no_grad():
        assert gradcheck(functx.sin, X, check_forward_ad=True)
        assert not gradcheck(off(jnp.sin), X, raise_exception=False)


def test_inputs_and_outputs_may_lie_on_different_devices():
    program = """
import jax, jax.numpy as jnp
from functx.testing import gradcheck, gradgradcheck
jax.config.update("jax_enable_x64", True)
one, two = jax.devices()
def function(x, y):
    return jnp.sin(jax.device_put(x, two)) * y
inputs = jax.device_put(jnp.ones(2), one), jax.device_put(jnp.ones(2), two)
options = {"check_batched_grad": True}
assert gradcheck(function, inputs, check_forward_ad=True, **options)
with jax.default_device(two):
    assert gradgradcheck(function, inputs, **options)
    assert gradcheck(function, inputs, fast_mode=True)
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
