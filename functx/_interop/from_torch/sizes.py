"""The sizes of an exported program's inputs: fixed ones, and ranges under names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from functx._core import fail
from functx._core.shapes.symbolic_sizes import known


@dataclasses.dataclass(frozen=True)
class DynamicSize:
    """A size `factor * n + summand`, where `n` is a number of the program that has a name."""

    name: str
    factor: int = 1
    summand: int = 0

    def __str__(self) -> str:
        factor = "" if self.factor == 1 else f"{self.factor}*"
        return f"{factor}{self.name}" + (f" + {self.summand}" if self.summand else "")


@dataclasses.dataclass(frozen=True)
class ArrayInput:
    """An input's name, and what was exported of it; None for a size that may be any."""

    name: str
    shape: tuple[int | DynamicSize | None, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join('?' if n is None else str(n) for n in self.shape)}]"


def check_sizes(
    inputs: Sequence[tuple[ArrayInput, tuple[Any, ...]]],
    ranges: Mapping[str, tuple[int, int | None]],
) -> None:
    """Refuses shapes that an exported program was not exported for; symbolic sizes pass."""
    found: dict[str, tuple[int, str]] = {}
    for given, shape in inputs:
        what = f"`{given.name}` was exported as {given}, got [{','.join(map(str, shape))}]"
        if len(shape) != len(given.shape):
            fail("from_torch", what, error=ValueError)
        for n, size in zip(shape, given.shape, strict=True):
            if size is None or not known(n):
                continue
            if isinstance(size, int):
                if n != size:
                    hint = "export the program with dynamic_shapes, or import the module itself"
                    fail("from_torch", what, hint=hint, error=ValueError)
                continue
            number, rest = divmod(n - size.summand, size.factor)
            if rest:
                fail("from_torch", what, error=ValueError)
            _check_range(what, size, number, ranges)
            if found.setdefault(size.name, (number, given.name))[0] != number:
                other = f"{size.name} is {found[size.name][0]} in `{found[size.name][1]}`"
                fail("from_torch", what, hint=other, error=ValueError)


def _check_range(
    what: str, size: DynamicSize, number: int, ranges: Mapping[str, tuple[int, int | None]]
) -> None:
    least, most = ranges.get(size.name, (0, None))
    if number < least or (most is not None and number > most):
        until = "on" if most is None else f"to {most}"
        hint = f"{size.name} was exported for {least} {until}, and would be {number}"
        fail("from_torch", what, hint=hint, error=ValueError)
