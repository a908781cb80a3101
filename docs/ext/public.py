"""The public names: what a user can reach from `functx` without an underscore."""

from __future__ import annotations

import importlib
import inspect
from typing import Any


FACADES = [
    "functx",
    "functx.autograd",
    "functx.autograd.forward_ad",
    "functx.autograd.functional",
    "functx.autograd.graph",
    "functx.debug",
    "functx.fft",
    "functx.linalg",
    "functx.masked",
    "functx.nn.functional",
    "functx.random",
    "functx.signal.windows",
    "functx.special",
    "functx.testing",
]
_NOT_FOR_USERS = {"annotations"}


def public_names() -> dict[str, Any]:
    """Full names and what they name, facade by facade."""
    found = {}
    for facade in FACADES:
        module = importlib.import_module(facade)
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or name in _NOT_FOR_USERS or inspect.ismodule(value):
                continue
            if facade == "functx.autograd" and found.get(f"functx.{name}") is value:
                continue  # a second name for PyTorch's users
            found[f"{facade}.{name}"] = value
    return found
