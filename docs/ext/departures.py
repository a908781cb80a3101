"""The page of differences from PyTorch that are meant, from the entries that state them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import jax

from functx.testing import op_db
from functx.testing.checks.conventions import convention_dtype


_INTRODUCTION = """# Differences from PyTorch

Where functx answers otherwise than PyTorch, it means to, and says why. The tables are written from
the entries of the operator database. Against an installed PyTorch the tests hold that each
difference is still there; the fuzzer looks for others. What holds of many operators alike
stands in [](../concepts/conventions.md).
"""

Row = tuple[str, str, str]  # the operator, in what, and why


def departures_page() -> str:
    """The page as MyST text."""
    with jax.enable_x64(True):  # what entries state is drawn in double precision
        tables = {
            ("Calls", "what differs"): set(calls()),
            ("Values and derivatives at edges", "where"): set(edges()),
            ("Dtypes of results", "functx gives"): set(dtypes()),
        }
    parts = [_INTRODUCTION]
    for (title, second), rows in tables.items():
        parts += [f"## {title}\n", f"| operator | {second} | why |", "|---|---|---|"]
        parts += [*map(_line, sorted(rows)), ""]
    return "\n".join(parts)


def calls() -> Iterator[Row]:
    """Calls that PyTorch takes, refuses or answers otherwise."""
    for info in op_db:
        for departure in info.call_departures():
            yield info.name, _KINDS.get(departure.kind) or departure.kind, departure.reason


def edges() -> Iterator[Row]:
    """Conventions at kinks, ties, zeros and NaN."""
    for info in op_db:
        for stated in info.conventions(info.make(convention_dtype(info))):
            if stated.departure:
                yield info.name, stated.what, stated.departure


def dtypes() -> Iterator[Row]:
    """Results of other dtypes than PyTorch's."""
    for info in op_db:
        for own in info.dtype_departures:
            yield info.name, _ANSWERS.get(own.answer) or f"`{own.answer}`", own.reason


_KINDS = {"accepted": "taken, PyTorch refuses", "refused": "refused, PyTorch takes it"}
_ANSWERS = {
    "-": "a refusal",
    "*": "the argument's dtype",
    "^": "the promoted dtype",
    "\\1": "the dtype of one argument",
}


def _line(row: Iterable[str]) -> str:
    name, what, why = (" ".join(text.split()).replace("|", "&#124;") for text in row)
    return f"| `{name}` | {what} | {why} |"
