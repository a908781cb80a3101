"""Tensors become arrays and arrays become tensors, in the same memory where that is possible."""

from __future__ import annotations

import jax
import torch

from functx._arrays.dlpack import of_dlpack
from functx._core import fail, Refused


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
    try:
        # DLPack knows no lazy conjugates and no lazy signs.
        tensor = tensor.detach().resolve_conj().resolve_neg()
    except RuntimeError as error:
        fail(
            "to_torch",
            f"`{name}` cannot be handed on: {error}",
            hint="is_grads_batched=True and vectorize=True use an older vmap, which knows no "
            "torch.autograd.Function; torch.func.vmap, jacrev and hessian do",
        )
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


def as_tensor(x: jax.Array) -> torch.Tensor:
    """The tensor that a result is; it is computed by then."""
    return torch.from_dlpack(jax.block_until_ready(x))
