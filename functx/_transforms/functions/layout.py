"""How the arrays of one call of a `Function` lie in its arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from functx._core.devices.manual_axes import equally_varying
from functx._core.numbers.weak_types import strong
from functx._core.rules.residuals import ActiveInputs
from functx._core.rules.tangent_types import ArrayType

from .rules import FunctionRules
from .trees import flat, is_array


@dataclasses.dataclass(frozen=True, eq=False)
class CallLayout:
    """The arguments of a call without their arrays, so that the derivative holds no array.

    - `tree`: of all arguments; `slots`: the numbers of those of its leaves that are arrays.
    - `types`, `static`: of each leaf its type if it is an array, else what it is, and else `None`.
    - `passed`: how many arguments the call named; those that follow are defaults.
    """

    rules: FunctionRules
    tree: Any
    slots: tuple[int, ...]
    types: tuple[ArrayType | None, ...]
    static: tuple[Any, ...]
    passed: int

    @property
    def name(self) -> str:
        return self.rules.name

    def arguments(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments of which `leaves` are the arrays."""
        full = list(self.static)
        for i, x in zip(self.slots, leaves, strict=True):
            full[i] = x
        return self.tree.unflatten(full)

    def needs(self, active_inputs: ActiveInputs) -> tuple[bool, ...]:
        """Which arguments hold an active input."""
        active = {self.slots[i] for i in active_inputs}
        flags = self.tree.unflatten([i in active for i in range(len(self.static))])
        return tuple([any(jax.tree.leaves(flag)) for flag in flags])


def layout_of(
    rules: FunctionRules, args: tuple[Any, ...], passed: int
) -> tuple[CallLayout, Sequence[Array]]:
    """The layout of a call with `args`, and their arrays."""
    leaves, tree = flat(args)
    slots = tuple([i for i, x in enumerate(leaves) if is_array(x)])
    operands = equally_varying([strong_array(leaves[i]) for i in slots])
    types: list[ArrayType | None] = [None] * len(leaves)
    for i, x in zip(slots, operands, strict=True):
        leaves[i], types[i] = None, jax.typeof(x)
    return CallLayout(rules, tree, slots, tuple(types), tuple(leaves), passed), operands


def strong_array(x: Any) -> Array:
    """`x` as an array without a weak type, so that results do not depend on who made it."""
    return strong(x if isinstance(x, jax.Array) else jnp.asarray(x))
