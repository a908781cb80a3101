"""A mode for a region: the body of a `with`, or a function, generator or coroutine it decorates."""

from __future__ import annotations

import functools as ft
import inspect
import types
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from functx._core import fail
from functx._core.context.grad_modes import apply_grad_mode, Modes
from functx._core.context.user_contexts import grad_modes
from functx._core.numbers.weak_types import strong_tree
from functx._transforms.arguments import require_callable


F = TypeVar("F", bound=Callable[..., Any])
Change = Callable[[Modes], Modes]

_NORMAL = Modes()


def current_modes() -> Modes:
    """The modes of this thread and this task, here."""
    return grad_modes.value or _NORMAL


def changed(change: Change) -> Any:
    """A context in which the modes are `change` of those around it."""
    modes = change(current_modes())
    return grad_modes(None if modes == _NORMAL else modes)


class Region:
    """A context that changes the modes, and a decorator of functions to be called in them."""

    def __init__(self, who: str, change: Change):
        self._who, self._change = who, change
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        context = changed(self._change)
        context.__enter__()
        self._entered.append(context)

    def __exit__(self, *exception: Any) -> None:
        self._entered.pop().__exit__(*exception)

    def __call__(self, func: F) -> F:
        return within(self._who, func, self._change)


class ImmediateRegion(Region):
    """A context that changes the modes as soon as it is made, and for good if it is no context."""

    def __init__(self, who: str, change: Change):
        super().__init__(who, change)
        self._at_once = changed(change)
        self._at_once.__enter__()

    def __enter__(self) -> None:
        changed(self._change).__enter__()  # left by leaving what was entered at once

    def __exit__(self, *exception: Any) -> None:
        self._at_once.__exit__(*exception)

    def __call__(self, func: F) -> F:
        self._at_once.__exit__(None, None, None)
        return super().__call__(func)


def within(who: str, func: F, change: Change) -> F:
    """`func` called in other modes, which what it returns and yields is held to."""
    if isinstance(func, type):
        fail(
            who,
            f"`func` must be a function, got the class {func.__qualname__}. Decorating classes is "
            "deprecated",
            hint="decorate its methods",
            error=TypeError,
        )
    require_callable(who, func)
    if inspect.isasyncgenfunction(func):
        fail(
            who,
            f"`func` must not be an asynchronous generator, got {func.__qualname__}",
            hint=f"with {who}: inside it, around what lies between two yields",
            error=TypeError,
        )
    if inspect.isgeneratorfunction(func):

        @ft.wraps(func)
        def generator(*args: Any, **kwargs: Any) -> Any:
            return (yield from _steps(func(*args, **kwargs), change))

        return generator  # pyright: ignore[reportReturnType]
    if inspect.iscoroutinefunction(func):

        @ft.wraps(func)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            return await _awaited(func(*args, **kwargs), change)

        return coroutine  # pyright: ignore[reportReturnType]

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> Any:
        with changed(change):
            return _held(func(*args, **kwargs))

    return function  # pyright: ignore[reportReturnType]


def _steps(body: Any, change: Change) -> Generator[Any, Any, Any]:
    """Runs a generator or a coroutine in the modes, and its callers in their own."""
    step, given = body.send, None
    while True:
        try:
            with changed(change):
                out = _held(step(given))
        except StopIteration as stop:
            with changed(change):
                return _held(stop.value)
        try:
            step, given = body.send, (yield out)
        except GeneratorExit:
            with changed(change):
                body.close()
            raise
        except BaseException as error:
            step, given = body.throw, error


_awaited = types.coroutine(_steps)


def _held(result: Any) -> Any:
    """A region's results with the derivatives that its mode allows, and strongly typed."""
    return apply_grad_mode(strong_tree(result))
