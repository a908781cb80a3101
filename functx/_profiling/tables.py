"""Tables of where time goes: rows, most time first, and their text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

from functx._core import fail

from .attribution import KernelShare


__all__ = ["ORDERS", "ProfileRow", "ProfileTable", "grouped", "shortened", "shown_seconds"]

ORDERS = ("self", "total", "calls", "kernels", "name")
Order = Literal["self", "total", "calls", "kernels", "name"]
_NAME_WIDTH = 31
_LONG = "nn.functional."  # left out where a name is too long


class ProfileRow(NamedTuple):
    """A row of a profile's table; times are in seconds.

    - `name`: the operator, the source line, the scope, the transform or the kernel.
    - `phase`: `"forward"`, `"backward"`, `"tangent"`, or `""` where the table does not divide.
    - `calls`: how often it was called, as far as the kernels tell.
    - `kernels`: how many kernels ran that compute it or a part of it.
    - `self_seconds`: the time of itself; `total_seconds` with what it calls.
    - `share`: `self_seconds` among those of the whole table, from 0 to 1.
    """

    name: str
    phase: str
    calls: int
    kernels: int
    self_seconds: float
    total_seconds: float
    share: float


class ProfileTable(Sequence[ProfileRow]):
    """Rows of a profile, to loop over, to look up by name and to print in 80 columns.

    - `title`: what the rows are.
    - `rows`: the rows, in order.
    """

    def __init__(self, title: str, rows: Iterable[ProfileRow]) -> None:
        """A table of `rows` under `title`."""
        self.title = title
        self.rows = tuple(rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, which: int) -> ProfileRow: ...
    @overload
    def __getitem__(self, which: slice) -> ProfileTable: ...
    def __getitem__(self, which: int | slice) -> ProfileRow | ProfileTable:
        if isinstance(which, slice):
            return ProfileTable(self.title, self.rows[which])
        return self.rows[which]

    def __iter__(self) -> Iterator[ProfileRow]:
        return iter(self.rows)

    def named(self, name: str) -> tuple[ProfileRow, ...]:
        """The rows of that `name`, one for each phase; none is an empty tuple."""
        return tuple(row for row in self.rows if row.name == name)

    def __str__(self) -> str:
        header = _line(self.title, "phase", "calls", "kernels", "self", "total", "share")
        lines = [
            _line(
                row.name,
                row.phase or "-",
                str(row.calls),
                str(row.kernels),
                shown_seconds(row.self_seconds),
                shown_seconds(row.total_seconds),
                f"{100 * row.share:.1f} %",
            )
            for row in self.rows
        ]
        return "\n".join([header, "-" * 80, *(lines or ["(nothing)"])])

    __repr__ = __str__


def shortened(name: str, width: int) -> str:
    """A name in at most so many characters, with what tells it apart."""
    if len(name) > width:
        name = name.replace(_LONG, "..")
    return name if len(name) <= width else f"{name[: width - 2]}.."


def _line(name: str, *cells: str) -> str:
    phase, calls, kernels, own, total, share = cells
    name = shortened(name, _NAME_WIDTH)
    return f"{name:{_NAME_WIDTH}} {phase:8} {calls:>5} {kernels:>7} {own:>8} {total:>8} {share:>7}"


def shown_seconds(seconds: float) -> str:
    """A time with its unit, in at most eight characters up to ten thousand seconds."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        number = seconds / size
        if abs(number) >= 0.99995 or unit == "us":
            digits = 1 if unit == "us" or abs(number) >= 99.995 else 2
            return f"{number:.{digits}f} {unit}"
    return ""


class _Sums:
    """What is summed up for a row."""

    def __init__(self) -> None:
        self.own = self.total = 0.0
        self.kernels: dict[Hashable, int] = {}
        self.sites: dict[Hashable, int] = {}


def grouped(
    title: str,
    shares: Iterable[KernelShare],
    names: Callable[[KernelShare], Sequence[str]],
    *,
    phases: bool,
    sort: str = "self",
    limit: int | None = None,
    who: str,
) -> ProfileTable:
    """A table of the shares by `names`: those that a share counts for, the innermost last."""
    if sort not in ORDERS:
        fail(who, f"`sort` must be one of {', '.join(ORDERS)}, got {sort!r}", error=ValueError)
    if limit is not None and limit < 1:
        fail(who, f"`limit` must be at least 1 or None, got {limit}", error=ValueError)
    sums: dict[tuple[str, str], _Sums] = defaultdict(_Sums)
    whole = 0.0
    for share in shares:
        whole += share.seconds
        of_share = names(share)
        phase = share.phase if phases else ""
        for name in dict.fromkeys(of_share):
            row = sums[name, phase]
            row.total += share.seconds
            row.own += share.seconds if name == of_share[-1] else 0.0
            row.kernels[share.program, share.kernel] = share.runs
            origin = share.origin
            site = (share.program, share.phase, origin.scopes, origin.name, share.frames)
            row.sites[site] = max(row.sites.get(site, 0), share.runs)
    rows = [
        ProfileRow(
            name,
            phase,
            sum(row.sites.values()),
            sum(row.kernels.values()),
            row.own,
            row.total,
            row.own / whole if whole else 0.0,
        )
        for (name, phase), row in sums.items()
    ]
    return ProfileTable(title, sorted(rows, key=_order(sort))[:limit])


def _order(sort: str) -> Callable[[ProfileRow], Any]:
    if sort == "name":
        return lambda row: (row.name, row.phase)
    field = f"{sort}_seconds" if sort in ("self", "total") else sort
    return lambda row: (-getattr(row, field), row.name, row.phase)
