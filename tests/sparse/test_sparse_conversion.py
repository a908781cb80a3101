"""Sparse arrays of dense ones, and back."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.sparse import BCOO

import functx
from functx import sparse
from functx.testing.checks.programs import compiled


X = jnp.asarray([[[0.0, 2.0], [0.0, 0.0]], [[1.0, 0.0], [3.0, jnp.nan]]])


def close(got, expected):
    np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("sparse_dim", [1, 2, 3, None])
def test_there_and_back(dtype, sparse_dim):
    x = jnp.asarray(np.nan_to_num(np.asarray(X), nan=4).astype(dtype))
    y = sparse.to_sparse(x, sparse_dim)
    assert y.dtype == x.dtype and y.n_sparse == (sparse_dim or 3) and y.unique_indices
    assert y.nse == {1: 2, 2: 3, 3: 4}[sparse_dim or 3]
    close(sparse.to_dense(y), x)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (2, 3)])
def test_shapes_without_elements_or_dimensions(shape):
    x = jnp.ones(shape)
    close(sparse.to_dense(sparse.to_sparse(x)), x)
    close(sparse.to_dense(sparse.to_sparse(jnp.zeros(shape))), jnp.zeros(shape))


def test_nan_is_stored_and_room_is_padded():
    close(sparse.to_dense(sparse.to_sparse(X)), X)
    y = functx.jit(lambda x: sparse.to_sparse(x, nse=6))(X)
    assert y.nse == 6 and y.indices[-1].tolist() == [2, 2, 2]
    close(y.todense(), X)
    assert sparse.to_dense(y, "float32").dtype == "float32"


def test_too_little_room_is_refused_or_seen():
    with pytest.raises(ValueError, match="`nse` must be at least 4, .* got 3"):
        sparse.to_sparse(X, nse=3)
    narrow = lambda x: sparse.to_sparse(x, nse=3).data
    assert bool(jnp.isnan(functx.jit(narrow)(X)).all())
    with pytest.raises(ValueError, match="is less than the number of elements to store, 4"):
        functx.debug.checked(functx.jit(narrow))(X)
    with pytest.raises(ValueError, match="`nse` must be given where values are not known"):
        functx.jit(sparse.to_sparse)(X)


def test_gradients_of_conversions():
    x = np.nan_to_num(np.asarray(X), nan=4)
    f = lambda x: (sparse.to_sparse(x, nse=6).todense() ** 3).sum()
    close(compiled(functx.grad(f))(x), 3 * x**2)
    y = sparse.to_sparse(x)
    got = functx.grad(lambda y: (sparse.to_dense(y) ** 3).sum())(y)
    close(got.data, 3 * np.asarray(y.data) ** 2)


def test_mask_takes_each_element_once():
    mask = BCOO((jnp.zeros(4), jnp.asarray([[1, 0], [0, 1], [1, 0], [2, 2]])), shape=(2, 2))
    x = jnp.asarray([[1.0, 2.0], [3.0, 4.0]])
    got = sparse.sparse_mask(x, mask)
    close(got.indices, mask.indices)
    close(got.data, [3, 2, 0, 0])
    close(sparse.sparse_mask(sparse.to_sparse(x), mask).data, [3, 2, 0, 0])
    of_masked = functx.grad(lambda x: sparse.sparse_mask(x, mask).data.sum())
    close(compiled(of_masked)(x), [[0, 1], [1, 0]])
    rows = BCOO((jnp.zeros((2, 2)), jnp.asarray([[1], [1]])), shape=(2, 2))
    close(sparse.sparse_mask(x, rows).data, [[3, 4], [0, 0]])


def test_coalesced_values_are_added():
    data = jnp.asarray([1.0, 2.0, 4.0, jnp.nan, 8.0])
    indices = jnp.asarray([[1, 0], [0, 1], [1, 0], [5, 7], [0, 0]])
    x = BCOO((data, indices), shape=(2, 2))
    got = functx.jit(sparse.coalesce)(x)
    assert got.unique_indices and got.indices_sorted
    close(got.data, [8, 2, 5, 0, 0])
    close(got.indices, [[0, 0], [0, 1], [1, 0], [2, 2], [2, 2]])
    close(sparse.coalesce(x, nse=3).data, [8, 2, 5])
    with pytest.raises(ValueError, match="`nse` must be at least 3"):
        sparse.coalesce(x, nse=2)
    of_coalesced = functx.grad(lambda x: (sparse.coalesce(x).data ** 2).sum())
    close(compiled(of_coalesced)(x).data, [10, 4, 10, 0, 16])
    flags = BCOO((jnp.asarray([True, True]), jnp.asarray([[1], [1]])), shape=(2,))
    close(sparse.coalesce(flags, nse=1).data, [True])
    close(sparse.to_dense(flags), [False, True])


def test_refuses():
    with pytest.raises(ValueError, match=r"`sparse_dim` must lie in \[1, 3\]"):
        sparse.to_sparse(X, 4)
    with pytest.raises(ValueError, match="`nse` must be None or an int"):
        sparse.to_sparse(X, nse=-1)
    with pytest.raises(TypeError, match="sparse.to_sparse: `layout` does not exist here"):
        sparse.to_sparse(X, layout="csr")
    with pytest.raises(TypeError, match="`input` must be an array, got BCOO"):
        sparse.to_sparse(sparse.to_sparse(X))
    with pytest.raises(TypeError, match="`input` must be a BCOO, got f64"):
        sparse.to_dense(X)
    with pytest.raises(RuntimeError, match=r"`input` must have the shape \[2, 2, 2\], got \[2\]"):
        sparse.sparse_mask(jnp.ones(2), sparse.to_sparse(X))
    with pytest.raises(ValueError, match=r"functx.vmap\(functx.sparse.coalesce\)"):
        sparse.coalesce(BCOO.fromdense(X, n_batch=1))
