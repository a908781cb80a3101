"""Recorded programs in which results of operators bear names."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn
from functx._transforms.programs.labels import operator_of, outside_operators
from functx._transforms.programs.walking import equations, inner_programs

from .operators import named_operator


ValueNames = tuple[str | None, ...]

_made: weakref.WeakKeyDictionary[Jaxpr, dict[tuple[ValueNames, float], Jaxpr]] = (
    weakref.WeakKeyDictionary()
)


def operator_calls(jaxpr: Jaxpr) -> list[JaxprEqn]:
    """The equations that call operators, in the order of `equations`."""
    return [eqn for eqn in equations(jaxpr, outside_operators) if operator_of(eqn)]


def with_named_results(jaxpr: Jaxpr, names: ValueNames, most: float = 1) -> Jaxpr:
    """`jaxpr` with names on the results of its `operator_calls`; None leaves a call unnamed.

    `most` limits what else is named, see `named_operator`.

    What becomes of a program that lives on, such as the body of a loop, is kept with it: anew, it
    would be compiled anew.
    """
    if not any(names):
        return jaxpr
    known = _made.setdefault(jaxpr, {})
    if (names, most) not in known:
        known[names, most] = jaxpr.replace(eqns=list(_named(jaxpr.eqns, names, most)))
    return known[names, most]


def _named(eqns: Iterable[JaxprEqn], names: ValueNames, most: float) -> Iterator[JaxprEqn]:
    taken = 0
    for eqn in eqns:
        if operator_of(eqn):
            name, taken = names[taken], taken + 1
            yield eqn if name is None else _with_programs(eqn, [name], most)
        else:
            counts = [len(operator_calls(inner)) for inner in inner_programs(eqn)]
            parts: list[ValueNames] = []
            for count in counts:
                parts.append(names[taken : taken + count])
                taken += count
            yield _with_programs(eqn, parts, most) if any(map(any, parts)) else eqn


def _with_programs(eqn: JaxprEqn, names: Sequence[Any], most: float) -> JaxprEqn:
    """`eqn` that runs other programs: for each it runs, in order, one made by its names."""
    given = iter(names)

    def changed(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(changed, value))
        if not isinstance(value, (Jaxpr, ClosedJaxpr)):
            return value
        name = next(given)
        if isinstance(name, str):
            return named_operator(value, name, most)
        if isinstance(value, Jaxpr):
            return with_named_results(value, name, most)
        return value.replace(jaxpr=with_named_results(value.jaxpr, name, most))

    return eqn.replace(params={key: changed(value) for key, value in eqn.params.items()})
