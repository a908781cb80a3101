"""Operators in a recorded program for which JAX has no function, though they may differ."""

from __future__ import annotations

import functools as ft
from typing import Any

from functx._core import REGISTRY
from functx._transforms.programs.labels import operator_of, outside_operators
from functx._transforms.programs.walking import equations, inner_programs
from functx.testing.opdb import op_db

from .jax_rules import JAX_RULES
from .noting import holds_both


# JAX's primitives with ties that no operator stands for.
_PRIMITIVES = frozenset(["reduce_window_max", "reduce_window_min", "scatter-max", "scatter-min"])


@ft.cache
def without_counterpart() -> frozenset[str]:
    """The operators with ties, kinks, zeros or singular points for which JAX has no function."""
    return frozenset(info.name for info in op_db if info.kinked)


def unmatched(program: Any) -> tuple[str, ...]:
    """What is called in `program` and may have kinks, but keeps its rules in both conventions.

    Operators that JAX has a function for are among it where they are called with options that the
    function lacks.
    """
    found = dict[str, None]()
    for eqn in equations(program, outside_operators):
        name = operator_of(eqn)
        if eqn.primitive.name in _PRIMITIVES:
            found[f"jax {eqn.primitive.name}"] = None
        if name is None or not (name in without_counterpart() or name in JAX_RULES):
            continue
        if not any(holds_both(e) for inner in inner_programs(eqn) for e in equations(inner)):
            found[name] = None
    return tuple(found)


def judges_values(program: Any) -> bool:
    """Whether an operator in `program` refuses some values."""
    names = filter(None, map(operator_of, equations(program)))
    return any(REGISTRY[name].requires is not None for name in names)
