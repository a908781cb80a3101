"""Differences that are meant: of one operator, beside its entry; of a kind, here."""

from __future__ import annotations

import functools as ft
import re
from collections.abc import Callable
from typing import Any

from functx._core.roles import Kind
from functx.testing import Departure, OpInfo
from functx.testing.dtype_facts import Case, REFUSED

from .draws import Call
from .judging import Finding


def reason(call: Call, finding: Finding) -> str | None:
    """Why a difference is meant, if it is."""
    for departure in stated(call.info):
        if covers(departure, finding):
            return departure.reason
    for applies, why in PRINCIPLES:
        if applies(call, finding):
            return why
    return _own_dtypes(call, finding)


@ft.cache
def stated(info: OpInfo) -> list[Departure]:
    """The departures on an operator's entries."""
    from .running import ENTRIES

    alike = [other for other in ENTRIES.values() if other.name == info.name]
    return [d for other in alike for d in other.departures(other.make(other.accepted[-1]))]


def covers(departure: Departure, finding: Finding) -> bool:
    """Whether this is such a difference."""
    return departure.kind == finding.kind and bool(re.search(departure.match, finding.line))


def _own_dtypes(call: Call, finding: Finding) -> str | None:
    """The reason for a result dtype that the entry declares as functx's own."""
    kinds = {True: ("refused",), False: ("dtype", "accepted", "structure")}
    names = {x.dtype.name for x in call.arrays}
    for own in call.info.own_dtypes:
        if finding.kind not in kinds[own.answer == REFUSED]:
            continue
        for name in names & set(own.dtypes) if own.dtypes else names:
            if re.search(own.cases, Case(call.sample).key(call.info, name)):
                return own.reason
    return None


def _numbers(call: Call, finding: Finding) -> bool:
    """A Python number stands where PyTorch wants a tensor."""
    if finding.kind != "accepted" or "TypeError" not in finding.what:
        return False
    spec = call.info.spec
    given: dict[str, Any] = spec.arguments(call.args, call.kwargs)
    arrays = [
        given.get(n) for n, role in spec.roles.items() if role.kind in (Kind.ARRAY, Kind.OTHER)
    ]
    flat = [y for x in arrays for y in (x if isinstance(x, (list, tuple)) else [x])]
    return any(isinstance(x, (bool, int, float, complex)) for x in flat)


Applies = Callable[[Call, Finding], bool]
PRINCIPLES: list[tuple[Applies, str]] = [
    (_numbers, "Python numbers are taken wherever arrays of the common dtype are"),
]
