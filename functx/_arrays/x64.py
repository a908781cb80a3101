"""64-bit dtypes, which JAX has where they are asked for: for the process, or for a region."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NoReturn, TYPE_CHECKING

import jax

from functx._core.errors import fail, require_bool


class X64Setting:
    """What `enable_x64` returns: how 64 bit is set now, and no context manager."""

    def __init__(self, before: bool, now: bool):
        self._before, self._now = before, now

    def __repr__(self) -> str:
        return f"64-bit dtypes are {'on' if self._now else 'off'}"

    if not TYPE_CHECKING:  # for type checkers it is none, which they report

        def __enter__(self) -> NoReturn:
            jax.config.update("jax_enable_x64", self._before)
            call = "x64()" if self._now else "x64(False)"
            fail(
                "enable_x64",
                "it sets 64 bit for the whole process and is no context",
                hint=f"with functx.{call}: sets it for a region",
                error=AttributeError,
            )

        def __exit__(self, *_: object) -> None:
            """Python asks for it before it enters."""


def enable_x64(enabled: bool = True) -> X64Setting:
    """Turns JAX's 64-bit dtypes on or off for the whole process.

    - `enabled`: True turns them on, False off.

    PyTorch's int64 indices and float64 arrays need 64-bit dtypes; without, they come in 32 bits.
    `functx.x64` sets them for a region; this function is no context manager.

    Errors: TypeError unless `enabled` is a bool.
    """
    require_bool("enable_x64", "enabled", enabled)
    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", enabled)
    return X64Setting(before, enabled)


def x64(enabled: bool = True) -> AbstractContextManager[None]:
    """A region in which 64-bit dtypes are on, or off, for the current thread.

    - `enabled`: True turns them on, False off.

    Errors: TypeError unless `enabled` is a bool.

    >>> with functx.x64():
    ...     functx.zeros(2, dtype=functx.float64).dtype
    dtype('float64')
    """
    require_bool("x64", "enabled", enabled)
    return jax.enable_x64(enabled)
