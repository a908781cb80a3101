"""Sums into places of a flattened array are those along a dimension: values, derivatives, lanes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from functx._ops.indexing.addressing import sum_into
from functx._ops.indexing.flattened_sums import sum_into_flattened


RNG = np.random.default_rng(0)
SHAPES = [
    ((4, 5), (3, 4), 1),
    ((4, 5), (9, 5), 0),
    ((2, 3, 4), (1, 7, 2), 1),
    ((6,), (8,), 0),
]


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64"])
@pytest.mark.parametrize("into, of, dim", SHAPES)
def test_values_are_those_along_a_dimension(into, of, dim, dtype):
    x, updates = (jnp.asarray(RNG.integers(-9, 9, s)).astype(dtype) for s in (into, of))
    index = jnp.asarray(RNG.integers(-1, into[dim] + 1, of))  # what lies outside is dropped
    ways = (sum_into_flattened, sum_into)
    got, expected = jax.jit(lambda *xs: [f(*xs, dim) for f in ways])(x, index, updates)
    np.testing.assert_array_equal(got, expected)
    lanes = jnp.stack([index, index[::-1]])
    over = [jax.vmap(lambda i, f=f: f(x, i, updates, dim))(lanes) for f in ways]
    np.testing.assert_array_equal(*over)


@pytest.mark.parametrize("into, of, dim", SHAPES)
def test_derivatives_are_those_along_a_dimension(into, of, dim):
    x, updates, t, u = (jnp.asarray(RNG.normal(size=s)) for s in (into, of, into, of))
    index = jnp.asarray(RNG.integers(-1, into[dim] + 1, of))

    def all_of(f):
        value = lambda x, updates: f(x, index, updates, dim)
        slope = jax.grad(lambda *xs: jnp.sum(jnp.sin(value(*xs))), (0, 1))
        return (
            slope(x, updates),
            jax.jvp(value, (x, updates), (t, u))[1],
            jax.jvp(slope, (x, updates), (t, u))[1],
            jax.grad(lambda *xs: jnp.sum(slope(*xs)[1] * u), (0, 1))(x, updates),
        )

    got, expected = jax.jit(lambda: [all_of(f) for f in (sum_into_flattened, sum_into)])()
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), got, expected
    )
