"""Tensors as arrays, dtypes by their names."""

from __future__ import annotations

from typing import Any

import jax
import torch

from functx._arrays.constructors import asarray
from functx._core import describe, fail


def dtype_name(dtype: torch.dtype) -> str:
    """`"float32"` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def described(tensor: torch.Tensor) -> str:
    """`f32[2,3]`, as errors have it of arrays."""
    return describe(jax.ShapeDtypeStruct(tuple(tensor.shape), dtype_name(tensor.dtype)))


def array_of(what: str, tensor: torch.Tensor) -> jax.Array:
    """A tensor as an array, in the same memory where that is possible."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        fail(
            "from_torch",
            f"{what} must be a dense tensor, got {type(tensor).__name__} with {tensor.layout}",
            hint="import the model before it is quantised, pruned or distributed",
            error=TypeError,
        )
    dense = tensor.detach().resolve_conj().resolve_neg()
    if dense.is_meta:
        fail("from_torch", f"{what} is on the device `meta` and has no values", error=ValueError)
    return asarray(dense)


def empty_like_array(x: Any, wide: bool) -> torch.Tensor:
    """A tensor of the shape and dtype of an array, of which export reads nothing else.

    Without 64 bit an array of int32 may stand for one of int64, and PyTorch's positions and labels
    are int64.
    """
    name = x.dtype.name
    if name == "int32" and not wide:
        name = "int64"
    return torch.empty(x.shape, dtype=getattr(torch, name))
