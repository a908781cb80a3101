"""An equation of a recorded program, as the rules of primitives see it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
from jax import Array

from functx._core.jax_compat import JaxprEqn, Literal
from functx._core.shapes.symbolic_sizes import known, Size
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.walking import type_of

from .sizes import LaneSizes, ragged_dims


class CannotHonour(Exception):
    """A rule's objection, of which the visitor makes an error that names the operator."""


@dataclasses.dataclass(frozen=True)
class PaddedEquation:
    """An equation at symbolic sizes, with padded arrays for its operands.

    - `operands`: of which the padding may hold anything.
    - `shapes`, `out_shapes`: of the operands and of the results, with symbolic sizes.
    """

    eqn: JaxprEqn
    operands: list[Array]
    sizes: LaneSizes

    @property
    def params(self) -> dict[str, Any]:
        return self.eqn.params

    @property
    def shapes(self) -> list[tuple[Size, ...]]:
        return [tuple(type_of(x).shape) for x in self.eqn.invars]

    @property
    def out_shapes(self) -> list[tuple[Size, ...]]:
        return [tuple(type_of(x).shape) for x in self.eqn.outvars]

    def ragged(self, i: int = 0) -> list[int]:
        """The dimensions of operand `i` that are of symbolic size."""
        return ragged_dims(self.shapes[i])

    def filled(self, i: int, value: Any) -> Array:
        """Operand `i` with `value` in its padding."""
        return self.sizes.filled(self.operands[i], self.shapes[i], value)

    def gated(self, results: Sequence[Array]) -> list[Array]:
        """The results with zeros in their padding: no cotangent from there reaches an operand.

        A rule that adds up cotangents along a dimension would add those of padding.
        """
        pairs = zip(results, self.out_shapes, strict=True)
        return [self.sizes.gated(x, shape) for x, shape in pairs]

    def bound(self, operands: Sequence[Any] | None = None, **params: Any) -> list[Array]:
        """What the primitive gives for padded operands, with other parameters where given."""
        eqn = self.eqn.replace(params={**self.params, **params}) if params else self.eqn
        return bind(eqn, self.operands if operands is None else operands)

    def is_constant(self, i: int) -> bool:
        """Whether operand `i` can have no cotangent."""
        inexact = jnp.issubdtype(type_of(self.eqn.invars[i]).dtype, jnp.inexact)
        return isinstance(self.eqn.invars[i], Literal) or not inexact


# What a rule makes of an equation: the padded arrays of its results.
PaddingRule: TypeAlias = Callable[[PaddedEquation], Sequence[Array]]


def require_known(sizes: Sequence[Size], what: str) -> None:
    """Objects to sizes that differ from lane to lane."""
    for size in sizes:
        if not known(size):
            raise CannotHonour(f"{what} is {size}, which differs from sequence to sequence")
