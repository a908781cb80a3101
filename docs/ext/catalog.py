"""The operators' pages: one for each family, and a table of all with their checks."""

from __future__ import annotations

import inspect
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable

import objects
from families import family_of, title
from status import last_run, NOT_RUN, sentence, statuses

from functx._core import OPERATORS, OpSpec, Promote, REGISTRY
from functx._core.numbers.dtypes import Accepts
from functx.testing import FixedSizes, op_db


_DTYPES = {
    Accepts.ANY: "all",
    Accepts.REAL: "bool, integers, floats",
    Accepts.NUMBER: "integers, floats, complex",
    Accepts.REAL_NUMBER: "integers, floats",
    Accepts.INTEGRAL: "bool, integers",
    Accepts.INTEGER: "integers",
    Accepts.BOOL: "bool",
    Accepts.INEXACT: "floats, complex",
    Accepts.FLOATING: "floats",
    Accepts.LAPACK: "float32, float64, complex",
    Accepts.LAPACK_REAL: "float32, float64",
    Accepts.WHOLE: "all but halves",
    Accepts.WHOLE_REAL: "bool, integers, float32, float64",
}
_PROMOTES = {
    Promote.NONE: "as described",
    Promote.DEFAULT: "common dtype",
    Promote.SAME: "mixing refused",
    Promote.NO_OPMATH: "common dtype",
    Promote.INT_TO_FLOAT: "integers to float32",
    Promote.BOOL_TO_LONG: "bools to int64",
    Promote.INT_TO_LONG: "integers to int64",
    Promote.COMPLEX_TO_FLOAT: "complex to real",
    Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT: "integers to float32, complex to real",
    Promote.ALWAYS_BOOL: "bool",
}
Families = dict[str, dict[str, list[OpSpec]]]  # by family, then by module


def operator_pages() -> dict[str, str]:
    """Each family's page."""
    return {family: _page(family, modules) for family, modules in _families().items()}


def catalog_page() -> str:
    """The table of all operators."""
    families = _families()
    entries = Counter(info.name for info in op_db)
    gaps = Counter(info.name for info in op_db for _ in info.expected_failures)
    run = last_run()
    status = statuses(run)
    parts = [
        "# All operators\n",
        f"{len(REGISTRY)} operators with {sum(entries.values())} entries in the database, "
        "generated from the registry. *Gaps* are checks that an operator is declared to fail, "
        "with a reason; one that passes after all fails the suite. *Checks* are how the cells of "
        f"a run came out; [](../how-to/read_the_report.md) shows more. {sentence(run)}\n",
    ]
    for family, modules in sorted(families.items()):
        specs = sorted((s for specs in modules.values() for s in specs), key=lambda s: s.name)
        parts += [f"## {title(family)}\n", *_rows(specs, entries, gaps, status)]
    return "\n".join([*parts, *_gaps(), *_fixed_sizes()])


def _gaps() -> list[str]:
    rows = [
        f"| `{info.id}` | `{gap.check}` | {', '.join(sorted(gap.dtypes)) or 'all'} "
        f"| {', '.join(sorted(gap.devices)) or 'all'} | {gap.reason.replace('|', '&#124;')} |"
        for info in sorted(op_db, key=lambda info: info.id)
        for gap in info.expected_failures
    ]
    head = ["| entry | check | dtypes | devices | reason |", "|---|---|---|---|---|"]
    return ["## Declared gaps\n", *([*head, *rows] if rows else ["None."]), ""]


def _dims(fixed: FixedSizes) -> str:
    dims = f"`{fixed.along}`" if fixed.along else ", ".join(map(str, fixed.dims)) or "all"
    given = ", ".join(f"`{name}={value!r}`" for name, value in fixed.given.items())
    return f"{dims}, with {given}" if given else dims


def _fixed_sizes() -> list[str]:
    rows = [
        f"| `{info.id}` | `{fixed.argument}` | {_dims(fixed)} "
        f"| {fixed.reason.replace('|', '&#124;')} |"
        for info in sorted(op_db, key=lambda info: info.id)
        for fixed in info.fixed_sizes
    ]
    head = ["| entry | argument | dimensions | reason |", "|---|---|---|---|"]
    return ["## Sizes that cannot be symbols\n", *([*head, *rows] if rows else ["None."]), ""]


def _families() -> Families:
    families: Families = defaultdict(lambda: defaultdict(list))
    for spec in REGISTRY.values():
        families[family_of(spec)][spec.rule.__module__].append(spec)
    return families


def _first_line(module: str) -> str:
    return (inspect.getdoc(sys.modules[module]) or module).partition("\n")[0].rstrip(".")


def _page(family: str, modules: dict[str, list[OpSpec]]) -> str:
    parts = [f"# {title(family)}\n"]
    for module, specs in sorted(modules.items()):
        parts.append(f"## {_first_line(module)}\n")
        parts += [_entry(spec) for spec in sorted(specs, key=lambda s: s.name)]
    return "\n".join(parts)


def _entry(spec: OpSpec) -> str:
    names = [f"functx.{name}" for name in (spec.name, *spec.aliases)]
    facts = [f"*Dtypes:* {_DTYPES[spec.accepts]} · *result:* {_result(spec)}"]
    if not spec.differentiable:
        facts.append("*no derivative*")
    if spec.random:
        facts.append(
            f"*random:* takes `{spec.key_parameter}=`, or draws from the ambient generator"
        )
    if spec.sizes_from_values:
        sizes = ", ".join(f"`{name}=`" for name in spec.sizes_from_values)
        facts.append(f"*shape depends on values:* {sizes} under `jit`")
    line = " · ".join(facts)
    return objects.function(names, OPERATORS[spec.name], f":::{{container}} facts\n{line}\n:::\n")


def _result(spec: OpSpec) -> str:
    return _PROMOTES[spec.promote if spec.promoting else Promote.NONE]


def _rows(
    specs: Iterable[OpSpec], entries: Counter[str], gaps: Counter[str], status: dict[str, str]
) -> list[str]:
    lines = [
        "| operator | dtypes | result | also named | entries | gaps | checks |",
        "|---|---|---|---|--:|--:|---|",
    ]
    for spec in specs:
        also = ", ".join(f"`{alias}`" for alias in spec.aliases)
        outcome = status.get(spec.name, NOT_RUN)
        lines.append(
            f"| {{py:func}}`{spec.name} <functx.{spec.name}>` | {_DTYPES[spec.accepts]} "
            f"| {_result(spec)} | {also} | {entries[spec.name]} | {gaps[spec.name]} "
            f"| {outcome} |"
        )
    return [*lines, ""]
