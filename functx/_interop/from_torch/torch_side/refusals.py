"""What PyTorch refuses to export, or does not keep, with the line of the model and a remedy."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from functx._core import describe


_FUNCTX = Path(__file__).parents[3]
_LIBRARIES = tuple(f"{folder}/" for folder in (Path(torch.__file__).parent, _FUNCTX))
_ABOUT_VALUES = (
    "GuardOnDataDependentSymNode",
    "DataDependentOutputException",
    "DynamicOutputShapeException",
)
_REMEDY = (
    "an export knows no values: `torch.where` and `torch.cond` choose by them; a Python number, "
    "bool or string among the arguments is known"
)


@contextlib.contextmanager
def explained(name: str, leaves: list[Any]) -> Iterator[None]:
    """Notes on what ends the export of a module of this name for these arguments."""
    try:
        yield
    except Exception as refusal:
        given = ", ".join(map(describe, leaves)) or "no arguments"
        note = f"from_torch: in the export of {name} for {given}{_written(refusal)}"
        if type(refusal).__name__ in _ABOUT_VALUES:
            note += f"\n  hint: {_REMEDY}"
        refusal.add_note(note)
        raise


def _written(refusal: Exception) -> str:
    return innermost_line(traceback.extract_tb(refusal.__traceback__))


def innermost_line(frames: traceback.StackSummary) -> str:
    """The innermost line that is neither PyTorch's nor functx's."""
    for frame in reversed(frames):
        if not frame.filename.startswith(("<", *_LIBRARIES)):
            return f", from {frame.filename}:{frame.lineno}: {frame.line}"
    return ""
