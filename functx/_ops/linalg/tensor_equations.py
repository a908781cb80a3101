"""Linear equations between tensors, whose first and last dimensions are rows and columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    canonical_dim,
    describe,
    operator,
    Promote,
    refuse,
    Requirement,
)

from .linear_systems import inverse, nonsingular, solution


__all__ = ["tensorinv", "tensorsolve"]


def _inverse_exists(*, A: Any, ind: int = 2, **_: Any) -> Iterator[Requirement]:
    if 0 < ind <= A.ndim and A.size and _is_square(A.shape, ind):
        yield nonsingular(_as_matrix(A, ind))


def _solution_exists(*, A: Any, B: Any, dims: Any = None, **_: Any) -> Iterator[Requirement]:
    A = _moved(A, dims)
    if A.size and _is_square(A.shape, B.ndim):
        yield nonsingular(_as_matrix(A, B.ndim))


@operator(
    accepts=Accepts.LAPACK,
    requires=_inverse_exists,
    checked_on_request=True,
    autocast_cpu=Autocast.FLOAT32,
)
def tensorinv(A: ArrayLike, ind: int = 2) -> Array:
    """Inverse of a tensor as a linear map from its last dimensions to its first ones.

    - `A`: a tensor, float32, float64 or complex. The inverse keeps its dtype.
    - `ind`: how many of the dimensions are the first ones, at least 1.

    Shapes: `[*m, *n]` with `ind` dimensions in `m`, and as many elements in `m` as in `n`, gives
    `[*n, *m]`; `functx.tensordot(tensorinv(A), A, ind)` is the identity.
    Errors: ValueError unless `ind` is positive, RuntimeError for shapes that do not fit. Where the
    map has no inverse, the result is infinite or NaN, and a `LinAlgError` under
    `functx.debug.checked` and in `functx.debug.checking()`.

    >>> A = 2 * jnp.eye(6, dtype="float32").reshape(6, 2, 3)
    >>> functx.linalg.tensorinv(A, ind=1).shape
    (2, 3, 6)
    """
    if ind < 1:
        refuse(f"`ind` must be positive, got {ind}", error=ValueError)
    if ind > A.ndim:
        refuse(f"`A` must have at least ind={ind} dimensions, got {describe(A)}")
    if not _is_square(A.shape, ind):
        refuse(
            f"`A` must have as many elements in its first {ind} dimensions as in the others, got "
            f"{describe(A)}"
        )
    out = inverse(_as_matrix(A, ind))
    return out.reshape(*A.shape[ind:], *A.shape[:ind])


@operator(
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    requires=_solution_exists,
    checked_on_request=True,
    autocast_cpu=Autocast.FLOAT32,
)
def tensorsolve(A: ArrayLike, B: ArrayLike, dims: Sequence[int] | None = None) -> Array:
    """Solution `X` of `functx.tensordot(A, X, X.ndim) == B`.

    - `A`: a tensor, float32, float64 or complex.
    - `B`: a tensor of the same dtype.
    - `dims`: dimensions of `A` that are moved to its end first, in this order; None moves none.

    Shapes: `A: [*b, *x]` and `B: [*b]`, with as many elements in `b` as in `x`, give `[*x]`.
    Errors: RuntimeError for shapes that do not fit, TypeError for unequal dtypes. Where the
    equation has no solution, the result is infinite or NaN, and a `LinAlgError` under
    `functx.debug.checked` and in `functx.debug.checking()`.

    >>> A = 2 * jnp.eye(6, dtype="float32").reshape(6, 2, 3)
    >>> functx.linalg.tensorsolve(A, jnp.ones(6, "float32")).shape
    (2, 3)
    """
    A = _moved(A, dims)
    if not _is_square(A.shape, B.ndim) or A.size != B.size**2:
        refuse(
            f"`A` must have the shape of `B` and then one of as many elements, got {describe(A)} "
            f"and {describe(B)}"
        )
    out = solution(_as_matrix(A, B.ndim), B.reshape(B.size), left=True)
    return out.reshape(A.shape[B.ndim :])


def _moved(A: Array, dims: Sequence[int] | None) -> Array:
    """`A` with these dimensions at its end."""
    if dims is None:
        return A
    last = [canonical_dim(dim, A.ndim, "dims") for dim in dims]
    if len(set(last)) < len(last):
        refuse(f"`dims` must not repeat a dimension, got {dims}")
    return jnp.moveaxis(A, last, range(A.ndim - len(last), A.ndim))


def _is_square(shape: tuple[int, ...], rows: int) -> bool:
    return math.prod(shape[:rows]) == math.prod(shape[rows:])


def _as_matrix(A: Array, rows: int) -> Array:
    return A.reshape(math.prod(A.shape[:rows]), math.prod(A.shape[rows:]))
