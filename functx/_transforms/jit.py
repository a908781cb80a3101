"""`jit` that threads the ambient generator through the compiled program."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, overload

import jax

from functx._core.random import threading_generator

from .generics import P, Y


__all__ = ["jit"]


@overload
def jit(func: Callable[P, Y], **options: Any) -> Callable[P, Y]: ...
@overload
def jit(**options: Any) -> Callable[[Callable[P, Y]], Callable[P, Y]]: ...
def jit(func: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """`jax.jit`, where random operators may draw from the ambient generator.

    The generator's state goes into the program and comes back advanced, so the numbers
    are those of the same calls made eagerly. `options` are `jax.jit`'s; arguments that
    they name by position count as in `func`.

    >>> functx.manual_seed(0)
    >>> x = functx.jit(lambda: functx.rand(3))()
    >>> functx.manual_seed(0)
    >>> bool((functx.rand(3) == x).all())
    True
    """
    if func is None:
        return ft.partial(jit, **options)
    for name in ("static_argnums", "donate_argnums"):
        if name in options:
            several = (
                options[name] if isinstance(options[name], (tuple, list)) else (options[name],)
            )
            options[name] = tuple(i + 1 if i >= 0 else i for i in several)
    return threading_generator(lambda inner: jax.jit(inner, **options), func)
