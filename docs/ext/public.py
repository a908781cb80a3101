"""The public names: what a user can reach from `functx` without an underscore."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any

import functx


_ROOT = Path(functx.__file__).parent
_NOT_FOR_USERS = {"annotations"}
# What they have from functx is described there.
_FROM_FUNCTX = ("functx.autograd", "functx.checkpointing", "functx.func", "functx.random")


def facades() -> list[str]:
    """The modules that hand names on, `from ... import name as name`; parents come first."""
    found = []
    for path in _ROOT.rglob("*.py"):
        name = ".".join(path.relative_to(_ROOT.parent).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        if "._" not in name and not name.startswith("functx.cli.") and _hands_on(path):
            found.append(name)
    return sorted(found)


def _hands_on(path: Path) -> bool:
    body = ast.parse(path.read_text()).body
    imported = [alias for node in body if isinstance(node, ast.ImportFrom) for alias in node.names]
    return any(alias.asname == alias.name for alias in imported)


def public_names() -> dict[str, Any]:
    """Full names and what they name, facade by facade."""
    found = {}
    for facade in facades():
        module, parent = importlib.import_module(facade), facade.rpartition(".")[0]
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or name in _NOT_FOR_USERS or inspect.ismodule(value):
                continue
            again = found.get(f"{parent}.{name}") is value
            if again and (parent != "functx" or facade in _FROM_FUNCTX):
                continue  # where the parent has it from
            found[f"{facade}.{name}"] = value
    return found
