"""Checks of the shapes of matrices and vectors that products share."""

from __future__ import annotations

from jax import Array

from functx._core import describe, refuse


def check_ranks(**arrays: tuple[Array, int]) -> None:
    """Refuses an array that does not have the rank given beside it."""
    for name, (x, ndim) in arrays.items():
        if x.ndim != ndim:
            refuse(
                f"`{name}` must have {ndim} dimension{'s' * (ndim > 1)}, got {describe(x)}",
                hint="functx.matmul takes vectors, matrices and batches of them",
            )


def check_inner(input: Array, other: Array, name: str) -> None:
    """Refuses an `other`, called `name`, whose rows are not as many as the columns of `input`."""
    if input.shape[-1] != other.shape[-min(other.ndim, 2)]:
        rows = "rows" if other.ndim > 1 else "elements"
        refuse(
            f"`{name}` must have {input.shape[-1]} {rows}, "
            f"got {describe(other)} beside {describe(input)}"
        )
