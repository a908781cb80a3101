"""One check on one sample of a mutated entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from functx.testing.checks import CHECKS
from functx.testing.checks.running import run_together, Running
from functx.testing.opinfo import OpInfo, Sample


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
