"""Notes on exceptions from derivatives' rules: which line of the forward pass they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functx._transforms.programs.labels import line_among


def noting(call: Callable[..., Any], *args: Any) -> Any:
    """Calls `call`; an exception from a rule gets a note with the line that it is the rule for."""
    try:
        return call(*args)
    except Exception as error:
        line = _forward_line(error)
        if line is not None:
            error.add_note(f"detect_anomaly: this is the derivative of what {line} computed")
        raise


def _forward_line(error: BaseException) -> Any:
    """The line that JAX says led to the operation whose rule failed, if it says so."""
    cause: BaseException | None = error
    while cause is not None:
        if type(cause).__name__ == "JaxStackTraceBeforeTransformation":
            return line_among(_frames(cause))
        cause = cause.__cause__ or cause.__context__
    return None


def _frames(error: BaseException) -> list[tuple[str, int, str]]:
    """File, line and function of each frame that the exception passed, the innermost first."""
    frames, traceback = list[tuple[str, int, str]](), error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append((code.co_filename, traceback.tb_lineno, code.co_qualname))
        traceback = traceback.tb_next
    return frames[::-1]
