"""`checked` and `checking`: what a result shows, raised on request."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


L = functx.linalg
BATCH = jnp.stack([jnp.eye(2), jnp.zeros((2, 2))])
CALLS = [
    (L.inv, "linalg.inv: `A` must be invertible, which matrix 1 is not"),
    (L.cholesky, "linalg.cholesky: `A` must be positive definite, which matrix 1 is not"),
    (lambda A: L.solve(A, A), "linalg.solve: `A` must be invertible, which matrix 1 is not"),
]


@pytest.mark.parametrize("call, message", CALLS)
def test_singular_matrices_are_reported_on_request(call, message):
    call(BATCH)
    with functx.debug.checking():
        for eager in (call, functx.jacrev(call)):
            with pytest.raises(L.LinAlgError, match=message):
                eager(BATCH)
        with pytest.raises(L.LinAlgError, match="which matrix 0 is not"):  # of its lane
            functx.vmap(call)(BATCH)
        call(BATCH[:1])
        jax.jit(call)(BATCH)
    for compiled in (call, jax.jit(call), functx.grad(lambda A: functx.sum(call(A)))):
        with pytest.raises(L.LinAlgError, match=message):
            functx.debug.checked(compiled)(BATCH)
        functx.debug.checked(compiled)(BATCH[:1])
    call(BATCH)


def test_the_error_is_numpys_and_of_pytorchs_kind():
    assert issubclass(L.LinAlgError, np.linalg.LinAlgError)
    assert issubclass(L.LinAlgError, RuntimeError)
