"""Regions of `torch.no_grad` in an exported graph: what they compute becomes a constant."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .unrecorded_writes import copied, is_write, UNRECORDED


def has_grad_regions(module: GraphModule) -> bool:
    """Whether the graph or one inside of it enters a region."""
    return any(
        _is_region(node)
        for part in module.modules()
        if isinstance(part, GraphModule)
        for node in part.graph.nodes
    )


def without_grad_regions(program: Any) -> Any:
    """An exported program without regions, in which their results are detached.

    Functionalization would dissolve regions, and leave no trace of them.
    """
    if not has_grad_regions(program.graph_module):
        return program
    program = copied(program)
    _dissolve(program.graph_module, program.graph_signature)
    return program


def _is_region(node: Node) -> bool:
    return node.op == "call_function" and getattr(node.target, "__name__", "") == (
        "wrap_with_set_grad_enabled"
    )


def _dissolve(module: GraphModule, signature: Any) -> None:
    for part in module.children():
        if isinstance(part, GraphModule):
            _dissolve(part, None)
    for node in list(module.graph.nodes):
        if _is_region(node):
            _replace(module, node, signature)
    module.graph.eliminate_dead_code()
    module.recompile()


def _replace(module: GraphModule, region: Node, signature: Any) -> None:
    """Writes the steps of a region in its place."""
    enabled, body, *args = list[Any](region.args)
    path: str = body.target
    graph = module.graph
    inner: Any = module.get_submodule(path)
    places: dict[Node, Any] = {}
    given = iter(args)
    outputs: Any = ()
    with graph.inserting_before(region):
        for node in inner.graph.nodes:
            if node.op == "placeholder":
                places[node] = next(given)
            elif node.op == "output":
                outputs = torch.fx.map_arg(node.args[0], lambda n: places[n])
            elif node.op == "get_attr":
                name = f"{path}_{node.target}".replace(".", "_")
                setattr(module, name, getattr(inner, node.target))
                places[node] = graph.get_attr(name)
                places[node].meta = copy.copy(node.meta)
            else:
                places[node] = graph.node_copy(node, lambda n: places[n])
                if not enabled and _makes_tensor(node):
                    cut = graph.call_function(torch.ops.aten.detach.default, (places[node],))
                    cut.meta = copy.copy(node.meta)
                    places[node] = cut
                elif not enabled and is_write(node):
                    places[node].meta[UNRECORDED] = True
    for user in list(region.users):
        if getattr(user.target, "__name__", "") != "getitem":
            continue
        new = outputs[user.args[1]]
        user.replace_all_uses_with(new)
        if signature is not None:
            signature.replace_all_uses(user.name, new.name)
        graph.erase_node(user)
    if region.users:  # a region with one result, which is no tuple
        region.replace_all_uses_with(outputs)
        if signature is not None:
            signature.replace_all_uses(region.name, outputs.name)
    graph.erase_node(region)


def _makes_tensor(node: Node) -> bool:
    """Whether a step makes one tensor and writes none of its arguments."""
    schema = getattr(node.target, "_schema", None)
    if schema is not None and schema.is_mutable:
        return False
    return isinstance(node.meta.get("val"), torch.Tensor)
