"""Products of vectors along a dimension, and of many matrices."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    ArraysOnly,
    Autocast,
    canonical_dim,
    describe,
    operator,
    Promote,
    refuse,
)
from functx._ops.products.cheapest_order import chained


__all__ = ["multi_dot", "vecdot"]


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def multi_dot(tensors: ArraysOnly) -> Array:
    r"""Product of matrices, $A_1 A_2 \cdots A_n$, in the order with the fewest multiplications.

    - `tensors`: a sequence of at least 2 matrices of one dtype. The first may be a row, `[k1]`, and
      the last a column, `[k(n-1)]`; the result lacks those dimensions.

    Shapes: `[k0, k1], [k1, k2], ... -> [k0, kn]`.
    Errors: RuntimeError for shapes that do not fit and fewer than 2 matrices, TypeError for unequal
    dtypes and bools.

    >>> x = jnp.asarray([1.0, 2.0], "float32")
    >>> functx.linalg.multi_dot([x, jnp.eye(2, dtype="float32"), x])
    Array(5., dtype=float32)
    """
    if len(tensors) < 2:
        refuse(f"`tensors` must be at least 2 matrices, got {len(tensors)}")
    last = len(tensors) - 1
    for i, x in enumerate(tensors):
        if not (x.ndim == 2 or (x.ndim == 1 and i in (0, last))):
            wanted = "1 or 2 dimensions" if i in (0, last) else "2 dimensions"
            refuse(f"`tensors[{i}]` must have {wanted}, got {describe(x)}")
    row, column = tensors[0].ndim == 1, tensors[last].ndim == 1
    matrices = list(tensors)
    if row:
        matrices[0] = matrices[0][None]
    if column:
        matrices[last] = matrices[last][:, None]
    for i in range(last):
        if matrices[i].shape[1] != matrices[i + 1].shape[0]:
            refuse(
                f"`tensors[{i + 1}]` must have {matrices[i].shape[1]} rows, got "
                f"{describe(tensors[i + 1])} beside {describe(tensors[i])}"
            )
    out = chained(matrices)
    return out.reshape(out.shape[row : 2 - column])


@operator(promote=Promote.SAME, accepts=Accepts.INEXACT, autocast=Autocast.LOWER)
def vecdot(x: ArrayOnly, y: ArrayOnly, *, dim: int = -1) -> Array:
    r"""Inner products of vectors along `dim`: $\sum_i \bar{x}_i y_i$.

    - `x`, `y`: arrays of vectors. Those of `x` are conjugated if they are complex.

    Shapes: `x` and `y` broadcast, and lose `dim`, which counts theirs after that.
    Dtypes: both have the same one.

    >>> x = jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32")
    >>> functx.linalg.vecdot(x, x)
    Array([ 5., 25.], dtype=float32)
    """
    x, y = jnp.broadcast_arrays(x, y)
    return jnp.sum(jnp.conj(x) * y, canonical_dim(dim, x.ndim))
