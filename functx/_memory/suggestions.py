"""Which checkpoint makes a derivative fit into a number of bytes: found by trying."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from functx._core.context.user_contexts import wrapping_losses
from functx._transforms.checkpointing.checkpoint import checkpoint

from .analysis import measured, recorded
from .report import MemoryReport


# From what computes the least again to what keeps the least.
_TRIALS: tuple[dict[str, Any], ...] = (
    {"policy": "min_cut"},
    *({"budget": fraction} for fraction in (0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)),
)


@dataclasses.dataclass(frozen=True)
class CheckpointTrial:
    """A checkpoint around the function that is differentiated, and what it comes to.

    - `written`: how to write it; `again`: the operators whose results it computes again.
    """

    written: str
    name: str
    report: MemoryReport
    again: tuple[str, ...]


def checkpoint_for(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], bytes: int
) -> CheckpointTrial | None:
    """The first checkpoint within so many bytes, or else the one that needs the fewest, if any."""
    least: CheckpointTrial | None = None
    for trial in _trials(func, args, kwargs):
        if trial.report.peak_bytes <= bytes:
            return trial
        if least is None or trial.report.peak_bytes < least.report.peak_bytes:
            least = trial
    return least


def hint_for(
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    bytes: int | None,
) -> str:
    """What to do where a function needs more than so many bytes, or than nobody knows how many."""
    trial = None if bytes is None else checkpoint_for(func, args, kwargs, bytes)
    if trial is None or bytes is None:
        return (
            "functx.checkpoint around what is differentiated, chunk_size= of vmap and Jacobians, "
            "smaller batches and dtypes, and donated arguments need less"
        )
    needs = f"{trial.written} in place of {trial.name} needs {trial.report.peak_bytes:,} bytes"
    again = f" and computes {', '.join(trial.again)} again" if trial.again else ""
    if trial.report.peak_bytes <= bytes:
        return needs + again
    return f"{needs}{again}: the least of what was tried, and too much; smaller batches need less"


def _trials(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[CheckpointTrial]:
    for options in _TRIALS:
        try:
            trial = _trial(options, func, args, kwargs)
        except ValueError as error:  # it names the least, and so it would for all that keep less
            if not (least := _TOO_SMALL.match(str(error))):
                raise
            trial, options = _trial({"budget": int(least[1])}, func, args, kwargs), {}
        if trial is None:  # nothing is differentiated by functx
            return
        yield trial
        if not options:
            return


_TOO_SMALL = re.compile(r"checkpoint: `budget` must be at least (\d+) bytes")


def _trial(
    options: dict[str, Any],
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> CheckpointTrial | None:
    names: list[str] = []

    def wrapping(loss: Callable[..., Any]) -> Callable[..., Any]:
        names.append(getattr(loss, "__name__", "f"))
        return checkpoint(loss, **options)

    with wrapping_losses(wrapping):
        report = measured(recorded("memory.budget", func, args, kwargs))
    if not names:
        return None
    name = names[0] if names[0].isidentifier() else "f"
    (option,) = (f"{key}={value!r}" for key, value in options.items())
    again = dict.fromkeys(x.operator for x in report.steps if x.phase == "recomputed")
    return CheckpointTrial(f"functx.checkpoint({name}, {option})", name, report, tuple(again))
