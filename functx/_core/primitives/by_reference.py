"""Objects that exist once in a process, pickled as references and not as copies.

Functions that transforms return cannot be imported, so `cloudpickle` writes them out, with all that
they name. A primitive's copy has no rules, and a context's copy is not the one that is entered.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from functx._core.jax_compat import Primitive as PrimitiveOfJAX


class Reference:
    """An object that is pickled and copied as the name that the module `home` has for it."""

    home: str

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        names = vars(sys.modules[self.home])
        return _named, (self.home, next(name for name, x in names.items() if x is self))


def _named(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


class Primitive(Reference, PrimitiveOfJAX):
    """A primitive of the module `home`."""

    def __init__(self, name: str, home: str, *, multiple_results: bool = False) -> None:
        super().__init__(name)
        self.home, self.multiple_results = home, multiple_results
