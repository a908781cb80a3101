"""What pointwise operators ask of their operands before promotion makes arrays of them all."""

from __future__ import annotations

from typing import Any

import numpy as np

from functx._core import describe, peek, refuse
from functx._core.values import on_cpu


_NUMBERS = (bool, int, float, complex)


def _given(args: tuple[Any, ...], kwargs: dict[str, Any], at: int, name: str) -> Any:
    return args[at] if len(args) > at else kwargs.get(name)


class ArraysOnly:
    """The first parameters, of these names, must not be Python numbers."""

    def __init__(self, *names: str, hint: str = ""):
        self.names = names
        self.hint = hint

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for at, name in enumerate(self.names):
            value = _given(args, kwargs, at, name)
            if type(value) in _NUMBERS:
                hint = self.hint or f"jnp.asarray({value!r}) makes an array"
                refuse(f"`{name}` must be an array, got {value!r}", hint=hint, error=TypeError)
        return args, kwargs


class OneArray:
    """Of the first two parameters, of these names, one at most may be a Python number."""

    def __init__(self, first: str, second: str):
        self.names = first, second

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = _given(args, kwargs, 0, self.names[0])
        if type(first) in _NUMBERS:
            second = _given(args, kwargs, 1, self.names[1])
            if type(second) in _NUMBERS:
                refuse(
                    f"`{self.names[0]}` or `{self.names[1]}` must be an array, "
                    f"got {first!r} and {second!r}",
                    hint="with two numbers, Python's own operators do",
                    error=TypeError,
                )
        return args, kwargs


def is_integral(x: Any) -> bool:
    """Whether `x` is an integer or a bool, or an array of them."""
    dtype = getattr(x, "dtype", None)
    return type(x) in (int, bool) if dtype is None else dtype.kind in "iub"


def nonzero_divisor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Integers have no infinity: where values are at hand, refuses a divisor of zero."""
    other = _given(args, kwargs, 1, "other")
    if is_integral(other) and is_integral(_given(args, kwargs, 0, "input")):
        values = peek(other) if on_cpu(other) else None
        if values is not None and not values.all():
            refuse(
                "`other` must not hold zeros where integers are divided, got one",
                hint="floating arrays give inf and nan",
            )
    return args, kwargs


def number_fits(value: Any, like: Any, name: str) -> None:
    """Refuses a Python integer that the integer dtype of `like` cannot hold."""
    dtype = getattr(like, "dtype", None)
    if type(value) is int and dtype is not None and dtype.kind in "iu":
        info = np.iinfo(dtype)
        if not info.min <= value <= info.max:
            refuse(
                f"`{name}` must lie in [{info.min}, {info.max}] for {describe(like)}, got {value}",
                error=OverflowError,
            )
