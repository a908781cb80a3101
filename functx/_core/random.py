"""The ambient generator: where random operators draw their keys when none is given.

A generator is a key and a counter; draw `n` uses `fold_in(key, n)`, so that eager and
compiled code agree bit by bit.
"""

from __future__ import annotations

import contextlib
import functools as ft
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from .errors import describe, fail, refuse, Refused
from .jax_compat import staging_trace


Randomness = Literal["error", "different", "same"]


class Draw(NamedTuple):
    """A key not yet derived: operators fold the counter in inside their own program."""

    key: jax.Array
    counter: Any

    def derive(self) -> jax.Array:
        return jax.random.fold_in(self.key, self.counter)


@jax.tree_util.register_pytree_node_class
class Generator:
    """A source of keys: a pytree of a key and the number of draws so far.

    Every draw advances the counter in place. Pass a generator into a jitted function as
    an argument and return it to keep its state.

    >>> generator = functx.random.Generator(jax.random.key(0))
    >>> with functx.random.scope(generator):
    ...     x = functx.rand(2)
    >>> generator.counter
    1
    """

    def __init__(self, key: Any, counter: Any = 0):
        self.key, self.counter = _key_for("random.Generator", key), counter

    def draw(self) -> Draw:
        """The next draw; call `.derive()` on it for a key."""
        draw = self.upcoming()
        self.advance()
        return draw

    def upcoming(self) -> Draw:
        """What `draw` would return, without drawing it."""
        return Draw(self.key, self.counter)

    def advance(self) -> None:
        """Counts one draw."""
        self.counter = self.counter + 1

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        return (self.key, self.counter), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[Any, Any]) -> Generator:
        new = object.__new__(cls)  # children may be placeholders, not keys
        new.key, new.counter = children
        return new

    def __repr__(self) -> str:
        return f"Generator(key={self.key!r}, counter={self.counter!r})"


def as_key(key: Any) -> jax.Array:
    """A typed PRNG key, from one or from the raw uint32 words of one."""
    if isinstance(key, jax.Array):
        if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
            return key
        if key.dtype == jnp.uint32 and key.ndim == 1:
            return jax.random.wrap_key_data(key)
    refuse(
        f"`key` must be a PRNG key, got {describe(key)}",
        hint=f"jax.random.key({key if isinstance(key, int) else 'seed'})",
        error=TypeError,
    )


def _key_for(who: str, key: Any) -> jax.Array:
    try:
        return as_key(key)
    except Refused as refused:
        worded = refused.by(who)
    raise worded


class _Refusing:
    """Stands in for a generator where drawing is refused."""

    def __init__(self, refusal: Refused):
        self.refusal = refusal


class _Ambient(threading.local):
    def __init__(self) -> None:
        self.default: Generator | None = None  # made on first use: `import` touches no backend
        self.seed = 0
        self.scopes: list[tuple[Generator | _Refusing, Any]] = []


_ambient = _Ambient()


def manual_seed(seed: int) -> None:
    """Starts this thread's default generator anew from `seed`, an int.

    >>> functx.manual_seed(0)
    >>> x = functx.rand(2)
    >>> functx.manual_seed(0)
    >>> bool((functx.rand(2) == x).all())
    True
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        fail("manual_seed", f"`seed` must be an int, got {describe(seed)}", error=TypeError)
    _ambient.seed, _ambient.default = seed, None


def _default() -> Generator:
    if _ambient.default is None:
        with jax.ensure_compile_time_eval():
            _ambient.default = Generator(jax.random.key(_ambient.seed % 2**63))
    return _ambient.default


def _current() -> tuple[Generator | _Refusing, Any]:
    return _ambient.scopes[-1] if _ambient.scopes else (_default(), None)


@contextlib.contextmanager
def scope(key_or_generator: Any) -> Iterator[Generator]:
    """Makes a key or a generator the ambient one for a region.

    This is how a jitted function takes its randomness as an argument.

    >>> @jax.jit
    ... def noisy(key, x):
    ...     with functx.random.scope(key):
    ...         return x + functx.randn(3)
    >>> noisy(jax.random.key(0), jnp.zeros(3, "float32")).shape
    (3,)
    """
    generator = key_or_generator
    if not isinstance(generator, Generator):
        generator = Generator(_key_for("random.scope", generator))
    with _entered(generator):
        yield generator


@contextlib.contextmanager
def _entered(generator: Generator | _Refusing) -> Iterator[None]:
    # one that refuses has no home, and asking for it would show in the recorded program
    home = None if isinstance(generator, _Refusing) else staging_trace()
    _ambient.scopes.append((generator, home))
    try:
        yield
    finally:
        _ambient.scopes.pop()


def drawable() -> Generator:
    """The ambient generator, refused where a draw from it would freeze into a program."""
    generator, home = _current()
    if isinstance(generator, _Refusing):
        raise generator.refusal
    if staging_trace() is not home:
        refuse(
            "a draw from the ambient generator while `jit` (or scan, cond, checkpoint) records "
            "would freeze the numbers into the program",
            hint="use functx.jit, or take a key as an argument and pass `key=` or enter "
            "`with functx.random.scope(key):` inside",
        )
    return generator


_NO_GENERATOR = Refused(
    "a draw from the ambient generator, and there is none that may be drawn from here",
    "pass `key=`, or enter `with functx.random.scope(key):`",
    RuntimeError,
)
_LANES_REFUSE = Refused(
    'a random draw inside vmap(randomness="error")',
    'choose randomness="different" (each lane its own numbers) or "same", or pass `key=`',
    RuntimeError,
)


class LaneStream:
    """The ambient generator's share for one `vmap`: one draw, from which lanes derive theirs."""

    def __init__(self, source: jax.Array | _Refusing, per_lane: bool):
        self._source, self._per_lane = source, per_lane

    def lane_indices(self, n: int) -> jax.Array:
        """`[0, ..., n - 1]`, to be mapped along with the inputs."""
        return jnp.arange(n, dtype="int32")

    def enter(self, lane_index: Any) -> contextlib.AbstractContextManager[None]:
        """Inside the mapped function: what draws from the ambient generator get."""
        if isinstance(self._source, _Refusing):
            return _entered(self._source)
        key = self._source
        return _entered(Generator(jax.random.fold_in(key, lane_index) if self._per_lane else key))


def split_lanes(randomness: Randomness) -> LaneStream:
    """What `vmap(randomness=)` makes of the ambient generator, for one call of it.

    `"error"` refuses draws, `"same"` gives every lane one stream, `"different"` folds the
    lane's index into the key, so that the streams do not depend on chunking.
    """
    if randomness == "error":
        return LaneStream(_Refusing(_LANES_REFUSE), per_lane=False)
    try:
        base = drawable().draw().derive()
    except Refused as refusal:  # matters only if the mapped function does draw
        return LaneStream(_Refusing(refusal), per_lane=False)
    return LaneStream(base, per_lane=randomness == "different")


def threading_generator(
    compile: Callable[[Callable[..., Any]], Callable[..., Any]], func: Callable[..., Any]
) -> Callable[..., Any]:
    """`func`, compiled by `compile` with the ambient generator as a further argument.

    Where none may be drawn from, `func` is told so by the draw it attempts.
    """

    def inner(generator: Generator | None, *args: Any, **kwargs: Any) -> Any:
        ambient = _Refusing(_NO_GENERATOR) if generator is None else generator
        with _entered(ambient):
            return func(*args, **kwargs), generator

    compiled = compile(ft.wraps(func)(inner))

    @ft.wraps(func)
    def outer(*args: Any, **kwargs: Any) -> Any:
        generator, home = _current()
        drawable = isinstance(generator, Generator) and staging_trace() is home
        out, after = compiled(generator if drawable else None, *args, **kwargs)
        if isinstance(generator, Generator) and drawable:
            generator.counter = after.counter
        return out

    return outer
