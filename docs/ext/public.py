"""The public names: what a user can reach from `functx` without an underscore."""

from __future__ import annotations

import importlib
import inspect
from typing import Any


FACADES = [
    "functx",
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
            found[f"{facade}.{name}"] = value
    return found
