"""Keys, and generators of them.

A generator is a key and a counter; draw `n` uses `fold_in(key, n)`, so that eager and
compiled code agree bit by bit.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.typing import ArrayLike

from functx._core.devices.placement import as_device, place
from functx._core.errors import describe, fail, refuse, Refused
from functx._core.jax_compat import recorded_for, single_lane_trace

from .keys import checked_seed, key_for, key_of_seed
from .states import packed, seed_of, unpacked


class Draw(NamedTuple):
    """A key not yet derived: operators fold the counter in inside their own program."""

    key: jax.Array
    counter: Any

    def derive(self) -> jax.Array:
        return jax.random.fold_in(self.key, self.counter)


@jax.tree_util.register_pytree_node_class
class Generator:
    """A source of random numbers: a pytree of a PRNG key and the number of draws so far.

    - `key`: a PRNG key of JAX; the key of the seed 0 if it is `None`. In its place may stand a
      device, as in `torch.Generator("cuda")`.
    - `counter`: the number of draws so far, an int or a 0-d array of integers.
    - `device`: where the key lives, such as `"cuda:0"` or a `jax.Device`, and with it what is
      drawn; JAX decides by default. The numbers are the same on all devices.

    Random operators take it as `generator=`, and `functx.random.scope` makes it the source of all
    draws of a region. Every draw advances the counter in place, also where threads share the
    generator. Copies and pickled generators go on from the same state, apart from the original.

    A generator is drawn from where it was made, or where it came in as an argument: drawn from by a
    function that JAX records or maps, while it lives outside, it would give the same numbers at
    every call or in every lane, and is refused. `functx.jit` advances the caller's generator by the
    draws of the compiled function; under `jax.jit` and `jax.lax.scan` return it.

    Errors: TypeError if `key` is no PRNG key.

    >>> generator = functx.Generator().manual_seed(0)
    >>> x = functx.rand(2, generator=generator)
    >>> generator.get_offset()
    1
    >>> bool((functx.rand(2, generator=generator.manual_seed(0)) == x).all())
    True
    """

    def __init__(self, key: Any = None, counter: Any = 0, *, device: Any = None):
        if isinstance(key, (str, jax.Device)):
            key, device = None, key
        if key is None:
            key = key_of_seed(0)
        else:
            key = key_for("Generator", key)
        if device is not None:
            with _worded("Generator"):
                key = place(key, as_device(device))
        self._set(key, counter)

    def _set(self, key: Any, counter: Any) -> None:
        self.key, self.counter = key, counter
        self.drawn = 0  # since this object exists: a number also where the counter is traced
        self.restarted = False  # whether the key is another one than this object began with
        self.home = single_lane_trace()  # what runs once for itself and this came to life in
        self.lock = threading.RLock()
        self._last: Draw | None = None

    def take(self, what: str = "a draw from the generator") -> Draw:
        """The next draw, for an operator; `what` is what its refusal calls it."""
        with self.lock:
            self.require_home(what)
            self._last = draw = Draw(self.key, self.counter)
            self.advance(1)
        return draw

    def require_home(self, what: str) -> None:
        """Refuses `what` where it would happen once for many runs, or alike in many lanes."""
        here = single_lane_trace()
        if here is self.home:
            return
        recorded = recorded_for(here)
        if here is None:
            refuse(f"{what} that came to life in a compiled or mapped function, which has ended")
        if recorded is None:
            refuse(f"{what} from outside of a map would repeat in every lane", hint=_IN_LANES)
        refuse(
            f"{what} from outside, while `{recorded}` records, would freeze it into the program",
            hint=_IN_SCAN if recorded == "scan" else _BY_ARGUMENT,
        )

    def draw(self) -> Draw:
        """The next draw; call `.derive()` on it for a key.

        Errors: RuntimeError where the numbers would freeze or repeat.

        >>> functx.Generator().draw().derive().shape
        ()
        """
        with _worded("Generator.draw"):
            return self.take()

    def advance(self, draws: int) -> None:
        """Counts draws that were made elsewhere.

        - `draws`: how many.

        >>> generator = functx.Generator()
        >>> generator.advance(3)
        >>> generator.get_offset()
        3
        """
        self.counter = self.counter + draws
        self.drawn += draws

    def take_back(self, draw: Draw) -> None:
        """Undoes a draw that came to nothing, if it is still the last one.

        - `draw`: what `draw` gave.

        >>> generator = functx.Generator()
        >>> generator.take_back(generator.draw())
        >>> generator.get_offset()
        0
        """
        with self.lock:
            if self._last is draw:
                self._last, self.counter = None, draw.counter
                self.drawn -= 1

    def manual_seed(self, seed: int) -> Generator:
        """Starts anew from a seed, in place; returns the generator.

        - `seed`: an int of up to 64 bits.

        Errors: TypeError for what is no int, ValueError for more than 64 bits.

        >>> functx.Generator().manual_seed(5).initial_seed()
        5
        """
        number = checked_seed("Generator.manual_seed", seed)
        with _worded("Generator.manual_seed"):
            scheme = str(jax.random.key_impl(self.key))
            self._restart("a new seed", key_of_seed(number, scheme), 0)
        return self

    def seed(self) -> int:
        """Starts anew, in place, from a seed that the operating system gives; returns that seed.

        >>> generator = functx.Generator()
        >>> generator.seed() == generator.initial_seed()
        True
        """
        seed = secrets.randbits(64)
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the generator was last started from, as an int from 0 to 2**64 - 1.

        Of a generator that a key was given, it is the seed of that key: `manual_seed` of it gives
        the same numbers.

        Errors: RuntimeError if no seed gives the key (a split one of the scheme "unsafe_rbg" is of
        none), and if the key is traced.

        >>> functx.Generator(jax.random.key(7)).initial_seed()
        7
        """
        seed = seed_of(self.key)
        if seed is None:
            fail(
                "Generator.initial_seed",
                f"no seed is known of the key {describe(self.key)}",
                hint="get_state gives the whole state, and set_state puts it back",
            )
        return seed

    def get_state(self) -> jax.Array:
        """The whole state as an array of numbers, which `numpy.save` and safetensors keep.

        Shapes and dtypes: uint32, `[5]` for keys of JAX's default scheme, `[7]` for "rbg". It may
        be asked for under `jax.jit`. Errors: RuntimeError for schemes of keys that are not JAX's.

        >>> generator = functx.Generator()
        >>> state = generator.get_state()
        >>> x = functx.rand(2, generator=generator)
        >>> generator.set_state(state)
        >>> bool((functx.rand(2, generator=generator) == x).all())
        True
        """
        with self.lock, _worded("Generator.get_state"):
            return packed(self.key, self.counter)

    def set_state(self, state: ArrayLike) -> None:
        """Puts the generator, in place, in a state that `get_state` gave.

        - `state`: an array of uint32, of JAX or of NumPy. One that is traced must be of the scheme
          of the generator's own key.

        Errors: TypeError for what is no state, ValueError for one of another length.

        >>> generator = functx.Generator().manual_seed(3)
        >>> other = functx.Generator()
        >>> other.set_state(generator.get_state())
        >>> other.initial_seed()
        3
        """
        with _worded("Generator.set_state"):
            self._restart("a new state", *unpacked(state, self.key))

    def _restart(self, what: str, key: jax.Array, counter: Any) -> None:
        with self.lock:
            self.require_home(what)
            old = self.key
            if not isinstance(old, Tracer) and old.committed:  # to its device
                key = place(key, old.sharding)
            self.key, self.counter, self._last, self.restarted = key, counter, None, True

    def clone_state(self) -> Generator:
        """Another generator in the same state, which goes on apart from this one.

        >>> generator = functx.Generator()
        >>> twin = generator.clone_state()
        >>> bool((functx.rand(2, generator=twin) == functx.rand(2, generator=generator)).all())
        True
        """
        with self.lock:
            return Generator(self.key, self.counter)

    def get_offset(self) -> Any:
        """The number of draws so far: an int, or a 0-d array of integers if it is traced.

        >>> functx.Generator().get_offset()
        0
        """
        return self.counter

    def set_offset(self, offset: Any) -> None:
        """Puts the generator, in place, where it is after so many draws from its seed.

        - `offset`: the number of draws, an int or a 0-d array of integers.

        >>> generator = functx.Generator()
        >>> x = [functx.rand(2, generator=generator) for _ in range(3)]
        >>> generator.set_offset(2)
        >>> bool((functx.rand(2, generator=generator) == x[2]).all())
        True
        """
        with _worded("Generator.set_offset"):
            self._restart("a new offset", self.key, offset)

    def split(self, n: int) -> tuple[Generator, ...]:
        """Generators of their own, for workers, threads or models; it takes one draw.

        - `n`: how many. The first ones do not depend on it.

        Errors: ValueError for a negative `n`.

        >>> workers = functx.Generator().split(3)
        >>> len({float(functx.rand((), generator=worker)) for worker in workers})
        3
        """
        if n < 0:
            fail("Generator.split", f"`n` must not be negative, got {n}", error=ValueError)
        with _worded("Generator.split"):
            key = self.take().derive()
        return tuple(Generator(jax.random.fold_in(key, i)) for i in range(n))

    def for_device(self, device: Any) -> Generator:
        """The generator of one device, by its name, with its key there; it takes no draw.

        - `device`: such as `"cuda:1"`, or a `jax.Device`.

        One generator for all devices gives the same numbers wherever they are computed, which is
        the usual way. This is for a stream of its own for each: it depends on the seed, the
        platform and the index of the device, and not on draws, so that asking twice gives the same
        one twice.

        Errors: RuntimeError for a device that is not there.

        >>> one = functx.Generator().for_device("cpu:0")
        >>> bool(functx.rand((), generator=one) == functx.rand((), generator=functx.Generator()))
        False
        """
        with _worded("Generator.for_device"):
            found = as_device(device)
            if not isinstance(found, jax.Device):
                refuse(f"`device` must be one device, got {describe(found)}", error=TypeError)
            number = zlib.crc32(f"{found.platform}:{found.id}".encode())
            key = jax.random.fold_in(jax.random.fold_in(self.key, _OF_DEVICES), number)
            return Generator(place(key, found))

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        """The key and the counter, as JAX asks for them."""
        return (self.key, self.counter), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[Any, Any]) -> Generator:
        """A generator of a key and a counter, as JAX gives them back.

        - `aux`: None.
        - `children`: the key and the counter.
        """
        new = object.__new__(cls)  # children may be placeholders, not keys
        new._set(*children)
        return new

    def __copy__(self) -> Generator:
        return self.clone_state()

    def __deepcopy__(self, memo: object) -> Generator:
        return self.clone_state()

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        words, scheme = jax.random.key_data(self.key), str(jax.random.key_impl(self.key))
        return _restored, (jax.device_get(words), scheme, self.counter)

    def __repr__(self) -> str:
        return f"Generator(key={self.key!r}, counter={self.counter!r})"


_OF_DEVICES = 0xD0000000  # a number of draws that no generator reaches
_BY_ARGUMENT = (
    "pass the generator as an argument of that function; functx.jit advances the caller's, "
    "jax.jit and scan must return it"
)
_IN_SCAN = "carry the generator: it is a tree, which goes in and comes back advanced"
_IN_LANES = (
    "`with functx.random.scope(generator):` around functx.vmap(randomness='different'), or map "
    "over functx.stack_trees(generator.split(n))"
)


def generators_among(tree: Any) -> list[Generator]:
    """The generators in a tree of arguments, in order."""
    is_one = lambda x: isinstance(x, Generator)
    return [x for x in jax.tree.leaves(tree, is_leaf=is_one) if is_one(x)]


def advance_all(tree: Any, draws: Sequence[int]) -> None:
    """Counts the draws that a program made from the generators in its arguments."""
    if any(draws):
        for generator, n in zip(generators_among(tree), draws, strict=True):
            if n:
                with _worded("Generator"):
                    generator.require_home("a draw from a generator in the arguments")
                generator.advance(n)


@contextlib.contextmanager
def _worded(who: str) -> Iterator[None]:
    """A region whose refusals name the function `who`."""
    try:
        yield
    except Refused as refused:
        worded = refused.by(who)
    else:
        return
    raise worded


def _restored(words: Any, scheme: str, counter: Any) -> Generator:
    return Generator(jax.random.wrap_key_data(jnp.asarray(words), impl=scheme), counter)
