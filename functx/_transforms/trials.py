"""What reverse mode differentiates, with something around it on trial, such as a checkpoint."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, TypeAlias

from functx._core.context.user_contexts import wrapping_losses


# What a region puts around a function that is about to be differentiated.
Wrapping: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def on_trial(function: Callable[..., Any], func: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, made of a user's `func`, as the region around the call wants it differentiated.

    What it differentiates itself inside is left alone.
    """
    wrapping = wrapping_losses.value
    if wrapping is None:
        return function

    @ft.wraps(func)
    def inside(*args: Any) -> Any:
        with wrapping_losses(None):
            return function(*args)

    return wrapping(inside)
