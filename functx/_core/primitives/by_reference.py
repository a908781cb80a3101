"""What there is once in a process is pickled as a reference to it, not as a copy.

Functions that transforms return cannot be imported, so `cloudpickle` writes them out, with all that
they name. A primitive's copy has no rules, and a context's copy is not the one that is entered.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import jax

from functx._core import jax_compat


class Reference:
    """Pickled, and copied, as what the module `home` has under some name."""

    home: str

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        names = vars(sys.modules[self.home])
        return _named, (self.home, next(name for name, x in names.items() if x is self))


def _named(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


class Primitive(Reference, jax_compat.Primitive):
    """A primitive of the module `home`."""

    def __init__(self, name: str, home: str, *, multiple_results: bool = False) -> None:
        super().__init__(name)
        self.home, self.multiple_results = home, multiple_results


class Context(Reference):
    """A user context of JAX's, of the module `home`: state that is part of every `jax.jit` key."""

    def __init__(self, home: str, default: Any) -> None:
        self.home, self._context = home, jax.make_user_context(default_value=default)

    @property
    def value(self) -> Any:
        """What is in force here, in this thread."""
        return self._context.value

    def __call__(self, value: Any) -> AbstractContextManager[None]:
        """A region in which `value` is in force."""
        return self._context(value)

    def set_global(self, value: Any) -> None:
        """Puts `value` in force for the process: in all threads, where they are in no region."""
        self._context.set_global(value)
