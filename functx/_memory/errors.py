"""What is raised where memory does not do: before a function runs, and when a device runs out."""

from __future__ import annotations

from typing import Any, NoReturn

from functx._core.errors import Refused

from .report import buffer_rows, MemoryReport


class OutOfMemoryError(MemoryError, RuntimeError):
    """A device ran out of memory, in a function that functx was to explain.

    It is a RuntimeError, too, as PyTorch's of this name and JAX's own error are.

    - `args`: the message.
    - `report`: the `MemoryReport` of the call, or None where the call cannot be analyzed.
    """

    report: MemoryReport | None = None


class OverBudget(OutOfMemoryError):
    """A function needs more memory than its budget allows. It has not run.

    - `args`: the message.
    - `report`: the `MemoryReport` of the call.
    """


def refuse_memory(
    error: type[OutOfMemoryError],
    who: str,
    message: str,
    hint: str,
    report: MemoryReport | None,
    cause: BaseException | None = None,
) -> NoReturn:
    """Raises `error` with the largest buffers of `report` below the message."""
    if report is not None and report.largest:
        place = report.steps[report.peak_step]
        rows = buffer_rows(report.largest, 6)
        message = "\n".join([f"{message}; at its peak, in {place}, it holds", *rows])
    raised: Any = Refused(message, hint, error).by(who)
    raised.report = report
    raise raised from cause
