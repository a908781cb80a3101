"""Norms of matrices, and the condition numbers that they give."""

from __future__ import annotations

import functools as ft
import math
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    axes_of,
    describe,
    Dims,
    DType,
    operator,
    Promote,
    refuse,
)
from functx._core.numbers.bitwise_comparison import greatest, least
from functx._ops.quotients import quotient
from functx._ops.reductions.nuclear import nuclear_norm
from functx._ops.reductions.power_norms import vector_norm as norm_of_vectors
from functx._ops.reductions.ties import shared_evenly

from .linear_systems import inverse, singular_at
from .matrix_arguments import check_matrices
from .singular_value_functions import singular_value_sum
from .singular_value_rules import singular_values


__all__ = ["cond", "matrix_norm", "norm"]

_ORDERS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


@operator(
    promote=Promote.COMPLEX_TO_FLOAT,
    accepts=Accepts.INEXACT,
    dtype_may_narrow=False,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def matrix_norm(
    A: ArrayLike,
    ord: float | str = "fro",  # static: it chooses how to compute
    dim: Dims = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Array:
    r"""Norm of the matrices in the two dimensions `dim`.

    - `A`: an array of any floating or complex dtype.
    - `ord`: `"fro"`, $\sqrt{\sum_{ij} |a_{ij}|^2}$; `"nuc"`, the sum of the singular values; 2 and
      -2, the largest and the smallest of them; 1 and -1, the largest and the smallest sum of
      $|a_{ij}|$ over a column; `inf` and `-inf`, over a row.

    Shapes: `[..., m, ..., n, ...] -> [...]`; with `keepdim`, `m` and `n` become 1.
    Dtypes: real; computed in `dtype`, if given.
    Errors: RuntimeError for another `ord`, and where there are no rows or columns to choose from.
    The gradient is 0 for elements that are 0 and where the norm is; rows, columns and singular
    values that are largest (or smallest) share it evenly. Where a singular value is 0, that of
    `"nuc"` is the factor $U V^H$ that comes. A second derivative that is infinite counts as 0: of
    the square of `"fro"` write `functx.square(A).sum((-2, -1))`.

    >>> functx.linalg.matrix_norm(jnp.asarray([[1.0, -2.0], [3.0, 4.0]], "float32"), 1)
    Array(6., dtype=float32)
    """
    return _matrix_norm(A, ord, dim, keepdim)


@operator(
    promote=Promote.COMPLEX_TO_FLOAT,
    accepts=Accepts.INEXACT,
    dtype_may_narrow=False,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def norm(
    A: ArrayLike,
    ord: float | str | None = None,  # static: it chooses how to compute
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Array:
    r"""Norm of vectors over one dimension, or of matrices over two.

    - `A`: an array of any floating or complex dtype.
    - `ord`: which norm. For vectors a real number p, $\big(\sum_i |x_i|^p\big)^{1/p}$, with `inf`,
      `-inf` and 0 for the largest and smallest magnitude and the number of nonzero elements. For
      matrices `"fro"`, `"nuc"`, 2, -2 (singular values), 1, -1 (sums over columns), `inf` or `-inf`
      (over rows). None is 2, for the elements of matrices as one vector.
    - `dim`: one dimension or two. None is all those of `A`, which then has one or two, or, if `ord`
      is None too, any number.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype in which the norm is computed, as wide as that of `A` or wider. None is
      that of `A`.

    Shapes: `[..., n, ...] -> [..., ...]` for vectors, `[..., m, ..., n, ...] -> [...]` for
    matrices.
    Dtypes: real.
    Gradients: those of `functx.linalg.vector_norm` and `functx.linalg.matrix_norm`.
    Errors: RuntimeError for another `ord`, another number of dimensions, and no elements to choose
    from; TypeError for a complex `ord` and a narrower `dtype`.

    >>> functx.linalg.norm(jnp.asarray([[3.0, 4.0], [6.0, 8.0]], "float32"), dim=1)
    Array([ 5., 10.], dtype=float32)
    """
    given = dim is not None
    axes = axes_of(dim, A.ndim)
    if given and (len(axes) not in (1, 2) or dim == ()):
        refuse(f"`dim` must be one dimension or two, got {dim}")
    if not given and ord is not None and A.ndim not in (1, 2):
        refuse(f"`dim` must be given for `ord`, unless `A` is [n] or [m, n], got {describe(A)}")
    if ord is not None and (isinstance(ord, str) or len(axes) == 2):
        return _matrix_norm(A, ord, axes, keepdim)
    if isinstance(ord, complex):
        refuse(f"`ord` must be a real number, got {ord!r}", error=TypeError)
    out = norm_of_vectors(A, 2.0 if ord is None else float(ord), axes)
    return jnp.expand_dims(out, axes) if keepdim else out


@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def cond(A: ArrayLike, p: float | str | None = None) -> Array:
    r"""Condition number: $\|A\|_p \|A^{-1}\|_p$.

    - `A`: matrices, float32, float64 or complex. They must be square, unless `p` is None, 2 or -2.
    - `p`: which norm: `"fro"`, $\sqrt{\sum_{ij} |a_{ij}|^2}$; `"nuc"`, the sum of singular values;
      1 and -1, the largest and the smallest sum of magnitudes over a column; `inf` and `-inf`, over
      a row. None and 2 are the quotient of the largest singular value and the smallest, -2 that of
      the smallest and the largest.

    Shapes: `[..., m, n] -> [...]`.
    Dtypes: real, as precise as `A`.
    Errors: RuntimeError for another `p`, and for matrices that must be square and are not. Singular
    matrices give infinity; where all elements are 0, singular values give NaN. Matrices without
    elements give 0.

    >>> functx.linalg.cond(jnp.asarray([[2.0, 0.0], [0.0, 8.0]], "float32"))
    Array(4., dtype=float32)
    """
    if p is not None and p not in _ORDERS:
        refuse(f"`p` must be None or one of {_names()}, got {p!r}")
    check_matrices(A, square=p not in (None, 2, -2))
    if 0 in A.shape[-2:]:
        return jnp.zeros(A.shape[:-2], jnp.finfo(A.dtype).dtype)
    if p == "nuc":
        return singular_value_sum(A, lambda s: s) * singular_value_sum(A, lambda s: 1 / s)
    if p in (None, 2, -2):
        values = singular_values(A)
        ends = values[..., 0], values[..., -1]
        return quotient(*(reversed(ends) if p == -2 else ends))
    singular = singular_at(A) > 0
    identity = jnp.eye(A.shape[-1], dtype=A.dtype)
    regular = jnp.where(singular[..., None, None], identity, A)
    out = _matrix_norm(A, p, (-2, -1)) * _matrix_norm(inverse(regular), p, (-2, -1))
    return jnp.where(singular, jnp.inf, out)


def _matrix_norm(A: Array, ord: float | str, dim: Dims, keepdim: bool = False) -> Array:
    if ord not in _ORDERS:
        refuse(f"`ord` must be one of {_names()}, got {ord!r}")
    check_matrices(A)
    axes = axes_of(dim, A.ndim)
    if len(axes) != 2 or not dim:
        refuse(f"`dim` must name the two dimensions of a matrix, got {dim}")
    out = _of_order(A, ord, *axes)
    return jnp.expand_dims(out, axes) if keepdim else out


def _of_order(A: Array, ord: Any, rows: int, columns: int) -> Array:
    if ord == "fro":
        return norm_of_vectors(A, 2, (rows, columns))
    A = jnp.moveaxis(A, (rows, columns), (-2, -1))
    if ord == "nuc":
        return nuclear_norm(A)
    if abs(ord) == 2:
        sizes = singular_values(A)
    else:
        sizes = norm_of_vectors(A, 1, (A.ndim - (2 if abs(ord) == 1 else 1),))
    return _extreme(sizes, ord)


def _extreme(sizes: Array, ord: float) -> Array:
    """The largest along the last dimension, which is 0 of none, or the smallest."""
    if not sizes.shape[-1]:
        if ord < 0:
            refuse(f"expected elements to choose from for ord={ord}")
        return jnp.sum(sizes, -1)
    axes = (sizes.ndim - 1,)
    choose = ft.partial(greatest if ord > 0 else least, axis=axes)
    return shared_evenly(choose, axes)(sizes)


def _names() -> str:
    return ", ".join(repr(name) for name in _ORDERS)
