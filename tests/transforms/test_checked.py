"""`checked` and `checking`: what a result shows, raised on request."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


L = functx.linalg
BATCH = jnp.stack([jnp.eye(2), jnp.zeros((2, 2))])
REGULAR = jnp.stack([jnp.eye(2)] * 2)  # of the same shape: no program is compiled anew
CALLS = [
    (L.inv, "linalg.inv: `A` must be invertible, which matrix 1 is not"),
    (L.cholesky, "linalg.cholesky: `A` must be positive definite, which matrix 1 is not"),
    (lambda A: L.solve(A, A), "linalg.solve: `A` must be invertible, which matrix 1 is not"),
]


@pytest.mark.parametrize("call, message", CALLS)
def test_singular_matrices_are_reported_on_request(call, message):
    call(BATCH)
    with functx.debug.checking():
        with pytest.raises(L.LinAlgError, match=message):
            call(BATCH)
        call(REGULAR)
        jax.jit(call)(BATCH)
    for compiled in (jax.jit(call), jax.jit(functx.grad(lambda A: functx.sum(call(A))))):
        checked = functx.debug.checked(compiled)
        with pytest.raises(L.LinAlgError, match=message):
            checked(BATCH)
        checked(REGULAR)
    call(BATCH)


def test_they_are_reported_inside_of_transforms_without_jit():
    """For one operator: each operation of the others would be compiled by itself here."""
    message = CALLS[0][1]
    with functx.debug.checking():
        with pytest.raises(L.LinAlgError, match=message):
            functx.jacrev(L.inv)(BATCH)
        with pytest.raises(L.LinAlgError, match="which matrix 0 is not"):  # of its lane
            functx.vmap(L.inv)(BATCH)
    with pytest.raises(L.LinAlgError, match=message):
        functx.debug.checked(L.inv)(BATCH)


def test_the_error_is_numpys_and_of_pytorchs_kind():
    assert issubclass(L.LinAlgError, np.linalg.LinAlgError)
    assert issubclass(L.LinAlgError, RuntimeError)


HERMITIAN = jnp.asarray([[2, 1j], [-1j, 3]])
VECTORS = {
    "linalg.eigh": lambda A: L.eigh(A).eigenvectors,
    "linalg.eig": lambda A: L.eig(A).eigenvectors,
    "linalg.svd": lambda A: L.svd(A).U,
}
every_kind = pytest.mark.parametrize("name", VECTORS)


@every_kind
def test_gradients_that_depend_on_phases_are_refused_on_request(name):
    gradient = functx.grad(lambda A: jnp.sum(jnp.imag(VECTORS[name](A))))
    gradient(HERMITIAN)
    message = f"^{name}: the gradient must not depend on the phase of complex vectors"
    for refused in (gradient, jax.jit(gradient), lambda A: functx.vmap(gradient)(A[None])):
        with pytest.raises(RuntimeError, match=message):
            functx.debug.checked(refused)(HERMITIAN)


@every_kind
def test_gradients_that_no_phase_changes_pass(name):
    gradient = functx.grad(lambda A: jnp.sum(jnp.abs(VECTORS[name](A)) ** 3))
    np.testing.assert_array_equal(functx.debug.checked(gradient)(HERMITIAN), gradient(HERMITIAN))


def test_phases_that_two_outputs_share_pass():
    polar = functx.grad(lambda A: jnp.real(jnp.sum(L.svd(A).U @ L.svd(A).Vh)))
    functx.debug.checked(polar)(HERMITIAN)


def test_signs_of_real_vectors_are_no_phases():
    functx.debug.checked(functx.grad(lambda A: jnp.sum(L.eigh(A).eigenvectors)))(HERMITIAN.real)
