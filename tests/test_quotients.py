"""Quotients are rounded once: alone, in larger programs, in lanes; and their derivatives."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._ops.quotients import quotient


RNG = np.random.default_rng(0)
X, Y, Z = (jnp.asarray(RNG.uniform(0.5, 2, (16, 64)), "float32") for _ in "xyz")
ROW, COLUMN, NUMBER = Y[0], Y[:, :1], Y[0, 0]
FULL = lambda x: jnp.broadcast_to(x, (16, 64))


@pytest.mark.parametrize(
    "program, arrays",
    [
        (lambda x, y: functx.div(x, y), (X, ROW)),
        (lambda x, y: functx.div(x, y), (X, COLUMN)),
        (lambda x, y: functx.div(x, y), (X, NUMBER)),
        (lambda x: functx.div(x, 7.3), (X,)),
        (lambda x, y: functx.div(functx.expand(x, (16, 64)), y), (NUMBER, ROW)),
        (lambda y: functx.div(functx.full((16, 64), 3.3), y), (NUMBER,)),
        (lambda y: functx.div(3.3, functx.expand(y, (16, 64))), (ROW,)),
        (lambda x, y, z: functx.div(functx.div(x, y), z), (X, Y, Z)),
        (lambda x, y, z: functx.div(x / y, z), (X, Y, NUMBER)),
        (lambda x, y, z: functx.div(x, functx.div(y, z)), (X, Y, Z)),
        (lambda x, y: functx.div(x, functx.sqrt(y)), (X, Y)),
        (lambda y: functx.reciprocal(functx.sqrt(y)), (Y,)),
        (lambda x, y: functx.div(x, y, rounding_mode="trunc"), (X * 41, NUMBER)),
        (lambda x: functx.round(x, decimals=1), (X,)),
        (lambda x: functx.mean(x, 0), (X[:7],)),
    ],
)
def test_programs_round_as_eager_calls_do(program, arrays):
    """XLA would multiply by reciprocals, merge divisions, and divide by no square root."""
    got, want = jax.jit(program)(*arrays), program(*arrays)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (1, 1)])
def test_lanes_are_rounded_once(in_dims):
    x, y = (v if dim is not None else v[0] for v, dim in zip((X, Y), in_dims, strict=True))
    got = jax.jit(jax.vmap(functx.div, in_dims, in_dims[0] or in_dims[1] or 0))(x, y)
    np.testing.assert_array_equal(got, np.asarray(x) / np.asarray(y))
    rows = jax.jit(jax.vmap(jax.vmap(quotient, (0, None)), (0, None)))(X, NUMBER)
    np.testing.assert_array_equal(rows, np.asarray(X) / np.asarray(NUMBER))


def test_a_divisor_may_have_a_square_beyond_the_range():
    x, y = jnp.float32(0), jnp.float32(1e-25)
    assert jax.jvp(functx.div, (x, y), (x, jnp.float32(1)))[1] == 0
    assert jax.grad(functx.div, 1)(y, y) == np.float32(-1) / y


def test_a_divisor_of_zero_has_an_infinite_slope_in_the_dividend():
    x, zero, one = jnp.float32(1), jnp.float32(0), jnp.float32(1)
    assert jax.grad(functx.div)(x, zero) == jnp.inf
    assert jax.jvp(lambda x: functx.div(x, zero), (x,), (one,))[1] == jnp.inf
    assert jax.jvp(lambda y: functx.div(x, y), (zero,), (one,))[1] == -jnp.inf


def test_a_mask_times_nan_is_nan_in_larger_programs():
    x = jnp.asarray([jnp.nan, jnp.inf, 2], "float32")
    got = jax.jit(lambda x: functx.mul(x, functx.lt(x, 3)))(x)
    np.testing.assert_array_equal(got, [jnp.nan, jnp.nan, 2])


@pytest.mark.parametrize("nest", list(itertools.product((jax.jacfwd, jax.jacrev), repeat=3)))
def test_third_derivatives_where_a_tangent_is_zero(nest):
    """Of $x^2 / (1 + x) = x^2 - x^3 + \\dots$ and of $x / (1 + x^2) = x - x^3 + \\dots$."""
    for f in (lambda x: functx.div(x * x, 1 + x), lambda x: functx.div(x, 1 + x * x)):
        for outer in nest:
            f = outer(f)
        np.testing.assert_allclose(f(jnp.float64(0)), -6)
