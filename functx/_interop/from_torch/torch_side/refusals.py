"""What PyTorch refuses to export, or does not keep, with the line of the model and a remedy."""

from __future__ import annotations

import contextlib
import traceback
import warnings
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


@contextlib.contextmanager
def warning_of_functions() -> Iterator[None]:
    """Warns of each `autograd.Function` of the model that the block calls.

    Those of PyTorch itself have the derivative of their forward pass.
    """
    base, met = torch.autograd.Function, dict[type, str]()
    own = base.__dict__["apply"]

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not cls.__module__.startswith("torch."):
            met.setdefault(cls, _line(traceback.extract_stack()))
        return own.__get__(None, cls)(*args, **kwargs)

    base.apply = classmethod(apply)  # type: ignore[method-assign]
    try:
        yield
    finally:
        base.apply = own
    for function, line in met.items():
        warnings.warn(
            f"from_torch: an export keeps no backward pass of an autograd.Function: that of "
            f"{function.__name__} is lost{line}, and the derivative is that of its forward pass\n"
            f"  hint: make it an operator (torch.library.custom_op), and give functx.interop."
            f"register a functx.Function for it",
            stacklevel=7,  # where the model is called
        )


def _written(refusal: Exception) -> str:
    return _line(traceback.extract_tb(refusal.__traceback__))


def _line(frames: traceback.StackSummary) -> str:
    """The innermost line that is neither PyTorch's nor functx's."""
    for frame in reversed(frames):
        if not frame.filename.startswith(("<", *_LIBRARIES)):
            return f", from {frame.filename}:{frame.lineno}: {frame.line}"
    return ""
