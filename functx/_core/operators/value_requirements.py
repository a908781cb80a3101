"""What operators require of the values of their arguments.

A requirement is computed by the operator's own program, beside its result. Eager calls on the CPU
read whether it held; under `jit` and on accelerators, `functx.debug.checked` does.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import importlib
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core.errors import refuse
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._core.numbers.dtypes import available, holds, LONG
from functx._core.numbers.min_max import min_max

from .concrete_values import at_hand, peek


@dataclasses.dataclass(frozen=True)
class Requirement:
    """`ok` must hold everywhere; `got` is shown where it does not, as `{got}`.

    `everywhere` is `ok.all()` where it can be had more quickly.
    """

    ok: Any
    message: str
    got: Any = None
    error: type[Exception] = RuntimeError
    hint: str = ""
    everywhere: Any = None


# Called with the arguments by name, those left out by their defaults: arrays in the dtypes in
# which they came, before promotion; dimensions, sizes and dtypes in canonical form.
Requirements = Callable[..., Iterable[Requirement]]


_R = TypeVar("_R", bound=Requirements)


def glanced(glance: Callable[..., bool]) -> Callable[[_R], _R]:
    """Lets eager calls do without a judgement by the program where `glance` says that all holds.

    It is called as the operator is, and looks at what is in the host's memory: True says that the
    requirements hold. Anything else, an error too, says nothing.
    """

    def mark(requires: _R) -> _R:
        setattr(requires, "glance", glance)  # noqa: B010
        return requires

    return mark


def indices_at_hand(index: Any, size: int, *, negative: bool = False) -> bool:
    """Whether `index` is in the host's memory, and as `index_in_range` requires."""
    try:
        known = np.frombuffer(index, _UNSIGNED[index.dtype])  # negative ones are the greatest
    except Exception:  # it is no array, holds no integers, or lies elsewhere
        return False
    if negative:
        known = known + known.dtype.type(size)
        size *= 2
    return max(known.tolist() if len(known) < _FEW else (known.max(),), default=0) < size


_UNSIGNED = {np.dtype("int32"): np.dtype("uint32"), np.dtype("int64"): np.dtype("uint64")}
_FEW = 64  # Python is faster to their greatest than NumPy


def number_at_hand(value: Any, dtype: Any) -> bool:
    """Whether `value` is a number, known and so small that each dtype of its kind holds it."""
    if type(value) not in (bool, int, float):
        known = at_hand(value)
        if known is None or known.ndim or known.dtype.kind not in "bif":
            return False
        value = known.item()
    if np.dtype(dtype).kind == "f":
        return abs(value) <= float(np.finfo(np.float16).max) or math.isinf(value)
    return np.dtype(dtype).kind == "i" and type(value) is not float and abs(value) < 128


def index_in_range(
    index: Any, size: int, *, name: str = "index", negative: bool = False
) -> Requirement:
    """Every element of `index` lies in `[0, size)`, or in `[-size, size)` if `negative`."""
    low = -size if negative else 0
    wide = _wide(index)  # a narrow index cannot hold the ends
    everywhere = jnp.asarray(True)
    if index.size:
        least, greatest = map(_wide, min_max(index))
        everywhere = (least >= low) & (greatest < size)
    allowed = f"lie in [{low}, {size - 1}]" if size else "be empty for a dimension of size 0"
    return Requirement(
        (wide >= low) & (wide < size),
        f"`{name}` must {allowed}, got {{got}}",
        got=index,
        error=IndexError,
        everywhere=everywhere,
    )


def _wide(x: Any) -> jax.Array:
    return lax.convert_element_type(x, available(LONG))


def is_probability(value: Any, name: str, *, error: type[Exception] = RuntimeError) -> Requirement:
    """Every element of `value` lies in [0, 1]."""
    ok = True if value.dtype == bool else at_least_zero(value) & (value <= 1)
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
    each = [
        jnp.all(requirement.ok) if requirement.everywhere is None else requirement.everywhere
        for requirement in requirements
    ]
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


@ft.cache
def checkify() -> Any:
    """JAX's module of that name. With what it needs itself, it takes long to import."""
    return importlib.import_module("jax.experimental.checkify")


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
        checkify().check(ok.all(), message, got=got[jnp.argmin(ok)])


def check_told(ok: Any, name: str, text: str, numbers: list[Any]) -> None:
    """Checks `ok` as `check_inside` does; the maker that `raised_by` set gets text and numbers."""
    given = {f"n{i}": number for i, number in enumerate(numbers)}
    checkify().check(ok, " ".join((f"{name}: {text}", *(f"{{{key}}}" for key in given))), **given)


def raised_by(name: str, make: Callable[[str], Exception]) -> None:
    """Sets what `raise_checked` makes of a failed `check_told` with this name."""
    _KINDS[name] = make


def raise_checked(error: Any) -> None:
    """Raises what `check_inside` found, an `Error` of checkify's, as eager operators do."""
    message = error.get()
    if message is None:
        return
    message = re.split(_LANE, message)[1] if re.match(_LANE, message) else message
    name, _, said = message.partition(": ")
    if name in _KINDS:
        raise _KINDS[name](said.partition(" (`check` failed)")[0])
    error.throw()  # a check of the user's own


_LANE = r"(?:\A|\n)at mapped index [^:]*: "  # how checkify begins each lane's message
_KINDS: dict[str, Callable[[str], Exception]] = {}  # by name: a program carries only the message
