"""Names for regions of a program, in profiles and in compiled programs."""

from __future__ import annotations

import contextlib
import functools as ft
import re
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.profiler

from functx._core import describe, fail

from .traces import RANGE


__all__ = [
    "Range",
    "mark",
    "range_end",
    "range_pop",
    "range_push",
    "range_start",
    "record_function",
]

P = ParamSpec("P")
R = TypeVar("R")


def _require_name(who: str, argument: str, name: object) -> None:
    if not isinstance(name, str) or not name:
        fail(
            who,
            f"`{argument}` must be a string that is not empty, got {describe(name)}",
            error=TypeError,
        )


def _annotation(name: str) -> jax.profiler.TraceAnnotation:
    return jax.profiler.TraceAnnotation(name, **{RANGE: "1"})


def _scope(name: str) -> contextlib.AbstractContextManager[Any]:
    # In the path of a compiled operation these characters mean something else.
    return jax.named_scope(re.sub(r"[/();]", "_", name))


class record_function:
    """Names a region, as a context or as a decorator, for the profiles that it runs under.

    - `name`: the region's name, a string that is not empty. In compiled programs the characters
      `/`, `(`, `)` and `;` become `_`.

    What happens on the host between beginning and end is a range of the profile
    (`profile.by_range`). What is traced in the region carries the name into the compiled program,
    so that `profile.by_scope` shows the time on the device, forward and backward. An operator that
    is called outside of `jax.jit` is a program of its own and has no scope.

    As `torch.profiler.record_function`; where no profile runs, it costs some microseconds.

    >>> @functx.profiler.record_function("attention")
    ... def attend(x):
    ...     return functx.softmax(x @ x.T, dim=-1) @ x
    >>> with functx.profiler.record_function("step"):
    ...     y = jax.jit(attend)(jnp.ones((2, 3), "float32"))
    """

    def __init__(self, name: str) -> None:
        """A region of that `name`."""
        _require_name("profiler.record_function", "name", name)
        self.name = name
        self._entered: list[contextlib.ExitStack] = []

    def __enter__(self) -> record_function:
        stack = contextlib.ExitStack()
        stack.enter_context(_annotation(self.name))
        stack.enter_context(_scope(self.name))
        self._entered.append(stack)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._entered.pop().close()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """`function` inside a region of that name, at each call."""
        if not callable(function):
            fail(
                "profiler.record_function",
                f"decorates functions, got {describe(function)}",
                error=TypeError,
            )

        @ft.wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> R:
            with record_function(self.name):
                return function(*args, **kwargs)

        return named


def mark(message: str) -> None:
    """Marks a moment: a range without length, as `torch.cuda.nvtx.mark`.

    - `message`: what the mark is called, a string that is not empty.

    >>> functx.profiler.mark("data is loaded")
    """
    _require_name("profiler.mark", "message", message)
    with _annotation(message):
        pass


class _Pushed(threading.local):
    def __init__(self) -> None:
        self.ranges: list[record_function] = []


_pushed = _Pushed()


def range_push(message: str) -> int:
    """Begins a range inside those that were pushed before, as `torch.cuda.nvtx.range_push`.

    - `message`: its name, a string that is not empty.

    Returns how many ranges were open in this thread before. Prefer `record_function`, which ends
    when an exception passes.

    >>> functx.profiler.range_push("epoch")
    0
    >>> functx.profiler.range_pop()
    0
    """
    _require_name("profiler.range_push", "message", message)
    region = record_function(message)
    region.__enter__()
    _pushed.ranges.append(region)
    return len(_pushed.ranges) - 1


def range_pop() -> int:
    """Ends the range that was pushed last in this thread, and returns how many are still open.

    It is a RuntimeError if none is open.
    """
    if not _pushed.ranges:
        fail(
            "profiler.range_pop",
            "no range is open in this thread",
            hint="profiler.range_push(name) begins one, in the same thread",
        )
    _pushed.ranges.pop().__exit__()
    return len(_pushed.ranges)


class Range:
    """A range that `range_start` began, for `range_end`.

    - `name`: what it is called.
    """

    def __init__(self, name: str) -> None:
        """Begins a range of that `name`."""
        self.name = name
        self._annotation: jax.profiler.TraceAnnotation | None = _annotation(name)
        self._annotation.__enter__()

    def _end(self) -> None:
        annotation, self._annotation = self._annotation, None
        if annotation is None:
            fail("profiler.range_end", f"the range {self.name!r} has ended before")
        annotation.__exit__(None, None, None)


def range_start(message: str) -> Range:
    """Begins a range that may overlap others, as `torch.cuda.nvtx.range_start`.

    - `message`: its name, a string that is not empty.

    Returns a `Range`, which `range_end` ends, in the same thread. As ranges that overlap do not
    nest, compiled programs do not carry its name.

    >>> load = functx.profiler.range_start("load")
    >>> functx.profiler.range_end(load)
    """
    _require_name("profiler.range_start", "message", message)
    return Range(message)


def range_end(range: Range) -> None:
    """Ends a range.

    - `range`: what `range_start` returned. One that has ended before is a RuntimeError.
    """
    if not isinstance(range, Range):
        fail(
            "profiler.range_end",
            f"`range` must be what profiler.range_start returned, got {describe(range)}",
            error=TypeError,
        )
    range._end()
