"""What a rule sees of an equation: the sets of its operands, and the values that are known."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from functx._core.jax_compat import JaxprEqn
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.walking import type_of

from .row_sets import Rows


class TracedValue:
    """An array in a program: what its elements depend on, or its values where they are known.

    - `rows`: the set of each element, or None where none depends on any input.
    - `known`: what computes the values, once, or None if they are unknown.
    """

    def __init__(self, rows: Rows | None = None, known: Callable[[], Any] | None = None):
        self.rows = rows if rows is not None and rows.nnz else None
        self._known = ft.cache(known) if known is not None and self.rows is None else None

    @property
    def is_known(self) -> bool:
        """Whether the values are the same whatever the inputs are."""
        return self._known is not None

    @property
    def array(self) -> Any:
        """The values that are known, an array of JAX or NumPy."""
        assert self._known is not None
        return self._known()


UNKNOWN = TracedValue()


def value_of(x: Any) -> TracedValue:
    """A constant of a program, unless it is itself being traced, as a value."""
    if isinstance(x, TracedValue):
        return x
    return UNKNOWN if isinstance(x, Tracer) else TracedValue(known=lambda: x)


class TracedEquation:
    """An equation, with the values of its operands.

    Sets of operands that depend on no input are None in `rows`.
    """

    def __init__(self, eqn: JaxprEqn, operands: Sequence[TracedValue], inputs: int):
        self.eqn, self.operands, self.inputs = eqn, operands, inputs
        self.params: dict[str, Any] = eqn.params
        self.shapes = [tuple(type_of(x).shape) for x in eqn.invars]
        self.out_shapes = [tuple(type_of(x).shape) for x in eqn.outvars]
        self.rows = [x.rows for x in operands]

    @property
    def sizes(self) -> list[int]:
        """How many elements each operand has."""
        return [*map(math.prod, self.shapes)]

    @property
    def out_size(self) -> int:
        """How many elements the first result has."""
        return math.prod(self.out_shapes[0])

    @property
    def dependent(self) -> list[int]:
        """The numbers of the operands that depend on inputs."""
        return [i for i, rows in enumerate(self.rows) if rows is not None]

    def known(self, i: int) -> np.ndarray | None:
        """The values of an operand, or None."""
        operand = self.operands[i]
        if not operand.is_known or jnp.issubdtype(type_of(self.eqn.invars[i]).dtype, _EXTENDED):
            return None
        return np.asarray(operand.array)

    def may_be_nonzero(self, i: int) -> np.ndarray | None:
        """Which elements of an operand are not known to be zeros, or None where none is."""
        known = self.known(i)
        if known is None or known.dtype.kind not in "biufc" and known.dtype.name not in _FLOATS:
            return None
        nonzero = known != 0
        return None if nonzero.all() else nonzero


# The sets of the results, or the first result's.
DependenceRule: TypeAlias = Callable[[TracedEquation], Rows | list[Rows]]

_EXTENDED = jax.dtypes.extended
_FLOATS = ("bfloat16",)


def computed(eqn: JaxprEqn, operands: Sequence[TracedValue]) -> list[TracedValue]:
    """The results of an equation of known values, which are computed where they are asked for."""

    @ft.cache
    def results() -> list[Any]:
        return bind(eqn, [x.array for x in operands])

    return [
        TracedValue(known=ft.partial(lambda i: results()[i], i)) for i in range(len(eqn.outvars))
    ]
