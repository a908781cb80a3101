"""What is determined of orthonormal vectors, and the matrices at which decompositions break."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx.testing.make import Make
from functx.testing.opinfo import Sample
from functx.testing.samples import call


def gram(Q: jax.Array) -> jax.Array:
    """The inner products of the columns, as many as there are: constant, as they are all 0 or 1."""
    return lax.stop_gradient(Q.conj().mT @ Q)


def signless(out: Any) -> Any:
    """`R` with a positive diagonal, and `Q` to match; of what completes `Q`, inner products."""
    Q, R = out
    k = min(R.shape[-2:])
    diagonal = jnp.diagonal(R, axis1=-2, axis2=-1)[..., :k]
    phase = jnp.where(jnp.real(diagonal) < 0, -1, 1).astype(R.dtype)
    R = jnp.concatenate([phase[..., None] * R[..., :k, :], R[..., k:, :]], axis=-2)
    return (Q[..., :k] * phase[..., None, :], R, gram(Q)) if Q.ndim > 1 else (Q, R)


def phaseless(out: Any) -> Any:
    """Singular values, and matrices in which the phase of each pair of vectors cancels."""
    U, S, Vh = out
    k = S.shape[-1]
    weights = jnp.arange(1, k + 1, dtype=U.dtype)
    left = U[..., :k]
    left = left * jnp.broadcast_to(weights, left.shape)
    return left @ Vh[..., :k, :], S, left @ U[..., :k].conj().mT, gram(U), gram(Vh.conj().mT)


def diagonal_matrices(make: Make) -> Iterator[tuple[str, Any]]:
    for values in ([1, 1], [2, 0], [0, 0]):
        yield f"singular values {values}", make.put(np.eye(3, 2) * values)


def infinite_matrix(make: Make) -> Sample:
    """LAPACK does not come back from it."""
    return call(make.put([[-np.inf, 0, np.inf], [0, 30, -1.7e308], [0, -1e4, 1e-3]]))
