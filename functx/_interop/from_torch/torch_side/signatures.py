"""The arguments and results of an exported program: their structure, shapes and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from functx._interop.from_torch.sizes import ArrayInput, DynamicSize

from .tensors import dtype_name
from .trees import filled


def places_of_inputs(program: Any, args: Any, kwargs: Any) -> list[int]:
    """The leaves of a tree of arguments in the order of the program's inputs."""
    order = program.call_spec.in_spec.children()[1].context
    kwargs = {name: kwargs[name] for name in order}
    return [x for x in pytree.tree_leaves((args, kwargs)) if x is not None]


def results_of(program: Any, places: Sequence[Any]) -> Any:
    """The structure of results, with their places as leaves."""
    return filled(program.call_spec.out_spec, iter(places))


def array_inputs(program: Any) -> list[ArrayInput]:
    """The arrays that a program takes, in order."""
    nodes = {n.name: n for n in program.graph.nodes if n.op == "placeholder"}
    return [
        _array_input(name, nodes[name].meta["val"])
        for name in (spec.arg.name for spec in _users(program) if not hasattr(spec.arg, "value"))
    ]


def filled_inputs(program: Any, inputs: Sequence[ArrayInput]) -> Any:
    """`(args, kwargs)` with inputs and fixed values in their places."""
    given = iter(inputs)
    leaves = [
        spec.arg.value if hasattr(spec.arg, "value") else next(given) for spec in _users(program)
    ]
    return filled(program.call_spec.in_spec, iter(leaves))


def _users(program: Any) -> list[Any]:
    specs = program.graph_signature.input_specs
    return [spec for spec in specs if spec.kind.name == "USER_INPUT"]


def _array_input(name: str, value: Any) -> ArrayInput:
    if not isinstance(value, torch.Tensor):
        return ArrayInput(name, (), "int64" if isinstance(value, torch.SymInt) else "float64")
    return ArrayInput(name, tuple(_size(n) for n in value.shape), dtype_name(value.dtype))


def _size(n: Any) -> int | DynamicSize | None:
    if isinstance(n, int):
        return n
    expression = n.node.expr
    if expression.is_number:
        return int(expression)
    if len(expression.free_symbols) != 1:
        return None
    [symbol] = expression.free_symbols
    factor = expression.coeff(symbol)
    rest = expression - factor * symbol
    if not (factor.is_integer and rest.is_integer and rest.is_number):
        return None
    return DynamicSize(str(symbol), int(factor), int(rest))


def ranges_of(program: Any) -> dict[str, tuple[int, int | None]]:
    """The least and the greatest number of each dynamic size; None where there is no greatest."""
    out = {}
    for symbol, bounds in program.range_constraints.items():
        if getattr(symbol, "is_symbol", False):
            out[str(symbol)] = (int(bounds.lower), _greatest(bounds.upper))
    return out


def _greatest(bound: Any) -> int | None:
    try:
        most = int(bound)
    except (OverflowError, AttributeError):  # infinity, as PyTorch's symbols have it
        return None
    return most if most < 2**31 else None
