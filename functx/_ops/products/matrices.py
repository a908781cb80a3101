"""Products of matrices and vectors.

All of them are one `lax.dot_general`, but for many small matrices on CPUs. Its precision is JAX's:
full float32 on CPUs, and on accelerators what `jax.default_matmul_precision` says, which may be
TF32 or bfloat16 passes; `with jax.default_matmul_precision("highest"):` asks for full float32
everywhere. Halves accumulate in float32, integers wrap around in their own dtype.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
)

from .operands import check_inner, check_ranks
from .row_products import row_products
from .small_products import many_small, small_products


__all__ = ["bmm", "dot", "matmul", "mm", "mv"]


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    aliases=("linalg.matmul",),
    autocast=Autocast.LOWER,
)
def matmul(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Matrix product of `input` and `other`: $y_{ij} = \sum_k x_{ik} z_{kj}$, batched.

    Shapes: `[*b, m, k], [*b, k, n] -> [*b, m, n]`; the batch dimensions broadcast. A vector on the
    left is a row, on the right a column, and its dimension is missing in the result.
    Dtypes: the same for both. float16 and bfloat16 accumulate in float32, integers wrap.
    Errors: TypeError for bools and for two dtypes, RuntimeError for shapes that do not fit.

    >>> functx.matmul(jnp.asarray([[1.0, 2.0]], "float32"), jnp.asarray([3.0, 4.0], "float32"))
    Array([11.], dtype=float32)
    """
    if input.ndim == 0 or other.ndim == 0:
        refuse(
            "`input` and `other` must have at least 1 dimension, "
            f"got {describe(input)} and {describe(other)}"
        )
    if input.shape[-1] != other.shape[-min(other.ndim, 2)]:
        refuse(
            "the last dimension of `input` must be as long as the rows of `other`, "
            f"got {describe(input)} and {describe(other)}"
        )
    if many_small(input, other):
        return small_products(input, other)
    if input.ndim > 2 and other.ndim == 2:
        return row_products(input, other)
    return jnp.matmul(input, other)


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def mm(input: ArrayOnly, mat2: ArrayOnly) -> Array:
    r"""Product of the matrices `input` and `mat2`: $y_{ij} = \sum_k x_{ik} z_{kj}$.

    Shapes: `[m, k], [k, n] -> [m, n]`.
    Dtypes: the same for both. float16 and bfloat16 accumulate in float32, integers wrap.
    Errors: TypeError for bools and for two dtypes, RuntimeError for shapes that do not fit.

    >>> functx.mm(jnp.asarray([[1.0, 2.0]], "float32"), jnp.asarray([[3.0], [4.0]], "float32"))
    Array([[11.]], dtype=float32)
    """
    check_ranks(input=(input, 2), mat2=(mat2, 2))
    check_inner(input, mat2, "mat2")
    return input @ mat2


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def bmm(input: ArrayOnly, mat2: ArrayOnly) -> Array:
    r"""Products of matrices in the batches `input` and `mat2`: $y_{bij} = \sum_k x_{bik} z_{bkj}$.

    Shapes: `[b, m, k], [b, k, n] -> [b, m, n]`; the batch does not broadcast.
    Dtypes: the same for both. float16 and bfloat16 accumulate in float32, integers wrap.
    Errors: TypeError for bools and for two dtypes, RuntimeError for shapes that do not fit.

    >>> functx.bmm(jnp.ones((2, 1, 3), "float32"), jnp.ones((2, 3, 1), "float32")).shape
    (2, 1, 1)
    """
    check_ranks(input=(input, 3), mat2=(mat2, 3))
    if input.shape[0] != mat2.shape[0]:
        refuse(
            "`input` and `mat2` must be as many matrices, "
            f"got {describe(input)} and {describe(mat2)}",
            hint="functx.matmul broadcasts the batch",
        )
    check_inner(input, mat2, "mat2")
    if many_small(input, mat2):
        return small_products(input, mat2)
    return lax.dot_general(input, mat2, (((2,), (1,)), ((0,), (0,))))


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    autocast=Autocast.LOWER,
    autocast_cpu=Autocast.KEEP,
)
def mv(input: ArrayOnly, vec: ArrayOnly) -> Array:
    r"""Product of the matrix `input` and the vector `vec`: $y_i = \sum_k x_{ik} v_k$.

    Shapes: `[m, k], [k] -> [m]`.
    Dtypes: the same for both. float16 and bfloat16 accumulate in float32, integers wrap.
    Errors: TypeError for bools and for two dtypes, RuntimeError for shapes that do not fit.

    >>> functx.mv(jnp.asarray([[1.0, 2.0]], "float32"), jnp.asarray([3.0, 4.0], "float32"))
    Array([11.], dtype=float32)
    """
    check_ranks(input=(input, 2), vec=(vec, 1))
    check_inner(input, vec, "vec")
    return input @ vec


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.KEEP,
)
def dot(input: ArrayOnly, tensor: ArrayOnly) -> Array:
    r"""Product of the vectors `input` and `tensor`, without conjugation: $y = \sum_k x_k z_k$.

    Shapes: `[k], [k] -> []`.
    Dtypes: the same for both. float16 and bfloat16 accumulate in float32, integers wrap.
    Errors: TypeError for bools and for two dtypes, RuntimeError for shapes that do not fit.

    >>> functx.dot(jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([3.0, 4.0], "float32"))
    Array(11., dtype=float32)
    """
    check_ranks(input=(input, 1), tensor=(tensor, 1))
    check_inner(input, tensor, "tensor")
    return input @ tensor
