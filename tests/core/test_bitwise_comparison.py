"""Comparisons by bits are NumPy's, of subnormal numbers too: compiled, batched, with constants."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from functx._core.numbers import bitwise_comparison as bitwise


DTYPES = ["float16", "bfloat16", "float32", "float64"]
COMPARED = {
    bitwise.equal: np.equal,
    bitwise.less: np.less,
    bitwise.at_most: np.less_equal,
    bitwise.same: lambda x, y: (x == y) | ((x != x) & (y != y)),
    bitwise.larger: np.maximum,
    bitwise.smaller: np.minimum,
}


def values(dtype):
    limits = jnp.finfo(dtype)
    tiny, least = float(limits.tiny), float(limits.smallest_subnormal)
    sizes = np.array([0, least, tiny / 2, tiny, 1, float(limits.max), np.inf, np.nan])
    return np.concatenate([sizes, -sizes]).astype(dtype)


def is_same(got, want):
    return np.array_equal(np.float64(got), np.float64(want), equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("compare", COMPARED, ids=lambda f: f.__name__)
def test_each_value_beside_each(compare, dtype):
    x, y = map(np.array, zip(*itertools.product(values(dtype), repeat=2), strict=True))
    want = COMPARED[compare](x.astype(np.float64), y.astype(np.float64))
    assert is_same(jax.jit(compare)(jnp.asarray(x), jnp.asarray(y)), want)
    assert is_same(jax.vmap(compare)(jnp.asarray(x), jnp.asarray(y)), want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("compare", COMPARED, ids=lambda f: f.__name__)
def test_beside_constants(compare, dtype):
    """Of which compilers make other comparisons."""
    x = values(dtype)
    others = [np.full_like(x, constant) for constant in x]
    compiled = jax.jit(lambda x: [compare(x, jnp.asarray(other)) for other in others])
    for other, got in zip(others, compiled(x), strict=True):
        assert is_same(got, COMPARED[compare](x.astype(np.float64), other.astype(np.float64)))


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_zero(dtype):
    parts = values(jnp.finfo(dtype).dtype)
    x = np.zeros(parts.shape, dtype)
    (x.imag if "complex" in dtype else x)[:] = parts
    assert is_same(jax.jit(bitwise.nonzero)(x), parts != 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs(dtype):
    x = values(dtype)
    wide = x.astype(np.float64)
    assert is_same(jax.jit(bitwise.positive)(x), wide > 0)
    assert is_same(jax.jit(bitwise.negative)(x), wide < 0)


@pytest.mark.parametrize(
    "n, dtype",
    [
        # Sizes matter to how elements are paired, which is the same for every dtype.
        pytest.param(n, dtype, marks=[] if dtype == "float32" or n in (8, 67) else pytest.mark.full)
        for n in (1, 5, 8, 63, 64, 67, 200)
        for dtype in DTYPES
    ],
)
def test_extremes_of_many(n, dtype):
    rng = np.random.default_rng(n)
    x = rng.choice(values(dtype), (n, n))
    x[: n // 2] = rng.choice(values(dtype)[[0, 1, 2, 3, 8, 9, 10, 11]], (n // 2, n))  # no NaN
    axes = 0, 1, (0, 1), ()
    alone = rng.choice(values(dtype)[[0, 1, 2, 8, 9, 10]], (n, n))  # one extreme in each lane
    np.fill_diagonal(alone, 1)
    alone[range(n), np.roll(range(n), 1)] = -1

    def extremes(x):
        along = [(bitwise.greatest(x, axis), bitwise.least(x, axis)) for axis in axes]
        lanes = (
            jax.vmap(lambda x: bitwise.greatest(x, 0), 1),
            jax.vmap(lambda x: bitwise.least(x, 0)),
        )
        return along, [lane(x) for lane in lanes]

    program = jax.jit(extremes)
    for given in (x, alone):
        along, [greatest, least] = program(given)
        wide = given.astype(np.float64)
        for axis, got in zip(axes, along, strict=True):
            assert is_same(got[0], wide.max(axis)) and is_same(got[1], wide.min(axis)), axis
        assert is_same(greatest, wide.max(0)) and is_same(least, wide.min(1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_keys_are_in_order(dtype):
    x = values(dtype)
    keys = np.asarray(jax.jit(bitwise.ordered_bits)(x)).astype(np.int64)
    number = x == x
    wide = x[number].astype(np.float64)
    assert np.array_equal(keys[number][:, None] < keys[number], wide[:, None] < wide)
    assert (keys[~number] == bitwise.greatest_key(np.asarray(bitwise.ordered_bits(x)).dtype)).all()
