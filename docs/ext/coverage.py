"""A public name without documentation fails the build."""

from __future__ import annotations

import inspect
from typing import Any

from public import public_names
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError


def undocumented(documented: set[str]) -> list[str]:
    """The public names that no page describes, or whose docstring is empty."""
    missing = []
    for name, value in public_names().items():
        silent = (inspect.isroutine(value) or inspect.isclass(value)) and not inspect.getdoc(value)
        if name not in documented or silent:
            missing.append(name)
    return missing


def check(app: Sphinx, env: BuildEnvironment) -> None:
    """Compares the public names with what the pages describe."""
    missing = undocumented(set(env.domaindata["py"]["objects"]))
    if missing:
        raise ExtensionError(f"public, but not documented: {', '.join(missing)}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry."""
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
