"""What results of an entry rest on: the files of its operator and entry, and of what they call."""

from __future__ import annotations

import dataclasses
import functools as ft
import hashlib
import inspect
import sys
from pathlib import Path

from functx.testing.opinfo import OpInfo

from .own_rules import functions_within


# The core and the transforms are beneath every result: who changes them judges what to run again.
_FOLLOWED = "functx._ops.", "functx.testing.opdb."


@ft.cache
def source_digest(info: OpInfo) -> str:
    """A digest of all files of operators and of entries that this one calls or imports.

    Results that were kept under another digest are of another operator or of other samples.
    """
    digest = hashlib.sha256()
    for name in sorted(_files(info)):
        digest.update(_file_digest(name))
    return digest.hexdigest()[:16]


def _files(info: OpInfo) -> set[str]:
    """The names of the modules in these files."""
    roots = [getattr(info, field.name) for field in dataclasses.fields(info)]
    if info.spec is not None:
        roots += [getattr(info.spec, field.name) for field in dataclasses.fields(info.spec)]
    waiting = [
        name for f in functions_within(roots) if (name := f.__module__).startswith(_FOLLOWED)
    ]
    modules = set[str]()
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += _imported(name)
    return modules


@ft.cache
def _imported(module: str) -> list[str]:
    """The files of operators and of entries that a module has names of."""
    found = set[str]()
    for x in vars(sys.modules[module]).values():
        name = x.__name__ if inspect.ismodule(x) else getattr(x, "__module__", None)
        if isinstance(name, str) and name.startswith(_FOLLOWED) and name in sys.modules:
            found.add(name)
    return sorted(found)


@ft.cache
def _file_digest(module: str) -> bytes:
    return hashlib.sha256(Path(inspect.getfile(sys.modules[module])).read_bytes()).digest()
