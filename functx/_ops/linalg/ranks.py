"""The rank of a matrix."""

from __future__ import annotations

from typing import Any, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    available,
    LONG,
    operator,
    Promote,
    UnpromotedArray,
)

from .matrix_arguments import check_matrices, hermitian as from_lower_half, nan_beside_infinities
from .tolerances import not_negligible, tolerances


__all__ = ["matrix_rank"]


def _tol_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """`matrix_rank(A, tol, hermitian)`, NumPy's, whose tolerance is absolute."""
    if len(args) in (2, 3):
        args, kwargs = args[:1], dict(zip(("tol", "hermitian"), args[1:], strict=False)) | kwargs
    if "tol" in kwargs and not {"atol", "rtol"} & {*kwargs}:
        given = dict(kwargs)
        tol = given.pop("tol")
        kwargs = given if tol is None else given | {"atol": tol, "rtol": 0.0}
    return args, kwargs


@overload
def matrix_rank(
    A: ArrayLike,
    *,
    atol: UnpromotedArray | None = None,
    rtol: UnpromotedArray | None = None,
    hermitian: bool = False,
) -> Array: ...
@overload
def matrix_rank(A: ArrayLike, tol: UnpromotedArray | None, hermitian: bool = False) -> Array: ...
@operator(
    promote=Promote.NONE,
    accepts=Accepts.LAPACK,
    differentiable=False,
    other_signatures=_tol_form,
    synonyms={"input": "A"},
    autocast_cpu=Autocast.FLOAT32,
)
def matrix_rank(
    A: ArrayLike,
    *,
    atol: UnpromotedArray | None = None,
    rtol: UnpromotedArray | None = None,
    hermitian: bool = False,
) -> Array:
    """Rank: how many singular values are greater than `max(atol, rtol * largest)`.

    - `A`: matrices, float32, float64 or complex.
    - `atol`, `rtol`: numbers, or arrays that broadcast with the batch of `A`. A None `atol` is 0; a
      None `rtol` is `max(m, n) * eps`, or 0 where `atol` is greater than 0.
    - `hermitian`: whether to read the lower triangle of `A` alone, and to take absolute
      eigenvalues.

    Shapes: `[..., m, n] -> [...]`.
    Dtypes: int64.
    Errors: RuntimeError if `A` has fewer than 2 dimensions, or is not square with `hermitian`.

    `matrix_rank(A, tol)`, NumPy's form, sets `atol`, and `rtol` to 0.

    >>> functx.linalg.matrix_rank(jnp.asarray([[1.0, 2.0], [2.0, 4.0]], "float32")).item()
    1
    """
    check_matrices(A, square=hermitian and A.size > 0)
    absolute, relative = tolerances(A, atol, rtol)
    shape = jnp.broadcast_shapes(A.shape[:-2], absolute.shape, relative.shape)
    if 0 in A.shape:
        return jnp.zeros(shape, available(LONG))
    A = nan_beside_infinities(A)
    if hermitian:
        values = lax.linalg.eigh(from_lower_half(A), symmetrize_input=False)[1]
        sizes = jnp.abs(values)
    else:
        sizes = lax.linalg.svd(A, compute_uv=False)
    kept = not_negligible(sizes, absolute, relative)
    return jnp.broadcast_to(jnp.sum(kept, -1, dtype=available(LONG)), shape)
