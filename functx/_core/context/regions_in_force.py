"""What is in force around a call, kept so that a later part of it finds the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import jax

from .user_contexts import UserContext


# Settings of JAX's that a thread may have for itself and that change what is computed: `jax.NAME`
# is a region with another value, `jax.config.jax_NAME` the value here.
_OF_JAX = (
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "enable_x64",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "threefry_partitionable",
)


class RegionsInForce:
    """The regions of functx and the settings of JAX that are in force where this is made.

    The ambient generator is no part of it: what is drawn from it is a program's argument.
    """

    __slots__ = ("_contexts", "_settings")

    def __init__(self) -> None:
        self._contexts = [context.value for context in UserContext.made]
        self._settings = [_setting(name) for name in _OF_JAX]

    def restored(self) -> AbstractContextManager[Any]:
        """A region in which all of that is in force again, in any thread."""
        regions: list[AbstractContextManager[Any]] = []
        # A context that was made later is left out: nothing can have been in force in it.
        for context, value in zip(UserContext.made, self._contexts, strict=False):
            if context.value is not value:
                regions.append(context(value))
        for name, value in zip(_OF_JAX, self._settings, strict=True):
            if _setting(name) != value:
                regions.append(getattr(jax, name)(value))
        return _all_of(regions) if regions else contextlib.nullcontext()


@contextlib.contextmanager
def _all_of(regions: list[AbstractContextManager[Any]]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for region in regions:
            stack.enter_context(region)
        yield


def _setting(name: str) -> object:
    return getattr(jax.config, f"jax_{name}")
