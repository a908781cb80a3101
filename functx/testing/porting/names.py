"""One name for what PyTorch calls and what a program of JAX's does: `x @ y`, `torch.matmul`, ..."""

from __future__ import annotations

import functools as ft

from functx._core import REGISTRY


# Python's operators, as PyTorch's methods are called.
_PYTHONS = {
    "__add__": "add",
    "__radd__": "add",
    "__sub__": "sub",
    "__rsub__": "sub",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__truediv__": "div",
    "__rtruediv__": "div",
    "__floordiv__": "floor_divide",
    "__mod__": "remainder",
    "__pow__": "pow",
    "__rpow__": "pow",
    "__matmul__": "matmul",
    "__rmatmul__": "matmul",
    "__neg__": "neg",
    "__abs__": "abs",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__invert__": "bitwise_not",
    "__getitem__": "getitem",
    "rsub": "sub",
}
# JAX's primitives that PyTorch has under other names.
_PRIMITIVES = {
    "dot_general": "matmul",
    "reduce_sum": "sum",
    "reduce_prod": "prod",
    "reduce_max": "amax",
    "reduce_min": "amin",
    "integer_pow": "pow",
    "square": "pow",
    "logistic": "sigmoid",
    "select_n": "where",
    "max": "maximum",
    "min": "minimum",
    "concatenate": "cat",
    "rem": "fmod",
    "transpose": "permute",
    "convert_element_type": "to",
    "broadcast_in_dim": "expand",
    "slice": "getitem",
    "dynamic_slice": "getitem",
    "gather": "getitem",
}


def key_of_call(name: str) -> str:
    """Of PyTorch's name for a call: `torch.Tensor.add_`, `torch.nn.functional.gelu`."""
    bare = name.removeprefix("torch.").removeprefix("Tensor.").removesuffix(".__get__")
    if bare.endswith("_") and not bare.endswith("__"):
        bare = bare[:-1]  # in place
    return _last(_canonical().get(bare, bare))


def key_of_step(name: str, kind: str) -> str:
    """Of a node's name: `nn.functional.gelu`, `dot_general`."""
    return _PRIMITIVES.get(name, name) if kind == "primitive" else _last(name)


def _last(name: str) -> str:
    last = name.rpartition(".")[2]
    return _PYTHONS.get(last, last)


@ft.cache
def _canonical() -> dict[str, str]:
    """The catalog's own names, by alias."""
    return {alias: spec.name for spec in REGISTRY.values() for alias in spec.aliases}
