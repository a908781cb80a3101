"""Tensors become arrays and arrays become tensors, in the same memory where that is possible."""

from __future__ import annotations

from typing import Any

import jax
import torch

from functx._arrays.dlpack import of_dlpack
from functx._core import describe, fail, is_numeric, Refused


_WIDE = (torch.float64, torch.complex128)
_LEAST, _GREATEST = -(2**31), 2**31 - 1  # of int32


def require_digits(name: str, tensor: torch.Tensor) -> None:
    """Refuses a tensor whose digits would be lost while JAX's 64 bit is off."""
    if tensor.dtype in _WIDE and not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        fail(
            "to_torch",
            f"`{name}` is a tensor of {tensor.dtype}, which 32 bits would round, and 64 bit is off",
            hint="functx.enable_x64() turns 64 bit on, `with functx.x64():` for a region; or pass "
            "x.float() or x.to(torch.complex64)",
            error=TypeError,
        )


def as_array(name: str, tensor: torch.Tensor) -> jax.Array:
    """The array that `tensor` is, which is the argument `name`."""
    # DLPack knows no lazy conjugates and no lazy signs.
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.int64 and not tensor.is_cpu:
        _require_narrow(name, tensor)
    try:
        return of_dlpack(name, tensor, None)
    except Refused as refused:
        worded = refused.by("to_torch")
    raise worded


def _require_narrow(name: str, tensor: torch.Tensor) -> None:
    """Refuses integers beyond 32 bits on a device, where 64 bit is off; on CPUs DLPack's do."""
    if jax.config.jax_enable_x64 or tensor.numel() == 0:  # pyright: ignore[reportAttributeAccessIssue]
        return
    least, greatest = (int(x) for x in tensor.aminmax())
    if least < _LEAST or greatest > _GREATEST:
        outside = least if least < _LEAST else greatest
        fail(
            "to_torch",
            f"`{name}` must fit int32, the widest integer, got {outside}",
            hint="functx.enable_x64() gives 64-bit integers",
            error=OverflowError,
        )


def as_tensor(x: Any) -> torch.Tensor:
    """The tensor that a result is; it is computed by then."""
    if not is_numeric(x.dtype):
        fail(
            "to_torch",
            f"`func` must return arrays of numbers, got {describe(x)}",
            hint="of keys, return jax.random.key_data(key)",
            error=TypeError,
        )
    return torch.from_dlpack(jax.block_until_ready(x))
