"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .tables import ProfileRow, ProfileTable, shortened, shown_seconds


__all__ = ["ComparedRow", "ProfileComparison", "compared"]


class ComparedRow(NamedTuple):
    """An operator in two runs; times are self times in seconds, 0 where it did not run.

    - `name`, `phase`: the operator, and whether it is of the forward or the backward pass.
    - `calls_before`, `calls_after`: how often it was called.
    - `before`, `after`: how long it took, and `difference`, after less before.
    """

    name: str
    phase: str
    calls_before: int
    calls_after: int
    before: float
    after: float

    @property
    def difference(self) -> float:
        """Seconds after less seconds before: negative where it became faster."""
        return self.after - self.before


class ProfileComparison:
    """Two profiles, operator by operator, the largest change first.

    - `rows`: a `ComparedRow` for each operator and phase of either.
    """

    def __init__(self, rows: Iterable[ComparedRow]) -> None:
        """A comparison of those `rows`."""
        self.rows = tuple(rows)

    def __iter__(self) -> Iterator[ComparedRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def before(self) -> float:
        """The seconds of all operators in the first run."""
        return sum(row.before for row in self.rows)

    @property
    def after(self) -> float:
        """The seconds of all operators in the second run."""
        return sum(row.after for row in self.rows)

    def __str__(self) -> str:
        lines = [
            _line("operator", "phase", "calls", "before", "after", "change"),
            "-" * 80,
            *(
                _line(
                    row.name,
                    row.phase or "-",
                    f"{row.calls_before}/{row.calls_after}",
                    shown_seconds(row.before),
                    shown_seconds(row.after),
                    _signed(row.difference),
                )
                for row in self.rows
            ),
            "-" * 80,
            _line(
                "all",
                "",
                "",
                shown_seconds(self.before),
                shown_seconds(self.after),
                _signed(self.after - self.before),
            ),
        ]
        return "\n".join(lines)

    __repr__ = __str__


def _signed(seconds: float) -> str:
    return f"{'+' if seconds > 0 else ''}{shown_seconds(seconds)}"


def _line(name: str, phase: str, calls: str, before: str, after: str, change: str) -> str:
    return f"{shortened(name, 31):31} {phase:8} {calls:>9} {before:>9} {after:>9} {change:>9}"


def compared(before: ProfileTable, after: ProfileTable) -> ProfileComparison:
    """The rows of two tables by operator, paired by name and phase."""
    first = {(row.name, row.phase): row for row in before}
    second = {(row.name, row.phase): row for row in after}
    rows = []
    for key in {**first, **second}:
        nothing = ProfileRow(*key, 0, 0, 0.0, 0.0, 0.0)
        a, b = first.get(key, nothing), second.get(key, nothing)
        rows.append(ComparedRow(*key, a.calls, b.calls, a.self_seconds, b.self_seconds))
    return ProfileComparison(sorted(rows, key=lambda row: (-abs(row.difference), row[:2])))
