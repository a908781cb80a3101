"""What was computed of which coefficients, so that no series is computed twice.

The derivative of a function often needs the function itself, and at each order again. Coefficients
are told apart by identity: those of a truncated series are the same objects.
"""

from __future__ import annotations

import functools as ft
import types
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import numpy as np
from jax import core

from functx._core.jax_compat import current_trace, JaxprEqn, Literal

from .series import TaylorSeries


class SeriesMemory:
    """The results of equations, by what they compute of which coefficients."""

    def __init__(self) -> None:
        self._results: dict[Hashable, Sequence[Any]] = {}
        self._slopes: dict[tuple[int, int], Any] = {}
        self._alive: list[Any] = []  # an object that is gone leaves its identity to another

    def results(
        self, eqn: JaxprEqn, operands: Sequence[Any], compute: Callable[[], Sequence[Any]]
    ) -> Sequence[Any]:
        """The results of an equation: those of the same operands, or else what it computes.

        A series that was computed to a lower order is continued: its coefficients stay.
        """
        trace = current_trace()  # what a loop or a branch computes has no meaning outside of it
        params = tuple((name, meaning(x)) for name, x in sorted(eqn.params.items()))
        head = id(trace), eqn.primitive, params
        order = max((len(x.terms) for x in operands if isinstance(x, TaylorSeries)), default=0)
        names = [
            (head, *(_name(*pair, k) for pair in zip(eqn.invars, operands, strict=True)))
            for k in range(order, -1, -1)
        ]
        if names[0] in self._results:
            return self._results[names[0]]
        results = compute()
        lower = next((self._results[name] for name in names if name in self._results), None)
        if lower is not None:
            results = [*map(_continued, lower, results)]
        self._results[names[0]] = results
        self._alive += [trace, eqn, *operands]
        return results

    def slope(self, curve: TaylorSeries) -> Any:
        """The derivative of a curve, whose order is lower by one: of order 0 a value."""
        first, *others = (self._multiple(k, x) for k, x in enumerate(curve.terms, 1))
        return TaylorSeries(first, tuple(others)) if others else first

    def _multiple(self, k: int, x: Any) -> Any:
        if (k, id(x)) not in self._slopes:
            self._slopes[k, id(x)] = k * x if k > 1 else x
            self._alive.append(x)
        return self._slopes[k, id(x)]


def meaning(x: Any, depth: int = 12) -> Hashable:
    """What tells a parameter apart: of functions the code, and the meaning of what they close over.

    A rule makes functions anew wherever it is called, with the same code. Beyond a depth, as in a
    function that closes over itself, objects are told apart by identity.
    """
    inner = lambda y: meaning(y, depth - 1)
    if depth == 0:
        return id(x)
    if isinstance(x, types.FunctionType):
        cells = tuple(inner(cell.cell_contents) for cell in x.__closure__ or ())
        return x.__code__, cells, inner(x.__defaults__), inner(x.__kwdefaults__)
    if isinstance(x, types.MethodType):
        return x.__func__, inner(x.__self__)
    if isinstance(x, ft.partial):
        return ft.partial, inner(x.func), inner(x.args), inner(x.keywords)
    if isinstance(x, (tuple, list)):
        return type(x), *map(inner, x)
    if isinstance(x, dict):
        return dict, *((name, inner(y)) for name, y in x.items())
    if type(x).__module__.startswith("functx._core.rules."):
        return type(x), *(inner(y) for name, y in vars(x).items() if name not in _FOUND_OUT)
    return (type(x), x) if isinstance(x, _VALUES) else id(x)


_VALUES = (bool, int, float, complex, str, bytes, type(None), np.dtype, core.ShapedArray)
_VALUES += (jax.tree_util.PyTreeDef,)
_FOUND_OUT = {"_traces", "in_types", "out_types", "out_tree"}  # while rules run


def _name(atom: Any, x: Any, order: int) -> Hashable:
    """What an operand is, to an order."""
    if isinstance(atom, Literal):
        return repr(atom.val), str(atom.aval)
    if isinstance(x, TaylorSeries):
        return tuple(map(id, x.coefficients[: order + 1]))
    return id(x)


def _continued(lower: Any, y: Any) -> Any:
    """The series `y`, as far as they go with the coefficients of `lower`."""
    if not isinstance(lower, TaylorSeries) or not isinstance(y, TaylorSeries):
        return y
    return TaylorSeries(lower.value, (*lower.terms, *y.terms[len(lower.terms) :]))
