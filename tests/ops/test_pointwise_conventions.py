"""Pointwise operators where PyTorch has a convention: gradients at ties, kinks, zeros and NaN."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import functx


inf, nan = np.inf, np.nan
TINY, HUGE = 1e-200, 1e200

# (a function, its arguments, the gradient of each)
GRADIENTS = {
    "abs at 0 and NaN": (functx.abs, [[0.0, -1.0, nan]], [[0, -1, 0]]),
    "sign": (functx.sign, [[0.0, 2.0]], [[0, 0]]),
    "sqrt at 0": (functx.sqrt, [[0.0, 4.0]], [[inf, 0.25]]),
    "rsqrt at 0": (functx.rsqrt, [[0.0, 1.0]], [[-inf, -0.5]]),
    "log at 0": (functx.log, [[0.0, 2.0]], [[inf, 0.5]]),
    "reciprocal at 0": (functx.reciprocal, [[0.0, 2.0]], [[-inf, -0.25]]),
    "erf far out": (functx.erf, [[1e3, inf]], [[0, 0]]),
    "sigmoid far out": (functx.sigmoid, [[1e3, -1e3, inf, -inf]], [[0, 0, 0, 0]]),
    "tanh far out": (functx.tanh, [[1e3, -inf]], [[0, 0]]),
    "lgamma at 0 and inf": (functx.lgamma, [[0.0, inf]], [[-inf, inf]]),
    "angle of reals": (functx.angle, [[0.0, -1.0, 1.0]], [[0, 0, 0]]),
    "rounding": (functx.round, [[0.5, 1.2]], [[0, 0]]),
    "nan_to_num": (functx.nan_to_num, [[nan, inf, -inf, 1.0]], [[0, 0, 0, 1]]),
    "pow in its base": (
        lambda x: functx.pow(x, jnp.asarray([0.0, 1, 2, 0.5, 3, -1, 0, 0, 0])),
        [[0.0, 0, 0, 0, -2, 0, nan, inf, -1]],
        [[0, 1, 0, inf, 12, -inf, 0, 0, 0]],
    ),
    "pow in its exponent": (
        lambda y: functx.pow(jnp.asarray([0.0, 0, 0, 0, 1, inf]), y),
        [[0.0, 1, 0.5, -1, 0, 0]],
        [[0, 0, 0, -inf, 0, inf]],
    ),
    "pow, negative base": (lambda x: functx.pow(x, 2), [[-3.0]], [[-6]]),
    "remainder": (
        functx.remainder,
        [[7.0, -7, 5.5, 6], [2.0, 2, -3, 3]],
        [[1] * 4, [-3, 4, 2, -2]],
    ),
    "rounded division": (
        lambda x, y: functx.div(x, y, rounding_mode="floor"),
        [[7.0, -7], [2.0, 0]],
        [[0, 0], [0, 0]],
    ),
    "maximum": (
        functx.maximum,
        [[1.0, 1, 2, nan, 1], [1.0, 2, 1, 1, nan]],
        [[0.5, 0, 1, 1, 1], [0.5, 1, 0, 1, 1]],
    ),
    "minimum": (
        functx.minimum,
        [[1.0, 1, 2, nan, 1], [1.0, 2, 1, 1, nan]],
        [[0.5, 1, 0, 1, 1], [0.5, 0, 1, 1, 1]],
    ),
    "clamp at its bounds": (
        functx.clamp,
        [[0.0, 1, -1, 2, 0.5, 0.5], [0.0, 0, 0, 0, 0, 2], [1.0, 1, 1, 1, 1, 1]],
        [[1, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 1]],
    ),
    "clamp, NaN": (functx.clamp, [[1.0, nan], [nan, 0.0], [2.0, 1.0]], [[0, 0], [0, 0], [0, 0]]),
    "clamp from below": (functx.clamp, [[0.0, 1], [0.0, 2]], [[1, 0], [0, 1]]),
    "atan2 at the origin": (
        functx.atan2,
        [[0.0, 0, 0, 1], [0.0, -1, 1, 0]],
        [[0, -1, 1, 0], [0, 0, 0, -1]],
    ),
    "atan2 without under- and overflow": (
        functx.atan2,
        [[TINY, HUGE], [TINY, HUGE]],
        [[0.5 / TINY, 0.5 / HUGE], [-0.5 / TINY, -0.5 / HUGE]],
    ),
    "xlogy": (
        functx.xlogy,
        [[0.0, 0, 2, 2, 0], [0.0, 3, 3, 0, -1]],
        [[0, np.log(3), np.log(3), -inf, 0], [0, 0, 2 / 3, inf, 0]],
    ),
    "logaddexp": (
        functx.logaddexp,
        [[1e3, -inf, inf, 1], [1e3, 1, -inf, 2]],
        [[0.5, 0, 1, 1 / (1 + np.e)], [0.5, 1, 0, np.e / (1 + np.e)]],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name):
    f, args, want = GRADIENTS[name]
    args = [jnp.asarray(x, "float64") for x in args]
    out, pull = jax.jit(lambda *xs: functx.vjp(f, *xs)[0])(*args), functx.vjp(f, *args)[1]
    for got, expected in zip(pull(jnp.ones_like(out)), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


# (a function of scalars, where, its second derivatives: row by row)
SECOND = {
    "pow(x, 2) at 0": (lambda x: functx.pow(x, 2), [0.0], [2]),
    "pow(x, 3) below 0": (lambda x: functx.pow(x, 3), [-2.0], [-12]),
    "pow at exponent 0": (functx.pow, [2.0, 0.0], [0, 0.5, 0.5, np.log(2) ** 2]),
    "xlogy at 0": (functx.xlogy, [0.0, 2.0], [0, 0.5, 0.5, 0]),
    "logaddexp at a tie": (functx.logaddexp, [1.0, 1.0], [0.25, -0.25, -0.25, 0.25]),
    "remainder": (functx.remainder, [7.0, 2.0], [0, 0, 0, 0]),
    "clamp at a bound": (lambda x: functx.clamp(x * x, 0, 1), [1.0], [2]),
    "abs at 0": (lambda x: functx.abs(x) * x, [0.0], [0]),
    "digamma below 0": (functx.digamma, [-1.5], [-0.236204051641727]),
    "lgamma below 0": (functx.lgamma, [-9.25], [19.636734280660725]),
    "atan2": (functx.atan2, [1.0, 1.0], [-0.5, 0, 0, 0.5]),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivative(name):
    f, at, want = SECOND[name]
    args = [jnp.asarray(x, "float64") for x in at]
    numbers = tuple(range(len(args)))
    for outer, inner in itertools.product((jax.jacfwd, jax.jacrev), repeat=2):
        got = jax.tree.leaves(jax.jit(outer(inner(f, numbers), numbers))(*args))
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("x", [-20.5, -9.3, -0.3, 0.3, 0.7, 4.0])
def test_gamma_derivatives_of_higher_order(x):
    """By reflection: scipy's polygamma is that of positive arguments."""
    third = functx.grad(functx.grad(functx.grad(functx.lgamma)))
    s, c = np.sin(np.pi * x), np.cos(np.pi * x)
    mirrored = scipy.special.polygamma(2, 1 - x) - 2 * np.pi**3 * c / s**3
    want = mirrored if x < 0.5 else scipy.special.polygamma(2, x)
    np.testing.assert_allclose(third(jnp.float64(x)), want, rtol=1e-9)


def test_complex_gradients_at_zero():
    zero = jnp.zeros((), "complex128")
    assert functx.grad(functx.abs)(zero) == 0
    assert functx.grad(functx.angle)(zero) == 0
    assert functx.grad(lambda z: functx.real(functx.pow(z, 2)))(zero) == 0


VALUES = {
    "sign of NaN": (functx.sign, ([nan, -0.0],), [0, 0]),
    "floor_divide": (
        functx.floor_divide,
        ([7.0, -7, 1, 0, 5, -5, 0.6], [2.0, 2, 0, 0, -inf, inf, 0.2]),
        [3, -4, inf, nan, -1, -1, 2],
    ),
    "remainder": (functx.remainder, ([7.0, 1, inf, 5], [-2.0, 0, 2, inf]), [-1, nan, nan, 5]),
    "pow": (functx.pow, ([0.0, nan, 1, -8], [0.0, 0, nan, 3]), [1, 1, 1, -512]),
    "digamma": (functx.digamma, ([0.0, -0.0, -1],), [-inf, inf, nan]),
    "xlogy": (functx.xlogy, ([0.0, 0, nan, 0], [0.0, nan, 0, inf]), [0, nan, nan, 0]),
    "clamp": (functx.clamp, ([nan, 1, 3], [0.0, nan, 2], [1.0, 2, 1]), [nan, nan, 1]),
    "angle": (functx.angle, ([nan, -0.0, -inf],), [nan, 0, np.pi]),
    "nan_to_num": (
        functx.nan_to_num,
        ([nan, inf, -inf],),
        [0, np.finfo("float64").max, np.finfo("float64").min],
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_value(name):
    f, args, want = VALUES[name]
    np.testing.assert_array_equal(f(*(jnp.asarray(x, "float64") for x in args)), want)


def test_halves_meet_python_numbers_rounded():
    x = jnp.asarray([0.1], "float16")
    assert functx.eq(x, 0.1)[0] and not functx.lt(x, 0.1)[0]
    assert functx.nan_to_num(jnp.asarray([inf], "float16"))[0] == 65504


def test_where_knows_pytorchs_method_order_and_finds_positions():
    x, mask = jnp.asarray([1.0, 2.0]), jnp.asarray([True, False])
    want = functx.where(mask, x, 0.0)
    np.testing.assert_array_equal(functx.where(x, mask, 0.0), want)
    np.testing.assert_array_equal(jax.jit(lambda x: functx.where(mask, x, 0.0))(x), want)
    assert [p.tolist() for p in functx.where(jnp.asarray(1))] == [[0]]
    found = jax.jit(lambda m: functx.where(m, size=3))(mask)
    np.testing.assert_array_equal(found[0], [0, -1, -1])


def test_division_by_an_integer_zero_is_refused_under_transforms_too():
    x, zeros = jnp.arange(3), jnp.asarray([1, 0, 1])
    with pytest.raises(RuntimeError, match="remainder: `other` must not hold zeros"):
        functx.vmap(functx.remainder)(x, zeros)
    with pytest.raises(RuntimeError, match="floor_divide: "):
        functx.floor_divide(x, 0)
    assert jax.jit(functx.remainder)(x, zeros).shape == (3,)
