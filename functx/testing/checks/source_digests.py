"""What results of an entry rest on: the files of its operator and entry, and what they import."""

from __future__ import annotations

import ast
import dataclasses
import functools as ft
import hashlib
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path

from functx.testing.opinfo import OpInfo

from .own_rules import functions_within


# The core and the transforms are beneath every result: who changes them judges what to run again.
FOLLOWED = "functx._ops.", "functx.testing.opdb."


@ft.cache
def source_digest(info: OpInfo) -> str:
    """A digest of all files of operators and of entries that this one calls or imports.

    Results that were kept under another digest are of another operator or of other samples.
    """
    digest = hashlib.sha256()
    for name in sorted(files_of(info)):
        digest.update(file_digest(name))
    return digest.hexdigest()[:16]


def files_of(info: OpInfo) -> set[str]:
    """The names of the modules in these files."""
    roots = [getattr(info, field.name) for field in dataclasses.fields(info)]
    if info.spec is not None:
        roots += [getattr(info.spec, field.name) for field in dataclasses.fields(info.spec)]
    functions = functions_within(roots)
    return with_imports(f.__module__ for f in functions if f.__module__.startswith(FOLLOWED))


def with_imports(modules: Iterable[str]) -> set[str]:
    """These modules, and those of operators and of entries that they import, directly or not."""
    met, waiting = set[str](), list(modules)
    while waiting:
        name = waiting.pop()
        if name not in met:
            met.add(name)
            waiting += imports_of(name)
    return met


@ft.cache
def imports_of(module: str) -> list[str]:
    """The files of operators and of entries that a module's file has import statements of.

    What the module holds does not say it: constants and functions with rules of their own do not
    know where they come from.
    """
    path = Path(inspect.getfile(sys.modules[module]))
    folder = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(filter(None, [folder if node.level else "", node.module]))
            found |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return sorted(name for name in found if name.startswith(FOLLOWED) and is_file(name))


def is_file(module: str) -> bool:
    """Whether a name is that of a module which is no folder of others."""
    return module in sys.modules and not hasattr(sys.modules[module], "__path__")


@ft.cache
def file_digest(module: str) -> bytes:
    """A digest of a module's file."""
    return hashlib.sha256(Path(inspect.getfile(sys.modules[module])).read_bytes()).digest()
