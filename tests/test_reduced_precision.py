"""Facts of halves, of products of many factors, and of arrays whose positions need 64 bits.

They are those of PyTorch's tests of CUDA, where sums overflowed, small norms vanished and positions
wrapped. What needs gigabytes runs in the full profile.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
import functx.nn.functional as F


LARGE = 2**31 + 8  # more elements than 32 bits count


def ones(n, dtype="float16"):
    return jnp.ones(n, dtype)


def test_sums_of_halves():
    total = functx.sum
    assert total(jnp.zeros(10, "float16")) == 0
    assert total(ones(65504)) == 65504 and total(ones(65504)).dtype == "float16"
    assert total(ones(65536)) == jnp.inf, "the greatest half is 65504"
    for n in (65504, 65536):
        assert total(ones(n), dtype=functx.float32) == n


def test_sums_of_many_halves_are_exact_where_halves_are():
    sparse = np.random.default_rng(0).random(1203611) < 0.0005
    assert float(functx.sum(jnp.asarray(sparse, "float16"))) == sparse.sum()
    sparse = np.random.default_rng(1).random((100, 121, 80)) < 0.0005
    sums = functx.sum(jnp.asarray(sparse, "float16"), dim=(0, 2))
    np.testing.assert_array_equal(sums, sparse.sum((0, 2)))


@pytest.mark.parametrize("dtype", [None, functx.float32])
def test_means_of_halves_do_not_overflow(dtype):
    assert functx.mean(ones(65536), dtype=dtype) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_products_of_many_factors(dtype):
    assert functx.prod(ones(240000, dtype)) == 1
    if dtype.startswith("complex"):
        assert functx.prod(jnp.full(240000, 1j, dtype)) == 1


@pytest.mark.parametrize("norm", [functx.norm, functx.linalg.vector_norm, functx.linalg.norm])
def test_norms_of_tiny_and_of_many_halves(norm):
    tiny = (jnp.arange(25.0) / 1e8).astype("float16")
    np.testing.assert_allclose(norm(tiny), 7e-7, rtol=0.1)
    assert norm(tiny).dtype == "float16"
    counted = norm(ones(65536), 0, dtype=functx.float32)
    assert counted == 65536 and counted.dtype == "float32"


def test_extrema_begin_with_what_is_there():
    zero, most = jnp.zeros(1, "uint8"), jnp.full(1, 255, "uint8")
    assert functx.argmax(zero) == 0 and functx.argmin(most) == 0
    assert functx.max(zero, 0).values == 0 and functx.min(most, 0).values == 255


@pytest.mark.parametrize("dtype, bins", [("int8", 50), ("int8", 120), ("int64", 50000)])
def test_counts(dtype, bins):
    x = np.random.default_rng(0).integers(0, bins, 1000).astype(dtype)
    weights = np.random.default_rng(1).random(1000)
    got = functx.bincount(x, minlength=bins)
    np.testing.assert_array_equal(got, np.bincount(x, minlength=bins))
    got = functx.bincount(x, weights, minlength=bins)
    np.testing.assert_allclose(got, np.bincount(x, weights, bins), rtol=1e-12)


def test_counts_of_far_bins():
    x = jnp.zeros(10, "int32").at[0].set(35488)
    counts = functx.bincount(x, minlength=65536)
    assert counts.shape == (65536,) and functx.sum(counts) == 10 and counts[35488] == 1


def test_gather_moves_bools():
    x, at = jnp.asarray([[False, True], [True, True]]), jnp.asarray([[0, 0], [1, 0]])
    assert functx.gather(x, 1, at).tolist() == [[False, False], [True, True]]


def test_positions_out_of_range_are_refused():
    x = jnp.arange(10)
    assert functx.take(x, jnp.asarray(1)) == 1
    for call in (
        lambda at: functx.take(x, at),
        lambda at: functx.index_select(x, 0, at),
        lambda at: functx.gather(x, 0, at),
    ):
        with pytest.raises(IndexError, match="got 11"):
            call(jnp.asarray([11]))


def one_at_the_end(n, dtype):
    return jax.jit(lambda: (jnp.arange(n) == n - 1).astype(dtype))()


@pytest.mark.full  # 4.3 GB, half a minute
def test_positions_beyond_32_bits():
    x = one_at_the_end(LARGE, "int8")
    assert functx.argmax(x) == LARGE - 1
    values, at = functx.max(x, 0)
    assert (values, at) == (1, LARGE - 1)


@pytest.mark.full  # 2.7 GB
def test_rows_beyond_32_bits():
    rows = LARGE // 32 + 1
    numbers = lambda: (jnp.arange(rows) % 100).astype("int8")
    x = jax.jit(lambda: jnp.broadcast_to(numbers()[:, None], (rows, 32)))()
    at = jnp.asarray([rows - 1, 0, rows // 2])
    np.testing.assert_array_equal(functx.index_select(x, 0, at)[:, 31], at % 100)
    np.testing.assert_array_equal(x[at, 31], at % 100)


@pytest.mark.full  # 8.4 GB, a minute
def test_arithmetic_of_a_billion_elements():
    x = jnp.ones(2**30, "float32")
    assert functx.sum(x) == 2**30
    assert functx.sum(functx.add(x, 1)) == 2**31
    assert functx.sum(functx.mul(x, 0.5)) == 2**29


@pytest.mark.full  # 9 GB, and 13 GB for windows of two, which are added up in float32
@pytest.mark.parametrize(
    "n, kernel, mean",
    [(2**30 + 1, 1, 1), (2**31 - 1, 1, 1), (2**31, 1, 1), (2**30 + 1, (2, 1), 0.5)],
)
def test_pooling_of_billions_of_halves(n, kernel, mean):
    x = one_at_the_end(n, "float16").reshape(1, 1, -1, 1)
    pooled = F.avg_pool2d(x, kernel, stride=1)
    assert pooled.shape[2] == n - (mean < 1)
    assert pooled[0, 0, -1, 0] == mean
