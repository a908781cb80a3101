"""Lists of what a program computes, its many equal lines as one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar


T = TypeVar("T")


def grouped(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """The items, those with one key together, in the order of the first of each."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def times(count: int, type: str) -> str:
    """`3 x f32[8]`, and of one the type."""
    return f"{count} x {type}" if count > 1 else type


def numbers_apart(name: str) -> tuple[str, ...]:
    """The parts of a name between its numbers, in which names of one group agree."""
    return tuple(re.split(r"\d+", name))


def common_name(names: Sequence[str]) -> str:
    """`args[0][*]` of `args[0][0]` and `args[0][1]`, which differ in numbers."""
    between = numbers_apart(names[0])
    numbers = zip(*(re.findall(r"\d+", name) for name in names), strict=True)
    shown = [found[0] if len(set(found)) == 1 else "*" for found in numbers]
    return "".join(a + b for a, b in zip(between, [*shown, ""], strict=True))


def sums(rows: Iterable[tuple[str, int]]) -> dict[str, int]:
    """What rows of one operator take together, where there are several."""
    rows = list(rows)
    several = {name for name, count in Counter(name for name, _ in rows).items() if count > 1}
    total: dict[str, int] = {}
    for name, size in rows:
        if name in several:
            total[name] = total.get(name, 0) + size
    return total
