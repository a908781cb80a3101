"""Keywords that a function lacks, refused with what to write instead."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from .errors import fail, nearest


P = ParamSpec("P")
Y = TypeVar("Y")


def worded_keywords(
    hints: Mapping[str, str], others: str = ""
) -> Callable[[Callable[P, Y]], Callable[P, Y]]:
    """A decorator: unknown keywords get a TypeError with their hint, or the nearest name.

    - `hints`: by keyword, as other libraries have it.
    - `others`: the hint for all that are neither there nor near.
    """

    def decorate(func: Callable[P, Y]) -> Callable[P, Y]:
        who, known = func.__name__, frozenset(inspect.signature(func).parameters)

        @ft.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not known.issuperset(kwargs):
                name = next(name for name in kwargs if name not in known)
                hint = hints.get(name) or nearest(name, known) or others
                fail(who, f"`{name}` does not exist here", hint=hint, error=TypeError)
            return func(*args, **kwargs)

        return call

    return decorate
