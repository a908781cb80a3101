"""Keys of JAX, and seeds."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp

from functx._core.errors import describe, fail, refuse, Refused


def as_key(key: Any, name: str = "key", also: str = "") -> jax.Array:
    """A typed PRNG key, from one or from the raw uint32 words of one; a hint says `also` more."""
    if isinstance(key, jax.Array):
        if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
            return key
        if key.dtype == jnp.uint32 and key.ndim == 1:
            return jax.random.wrap_key_data(key)
    refuse(
        f"`{name}` must be a PRNG key, got {describe(key)}",
        hint=f"jax.random.key({describe(key) if isinstance(key, int) else 'seed'})"
        + (f"; {also}" if also else ""),
        error=TypeError,
    )


def key_for(who: str, key: Any) -> jax.Array:
    try:
        return as_key(key)
    except Refused as refused:
        worded = refused.by(who)
    raise worded


def checked_seed(who: str, seed: Any) -> int:
    """A seed as the 64 bits that PyTorch makes of it: from -2**63 to 2**64 - 1."""
    if isinstance(seed, bool):
        fail(who, f"`seed` must be an int, got {seed!r}", error=TypeError)
    try:
        number = operator.index(seed)
    except TypeError:
        fail(who, f"`seed` must be an int, got {describe(seed)}", error=TypeError)
    if not -(2**63) <= number < 2**64:
        fail(who, f"`seed` must have 64 bits at most, got {describe(number)}", error=ValueError)
    return number % 2**64


def key_of_seed(seed: int, scheme: str | None = None) -> jax.Array:
    """The key of a seed of 64 bits, the same whether JAX's 64 bit is on or off."""
    signed = seed - 2**64 if seed >= 2**63 else seed
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        return jax.random.key(signed, impl=scheme)
