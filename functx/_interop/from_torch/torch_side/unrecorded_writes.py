"""Writes that autograd does not record: in regions of `torch.no_grad`, and through `detach`.

They change values and leave derivatives as they were. Functionalization alone would make steps of
them that have derivatives of their own, or cut what is written off.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from functx._core import fail

from .reading import written


UNRECORDED = "functx_unrecorded"  # in the facts of a write that was in a region of `no_grad`
_ATEN = torch.ops.aten


@torch.library.custom_op("functx::unrecorded", mutates_args=())
def unrecorded(place: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`value`, with the derivative of `place`."""
    return value.clone()


@unrecorded.register_fake
def _(place: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(place)


def with_unrecorded_writes(program: Any) -> Any:
    """An exported program in which such writes put `functx::unrecorded` in their place."""
    if not any(_is_unrecorded(node) for part in _parts(program) for node in part.graph.nodes):
        return program
    program = copied(program)
    specs = program.graph_signature.input_specs
    fixed = {spec.arg.name for spec in specs if spec.kind.name in ("BUFFER", "CONSTANT_TENSOR")}
    for part in _parts(program):
        for node in list(part.graph.nodes):
            if _is_unrecorded(node):
                _replace(part.graph, node, fixed if part is program.graph_module else set())
                if part is program.graph_module:
                    program.graph_signature.replace_all_uses(node.name, node.args[0].name)
                part.graph.erase_node(node)
        part.recompile()
    return program


def copied(program: Any) -> Any:
    """An exported program whose graph and signature may be changed."""
    program = copy.copy(program)
    program._graph_module = copy.deepcopy(program.graph_module)
    program._graph_signature = copy.deepcopy(program.graph_signature)
    return program


def _parts(program: Any) -> list[GraphModule]:
    return [part for part in program.graph_module.modules() if isinstance(part, GraphModule)]


def is_write(node: Node) -> bool:
    """Whether a step writes the values of its first argument, and of that alone."""
    target: Any = node.target
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.is_mutable or torch.Tag.inplace_view in target.tags:
        return False
    writes = [each.alias_info is not None and each.alias_info.is_write for each in schema.arguments]
    return schema.name.endswith("_") and writes[0] and not any(writes[1:])


def _is_unrecorded(node: Node) -> bool:
    return is_write(node) and (UNRECORDED in node.meta or _is_cut(node.args[0]))


def _is_cut(x: Any) -> bool:
    """Whether a node is a view through `detach`."""
    while isinstance(x, Node):
        if x.target is _ATEN.detach.default:
            return True
        x = _base(x)
    return False


def _is_constant(x: Node, fixed: set[str]) -> bool:
    """Whether a node has no derivatives: it is detached, or made of numbers and fixed inputs."""
    if x.op == "get_attr" or x.target is _ATEN.detach.default or x.name in fixed:
        return True
    value = x.meta.get("val")
    if isinstance(value, torch.Tensor) and not (value.is_floating_point() or value.is_complex()):
        return True
    return x.op == "call_function" and all(_is_constant(y, fixed) for y in x.all_input_nodes)


def _base(x: Node) -> Node | None:
    """What a node is a view of, if it is one."""
    if x.op != "call_function":
        return None
    base = x.args[0] if x.args else None
    if not isinstance(base, Node):
        return None
    if x.target is operator.getitem:
        return base
    schema = getattr(x.target, "_schema", None)
    if schema is None or schema.arguments[0].alias_info is None:
        return None
    mine, below = x.meta.get("val"), base.meta.get("val")
    if isinstance(mine, torch.Tensor) and isinstance(below, torch.Tensor):
        # `reshape` and others are a view or a copy.
        shared = mine.untyped_storage()._cdata == below.untyped_storage()._cdata
        return base if shared else None
    return base


def _uncut(graph: Graph, x: Node) -> Node:
    """The same view, not through `detach`."""
    base = _base(x)
    if not _is_cut(x) or base is None:
        return x
    below = _uncut(graph, base)
    if x.target is _ATEN.detach.default:
        return below
    return graph.node_copy(x, lambda node: below if node is base else node)


def _replace(graph: Graph, node: Node, fixed: set[str]) -> None:
    """Writes a copy, and puts it in the place of what was written, whose derivative it gets."""
    view, *given = node.all_input_nodes
    if UNRECORDED not in node.meta and not all(_is_constant(each, fixed) for each in given):
        fail(
            "from_torch",
            f"{written(node)} writes values that may have derivatives into what `detach` returned, "
            "and so into the tensor that was detached",
            hint="write into a copy: x.detach().clone()",
            error=NotImplementedError,
        )

    def call(function: Any, *args: Node) -> Node:
        made = graph.call_function(function, args)
        made.meta = copy.copy(view.meta)
        return made

    with graph.inserting_before(node):
        value = call(_ATEN.clone.default, view)
        graph.node_copy(node, lambda each: value if each is view else each)
        place = _uncut(graph, view)
        kept = call(torch.ops.functx.unrecorded.default, place, value)
        call(_ATEN.copy_.default, place, kept)
    node.replace_all_uses_with(view)
