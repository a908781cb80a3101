"""The meaning of a derivative that is given: a linear map of tangents, and its transpose."""

# JAX itself is typed in part.
# pyright: strict, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array
from jax.interpreters import ad

from functx._core.primitives.mapped_axes import MappedAxis

from .tangent_types import ArrayType


Leaves: TypeAlias = tuple[Array, ...]
BatchDims: TypeAlias = tuple[int | None, ...]  # of each operand, if it is mapped
TangentOrZero: TypeAlias = Array | ad.Zero  # a tangent or a cotangent; `Zero` is a known one
Tangents: TypeAlias = Sequence[TangentOrZero]
# Primals, outputs, and tangents or cotangents, to cotangents or tangents.
LinearMap: TypeAlias = Callable[[Leaves, Leaves, Leaves], Leaves]
# The same where `None` stands for a cotangent that is known to be zero.
Transpose: TypeAlias = Callable[[Leaves, Leaves, Any], Sequence[Array | None]]


class TangentMap:
    """The meaning of one `function_tangent`, and its transpose.

    `apply(primals, outputs, tangents)` and `transpose(primals, outputs, cotangents)` take and
    return tuples: the tangents of the active inputs, the cotangents of the inexact outputs.
    `transpose` may return `None` for a cotangent, and with `symbolic` it takes `None` for each that
    is known to be zero.
    """

    def __init__(
        self, name: str, apply: LinearMap, transpose: Transpose, *, symbolic: bool = False
    ) -> None:
        self.name, self.apply, self.transpose = name, apply, transpose
        self.symbolic = symbolic

    def __repr__(self) -> str:
        return self.name

    def batched(
        self,
        axis: MappedAxis,
        primal_dims: BatchDims,
        output_dims: BatchDims | int,
        tangent_dims: BatchDims,
    ) -> TangentMap:
        """The same along a new first axis of all operands whose dim is not `None`, but 0."""
        apply = axis.map(self.apply, (primal_dims, output_dims, tangent_dims))

        def transpose(primals: Leaves, outputs: Leaves, cotangents: Any) -> Sequence[Array | None]:
            if all(ct is None for ct in cotangents):  # nothing to map over, it may be
                return [None] * len(tangent_dims)
            dims = (primal_dims, output_dims, (0,) * len(cotangents))
            each = axis.map(self.transpose, dims)(primals, outputs, cotangents)
            return tuple(
                jnp.sum(c, 0) if dim is None and c is not None else c
                for c, dim in zip(each, tangent_dims, strict=True)
            )

        return TangentMap(self.name, apply, transpose, symbolic=self.symbolic)


def transposed(
    linear: Callable[[Leaves], Sequence[Array]], types: Iterable[ArrayType], cotangents: Leaves
) -> Leaves:
    """The transpose of `linear`, which maps arrays of these types to a tuple, at `cotangents`."""
    return jax.linear_transpose(lambda *xs: tuple(linear(xs)), *types)(tuple(cotangents))
