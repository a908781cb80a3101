"""The complex convention: PyTorch's cotangents are the conjugates of JAX's.

With PyTorch a gradient points uphill: for a real loss L of z = x + iy it is
dL/dx + i dL/dy, twice the derivative by the conjugate of z (Wirtinger); with JAX it is the
conjugate of that. Hence `pull(ct) = conj(jax_pull(conj(ct)))`. Forward mode is the same in
both.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .arguments import kind_of


def conjugate(tree: Any) -> Any:
    """Every complex leaf conjugated, all else as it was."""
    return jax.tree.map(conjugate_leaf, tree)


def conjugate_leaf(x: Any) -> Any:
    """`x`, conjugated if it is complex."""
    return jnp.conj(x) if kind_of(x) == "complex" else x
