"""Gradients at ties and zeros, and reads and writes outside of the array, as documented."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


nan, inf = float("nan"), float("inf")


def f64(*values):
    return jnp.asarray(values, "float64")


def at(*values):
    return jnp.asarray(values, "int64")


# What, input, index, src, include_self; the gradients PyTorch gives under cotangent 1, 10, 100.
REDUCED = [
    ("prod", [0, 2, 3], [0, 0, 1], [4, 5, 6], True, [20, 60, 100], [0, 0, 20]),
    ("prod", [7, 2, 3], [0, 0, 1], [0, 5, 6], True, [0, 60, 100], [35, 0, 20]),
    ("prod", [7, 2, 3], [0, 0, 1], [0, 0, 6], True, [0, 60, 100], [0, 0, 20]),
    ("prod", [7, 2, 3], [0, 0, 1], [0, 5, 6], False, [0, 0, 100], [5, 0, 10]),
    ("amax", [1, 2, 3], [0, 0, 1], [1, 1, 2], True, [1 / 3, 5, 100], [1 / 3, 1 / 3, 5]),
    ("amax", [1, 2, 3], [0, 0, 1], [4, 4, 1], True, [0, 10, 100], [0.5, 0.5, 0]),
    ("amax", [1, 2, 3], [0, 0, 1], [4, 4, 1], False, [0, 0, 100], [0.5, 0.5, 10]),
    ("amin", [4, 2, 3], [0, 0, 1], [4, 4, 1], True, [1 / 3, 0, 100], [1 / 3, 1 / 3, 10]),
    ("mean", [4, 2, 3], [0, 0, 1], [4, 4, 1], True, [1 / 3, 5, 100], [1 / 3, 1 / 3, 5]),
    ("mean", [4, 2, 3], [0, 0, 1], [4, 4, 1], False, [0, 0, 100], [0.5, 0.5, 10]),
    ("amax", [nan, 2, 3], [0, 0, 1], [4, nan, 1], True, [nan, 10, 100], [nan, nan, 0]),
]


@pytest.mark.parametrize("reduce, x, index, src, include_self, to_x, to_src", REDUCED)
def test_scatter_reduce_shares_gradients(reduce, x, index, src, include_self, to_x, to_src):
    def reduced(x, src):
        return functx.scatter_reduce(x, 0, at(*index), src, reduce, include_self=include_self)

    _, pullback = functx.vjp(reduced, f64(*x), f64(*src))
    got = pullback(f64(1, 10, 100))
    np.testing.assert_allclose(got[0], to_x)
    np.testing.assert_allclose(got[1], to_src)
    _, tangent = functx.jvp(reduced, (f64(*x), f64(*src)), (f64(1, 2, 3), f64(4, 5, 6)))
    paired = np.dot(to_x, [1, 2, 3]) + np.dot(to_src, [4, 5, 6])
    np.testing.assert_allclose(jnp.dot(tangent, f64(1, 10, 100)), paired)


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_scattered_products_are_exact_at_zeros_to_third_order(zeros):
    factors = jnp.where(jnp.arange(4) < zeros, 0.0, f64(2, 3, 5, 7))

    def scattered(v):
        return functx.scatter_reduce(v[:1], 0, at(0, 0, 0), v[1:], "prod")[0]

    def plain(v):
        return v[0] * v[1] * v[2] * v[3]

    third = lambda f: functx.jacfwd(functx.jacrev(functx.jacfwd(f)))(factors)
    np.testing.assert_allclose(third(scattered), third(plain))


GRADIENTS = [
    # Of several values written to one place, the one that stays.
    (lambda s: functx.scatter(f64(0, 0), 0, at(1, 1), s), f64(5, 6), [0, 10]),
    (lambda x: functx.scatter(x, 0, at(1, 1), f64(5, 6)), f64(1, 2), [1, 0]),
    (lambda s: functx.index_put(f64(0, 0), (at(1, 1),), s), f64(5, 6), [0, 10]),
    (lambda s: functx.index_put(f64(0, 0), (at(1, 1),), s, True), f64(5, 6), [10, 10]),
    # Read twice, added once each.
    (lambda x: functx.gather(x, 0, at(1, 1)), f64(5, 6), [0, 11]),
    (lambda v: functx.masked_fill(f64(1, 2), jnp.asarray([True, True]), v[0]), f64(3), [11]),
    # Ties go by position, NaN is the greatest.
    (lambda x: functx.sort(x, stable=True).values, f64(7, 7), [1, 10]),
    (lambda x: functx.sort(x, descending=True, stable=True).values, f64(7, 7), [1, 10]),
    (lambda x: functx.topk(x, 2).values, f64(1, nan, 3), [0, 1, 10]),
    (lambda x: functx.topk(x, 2, largest=False).values, f64(inf, nan, 3), [10, 0, 1]),
    # PyTorch has no gradient here: the first occurrence.
    (lambda x: functx.unique(x), f64(3, 1, 3), [10, 1, 0]),
]


@pytest.mark.parametrize("f, x, expected", GRADIENTS)
def test_gradient(f, x, expected):
    y, pullback = functx.vjp(f, x)
    np.testing.assert_array_equal(pullback(f64(1, 10)[: y.shape[0]])[0], expected)


READS = [
    lambda x, i: functx.gather(x, 0, i),
    lambda x, i: functx.index_select(x, 0, i),
    lambda x, i: functx.take_along_dim(x, i, 0),
]
WRITES = [
    lambda x, i: functx.scatter(x, 0, i, f64(9)),
    lambda x, i: functx.scatter_add(x, 0, i, f64(9)),
    lambda x, i: functx.index_add(x, 0, i, f64(9)),
    lambda x, i: functx.index_put(x, (i,), f64(9)),
    *(
        lambda x, i, reduce=reduce: functx.scatter_reduce(
            x, 0, i, f64(9), reduce, include_self=False
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin")
    ),
]


@pytest.mark.parametrize("outside", [2, -3])
@pytest.mark.parametrize("f", READS + WRITES)
def test_outside_is_refused_eagerly_under_every_transform(f, outside):
    x, index = f64(1, 2), at(outside)
    total = lambda x, i: f(x, i).sum()
    with pytest.raises(IndexError, match=r"must lie in \[.*\], got"):
        f(x, index)
    with pytest.raises(IndexError, match="must lie in"):
        functx.grad(total)(x, index)
    with pytest.raises(IndexError, match="must lie in"):
        functx.vmap(functx.grad(total), in_dims=(None, 0))(x, jnp.stack([at(0), index]))


@pytest.mark.parametrize("outside", [2, -3])
@pytest.mark.parametrize("f", READS)
def test_outside_reads_nan_under_jit(f, outside):
    assert np.isnan(jax.jit(f)(f64(1, 2), at(outside))).all()
    gradient = jax.jit(functx.grad(lambda x: f(x, at(outside, 1)).at[0].set(0).sum()))(f64(1, 2))
    np.testing.assert_array_equal(gradient, [0, 1])


@pytest.mark.parametrize("outside", [2, -3])
@pytest.mark.parametrize("f", WRITES)
def test_outside_writes_are_dropped_under_jit(f, outside):
    x = f64(1, 2)
    np.testing.assert_array_equal(jax.jit(f)(x, at(outside)), x)
    gradient = jax.jit(functx.grad(lambda x: f(x, at(outside)).sum()))(x)
    np.testing.assert_array_equal(gradient, [1, 1])


def test_nan_sorts_last_and_zeros_tie():
    x = f64(1, nan, -inf, 0.0, nan, -0.0, inf)
    assert functx.argsort(x, stable=True).tolist() == [2, 3, 5, 0, 6, 1, 4]
    assert functx.argsort(x, descending=True, stable=True).tolist() == [1, 4, 6, 0, 3, 5, 2]


@pytest.mark.parametrize("right, expected", [(False, [3, 1, 3]), (True, [3, 3, 3])])
def test_searchsorted_puts_nan_where_pytorch_does(right, expected):
    found = functx.searchsorted(f64(1, 2, nan), f64(nan, 2, 5), right=right)
    assert found.tolist() == expected


def test_lanes_of_equal_size_need_no_size():
    x, masks = f64(1, 2, 3), jnp.asarray([[True, False, True], [False, True, True]])
    picked = functx.vmap(functx.masked_select, in_dims=(None, 0))(x, masks)
    np.testing.assert_array_equal(picked, [[1, 3], [2, 3]])
    with pytest.raises(RuntimeError, match=r"lanes of `vmap` differ in size: size=\[2, 1\]"):
        functx.vmap(functx.masked_select, in_dims=(None, 0))(x, masks.at[1, 1].set(False))
    with pytest.raises(RuntimeError, match="pass `size=`"):
        jax.jit(functx.masked_select)(x, masks[0])


def test_mask_and_values_must_agree_in_every_lane():
    masks = jnp.asarray([[True, False, True], [False, True, True]])
    put = lambda mask: functx.index_put(f64(0, 0, 0), (mask,), f64(5, 6))
    np.testing.assert_array_equal(functx.vmap(put)(masks), [[5, 0, 6], [0, 5, 6]])
    with pytest.raises(RuntimeError, match="`values` must have 1 or"):
        functx.vmap(put)(masks.at[1, 1].set(False))
