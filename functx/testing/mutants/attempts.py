"""One check on one sample of a mutated entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from functx.testing.checks import CHECKS
from functx.testing.checks.cases import differentiable_case
from functx.testing.opinfo import OpInfo, Sample


@dataclasses.dataclass(frozen=True, eq=False)
class Attempt:
    """A check of a mutated entry that looks at one sample."""

    info: OpInfo
    check: str
    dtype: str
    sample: Sample


def failing(attempts: Sequence[Attempt]) -> list[bool]:
    """Which of the checks fail."""
    return [_fails(attempt) for attempt in attempts]


def _fails(attempt: Attempt) -> bool:
    try:
        CHECKS[attempt.check].run(attempt.info, attempt.sample)
    except Exception:
        return True
    return False


def looked_at(info: OpInfo, check: str, samples: Sequence[Sample]) -> list[Sample]:
    """Those of an entry's samples that a check looks at."""
    most, found = CHECKS[check].samples, []
    for sample in samples:
        if not _differential(check) or differentiable_case(info, sample) is not None:
            found.append(sample)
        if most is not None and len(found) >= most:
            break
    return found


def _differential(check: str) -> bool:
    run = CHECKS[check].run
    module = getattr(run, "func", run).__module__
    return module.rpartition(".")[2] in ("composition", "numeric", "scanning")
