"""A public name, or field of a dataclass, without documentation fails the build."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import objects
from public import public_names
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError


def undocumented(documented: set[str]) -> list[str]:
    """The public names that no page describes, or whose docstring is empty, and such fields."""
    missing = []
    for name, value in public_names().items():
        silent = (inspect.isroutine(value) or inspect.isclass(value)) and not inspect.getdoc(value)
        if name not in documented or silent:
            missing.append(name)
        missing += [f"{name}.{field}" for field in _unexplained(value)]
    return missing


def _unexplained(value: Any) -> list[str]:
    """The fields of a dataclass that neither a comment nor the docstring explains."""
    if not (inspect.isclass(value) and dataclasses.is_dataclass(value)):
        return []
    said, doc = objects.field_comments(value), inspect.getdoc(value) or ""
    names = [field.name for field in dataclasses.fields(value)]
    return [name for name in names if name not in said and f"`{name}`" not in doc]


def check(app: Sphinx, env: BuildEnvironment) -> None:
    """Compares the public names with what the pages describe."""
    missing = undocumented(set(env.domaindata["py"]["objects"]))
    if missing:
        raise ExtensionError(f"public, but not documented: {', '.join(missing)}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry."""
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
