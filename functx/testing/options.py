"""Options of functions for users: names out of a list, tolerances, counts, arguments by name."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from functx._core import describe, fail, nearest


_REAL = (int, float, np.integer, np.floating)


def names_of(words: str | Iterable[str]) -> list[str]:
    """One name or several, as a list."""
    return [words] if isinstance(words, str) else list(words)


def names_among(who: str, name: str, given: Any, known: Collection[str]) -> tuple[str, ...] | None:
    """One name or several of those `known`; None stays None."""
    if given is None:
        return None
    if not isinstance(given, Iterable):
        fail(who, f"`{name}` must be names, got {describe(given)}", error=TypeError)
    several = tuple(names_of(given))
    if not several:
        what = f"`{name}` must name one at least, got {describe(given)}"
        fail(who, what, hint=f"there are {', '.join(known)}", error=ValueError)
    for one in several:
        if one not in known:
            hint = nearest(one, known) if isinstance(one, str) else ""
            what = f"`{name}` must be of {', '.join(known)}, got {describe(one)}"
            fail(who, what, hint=hint, error=ValueError)
    return several


def require_ulps(who: str, ulps: Any) -> None:
    """Refuses what is no tolerance: numbers from 0 on are."""
    if ulps is None:
        return
    if isinstance(ulps, bool) or not isinstance(ulps, _REAL):
        what = f"`ulps` must be a real number or None, got {describe(ulps)}"
        fail(who, what, error=TypeError)
    if not 0 <= ulps < math.inf:
        what = f"`ulps` must be finite and not negative, got {describe(ulps)}"
        fail(who, what, error=ValueError)


def require_count(who: str, name: str, count: Any) -> None:
    """Refuses what is no integer from 0 on."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
        fail(who, f"`{name}` must be an integer, got {describe(count)}", error=TypeError)
    if count < 0:
        fail(who, f"`{name}` must not be negative, got {describe(count)}", error=ValueError)


def named_arguments(who: str, kwargs: Any) -> dict[str, Any]:
    """The keyword arguments to call a function with."""
    if kwargs is None:
        return {}
    if not isinstance(kwargs, Mapping) or not all(isinstance(name, str) for name in kwargs):
        what = f"`kwargs` must be a dict from names to arguments, got {describe(kwargs)}"
        fail(who, what, error=TypeError)
    return dict(kwargs)
