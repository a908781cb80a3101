"""Common divisors by floating division are those by integers, at the ends of dtypes too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._ops.pointwise import divisors


RNG = np.random.default_rng(0)
DTYPES = [f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)]


def integers(dtype):
    """Of every size, with multiples and the numbers beside them, and the ends of the dtype."""
    ends = np.iinfo(dtype)
    sizes = 2.0 ** RNG.uniform(0, np.log2(ends.max), 4000)
    x = sizes.astype("uint64").astype(dtype)
    if ends.min:
        x = np.where(RNG.integers(0, 2, x.shape) > 0, x, -x)
    edges = [ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1, 2, 3]
    edges += [n for k in (49, 50, 51, 53) for n in (2**k - 1, 2**k, 2**k + 1) if n < ends.max]
    return np.concatenate([np.asarray(edges, dtype), x])


@pytest.mark.parametrize("dtype", DTYPES)
def test_divisors_are_those_of_integers(dtype):
    x = integers(dtype)
    with np.errstate(over="ignore"):
        near = [RNG.permutation(x), x[::-1], x // 3 * 3 + 1, (x // 7) * 6]
    for y in near:
        y = y.astype(dtype)
        got = np.asarray(jax.jit(functx.gcd)(x, y))
        np.testing.assert_array_equal(got, np.asarray(jax.jit(divisors._by_integers)(x, y)))
        np.testing.assert_array_equal(got, np.gcd(x, y))
    edges = jnp.asarray(x[:20])
    pairs = functx.gcd(edges[:, None], edges[None, :])
    np.testing.assert_array_equal(pairs, np.gcd(x[:20, None], x[None, :20]))
    lanes = jax.vmap(functx.gcd, (0, None))(edges, edges)
    np.testing.assert_array_equal(lanes, pairs)
