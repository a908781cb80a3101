"""Results of operators of LU factors, and checks of their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array
from jax.core import min_dim

from functx._core import decided, describe, differ, refuse, Requirement

from .lu_factors import solved_by_factors
from .matrix_arguments import check_matrices
from .triangular_systems import with_common_batch


class LUFactorResult(NamedTuple):
    """Both factors in one matrix, and the exchanges of rows."""

    LU: Array
    pivots: Array


class LUFactorExResult(NamedTuple):
    """Both factors in one matrix, the exchanges of rows, and the first pivot that is zero."""

    LU: Array
    pivots: Array
    info: Array


def in_range(pivots: Any, factors: Any, name: str) -> Iterator[Requirement]:
    """Each pivot is the number of a row."""
    if factors.ndim > 1 and pivots.dtype == jnp.int32:
        rows = factors.shape[-2]
        ok = (pivots >= 1) & (pivots <= rows)
        yield Requirement(ok, f"`{name}` must lie in [1, {rows}], got {{got}}", got=pivots)


def check_factors(
    factors: Array, pivots: Array, names: tuple[str, str], *, square: bool = False
) -> None:
    """Refuses pivots that do not belong to these factors."""
    check_matrices(factors, square=square, name=names[0])
    if pivots.dtype != jnp.int32:
        refuse(f"`{names[1]}` must be int32, got {describe(pivots)}", error=TypeError)
    *batch, m, n = factors.shape
    k = pivots.shape[-1] if pivots.ndim else 0
    fits = not decided(lambda: differ(k, min_dim(m, n)), otherwise=False)
    if pivots.shape != (*batch, k) or not fits:
        refuse(
            f"`{names[1]}` must be one for each row or column of a matrix of `{names[0]}`, "
            f"got {describe(pivots)} for {describe(factors)}"
        )


def solved_with_batch(
    factors: Array,
    pivots: Array,
    B: Array,
    *,
    names: tuple[str, str],
    left: bool = True,
    adjoint: bool = False,
) -> Array:
    """The solution by factors, with leading dimensions that broadcast."""
    check_matrices(B, name=names[1])
    if B.shape[-2 if left else -1] != factors.shape[-1]:
        equation = "A X = B" if left else "X A = B"
        refuse(
            f"`{names[0]}` and `{names[1]}` do not fit {equation}, got {describe(factors)} and "
            f"{describe(B)}"
        )
    factors, right = with_common_batch(factors, B, names)
    exchanges = jnp.broadcast_to(pivots, factors.shape[:-1])
    return solved_by_factors(factors, exchanges, right, left=left, adjoint=adjoint)
