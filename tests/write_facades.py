"""Writes the operators' names into the facades: `python -m tests.write_facades [--check]`.

Run it after an operator is added, moved or removed. It does not import the facades, which cannot be
imported while they name an operator that is elsewhere by now.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any


ROOT = Path(__file__).resolve().parents[1] / "functx"
BEGIN = "# Operators, written by `python -m tests.write_facades`.\n# isort: split\n"
END = "# End of operators.\n"
_WIDTH = 100  # ruff's line-length

Pair = tuple[str, str]  # the declared function's name and the one it is shown under
Imports = dict[str, list[Pair]]  # by module

# The file that shows each of PyTorch's namespaces.
FACADES = {
    "": "__init__.py",
    "fft": "fft.py",
    "linalg": "linalg.py",
    "masked": "masked.py",
    "nn.functional": "nn/functional.py",
    "signal.windows": "signal/windows.py",
    "special": "special.py",
}


def current() -> dict[Path, str]:
    """Every facade's path and the text it should have."""
    regions = _regions()
    return {
        ROOT / file: _rewritten((ROOT / file).read_text(), regions[space], file)
        for space, file in FACADES.items()
    }


def _rewritten(text: str, region: str, file: str) -> str:
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"functx/{file} lacks the lines {BEGIN!r} and {END!r}")
    return head + begin + region + end + tail


def _regions() -> dict[str, str]:
    """The imports and aliases of each namespace."""
    imports: dict[str, Imports] = {space: defaultdict(list) for space in FACADES}
    aliases: dict[str, list[Pair]] = {space: [] for space in FACADES}
    for spec in _registry().values():
        module, rule = spec.rule.__module__, spec.rule.__name__
        named: dict[str, list[str]] = defaultdict(list)
        for path in (spec.name, *spec.aliases):
            space, _, name = path.rpartition(".")
            named[space].append(name)
        for space, names in named.items():
            # `x as y` exports nothing, for type checkers, unless the two are the same.
            first = rule if rule in names else f"_{rule}"
            imports[space][module].append((rule, first))
            aliases[space] += [(name, first) for name in names if name != first]
    return {space: "".join(_lines(space, imports[space], aliases[space])) for space in FACADES}


def _registry() -> dict[str, Any]:
    """The registry, filled from every file of operators, listed in a facade or not."""
    if "functx" not in sys.modules:  # a bare package, whose facade is not run
        bare = types.ModuleType("functx")
        bare.__path__ = [str(ROOT)]
        sys.modules["functx"] = bare
    operators = importlib.import_module("functx._ops")
    for module in pkgutil.walk_packages(operators.__path__, f"{operators.__name__}."):
        importlib.import_module(module.name)
    return importlib.import_module("functx._core").REGISTRY


def _lines(space: str, imports: Imports, aliases: list[Pair]) -> Iterator[str]:
    for module in sorted(imports, key=_natural):
        # The folder of a nested facade is not the one that relative imports start from.
        source = module if "." in space else module.removeprefix("functx")
        names = [f"{rule} as {name}" for rule, name in sorted(imports[module], key=_natural_pair)]
        line = f"from {source} import {', '.join(names)}\n"
        if len(line) > _WIDTH + 1:
            inner = "".join(f"    {name},\n" for name in names)
            line = f"from {source} import (\n{inner})\n"
        yield line
    yield "\n\n" if imports else ""
    for alias, name in sorted(aliases):
        yield f"{alias} = {name}\n"


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts as ruff does: case-blind, and `log2` before `log10`."""
    parts = re.split(r"(\d+)", name.lower())
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _natural_pair(pair: Pair) -> tuple[list[list[tuple[int, str]]], Pair]:
    return [_natural(name) for name in pair], pair  # `T` before `t`


def main(arguments: list[str] | None = None) -> int:
    """Writes the facades, or with `--check` says which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if stale")
    check = parser.parse_args(arguments).check
    stale = {path: text for path, text in current().items() if path.read_text() != text}
    for path, text in stale.items():
        name = path.relative_to(ROOT.parent)
        if check:
            print(f"{name} is out of date: run python -m tests.write_facades")
        else:
            path.write_text(text)
            print(f"{name} written")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
