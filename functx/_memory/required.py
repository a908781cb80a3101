"""Packages that pictures and pages need, imported by the call."""

from __future__ import annotations

import importlib
from typing import Any

from functx._core import fail


def required(who: str, module: str) -> Any:
    """A module of an optional package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        hint = "pip install 'functx[cli]' brings it"
        fail(who, f"it needs the package `{package}`", hint=hint, error=ImportError)
