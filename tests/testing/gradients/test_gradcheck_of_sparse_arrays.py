"""`gradcheck` of sparse arrays: `masked` says whether stored values alone are moved."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import sparse
from test_gradcheck import off, X

import functx
from functx.testing import gradcheck, GradcheckError


SPARSE = sparse.BCOO((jnp.asarray(X), np.array([[0, 1], [1, 0], [2, 2]])), shape=(3, 3))
TWICE = sparse.BCOO((jnp.asarray(X), np.array([[0, 1], [1, 0], [0, 1]])), shape=(3, 3))
FACTOR = jnp.arange(6.0).reshape(3, 2) + 1


@pytest.mark.parametrize("matrix", [SPARSE, TWICE])
@pytest.mark.parametrize("fast_mode", [True, False])
def test_masked_moves_stored_values_alone(matrix, fast_mode):
    f, options = jax.jit(lambda m: m @ FACTOR), {"fast_mode": fast_mode, "check_forward_ad": True}
    assert gradcheck(f, (matrix,), masked=True, **options)
    for masked in (None, False):
        assert not gradcheck(f, (matrix,), masked=masked, raise_exception=False, **options)
    with pytest.raises(GradcheckError, match=r"mismatch for output 0 .*(\n.*)*masked=True"):
        gradcheck(f, (matrix,), **options)


def test_what_is_not_stored_may_have_no_influence():
    squares = jax.jit(lambda m: m.todense() ** 2)
    product = jax.jit(lambda t: t["m"].todense() ** 2 * t["x"])
    for masked in (None, False, True):
        assert gradcheck(squares, (SPARSE,), masked=masked)
        assert gradcheck(product, ({"m": TWICE, "x": jnp.asarray(X)},), masked=masked)
    full = sparse.BCOO.fromdense(FACTOR)
    assert gradcheck(jax.jit(lambda m: FACTOR.T @ m.todense()), (full,))
    batch = sparse.BCOO.fromdense(jnp.stack([FACTOR, FACTOR]), n_batch=1)
    assert gradcheck(squares, (batch,))


@pytest.mark.parametrize("masked", [False, True])
def test_a_wrong_gradient_of_stored_values_is_found(masked):
    wrong = jax.jit(lambda m: off(jnp.sin)(m.data))
    with pytest.raises(GradcheckError):
        gradcheck(wrong, (SPARSE,), masked=True)

    @jax.jit
    def squares(m):
        return sparse.BCOO((off(jnp.square)(m.data), m.indices), shape=m.shape)

    assert not gradcheck(squares, (SPARSE,), masked=masked, raise_exception=False)
    right = jax.jit(lambda m: sparse.BCOO((m.data**2, m.indices), shape=m.shape))
    assert gradcheck(right, (SPARSE,), masked=masked)


def test_second_derivatives_of_stored_values():
    square = jax.jit(lambda m: (m @ FACTOR) ** 2)
    assert functx.testing.gradgradcheck(square, (SPARSE,), masked=True)
    with pytest.raises(TypeError, match="`masked` must be a bool"):
        gradcheck(jnp.sin, (SPARSE,), masked="yes")
