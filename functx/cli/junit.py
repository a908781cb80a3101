"""A run's results as JUnit XML, for CI: a suite for each entry, a case for each cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from .runner import FAILING


# What XML 1.0 has no way to write, not even escaped: terminals' colours, for one.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, data: dict[str, Any]) -> None:
    """Writes what `as_data` returned: gaps as skipped cases, failures with their text."""
    root = Element("testsuites", _counted("functx check", data["cells"]))
    by_operator: dict[str, list[dict[str, Any]]] = {}
    for cell in data["cells"]:
        by_operator.setdefault(cell["operator"], []).append(cell)
    for operator, cells in by_operator.items():
        SubElement(root, "testsuite", _counted(operator, cells)).extend(map(_case, cells))
    ElementTree.indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _counted(name: str, cells: Sequence[dict[str, Any]]) -> dict[str, str]:
    statuses = [cell["status"] for cell in cells]
    return {
        "name": name,
        "tests": str(len(cells)),
        "failures": str(sum(status in FAILING for status in statuses)),
        "errors": "0",
        "skipped": str(statuses.count("gap")),
        "time": f"{sum(cell['seconds'] for cell in cells):.4f}",
    }


def _case(cell: dict[str, Any]) -> Element:
    case = Element(
        "testcase",
        classname=f"functx.check.{cell['operator']}",
        name=f"{cell['check']}[{cell['dtype']}]",
        time=f"{cell['seconds']:.4f}",
    )
    if cell["status"] == "gap":
        SubElement(case, "skipped", message=_writable(cell["reason"]))
    elif cell["status"] in FAILING:
        first = (cell["error"].strip().splitlines() or [""])[0]
        failure = SubElement(case, "failure", message=_writable(first), type=cell["status"])
        said = [cell["sample"], cell["error"], cell["traceback"]]
        failure.text = _writable("\n\n".join(filter(None, said)))
    return case


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", text)
