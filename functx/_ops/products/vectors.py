"""Products of vectors that lie along a dimension."""

from __future__ import annotations

from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    category,
    compute_and_result,
    describe,
    Dim,
    operator,
    Promote,
    promoted,
    refuse,
    result_dtype,
)

from .crossing import cross_product
from .operands import check_inner, check_ranks


__all__ = ["cross", "inner", "vdot"]


# With a 0-d array, `inner` is a product of elements, which promotes; hence `Promote.NONE`.
@operator(
    promote=Promote.NONE,
    accepts=Accepts.NUMBER,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.LOWER,
)
def inner(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Products of the vectors along the last dimensions of `input` and `other`, each with each.

    This is $y_{ij} = \sum_k x_{ik} z_{jk}$, without conjugation. A 0-d array scales the other one.

    Shapes: `[..., k], [*c, k] -> [..., *c]`.
    Dtypes: the same for both; a 0-d array promotes as in `functx.mul`.
    Errors: TypeError for bools and for two dtypes, RuntimeError for last dimensions that differ.

    >>> x = jnp.asarray([1.0, 2.0], "float32")
    >>> functx.inner(x, jnp.asarray([[3.0, 4.0], [5.0, 6.0]], "float32"))
    Array([11., 17.], dtype=float32)
    """
    if input.ndim == 0 or other.ndim == 0:
        compute, result = compute_and_result(Promote.DEFAULT, result_dtype([input, other]))
        factor = promoted(other, result, compute, unrounded=True)
        return (promoted(input, result, compute) * factor).astype(result)
    if input.dtype != other.dtype:
        refuse(
            f"arrays must have the same dtype, got {describe(input)}, {describe(other)}",
            error=TypeError,
        )
    if input.shape[-1] != other.shape[-1]:
        refuse(
            "the last dimensions of `input` and `other` must have the same length, "
            f"got {describe(input)} and {describe(other)}"
        )
    return lax.dot_general(input, other, (((input.ndim - 1,), (other.ndim - 1,)), ((), ())))


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.KEEP,
)
def vdot(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Product of the vectors `input`, conjugated, and `other`: $y = \sum_k \bar{x}_k z_k$.

    Shapes: `[k], [k] -> []`.
    Dtypes: the same for both.
    Errors: TypeError for bools and for two dtypes, RuntimeError for shapes that do not fit.

    >>> x = jnp.asarray([1 + 2j, 3j], "complex64")
    >>> functx.vdot(x, x)
    Array(14.+0.j, dtype=complex64)
    """
    check_ranks(input=(input, 1), other=(other, 1))
    check_inner(input, other, "other")
    return (lax.conj(input) if category(input.dtype) == 3 else input) @ other


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.KEEP,
)
def cross(input: ArrayOnly, other: ArrayOnly, dim: Dim | None = None) -> Array:
    """Cross product of the vectors `input` and `other` along `dim`.

    $y_0 = x_1 z_2 - x_2 z_1$, and so on in a circle. Complex numbers are not conjugated.

    - `dim`: by default the first dimension of `input` that has length 3, which is a trap:
      `functx.linalg.cross` takes the last one.

    Shapes: both have one rank and length 3 along `dim`; their other dimensions broadcast.
    Dtypes: the same for both. float16 and bfloat16 are computed in float32.
    Errors: TypeError for bools and for two dtypes, RuntimeError for shapes that do not fit.

    >>> x, y = jnp.eye(3, dtype="float32")[:2]
    >>> functx.cross(x, y)
    Array([0., 0., 1.], dtype=float32)
    """
    if dim is None:
        if 3 not in input.shape:
            refuse(f"`input` must have a dimension of length 3, got {describe(input)}")
        dim = list(input.shape).index(3)
    return cross_product(input, other, dim)
