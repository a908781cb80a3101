"""Keys, and generators of them.

A generator is a key and a counter; draw `n` uses `fold_in(key, n)`, so that eager and
compiled code agree bit by bit.
"""

from __future__ import annotations

import operator
import threading
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from functx._core.errors import describe, fail, refuse, Refused


class Draw(NamedTuple):
    """A key not yet derived: operators fold the counter in inside their own program."""

    key: jax.Array
    counter: Any

    def derive(self) -> jax.Array:
        return jax.random.fold_in(self.key, self.counter)


@jax.tree_util.register_pytree_node_class
class Generator:
    """A source of keys: a pytree of a key and the number of draws so far.

    - `key`: a PRNG key of JAX.
    - `counter`: the number of draws so far, an int or a 0-d array of integers.

    Every draw advances the counter in place, also where threads share the generator. Pass a
    generator into a jitted function as an argument and return it to keep its state. Copies and
    pickled generators go on from the same state, apart from the original.

    Errors: TypeError if `key` is no PRNG key.

    >>> generator = functx.random.Generator(jax.random.key(0))
    >>> with functx.random.scope(generator):
    ...     x = functx.rand(2)
    >>> generator.counter
    1
    """

    def __init__(self, key: Any, counter: Any = 0):
        self._set(key_for("random.Generator", key), counter)

    def _set(self, key: Any, counter: Any) -> None:
        self.key, self.counter = key, counter
        self.drawn = 0  # since this object exists: a number also where the counter is traced
        self.lock = threading.RLock()
        self._last: Draw | None = None

    def draw(self) -> Draw:
        """The next draw; call `.derive()` on it for a key."""
        with self.lock:
            self._last = draw = Draw(self.key, self.counter)
            self.advance(1)
        return draw

    def advance(self, draws: int) -> None:
        """Counts draws that were made elsewhere."""
        self.counter = self.counter + draws
        self.drawn += draws

    def take_back(self, draw: Draw) -> None:
        """Undoes a draw that came to nothing, if it is still the last one."""
        with self.lock:
            if self._last is draw:
                self._last, self.counter = None, draw.counter
                self.drawn -= 1

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        return (self.key, self.counter), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[Any, Any]) -> Generator:
        new = object.__new__(cls)  # children may be placeholders, not keys
        new._set(*children)
        return new

    def __copy__(self) -> Generator:
        return Generator(self.key, self.counter)

    def __deepcopy__(self, memo: object) -> Generator:
        return Generator(self.key, self.counter)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        words, scheme = jax.random.key_data(self.key), str(jax.random.key_impl(self.key))
        return _restored, (jax.device_get(words), scheme, self.counter)

    def __repr__(self) -> str:
        return f"Generator(key={self.key!r}, counter={self.counter!r})"


def _restored(words: Any, scheme: str, counter: Any) -> Generator:
    return Generator(jax.random.wrap_key_data(jnp.asarray(words), impl=scheme), counter)


def as_key(key: Any, name: str = "key") -> jax.Array:
    """A typed PRNG key, from one or from the raw uint32 words of one."""
    if isinstance(key, jax.Array):
        if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
            return key
        if key.dtype == jnp.uint32 and key.ndim == 1:
            return jax.random.wrap_key_data(key)
    refuse(
        f"`{name}` must be a PRNG key, got {describe(key)}",
        hint=f"jax.random.key({describe(key) if isinstance(key, int) else 'seed'})",
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


def key_of_seed(seed: int) -> jax.Array:
    """The key of a seed of 64 bits, the same whether JAX's 64 bit is on or off."""
    signed = seed - 2**64 if seed >= 2**63 else seed
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        return jax.random.key(signed)
