"""One check on one sample of a mutated entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

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
    """Which of the checks fail; their programs are compiled together."""
    running = [Running(attempt.check, attempt.info, attempt.sample) for attempt in attempts]
    run_together(running)
    return [r.error is not None for r in running]
