"""Operators in a recorded program for which JAX has no function, though they may differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functx._core import REGISTRY
from functx._core.jax_compat import JaxprEqn
from functx._transforms.programs.labels import operator_of, outside_operators
from functx._transforms.programs.walking import equations, inner_programs

from .noting import holds_both


# Primitives with a kink or a singular point, and functions with rules of their own.
_MAY_DIFFER = frozenset(
    """
    abs atan2 clamp cummax cummin eig eigh function_call function_tangent max min pow reduce_max
    reduce_min reduce_prod reduce_window_max rsqrt scatter_max scatter_min select_and_scatter_add
    sign sort sqrt svd top_k
    """.split()
)


def unmatched(program: Any) -> tuple[str, ...]:
    """The operators called in `program` whose rules are functx's in both conventions."""
    found = dict[str, None]()
    for eqn in equations(program, outside_operators):
        name = operator_of(eqn)
        if name is not None and name not in SMOOTH and _may_differ(eqn):
            found[name] = None
    return tuple(found)


def judges_values(program: Any) -> bool:
    """Whether an operator in `program` refuses some values."""
    names = filter(None, map(operator_of, equations(program)))
    return any(REGISTRY[name].requires is not None for name in names)


def _inside(eqn: JaxprEqn) -> Iterator[JaxprEqn]:
    for inner in inner_programs(eqn):
        yield from equations(inner)


def _may_differ(eqn: JaxprEqn) -> bool:
    inside = list(_inside(eqn))
    return not any(map(holds_both, inside)) and any(e.primitive.name in _MAY_DIFFER for e in inside)


SMOOTH: frozenset[str] = frozenset()
