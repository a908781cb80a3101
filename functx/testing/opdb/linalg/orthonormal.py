"""What is determined of orthonormal vectors, whichever complete a basis."""

from __future__ import annotations

import jax
from jax import lax


def gram(Q: jax.Array) -> jax.Array:
    """The inner products of the columns, as many as there are: constant, as they are all 0 or 1."""
    return lax.stop_gradient(Q.conj().mT @ Q)
