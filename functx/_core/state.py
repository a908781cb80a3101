"""Ambient state that tracing reads. It is part of every `jax.jit` cache key, ours and users'."""

from __future__ import annotations

from contextlib import AbstractContextManager

import jax


autocast_dtype = jax.make_user_context(default_value=None)  # np.dtype | None
checking_values = jax.make_user_context(default_value=False)  # set by functx.debug.checked


def enable_x64(enabled: bool = True) -> None:
    """Turns JAX's 64-bit dtypes on for the whole process, or off.

    PyTorch's int64 indices and float64 arrays need it; without, they come in 32 bits.
    """
    jax.config.update("jax_enable_x64", enabled)


def x64(enabled: bool = True) -> AbstractContextManager[None]:
    """Turns 64-bit dtypes on, or off, for a region and the current thread.

    >>> with functx.x64():
    ...     functx.zeros(2, dtype=functx.float64).dtype
    dtype('float64')
    """
    return jax.enable_x64(enabled)
