"""Products of groups of matrices. The sizes of the groups are values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    describe,
    DType,
    Index,
    operator,
    Promote,
    refuse,
    Requirement,
)

from .groups_of_rows import columns_by_rows, rows_by_matrices


__all__ = ["grouped_mm"]


def _ends_fit(*, mat_a: Any, mat_b: Any, offs: Any, **_: Any) -> Iterator[Requirement]:
    if offs is None or offs.ndim != 1 or {mat_a.ndim, mat_b.ndim} - {2, 3}:
        return
    length = mat_a.shape[-1] if mat_b.ndim == mat_a.ndim else _jagged(mat_a, mat_b)
    inside = (offs >= 0) & (offs <= length)
    yield Requirement(inside, f"`offs` must lie in [0, {length}], got {{got}}", offs)
    yield Requirement(offs[1:] >= offs[:-1], "`offs` must not decrease, got {got}", offs[1:])


def _jagged(mat_a: Any, mat_b: Any) -> int:
    return mat_a.shape[0] if mat_a.ndim == 2 else mat_b.shape[-1]


@operator(promote=Promote.SAME, accepts=Accepts.FLOATING, requires=_ends_fit)
def grouped_mm(
    mat_a: ArrayOnly,
    mat_b: ArrayOnly,
    *,
    offs: Index | None = None,
    bias: None = None,
    out_dtype: DType | None = None,
) -> Array:
    """A matrix product for each of some groups, as in mixtures of experts.

    Shapes, for `g` groups and `offs: [g]`: `mat_a` and `mat_b` give

    - `[m, k], [g, k, n] -> [m, n]`: each group of rows is multiplied by its own matrix;
    - `[g, m, k], [k, n] -> [m, n]`: each matrix is multiplied by its own group of columns;
    - `[m, k], [k, n] -> [g, m, n]`: groups of columns are multiplied by groups of rows;
    - `[g, m, k], [g, k, n] -> [g, m, n]`, without `offs`: the product of `bmm`.

    The options are

    - `offs`: the place where each group ends along the dimension that holds all groups, one after
      the other; elements after the last group count for nothing.
    - `bias`: must be None, as in PyTorch.
    - `out_dtype`: None or the dtype of the arguments, as in PyTorch.

    Where there is no group, the result is 0; PyTorch leaves there what the memory held. PyTorch's
    kernels also demand certain dtypes and strides.
    Errors: RuntimeError for shapes that do not fit, and for `offs` that decrease or lie outside, in
    eager calls on the CPU; TypeError for dtypes and for a `bias`.

    >>> rows = jnp.asarray([[1.0], [2.0], [3.0]], "float32")
    >>> by = jnp.asarray([[[10.0]], [[100.0]]], "float32")
    >>> functx.nn.functional.grouped_mm(rows, by, offs=jnp.asarray([1, 3], "int32")).ravel()
    Array([ 10., 200., 300.], dtype=float32)
    """
    _check_shapes(mat_a, mat_b, offs)
    if bias is not None:
        refuse("`bias` must be None", hint="add it to the result", error=TypeError)
    if out_dtype is not None and np.dtype(out_dtype) != mat_a.dtype:
        message = f"`out_dtype` must be that of {describe(mat_a)}, got {np.dtype(out_dtype).name}"
        refuse(message, hint="x.astype(dtype) converts the arguments", error=TypeError)
    if offs is None:
        return jnp.matmul(mat_a, mat_b)
    ends = offs.astype(np.int32)
    if mat_a.ndim == mat_b.ndim:
        return columns_by_rows(mat_a, mat_b, ends)
    if mat_a.ndim == 2:
        return rows_by_matrices(mat_a, mat_b, ends)
    return rows_by_matrices(mat_b.mT, mat_a.mT, ends).mT


def _check_shapes(mat_a: Array, mat_b: Array, offs: Array | None) -> None:
    came = f"{describe(mat_a)} and {describe(mat_b)}"
    if {mat_a.ndim, mat_b.ndim} - {2, 3}:
        refuse(f"`mat_a` and `mat_b` must have 2 or 3 dimensions, got {came}")
    if mat_a.shape[-1] != mat_b.shape[-2]:
        refuse(f"`mat_a` must have as many columns as `mat_b` rows, got {came}")
    batches = [x.shape[0] for x in (mat_a, mat_b) if x.ndim == 3]
    if (offs is None) != (len(batches) == 2):
        refuse(
            f"`offs` must be given where one of the two is a matrix, and only there, got {came} "
            f"and {'no `offs`' if offs is None else describe(offs)}"
        )
    if offs is None and batches[0] != batches[1]:
        refuse(f"`mat_a` and `mat_b` must be as many matrices, got {came}")
    if offs is not None and (offs.ndim != 1 or (batches and offs.shape[0] != batches[0])):
        wanted = f"[{batches[0]}], an end for each group" if batches else "of 1 dimension"
        refuse(f"`offs` must be {wanted}, got {describe(offs)}")
