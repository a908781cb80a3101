"""Runs the checks on mutants: which one catches each, and which survive."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from functx.testing.checks import cells, CHECKS
from functx.testing.checks.derived import looked_at
from functx.testing.checks.running import run_together, Running
from functx.testing.opinfo import OpInfo, Sample

from .dtypes import dtype_mutants
from .gradients import batching_mutants, gradient_mutants, slope_mutants
from .integers import integer_mutants
from .mutant import Cells, Mutant
from .option_values import option_value_mutants
from .options import option_mutants
from .randomness import random_mutants
from .refusals import refusal_mutants
from .shapes import shape_mutants
from .subject import representable, Subject
from .symbolic import symbolic_mutants
from .ties import tie_mutants
from .values import value_mutants


@dataclasses.dataclass(frozen=True, eq=False)
class Attempt:
    """A check of a mutated entry that looks at one sample."""

    info: OpInfo
    check: str
    dtype: str
    sample: Sample


def failing(attempts: Sequence[Attempt]) -> list[bool]:
    """Which of the checks fail, as the quick profile runs them; they share compiled programs."""
    quick = {a.check: CHECKS[a.check].run_in("quick") for a in attempts}
    running = [Running(a.check, a.info, a.sample, quick[a.check]) for a in attempts]
    run_together(running)
    return [r.error is not None for r in running]


PLANTS = (
    option_mutants,
    option_value_mutants,
    gradient_mutants,
    slope_mutants,
    batching_mutants,
    tie_mutants,
    shape_mutants,
    symbolic_mutants,
    value_mutants,
    integer_mutants,
    dtype_mutants,
    refusal_mutants,
    random_mutants,
)


# What they look at are not the entry's samples, or variations of these.
WITH_SAMPLES_OF_THEIR_OWN = ("conventions", "dtypes", "promotion", "refusals", "tails")


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What came of one mutant: the cell that caught it, or none."""

    operator: str  #: its name, or the id of the entry
    kind: str  #: of the mistake, as in `KINDS`
    target: str  #: the argument or option in which it was planted
    check: str = ""  #: that caught it; empty: it survived
    dtype: str = ""  #: in which it was caught
    touched: int = 0  #: how many samples had the mistake in them when a check looked at them

    @property
    def caught(self) -> bool:
        """Whether a check failed."""
        return bool(self.check)


def mutants_of(info: OpInfo, siblings: Sequence[OpInfo] = ()) -> list[Mutant]:
    """The entry's operator with one mistake each: every kind that applies to it.

    `siblings` are the other entries of the same operator, if there are any.
    """
    subject = Subject(info, siblings)
    return [mutant for plant in PLANTS for mutant in plant(subject)]


def hunt(
    mutants: Iterable[Mutant],
    info: OpInfo,
    siblings: Sequence[OpInfo] = (),
    *,
    fallback: Cells = (),
) -> list[Verdict]:
    """Which check catches each mutant first: of its likely ones, then of those in `fallback`.

    The mutants' next attempts run together, so that their programs are compiled as few.
    """
    drawn = _Drawn()
    hunted = [
        _Hunted(mutant, _Trail(mutant, info, siblings, fallback, drawn)) for mutant in mutants
    ]
    while running := [h for h in hunted if h.next()]:
        attempts = [h.attempt for h in running if h.attempt is not None]
        for h, failed in zip(running, failing(attempts), strict=True):
            h.judge(failed)
    return [h.verdict(info) for h in hunted]


def hunt_entry(
    info: OpInfo, entries: Sequence[OpInfo] = (), *, thorough: bool = True
) -> list[Verdict]:
    """The verdicts on an entry's mutants, of which those of its options belong to the operator.

    `entries` is the database it is in. `thorough`: before a mutant counts as a survivor,
    every cell of the quick profile looks at it.
    """
    same = [other for other in entries if other.op is info.op] or [info]
    siblings = [other for other in same if other is not info]
    mutants = mutants_of(info, siblings)
    if same[0] is not info:
        mutants = [mutant for mutant in mutants if not mutant.shared]
    every = ((check, dtype) for _, dtype, check in cells([info]))
    fallback = tuple(every) if thorough else ()
    return hunt(mutants, info, siblings, fallback=fallback)


class _Drawn:
    """The samples of entries, drawn once."""

    def __init__(self) -> None:
        self._samples: dict[tuple[str, str], list[Sample]] = {}

    def looked_at(self, info: OpInfo, mutated: OpInfo, check: str, dtype: str) -> list[Sample]:
        """Those that a cell looks at, which the program of the mutated operator may decide."""
        at = info.id, dtype
        if at not in self._samples:
            self._samples[at] = looked_at(info, dtype)
        return CHECKS[check].select(mutated, self._samples[at])


class _Trail:
    """A mutant's attempts: cell by cell, the samples that the cell looks at and that show it."""

    def __init__(
        self,
        mutant: Mutant,
        info: OpInfo,
        siblings: Sequence[OpInfo],
        fallback: Cells,
        drawn: _Drawn,
    ):
        self.mutant, self.cells = mutant, dict.fromkeys((*mutant.cells, *fallback))
        entries = (info, *siblings) if mutant.shared else (info,)
        self.entries = [(entry, dataclasses.replace(entry, op=mutant.op)) for entry in entries]
        self.drawn = drawn
        self._touched: dict[int, bool] = {}

    def __iter__(self) -> Iterator[Attempt]:
        for check, dtype in self.cells:
            likely = check in WITH_SAMPLES_OF_THEIR_OWN and (check, dtype) in self.mutant.cells
            for info, mutated in self.entries:
                if _runs(info, check, dtype):
                    samples = self.drawn.looked_at(info, mutated, check, dtype)
                    for sample in samples[:1] if likely else filter(self.touches, samples):
                        yield Attempt(mutated, check, dtype, sample)

    def touches(self, sample: Sample) -> bool:
        """Whether the mistake shows in a sample."""
        if id(sample) not in self._touched:
            self._touched[id(sample)] = self.mutant.touches(sample)
        return self._touched[id(sample)]


def _runs(info: OpInfo, check: str, dtype: str) -> bool:
    if check not in CHECKS or dtype not in info.accepted or not representable(dtype):
        return False
    if info.gap(check, dtype) is not None:
        return False
    return CHECKS[check].applies(info, dtype)


class _Hunted:
    """A mutant on the run."""

    def __init__(self, mutant: Mutant, trail: _Trail):
        self.mutant, self._touches, self._trail = mutant, trail.touches, iter(trail)
        self.attempt: Attempt | None = None
        self.caught = False
        self.touched = 0

    def next(self) -> bool:
        """Whether there is another attempt, and it is needed."""
        if not self.caught:
            self.attempt = next(self._trail, None)
            self.touched += self.attempt is not None and self._touches(self.attempt.sample)
        return not self.caught and self.attempt is not None

    def judge(self, failed: bool) -> None:
        self.caught = failed

    def verdict(self, info: OpInfo) -> Verdict:
        mutant = self.mutant
        operator = info.name if mutant.shared else info.id
        cell = (
            (self.attempt.check, self.attempt.dtype) if self.caught and self.attempt else ("", "")
        )
        return Verdict(operator, mutant.kind, mutant.target, *cell, self.touched)
