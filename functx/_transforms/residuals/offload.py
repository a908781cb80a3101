"""Residuals that wait for the backward pass in the host's memory."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import jax
from jax import core

from .hooks import residual_hooks


__all__ = ["offload_residuals", "save_on_cpu"]


def offload_residuals() -> AbstractContextManager[None]:
    """A region in which residuals wait in the host's pinned memory, and come back when used.

    They free the accelerator's memory between the passes at the price of two transfers. In a
    compiled program the transfers are a part of it. What lies in the host's memory already stays
    there. On CPUs it is of no use: eager calls copy to pinned memory and back, compiled programs
    leave that out.

    Values, dtypes and shardings come back as they were. As in `residual_hooks`, the region must
    be around the transform; inside `functx.checkpoint` only what that keeps is moved.

    >>> with functx.residuals.offload_residuals():
    ...     output, vjp_fn = functx.vjp(jnp.exp, jnp.float32(0))
    >>> vjp_fn(jnp.float32(1))
    (Array(1., dtype=float32),)
    """
    return residual_hooks(to_host, back, integers=True)


def save_on_cpu(pin_memory: bool = False) -> AbstractContextManager[None]:
    """`offload_residuals` under PyTorch's name.

    - `pin_memory`: taken as PyTorch takes it; the memory is pinned in either case, JAX moves
      arrays between devices and hosts through no other.

    >>> with functx.autograd.graph.save_on_cpu():
    ...     functx.grad(lambda x: x * x)(jnp.float32(3))
    Array(6., dtype=float32)
    """
    del pin_memory
    return offload_residuals()


def to_host(residual: jax.Array) -> tuple[jax.Array, Any]:
    """The residual in the host's memory, and the kind of memory that it came from."""
    return jax.device_put(residual, jax.memory.Space.Host), space_of(residual)


def back(packed: tuple[jax.Array, Any]) -> jax.Array:
    """Undoes `to_host`."""
    return jax.device_put(*packed)


def space_of(x: jax.Array) -> Any:
    """The kind of memory in which `x` lies, traced or not."""
    if isinstance(x, core.Tracer):
        return jax.typeof(x).memory_space
    on_device = x.sharding.memory_kind in (None, "device")
    return jax.memory.Space.Device if on_device else jax.memory.Space.Host
