"""Runs cells, and returns their results as plain data; it needs no terminal."""

from __future__ import annotations

import dataclasses
import itertools
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from functx._core import Device
from functx.testing import cells, CHECKS, OpInfo, Profile, run_cells
from functx.testing.checks import Outcome
from functx.testing.checks.compare import ulps_of
from functx.testing.checks.programs import let_go


Status = Literal["pass", "fail", "gap", "unexpected pass"]
FAILING = ("fail", "unexpected pass")

Cell = tuple[str, str, str]  # the entry's id, a dtype, a check


@dataclasses.dataclass(frozen=True)
class Plan:
    """The cells to run, and how to run them."""

    infos: tuple[OpInfo, ...]
    dtypes: tuple[str, ...] | None = None  # the profile's
    checks: tuple[str, ...] | None = None  # the profile's
    device: str = "cpu"
    samples: int | None = None
    x64: bool = True
    profile: Profile = "quick"

    def cells(self) -> list[Cell]:
        """The cells that apply, operator by operator."""
        every = cells(self.infos, self.dtypes, self.checks, self.profile)
        return [(info.id, dtype, check) for info, dtype, check in every]


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of one cell."""

    operator: str
    dtype: str
    check: str
    status: Status
    seconds: float  # in Python, and its share of programs compiled for several checks
    samples: int  # how many were looked at
    ulps: float  # how far an element of `dtype` may be off
    sample: str = ""  # the one that failed, if one did
    error: str = ""
    traceback: str = ""
    reason: str = ""  # the declared gap's

    @property
    def cell(self) -> Cell:
        """The cell that this is the result of."""
        return self.operator, self.dtype, self.check

    @property
    def failing(self) -> bool:
        """Whether this result makes the run fail; a declared gap that passes does too."""
        return self.status in FAILING


def run_group(
    info: OpInfo,
    dtype: str,
    checks: Sequence[str],
    *,
    device: Device | None = None,
    samples: int | None = None,
    profile: Profile = "quick",
) -> list[Result]:
    """Runs checks of an entry in one dtype; whatever they raise is part of the results."""
    outcomes = run_cells(info, dtype, checks, device=device, samples=samples, profile=profile)
    let_go()
    platform = device.platform if device is not None else "cpu"
    return [_result(info, dtype, check, outcome, platform) for check, outcome in outcomes.items()]


def _result(info: OpInfo, dtype: str, check: str, outcome: Outcome, platform: str) -> Result:
    gap, raised, error, trace = info.gap(check, dtype, platform), outcome.error, "", ""
    if raised is not None:
        error = f"{type(raised).__name__}: {raised}"
        trace = "".join(traceback.format_exception(raised)[-8:])
    if gap is not None:
        status: Status = "gap" if error else "unexpected pass"
        error = error or f"this passes, but is declared a gap: {gap.reason}"
    else:
        status = "fail" if error else "pass"
    return Result(
        info.id,
        dtype,
        check,
        status,
        outcome.seconds,
        outcome.samples,
        ulps_of(info, dtype),
        sample=f"{info.name}{outcome.sample!r}" if outcome.sample else "",
        error=error,
        traceback=trace if status == "fail" else "",
        reason=gap.reason if gap is not None else "",
    )


def groups(chosen: Iterable[Cell]) -> Iterator[tuple[str, str, list[str]]]:
    """The cells of each entry and dtype together, as they share programs."""
    for (operator, dtype), same in itertools.groupby(chosen, key=lambda cell: cell[:2]):
        yield operator, dtype, [check for _, _, check in same]


def run_here(plan: Plan, chosen: Iterable[Cell], device: Device | None = None) -> Iterator[Result]:
    """Runs cells in this process, an entry in one dtype after the other."""
    by_id = {info.id: info for info in plan.infos}
    known: dict[str, Any] = {"device": device, "samples": plan.samples, "profile": plan.profile}
    for operator, dtype, checks in groups(chosen):
        yield from run_group(by_id[operator], dtype, checks, **known)


def totals(results: Iterable[Result]) -> dict[str, int]:
    """How many cells have each status."""
    counts = {"pass": 0, "fail": 0, "gap": 0, "unexpected pass": 0}
    for result in results:
        counts[result.status] += 1
    return counts


def declared_gaps(infos: Iterable[OpInfo]) -> int:
    """How many gaps of cells entries declare, whether or not these are run."""
    return sum(len(info.expected_failures) for info in infos)


def check_groups(checks: Iterable[str]) -> dict[str, list[str]]:
    """Checks by the file that defines them: batching, composition and so on."""
    groups: dict[str, list[str]] = {}
    for name in checks:
        module = function_of(name).__module__
        groups.setdefault(module.rpartition(".")[2], []).append(name)
    return groups


def function_of(check: str) -> Callable[..., Any]:
    """The function that runs a check; checks of several compositions share one."""
    run: Any = CHECKS[check].run
    return getattr(run, "func", run)
