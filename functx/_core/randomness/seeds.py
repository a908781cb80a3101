"""PyTorch's functions of the default generator: they change the ambient one."""

from __future__ import annotations

import secrets
from typing import Any

import jax
from jax.typing import ArrayLike

from functx._core.errors import fail, Refused
from functx._core.jax_compat import recorded_for, single_lane_trace

from .ambient_generator import current_scope, default, drawable, replace_scope, Scope
from .generators import Generator
from .keys import checked_seed, key_of_seed


def manual_seed(seed: int) -> None:
    """Starts the ambient generator anew: the default one, or that of the region around.

    - `seed`: an int of up to 64 bits.

    The process has one default generator, for all devices. Threads that share it get distinct
    numbers, in the order in which they come; for streams that do not depend on that order, give
    each thread a `functx.random.scope` of its own. Inside `functx.random.scope` and
    `functx.random.fork_rng` the generator of the region starts anew.

    Errors: TypeError for what is no int, ValueError for more than 64 bits, RuntimeError inside a
    function that is being compiled, in which the seed would be set once for all calls.

    >>> functx.manual_seed(0)
    >>> x = functx.rand(2)
    >>> functx.manual_seed(0)
    >>> bool((functx.rand(2) == x).all())
    True
    """
    number = checked_seed("manual_seed", seed)
    scope = _settable("manual_seed")
    if scope is None:
        default.start(number)
    elif isinstance(scope.generator, Generator):
        scope.generator.manual_seed(number)
    else:
        replace_scope(scope._replace(generator=Generator(key_of_seed(number))))


def seed() -> int:
    """Starts the ambient generator anew from a seed of the operating system; returns that seed.

    >>> functx.seed() == functx.initial_seed()
    True
    """
    number = secrets.randbits(64)
    manual_seed(number)
    return number


def initial_seed() -> int:
    """The seed that the ambient generator was last started from, from 0 to 2**64 - 1.

    Errors: RuntimeError where nothing may be drawn, and if the generator is of a key that no seed
    gives.

    >>> functx.manual_seed(5)
    >>> functx.initial_seed()
    5
    """
    return _readable("initial_seed").initial_seed()


def get_rng_state() -> jax.Array:
    """The state of the ambient generator, as an array that `numpy.save` and safetensors keep.

    Shapes and dtypes: uint32, `[5]` for keys of JAX's default scheme. Errors: RuntimeError where
    nothing may be drawn.

    >>> functx.manual_seed(0)
    >>> state = functx.get_rng_state()
    >>> x = functx.rand(2)
    >>> functx.set_rng_state(state)
    >>> bool((functx.rand(2) == x).all())
    True
    """
    return _readable("get_rng_state").get_state()


def set_rng_state(new_state: ArrayLike) -> None:
    """Puts the ambient generator in a state that `get_rng_state` gave.

    - `new_state`: an array of uint32, of JAX or of NumPy.

    Errors: TypeError for what is no state, ValueError for one of another length, RuntimeError
    inside a function that is being compiled, in which it would be set once for all calls.

    >>> functx.set_rng_state(functx.Generator().manual_seed(3).get_state())
    >>> functx.initial_seed()
    3
    """
    scope = _settable("set_rng_state")
    if scope is None:
        default.get().set_state(new_state)
    elif isinstance(scope.generator, Generator):
        scope.generator.set_state(new_state)
    else:
        generator = Generator()
        generator.set_state(new_state)
        replace_scope(scope._replace(generator=generator))


def _readable(who: str) -> Generator:
    try:
        return drawable()
    except Refused as refused:
        worded = refused.by(who)
    raise worded


def _settable(who: str) -> Scope | None:
    """The region whose generator `who` changes, or None for the process's."""
    scope, here = current_scope(), single_lane_trace()
    if (scope.home if scope else None) is here and (scope is None or scope.settable):
        return scope
    _refuse(who, here)


def _refuse(who: str, here: Any) -> None:
    where = f"while `{recorded_for(here) or 'a map'}` records" if here is not None else "here"
    fail(
        who,
        f"the caller's generator cannot be changed {where}: it would happen once for all calls",
        hint="call it before, or enter `with functx.random.fork_rng():` inside and call it there",
    )
