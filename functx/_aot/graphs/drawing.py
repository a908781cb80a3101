"""Graphs as text, and in Graphviz's language."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .nodes import Edge, Node


def listing(
    nodes: Sequence[Node], inputs: Mapping[str, str], outputs: Mapping[str, Edge | None]
) -> str:
    """A table with a row for each node."""
    rows: list[tuple[str, ...]] = [
        *(("", path, kind, "input", "", "", "") for path, kind in inputs.items()),
        *_rows(nodes, ""),
        *(("", path, "", "output", _edge(edge), "", "") for path, edge in outputs.items()),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _rows(nodes: Sequence[Node], indent: str) -> Iterator[tuple[str, ...]]:
    for node in nodes:
        line = node.line and f"{Path(node.line.file).name}:{node.line.line}"
        yield (
            f"{indent}{node.index}",
            f"{indent}{node.name}",
            ", ".join(node.outputs),
            node.kind,
            ", ".join(map(_edge, node.inputs)),
            line or "",
            node.scope,
        )
        for program in node.programs:
            yield from _rows(program, indent + "  ")


def _edge(edge: Edge | None) -> str:
    return "constant" if edge is None else str(edge)


_SHAPES = {"operator": "box", "rule": "box3d", "primitive": "ellipse", "program": "folder"}


def dot(
    nodes: Sequence[Node], inputs: Mapping[str, str], outputs: Mapping[str, Edge | None]
) -> str:
    """The graph in Graphviz's language, from the inputs at the top to the outputs."""
    lines = [f"{_id(path)} [shape=plain, label={_text(path, t)}]" for path, t in inputs.items()]
    for node in nodes:
        label = _text(node.name, ", ".join(node.outputs))
        tip = _text(str(node.line or ""))
        lines.append(f"{node.index} [shape={_SHAPES[node.kind]}, label={label}, tooltip={tip}]")
        lines += [_arrow(edge, str(node.index)) for edge in node.inputs if edge is not None]
    for path, edge in outputs.items():
        lines.append(f"{_id(path)} [shape=plain, label={_text(path)}]")
        lines += [_arrow(edge, _id(path))] if edge is not None else []
    return "digraph {\n" + "".join(f"  {line};\n" for line in lines) + "}\n"


def _arrow(edge: Edge, to: str) -> str:
    number = f' [label="{edge.output}"]' if edge.output else ""
    return f"{_id(edge.source)} -> {to}{number}"


def _id(source: int | str) -> str:
    return str(source) if isinstance(source, int) else _text(source)


def _text(*lines: str) -> str:
    """A quoted string; Graphviz reads `\\n` and escaped quotes as JSON writes them."""
    return json.dumps("\n".join(lines), ensure_ascii=False)
