"""Several arrays as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    ArrayLike,
    Arrays,
    Autocast,
    canonical_dim,
    default_float,
    describe,
    operator,
    Promote,
    refuse,
)

from .least_ranks import at_least
from .listing import listed_form


__all__ = ["block_diag", "cat", "column_stack", "dstack", "hstack", "stack", "vstack"]


@operator(
    promote=Promote.NO_OPMATH, aliases=("concat", "concatenate"), autocast_cpu=Autocast.WIDEST
)
def cat(tensors: Arrays, dim: int = 0) -> Array:
    """Joins arrays behind one another, along a dimension that they have.

    - `tensors`: a sequence of arrays. Those of shape `[0]` are left out.
    - `dim`: the dimension along which they are joined.

    Shapes: `[..., m, ...], [..., n, ...] -> [..., m + n, ...]`; sizes agree in the other
    dimensions.
    Dtypes: the one to which all arrays promote.
    Errors: RuntimeError for other sizes and 0-d arrays, IndexError if the arrays do not have `dim`,
    ValueError for an empty sequence.

    >>> functx.cat([jnp.asarray([1, 2], "int32"), jnp.asarray([3.0], "float32")])
    Array([1., 2., 3.], dtype=float32)
    """
    _check_several(tensors)
    for i, x in enumerate(tensors):
        if not x.ndim:
            refuse(f"`tensors[{i}]` must have a dimension, got {describe(x)}", hint="try `stack`")
    return _joined(tensors, dim)


@operator(promote=Promote.NO_OPMATH, autocast_cpu=Autocast.WIDEST)
def stack(tensors: Arrays, dim: int = 0) -> Array:
    """Joins arrays of one shape along a new dimension.

    - `tensors`: a sequence of arrays.
    - `dim`: the number that the new dimension has in the result.

    Shapes: with $k$ arrays, `[m, n] -> [k, m, n]` for `dim=0`, `[m, n, k]` for `dim=-1`.
    Dtypes: the one to which all arrays promote.
    Errors: RuntimeError for unequal shapes, IndexError if the result does not have `dim`,
    ValueError for an empty sequence.

    >>> functx.stack([jnp.zeros(2, "float32"), jnp.ones(2, "float32")], -1)
    Array([[0., 1.],
           [0., 1.]], dtype=float32)
    """
    _check_several(tensors)
    if len({x.shape for x in tensors}) > 1:
        refuse(f"`tensors` must have one shape, got {_shown(tensors)}")
    dim = canonical_dim(dim, tensors[0].ndim + 1)
    return lax.concatenate([lax.expand_dims(x, [dim]) for x in tensors], dim)


@operator(promote=Promote.NO_OPMATH, zero_dim_promotes_alike=True, autocast_cpu=Autocast.WIDEST)
def hstack(tensors: Arrays) -> Array:
    """Joins arrays side by side: vectors along dimension 0, all others along dimension 1.

    - `tensors`: a sequence of arrays. A 0-d array counts as `[1]`.

    Shapes: `[m], [n] -> [m + n]`, `[k, m, ...], [k, n, ...] -> [k, m + n, ...]`.
    Dtypes: the one to which all arrays promote.
    Errors: RuntimeError if sizes differ in the other dimensions, ValueError for an empty sequence.

    >>> functx.hstack([jnp.zeros((2, 1), "float32"), jnp.ones((2, 2), "float32")])
    Array([[0., 1., 1.],
           [0., 1., 1.]], dtype=float32)
    """
    _check_several(tensors)
    rows = [at_least(x, 1) for x in tensors]
    return _joined(rows, 0 if rows[0].ndim == 1 else 1)


@operator(
    promote=Promote.NO_OPMATH,
    zero_dim_promotes_alike=True,
    aliases=("row_stack",),
    autocast_cpu=Autocast.WIDEST,
)
def vstack(tensors: Arrays) -> Array:
    """Joins arrays on top of one another, along dimension 0; a vector counts as a row.

    - `tensors`: a sequence of arrays. `[n]` counts as `[1, n]`, `[]` as `[1, 1]`.

    Shapes: `[k, n, ...], [m, n, ...] -> [k + m, n, ...]`.
    Dtypes: the one to which all arrays promote.
    Errors: RuntimeError if sizes differ in the other dimensions, ValueError for an empty sequence.

    >>> functx.vstack([jnp.zeros(2, "float32"), jnp.ones((2, 2), "float32")])
    Array([[0., 0.],
           [1., 1.],
           [1., 1.]], dtype=float32)
    """
    _check_several(tensors)
    return _joined([at_least(x, 2) for x in tensors], 0)


@operator(promote=Promote.NO_OPMATH, zero_dim_promotes_alike=True, autocast_cpu=Autocast.WIDEST)
def dstack(tensors: Arrays) -> Array:
    """Joins arrays behind one another, along dimension 2.

    - `tensors`: a sequence of arrays. `[m, n]` counts as `[m, n, 1]`, `[n]` as `[1, n, 1]`, `[]` as
      `[1, 1, 1]`.

    Shapes: `[m, n, k, ...], [m, n, l, ...] -> [m, n, k + l, ...]`.
    Dtypes: the one to which all arrays promote.
    Errors: RuntimeError if sizes differ in the other dimensions, ValueError for an empty sequence.

    >>> functx.dstack([jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([3.0, 4.0], "float32")])
    Array([[[1., 3.],
            [2., 4.]]], dtype=float32)
    """
    _check_several(tensors)
    return _joined([at_least(x, 3) for x in tensors], 2)


@operator(promote=Promote.NO_OPMATH, zero_dim_promotes_alike=True, autocast_cpu=Autocast.WIDEST)
def column_stack(tensors: Arrays) -> Array:
    """Joins arrays side by side, along dimension 1; a vector counts as a column.

    - `tensors`: a sequence of arrays. `[n]` counts as `[n, 1]`, `[]` as `[1, 1]`.

    Shapes: `[k, m, ...], [k, n, ...] -> [k, m + n, ...]`.
    Dtypes: the one to which all arrays promote.
    Errors: RuntimeError if sizes differ in the other dimensions, ValueError for an empty sequence.

    >>> functx.column_stack([jnp.asarray([1.0, 2.0], "float32"), jnp.zeros((2, 1), "float32")])
    Array([[1., 0.],
           [2., 0.]], dtype=float32)
    """
    _check_several(tensors)
    return _joined([x if x.ndim > 1 else lax.reshape(x, (x.size, 1)) for x in tensors], 1)


@overload
def block_diag(*tensors: ArrayLike) -> Array: ...
@overload
def block_diag(tensors: Sequence[ArrayLike]) -> Array: ...
@operator(promote=Promote.NO_OPMATH, other_signatures=listed_form)
def block_diag(tensors: Arrays) -> Array:
    """The matrix with given matrices along its diagonal, and zeros elsewhere.

    - `tensors`: matrices, one after another or in one list. `[n]` counts as `[1, n]`, `[]` as
      `[1, 1]`.

    Shapes: `[m1, n1], [m2, n2], ... -> [m1 + m2 + ..., n1 + n2 + ...]`; no matrices give `[1, 0]`.
    Dtypes: the one to which all matrices promote.
    Errors: RuntimeError for an array of 3 or more dimensions.

    >>> column, row = jnp.asarray([[1.0], [2.0]], "float32"), jnp.asarray([3.0, 4.0], "float32")
    >>> functx.block_diag(column, row)
    Array([[1., 0., 0.],
           [2., 0., 0.],
           [0., 3., 4.]], dtype=float32)
    """
    if not tensors:
        return jnp.zeros((1, 0), default_float())
    for i, x in enumerate(tensors):
        if x.ndim > 2:
            refuse(f"`tensors[{i}]` must have at most 2 dimensions, got {describe(x)}")
    blocks = [at_least(x, 2) for x in tensors]
    zero = np.zeros((), blocks[0].dtype)
    width, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        behind = width - before - x.shape[1]
        rows.append(lax.pad(x, zero, [(0, 0, 0), (before, behind, 0)]))
        before += x.shape[1]
    return lax.concatenate(rows, 0)


def _joined(tensors: Sequence[Array], dim: int) -> Array:
    """The arrays joined along `dim`; those of shape `[0]` fit anywhere, as in PyTorch."""
    joined = [x for x in tensors if x.shape != (0,)] or list(tensors[:1])
    dim = canonical_dim(dim, joined[0].ndim)
    others = lambda x: x.shape[:dim] + x.shape[dim + 1 :]
    for x in joined:
        if x.ndim != joined[0].ndim or others(x) != others(joined[0]):
            refuse(f"`tensors` must agree in shape but for dimension {dim}, got {_shown(tensors)}")
    return lax.concatenate(joined, dim)


def _check_several(tensors: Any) -> None:
    """Refuses a call without arrays, and None in the place of an array."""
    if not tensors:
        refuse("`tensors` must not be empty", error=ValueError)
    for i, x in enumerate(tensors):
        if x is None:
            refuse(f"`tensors[{i}]` must be an array, got None", error=TypeError)


def _shown(tensors: Any) -> str:
    """The dtypes and shapes of arrays, for errors."""
    return ", ".join(map(describe, tensors))
