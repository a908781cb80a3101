"""Products of many matrices, in the order that costs least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    ArraysOnly,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
)
from functx._ops.shape.listing import listed_form

from .cheapest_order import chained


__all__ = ["chain_matmul"]


@overload
def chain_matmul(*matrices: ArrayOnly) -> Array: ...
@overload
def chain_matmul(matrices: Sequence[ArrayOnly]) -> Array: ...
@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    other_signatures=listed_form,
    autocast=Autocast.LOWER,
)
def chain_matmul(matrices: ArraysOnly) -> Array:
    r"""Product of `matrices`, $A_1 A_2 \cdots A_n$, in the order with the fewest multiplications.

    - `matrices`: one sequence, or several arguments: `chain_matmul(a, b, c)`. One matrix is its own
      product.

    Shapes: `[k0, k1], [k1, k2], ... -> [k0, kn]`.
    Dtypes: the same for all. Errors: TypeError for bools and for different dtypes, RuntimeError for
    shapes that do not fit.
    Source: Cormen et al., Introduction to Algorithms, section 14.2.

    >>> x = jnp.asarray([[1.0, 2.0]], "float32")
    >>> functx.chain_matmul(x, x.T, x)
    Array([[ 5., 10.]], dtype=float32)
    """
    if not matrices:
        refuse("expected at least one matrix, got none")
    for i, x in enumerate(matrices):
        if x.ndim != 2:
            refuse(f"`matrices[{i}]` must have 2 dimensions, got {describe(x)}")
        if i and x.shape[0] != matrices[i - 1].shape[1]:
            refuse(
                f"`matrices[{i}]` must have {matrices[i - 1].shape[1]} rows, "
                f"got {describe(x)} beside {describe(matrices[i - 1])}"
            )
    return chained(matrices)
