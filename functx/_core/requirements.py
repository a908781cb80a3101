"""What operators require of the values of their arguments.

A requirement is computed by the operator's own program, beside its result. Eager calls on the CPU
read whether it held; under `jit` and on accelerators, `functx.debug.checked` does.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import re
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import checkify

from .dtypes import available, holds, LONG
from .errors import refuse
from .values import peek


@dataclasses.dataclass(frozen=True)
class Requirement:
    """`ok` must hold everywhere; `got` is shown where it does not, as `{got}`."""

    ok: Any
    message: str
    got: Any = None
    error: type[Exception] = RuntimeError
    hint: str = ""


# Called with the arguments by name, those left out by their defaults: arrays in the dtypes in
# which they came, before promotion; dimensions, sizes and dtypes in canonical form.
Requirements = Callable[..., Iterable[Requirement]]


def index_in_range(
    index: Any, size: int, *, name: str = "index", negative: bool = False
) -> Requirement:
    """Every element of `index` lies in `[0, size)`, or in `[-size, size)` if `negative`."""
    low = -size if negative else 0
    wide = lax.convert_element_type(index, available(LONG))  # a narrow index cannot hold the ends
    return Requirement(
        (wide >= low) & (wide < size),
        f"`{name}` must lie in [{low}, {size - 1}], got {{got}}",
        got=index,
        error=IndexError,
    )


def is_probability(value: Any, name: str, *, error: type[Exception] = RuntimeError) -> Requirement:
    """Every element of `value` lies in [0, 1]."""
    ok = (value >= 0) & (value <= 1)
    return Requirement(ok, f"`{name}` must lie in [0, 1], got {{got}}", got=value, error=error)


def value_fits(value: Any, dtype: Any, name: str) -> Requirement:
    """`dtype` can hold `value`, as PyTorch asks of numbers that become elements."""
    return Requirement(
        holds(dtype, value), f"`{name}` must fit {np.dtype(dtype).name}, got {{got}}", got=value
    )


def is_number(x: Any) -> bool:
    """Whether `x` was a Python number: they are weakly typed, and let arrays decide the dtype."""
    return x.ndim == 0 and bool(getattr(jax.typeof(x), "weak_type", False))


def all_hold(requirements: Iterable[Requirement]) -> jax.Array | None:
    """Whether every requirement holds everywhere, or None if there is none."""
    each = [jnp.all(requirement.ok) for requirement in requirements]
    return ft.reduce(jnp.logical_and, each) if each else None


@jax.numpy_rank_promotion("allow")
def enforce(requirements: Iterable[Requirement]) -> None:
    """Refuses with the first requirement that values break, in the first lane that does."""
    for requirement in requirements:
        ok = jnp.asarray(requirement.ok)
        held = peek(jnp.all(ok))
        if held is None or held.all():
            continue
        got = None
        if requirement.got is not None:
            offender = jnp.broadcast_to(requirement.got, ok.shape).ravel()[jnp.argmin(ok)]
            got = peek(offender)
            assert got is not None
            got = np.broadcast_to(got, held.shape)[~held].flat[0]
        message = requirement.message.format(got=got)
        refuse(message, hint=requirement.hint, error=requirement.error)


def check_inside(who: str, requirements: Iterable[Requirement]) -> None:
    """Inside a program that `functx.debug.checked` made: raises at run time, exactly."""
    for requirement in requirements:
        ok = jnp.ravel(jnp.asarray(requirement.ok))
        if ok.size == 0:
            continue
        got = jnp.zeros(()) if requirement.got is None else requirement.got
        got = jnp.ravel(jnp.broadcast_to(got, jnp.shape(requirement.ok)))
        _KINDS[requirement.error.__name__] = requirement.error
        message = f"{requirement.error.__name__}: {who}: {requirement.message}"
        if requirement.hint:
            message += f"\n  hint: {requirement.hint}"
        checkify.check(ok.all(), message, got=got[jnp.argmin(ok)])


def raise_checked(error: checkify.Error) -> None:
    """Raises what `check_inside` found, as the exception that eager operators raise."""
    message = error.get()
    if message is None:
        return
    message = _LANE.split(message)[1] if _LANE.match(message) else message
    name, _, said = message.partition(": ")
    if name in _KINDS:
        raise _KINDS[name](said.partition(" (`check` failed)")[0])
    error.throw()  # a check of the user's own


_LANE = re.compile(r"(?:\A|\n)at mapped index [^:]*: ")  # how checkify begins each lane's message
_KINDS: dict[str, type[Exception]] = {}  # by name: a program carries only the message
