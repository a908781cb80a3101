"""The page that holds each of PyTorch's functions beside functx's."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

from functx._names import counterpart
from tests.write_facades import FACADES


_CODE = re.compile(  # in a sentence: a qualified name, with arguments and what takes its result
    r"(?:\b\w+ = )?(?<![\w.`])(?:functx|jax|jnp|numpy|torch)(?:\.\w+)+(?:\([^()]*\))?"
)
RECORD = Path(__file__).parent / "pytorch_functions.json"
_INTRODUCTION = """# PyTorch's functions beside functx's

Every public function of the namespaces of PyTorch 2.13 that functx has, {total} in all: {here} are
here under the same name, {else_} have a counterpart, here or in JAX, or a reason why they have
none, {later} have none as yet. Asking a module for a name that it lacks says the same as this page.

Methods of tensors are functions here, `x.add(y)` is `functx.add(x, y)`; Python's operators and
indexing are those of `jax.Array`: they follow JAX's promotion, where `functx.add` follows
PyTorch's. An in-place function `f_(x)` is `x = functx.f(x)`, and `out=` a plain assignment.
"""


def names_page() -> str:
    """The page as MyST text."""
    record = json.loads(RECORD.read_text())
    tables = {space: _sorted_out(space, record[space]) for space in FACADES}
    here, else_, later = (sum(len(t[i]) for t in tables.values()) for i in range(3))
    parts = [_INTRODUCTION.format(total=here + else_ + later, here=here, else_=else_, later=later)]
    for space, (same, other, missing) in tables.items():
        facade = _facade(space)
        parts.append(f"## torch{facade.removeprefix('functx')}\n")
        parts.append("Here under the same name: " + _listed(same) + "\n")
        if other:
            parts += ["| PyTorch | here |", "|---|---|"]
            parts += [f"| `{name}` | {_cell(text)} |" for name, text in other.items()]
            parts.append("")
        if missing:
            parts.append("None as yet: " + _listed(missing) + "\n")
    return "\n".join(parts)


def _sorted_out(space: str, names: list[str]) -> tuple[list[str], dict[str, str], list[str]]:
    """Those that are here, those with a counterpart and what it is, and the rest."""
    facade = _facade(space)
    shown = dir(importlib.import_module(facade))
    hints = {name: counterpart(facade, name) for name in names if name not in shown}
    other = {name: hint for name, hint in hints.items() if hint}
    missing = [name for name, hint in hints.items() if not hint]
    return [name for name in names if name in shown], other, missing


def _facade(space: str) -> str:
    return ".".join(filter(None, ("functx", space)))


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "."


def _cell(text: str) -> str:
    return _CODE.sub(r"`\g<0>`", text).replace("|", "&#124;")
