"""Cells turned into results, as plain data; no terminal is needed."""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import jax

from functx._core import Device
from functx.testing import cells, CHECKS, OpInfo, run_cell, Sample
from functx.testing.checks.compare import same_kind_tolerance


Status = Literal["pass", "fail", "gap", "unexpected pass"]
FAILING = ("fail", "unexpected pass")

Cell = tuple[str, str, str]  # the entry's id, a dtype, a check


@dataclasses.dataclass(frozen=True)
class Plan:
    """Which cells are run, and how."""

    infos: tuple[OpInfo, ...]
    dtypes: tuple[str, ...]
    checks: tuple[str, ...]
    device: str = "cpu"
    samples: int | None = None
    x64: bool = True

    def cells(self) -> list[Cell]:
        """The cells that apply, operator by operator."""
        every = cells(self.infos, self.dtypes, self.checks)
        return [(info.id, dtype, check) for info, dtype, check in every]


@dataclasses.dataclass(frozen=True)
class Result:
    """What came of one cell."""

    operator: str
    dtype: str
    check: str
    status: Status
    seconds: float
    samples: int  # how many were drawn
    tolerance: float  # relative, for values of `dtype`
    sample: str = ""  # the last one drawn: the one that failed, if one did
    error: str = ""
    traceback: str = ""
    reason: str = ""  # the declared gap's

    @property
    def failing(self) -> bool:
        """Whether this makes the run fail: so does a declared gap that passes."""
        return self.status in FAILING


@dataclasses.dataclass(frozen=True)
class _Watched(OpInfo):
    """An entry that remembers the samples drawn from it."""

    seen: list[Sample] = dataclasses.field(default_factory=list)

    def draw(self, *args: Any, **kwargs: Any) -> Iterator[Sample]:
        for sample in super().draw(*args, **kwargs):
            self.seen.append(sample)
            yield sample


def _watched(info: OpInfo) -> _Watched:
    return _Watched(**{f.name: getattr(info, f.name) for f in dataclasses.fields(info)})


def run_one(
    info: OpInfo,
    dtype: str,
    check: str,
    *,
    device: Device | None = None,
    samples: int | None = None,
) -> Result:
    """Runs one cell. Whatever the check raises becomes part of the result."""
    watched = _watched(info)
    gap = info.gap(check, dtype, device.platform if device is not None else "cpu")
    error = trace = ""
    began = time.perf_counter()
    try:
        with jax.default_device(device):
            run_cell(watched, dtype, check, device=device, samples=samples)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
        trace = "".join(traceback.format_exception(raised)[-8:])
    seconds = time.perf_counter() - began
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
        seconds,
        len(watched.seen),
        same_kind_tolerance(dtype, info.tolerances),
        sample=f"{info.name}{watched.seen[-1]!r}" if watched.seen else "",
        error=error,
        traceback=trace if status == "fail" else "",
        reason=gap.reason if gap is not None else "",
    )


def run_here(plan: Plan, chosen: Iterable[Cell], device: Device | None = None) -> Iterator[Result]:
    """Runs cells in this process, one after the other."""
    by_id = {info.id: info for info in plan.infos}
    for operator, dtype, check in chosen:
        yield run_one(by_id[operator], dtype, check, device=device, samples=plan.samples)


def totals(results: Iterable[Result]) -> dict[str, int]:
    """How many cells came out how."""
    counts = {"pass": 0, "fail": 0, "gap": 0, "unexpected pass": 0}
    for result in results:
        counts[result.status] += 1
    return counts


def check_groups(checks: Iterable[str]) -> dict[str, list[str]]:
    """Checks by the file that defines them: batching, composition and so on."""
    groups: dict[str, list[str]] = {}
    for name in checks:
        run: Any = CHECKS[name].run
        module = getattr(run, "func", run).__module__
        groups.setdefault(module.rpartition(".")[2], []).append(name)
    return groups
