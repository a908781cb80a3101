"""How cells are run: the checks of an entry together, so that their programs become few."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax

from functx._core import Device
from functx.testing.hiding import of_findings
from functx.testing.opinfo import OpInfo, Sample
from functx.testing.options import names_of
from functx.testing.samples import NoSample

from .derived import looked_at
from .names import require_checks, require_dtypes, require_entries, require_profile
from .programs import ProgramCall, run_requests, tracing_strictly
from .registry import CHECKS, Profile, PROFILES


__tracebackhide__ = of_findings


class CheckFailed(AssertionError):
    """A cell in which no sample has anything to check."""


@dataclasses.dataclass
class Outcome:
    """What came of a cell: the first error, in which sample, of how many."""

    error: Exception | None = None  #: None: the cell passes
    sample: Sample | None = None  #: that it came of
    samples: int = 0  #: how many were looked at
    seconds: float = 0.0  #: that the check took: in Python, and its share of compiled programs


class Running:
    """A check on one sample, on its way from one request to the next.

    It is the registry's of that name, or `run`.
    """

    def __init__(
        self,
        check: str,
        info: OpInfo,
        sample: Sample,
        run: Callable[[OpInfo, Sample], Any] | None = None,
    ):
        self.check, self.sample = check, sample
        self.asked: Sequence[ProgramCall] = ()
        self.error: Exception | None = None
        self.something = True
        self.done = False
        self.seconds = 0.0
        self._steps: Any = None
        self._advance(lambda: (run or CHECKS[check].run)(info, sample))

    def _advance(self, step: Any) -> None:
        began = time.perf_counter()
        self._go_on(step)
        self.seconds += time.perf_counter() - began

    def _go_on(self, step: Any) -> None:
        try:
            out = step()
            if self._steps is None and hasattr(out, "send"):
                self._steps = out
                out = next(out)
            if self._steps is None:
                self.done, self.something = True, out is not False
            else:
                self.asked = list(out)
        except StopIteration as stop:
            self.done, self.something = True, stop.value is not False
        except Exception as error:
            self.done, self.error = True, error

    def receive(self, results: list[Any]) -> None:
        """Goes on with the results of what was asked for, or the exceptions in their places."""
        self.seconds += sum(request.seconds for request in self.asked)
        raised = next((r for r in results if isinstance(r, Exception)), None)
        if raised is not None:
            self._advance(lambda: self._steps.throw(raised))
        else:
            self._advance(lambda: self._steps.send(results))


def run_cells(
    info: OpInfo,
    dtype: str,
    names: str | Iterable[str],
    *,
    device: Device | None = None,
    samples: int | None = None,
    profile: Profile = "quick",
) -> dict[str, Outcome]:
    """The outcomes of several checks of an operator in one dtype, by name.

    - `info`: an entry of the database.
    - `dtype`: the name of a dtype.
    - `names`: the name of a check in `CHECKS`, or several.
    - `device`: where arrays live; None is JAX's default device.
    - `samples`: at most how many samples each check looks at; None is what it looks at by itself.
    - `profile`: `"quick"`, `"full"`, or `"exhaustive"`, which looks at all samples.

    Errors: ValueError for a dtype, check or profile that does not exist, and for a gap of such a
    check; TypeError where `samples` yields something else than calls. What a check raises is its
    outcome.
    """
    names = names_of(names)
    _require("run_cells", info, dtype, "names", names, profile)
    placed = contextlib.nullcontext() if device is None else jax.default_device(device)
    with placed, tracing_strictly(info.spec is not None):
        return _outcomes(info, dtype, names, device, samples, profile)


def _require(
    who: str, info: OpInfo, dtype: str, argument: str, names: Sequence[str], profile: str
) -> None:
    require_entries(who, [info], CHECKS)
    require_dtypes(who, "`dtype`", [dtype], [info])
    require_checks(who, f"`{argument}`", names, CHECKS)
    require_profile(who, profile, PROFILES)


def _outcomes(
    info: OpInfo,
    dtype: str,
    names: Sequence[str],
    device: Device | None,
    samples: int | None,
    profile: Profile,
) -> dict[str, Outcome]:
    outcomes = {name: Outcome() for name in names}
    chosen: dict[str, list[Sample]] = {}
    try:
        drawn = looked_at(info, dtype, device=device)
    except NoSample:
        raise
    except Exception as error:  # what the entry raises fails its own cells
        return {name: Outcome(error) for name in names}
    for name, outcome in outcomes.items():
        began = time.perf_counter()
        try:
            chosen[name] = CHECKS[name].select(info, drawn, profile)[:samples]
        except Exception as error:
            outcome.error = error
        outcome.seconds += time.perf_counter() - began
    _run(chosen, info, outcomes, profile)
    for name, outcome in outcomes.items():  # the chosen ones may lack what the check is about
        for sample in (s for s in drawn if not s.derived):
            if outcome.samples or outcome.error:
                break
            _run({name: [sample]}, info, outcomes, profile)
        if not outcome.samples and not outcome.error:
            what = f"{info.id}-{dtype}-{name}: no sample has anything to check"
            outcome.error = CheckFailed(what)
    return outcomes


def run_together(running: Sequence[Running]) -> None:
    """Takes checks to their ends, the programs that they ask for compiled as few."""
    while asking := [r for r in running if not r.done]:
        results = iter(run_requests([request for r in asking for request in r.asked]))
        for r in asking:
            r.receive([next(results) for _ in r.asked])


def _run(
    chosen: dict[str, list[Sample]],
    info: OpInfo,
    outcomes: dict[str, Outcome],
    profile: Profile,
) -> None:
    running = [
        Running(name, info, sample, CHECKS[name].run_in(profile, first=sample is many[0]))
        for name, many in chosen.items()
        for sample in many
    ]
    run_together(running)
    for r in running:
        outcome = outcomes[r.check]
        outcome.samples += r.something
        outcome.seconds += r.seconds
        if r.error is not None and outcome.error is None:
            outcome.error, outcome.sample = r.error, r.sample


def run_cell(
    info: OpInfo,
    dtype: str,
    name: str,
    *,
    device: Device | None = None,
    samples: int | None = None,
    profile: Profile = "quick",
) -> None:
    """Runs one check over an operator's samples in one dtype; raises at the first that fails.

    - `info`: an entry of the database.
    - `dtype`: the name of a dtype.
    - `name`: the name of a check in `CHECKS`.
    - `device`: where arrays live; None is JAX's default device.
    - `samples`: at most how many samples; None is what the check looks at.
    - `profile`: `"quick"`, `"full"` or `"exhaustive"`.

    Errors: what the check raises; AssertionError if no sample has anything to check; ValueError for
    a dtype, check or profile that does not exist, and for a gap of such a check.
    """
    _require("run_cell", info, dtype, "name", [name], profile)
    outcome = run_cells(info, dtype, [name], device=device, samples=samples, profile=profile)[name]
    if outcome.error is not None:
        raise outcome.error
