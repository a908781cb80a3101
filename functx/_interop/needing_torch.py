"""Modules that import PyTorch, which functx does without until one of them is needed."""

from __future__ import annotations

import importlib
from typing import Any

from functx._core import fail


def module_needing_torch(who: str, name: str) -> Any:
    """The module of this name.

    Errors: ImportError without PyTorch, in the words of the function `who`.
    """
    try:
        importlib.import_module("torch")
    except ImportError:
        fail(
            who,
            "PyTorch is not installed",
            hint="pip install 'functx[torch]' brings it",
            error=ImportError,
        )
    return importlib.import_module(name)
