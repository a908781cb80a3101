"""The state of a generator as plain numbers, which any format keeps that keeps arrays.

A state is uint32 words: what the scheme of the key is, the counter (the lower half, then the
upper), and the words of the key.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from functx._core.errors import describe, refuse


# How many words a key has, by scheme. A state names the scheme by its place here: never reorder.
_WORDS = {"threefry2x32": 2, "rbg": 4, "unsafe_rbg": 4}
_SCHEMES = tuple(_WORDS)
_MARK = 0x66780000  # "fx": what begins otherwise is no state
_FRONT = 3


def packed(key: jax.Array, counter: Any) -> jax.Array:
    """The state of a generator: uint32, also of traced keys and counters."""
    scheme = str(jax.random.key_impl(key))
    if scheme not in _WORDS:
        refuse(
            f"keys must be of {', '.join(_SCHEMES)}, got {scheme}",
            hint="jax.random.key_data(generator.key) gives the words of any key",
        )
    if key.ndim:
        refuse(
            f"a state is that of one generator, got keys {list(key.shape)}",
            hint="functx.vmap over the generator gives each one's state",
        )
    if isinstance(key, Tracer) or isinstance(counter, Tracer):
        return _words(key, counter, scheme)
    with jax.ensure_compile_time_eval():
        return _words(key, counter, scheme)


def _words(key: jax.Array, counter: Any, scheme: str) -> jax.Array:
    front = [_MARK | _SCHEMES.index(scheme), *_halves(counter)]
    words = jax.random.key_data(key)
    return jnp.concatenate([jnp.stack([jnp.asarray(x, "uint32") for x in front]), words])


def _halves(counter: Any) -> tuple[Any, Any]:
    if not isinstance(counter, jax.Array):
        return int(counter) % 2**32, int(counter) >> 32
    wide = counter.dtype.itemsize == 8
    return counter.astype("uint32"), (counter >> 32).astype("uint32") if wide else 0


def unpacked(state: Any, key: jax.Array) -> tuple[jax.Array, Any]:
    """The key and the counter of a state; `key` has the scheme of one that is traced."""
    if not isinstance(state, (jax.Array, np.ndarray)) or state.dtype != np.uint32:
        _refuse(state)
    if state.ndim != 1 or len(state) <= _FRONT:
        _refuse(state)
    if isinstance(state, Tracer):
        scheme = str(jax.random.key_impl(key))
        lower, upper = state[1], state[2]
        counter = lower.astype("int32")
        if jnp.result_type(int).itemsize == 8:
            counter = lower.astype("int64") + (upper.astype("int64") << 32)
    else:
        state = np.asarray(state)
        mark, lower, upper = map(int, state[:_FRONT])
        if mark & ~0xFF != _MARK or mark & 0xFF >= len(_SCHEMES):
            _refuse(state)
        scheme, counter = _SCHEMES[mark & 0xFF], lower + (upper << 32)
    if len(state) != _FRONT + _WORDS.get(scheme, -1):
        refuse(
            f"`state` must have {_FRONT + _WORDS.get(scheme, 0)} words, got {describe(state)}",
            hint=f"it is of keys of the scheme {scheme}",
            error=ValueError,
        )
    return jax.random.wrap_key_data(jnp.asarray(state[_FRONT:]), impl=scheme), counter


def _refuse(state: Any) -> None:
    refuse(
        f"`state` must be what get_state gave, an array of uint32, got {describe(state)}",
        hint="the states of PyTorch's generators are those of other algorithms",
        error=TypeError,
    )


def seed_of(key: jax.Array) -> int | None:
    """The seed of 64 bits that gives `key`; None if there is none, or it is traced."""
    if isinstance(key, Tracer) or key.ndim:
        return None
    words = np.asarray(jax.random.key_data(key)).tolist()
    if words[:2] * (len(words) // 2) != words:
        return None
    return (words[0] << 32) + words[1]
