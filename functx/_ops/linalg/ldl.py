"""LDL factorisation of Hermitian and symmetric matrices that may be indefinite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    category,
    describe,
    Index,
    operator,
    Promote,
    refuse,
    Requirement,
)

from .full_precision import product
from .ldl_factors import blocks, factored
from .matrix_arguments import check_matrices, each_matrix
from .triangular_systems import solved, with_common_batch


__all__ = ["ldl_factor", "ldl_factor_ex", "ldl_solve"]


class LDLFactorResult(NamedTuple):
    """Both factors in one matrix, and the exchanges of rows and columns."""

    LD: Array
    pivots: Array


class LDLFactorExResult(NamedTuple):
    """Both factors in one matrix, the exchanges, and the first block of `D` that is zero."""

    LD: Array
    pivots: Array
    info: Array


def _invertible(*, A: Any, hermitian: bool, **_: Any) -> Iterator[Requirement]:
    if A.ndim > 1:
        yield each_matrix(factored(A, of_hermitian=hermitian)[2] == 0, "invertible")


@operator(accepts=Accepts.LAPACK, requires=_invertible, checked_on_request=True)
def ldl_factor(A: ArrayLike, *, hermitian: bool = False) -> LDLFactorResult:
    r"""$A = P^T L D L^H P$ with unit lower triangular $L$ and, in $D$, blocks of one row or two.

    - `A`: Hermitian or symmetric matrices, float32, float64 or complex. `LD` keeps their dtype.
    - `hermitian`: whether complex `A` is Hermitian; if not, it is symmetric, and $L^H$ is $L^T$.

    Shapes: `A: [..., n, n]`, of which the lower triangle is read, gives `LD: [..., n, n]`, in
    LAPACK's packed form, and `pivots: [..., n]`, int32. Where `pivots[k]` is positive, $D$ has a
    block of one row there, and rows and columns k and `pivots[k] - 1` were exchanged; where
    `pivots[k]` and `pivots[k + 1]` are negative, one of two, and k + 1 and `-pivots[k] - 1` were.
    Where a block is zero, `A` is singular: a `LinAlgError` under `functx.debug.checked` and in
    `functx.debug.checking()`.

    The pivots are Bunch and Kaufman's (1977). The derivative, which PyTorch lacks, is that at fixed
    exchanges; the gradient is Hermitian, or symmetric.

    >>> functx.linalg.ldl_factor(jnp.asarray([[2.0, 0.0], [4.0, 9.0]], "float32")).pivots
    Array([2, 2], dtype=int32)
    """
    check_matrices(A, square=True)
    return LDLFactorResult(*factored(A, of_hermitian=hermitian)[:2])


def _invertible_if_asked(*, check_errors: bool, **given: Any) -> Iterator[Requirement]:
    if check_errors:
        yield from _invertible(**given)


@operator(accepts=Accepts.LAPACK, requires=_invertible_if_asked)
def ldl_factor_ex(
    A: ArrayLike, *, hermitian: bool = False, check_errors: bool = False
) -> LDLFactorExResult:
    """$A = P^T L D L^H P$ by Bunch and Kaufman's pivots, and which block of $D$ is zero.

    - `A`: Hermitian or symmetric matrices, of which the lower triangle is read.
    - `hermitian`: whether complex `A` is Hermitian; if not, it is symmetric, and $L^H$ is $L^T$.
    - `check_errors`: whether singular matrices are refused, with a `LinAlgError`.

    Shapes: `A: [..., n, n]` gives `LD: [..., n, n]`, in LAPACK's packed form, `pivots: [..., n]`
    and `info: [...]`, both int32. Positive `pivots[k]` say that $D$ has a block of one row there,
    and that rows and columns k and `pivots[k] - 1` were exchanged; negative `pivots[k]` and
    `pivots[k + 1]` stand for a block of two, where k + 1 and `-pivots[k] - 1` were. `info` is the
    number of the first block that is zero, counted in rows from 1, or 0.
    Errors: RuntimeError unless matrices are square, `LinAlgError` with `check_errors`.

    >>> functx.linalg.ldl_factor_ex(jnp.zeros((2, 2), "float32")).info
    Array(1, dtype=int32)
    """
    check_matrices(A, square=True)
    return LDLFactorExResult(*factored(A, of_hermitian=hermitian))


def _pivots_in_range(*, LD: Any, pivots: Any, **_: Any) -> Iterator[Requirement]:
    if LD.ndim > 1 and category(pivots.dtype) == 1:
        rows = LD.shape[-1]
        ok = (jnp.abs(pivots) >= 1) & (jnp.abs(pivots) <= rows)
        yield Requirement(ok, f"`pivots` must lie in [1, {rows}], or negative, got {{got}}", pivots)


@operator(promote=Promote.SAME, accepts=Accepts.LAPACK, requires=_pivots_in_range)
def ldl_solve(LD: ArrayLike, pivots: Index, B: ArrayLike, *, hermitian: bool = False) -> Array:
    r"""Solution $X$ of $A X = B$, from what `ldl_factor` returns for $A$.

    - `LD`, `pivots`: the packed factors and the exchanges that `ldl_factor` returned.
    - `B`: the right-hand sides, of the dtype of `LD`.
    - `hermitian`: as it was given there.

    Shapes: `LD: [..., n, n]`, of which the lower triangle is read, and `B: [..., n, k]`, whose
    leading dimensions broadcast, and `pivots: [..., n]` as long as the batch of `LD`, give
    `[..., n, k]`.
    Errors: RuntimeError for pivots that are no rows. Where $D$ is singular, the result is infinite
    or NaN.

    >>> LD, pivots = functx.linalg.ldl_factor(jnp.asarray([[2.0, 0.0], [2.0, 4.0]], "float32"))
    >>> functx.linalg.ldl_solve(LD, pivots, jnp.asarray([[4.0], [6.0]], "float32"))
    Array([[1.],
           [1.]], dtype=float32)
    """
    check_matrices(LD, square=True, name="LD")
    check_matrices(B, name="B")
    pivots = jnp.asarray(pivots)
    if category(pivots.dtype) != 1 or pivots.shape != LD.shape[:-1]:
        refuse(f"`pivots` must be integers {list(LD.shape[:-1])}, got {describe(pivots)}")
    if B.shape[-2] != LD.shape[-1]:
        refuse(f"`LD` and `B` do not fit A X = B, got {describe(LD)} and {describe(B)}")
    L, _, inverse, order, *_ = blocks(LD, pivots, of_hermitian=hermitian)
    order = order[..., None]
    L, right = with_common_batch(L, B, ("LD", "B"))
    right = jnp.take_along_axis(right, jnp.broadcast_to(order, (*right.shape[:-1], 1)), -2)
    halfway = product(inverse, solved(L, right, upper=False, unitriangular=True))
    turned = solved(
        L, halfway, upper=False, transpose=True, conjugate=hermitian, unitriangular=True
    )
    back = jnp.broadcast_to(jnp.argsort(order, -2), (*turned.shape[:-1], 1))
    return jnp.take_along_axis(turned, back, -2)
