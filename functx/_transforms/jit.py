"""`jit` that threads the ambient generator through the compiled program."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable, Iterable
from typing import Any, overload, Protocol

import jax
import numpy as np

from functx._core import describe, explain_unknown_keywords, fail, foreign_hint
from functx._core.numbers.wide_integers import require_representable, wide_integers_fit
from functx._core.randomness.ambient_generator import drawing, recording, upcoming_draw

from .arguments import numbered, require_callable
from .concretization import tracing
from .generics import P, Y, Y_co
from .numbers import giving_arrays
from .stages import Lowered, Traced


__all__ = ["jit"]


class Jitted(Protocol[P, Y_co]):
    """What `jit` returns: the function, and the ways of `jax.jit` to look inside."""

    @property
    def __name__(self) -> str: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Y_co: ...
    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Traced: ...
    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered: ...
    def eval_shape(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    def clear_cache(self) -> None: ...


@overload
def jit(func: Callable[P, Y], **options: Any) -> Jitted[P, Y]: ...
@overload
def jit(**options: Any) -> Callable[[Callable[P, Y]], Jitted[P, Y]]: ...
@explain_unknown_keywords(beside=jax.jit)
def jit(func: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`jax.jit`, where random operators may draw from the ambient generator.

    - `func`: the function to compile, of trees of arrays of any shapes and dtypes. Without it,
      `jit` is a decorator with the options given.
    - `options`: those of `jax.jit`, which count and name the arguments of `func`: `static_argnums`,
      `static_argnames`, `donate_argnums`, `donate_argnames`, `in_shardings`, `out_shardings`,
      `keep_unused`, `inline`, `compiler_options`, ...

    The state of the generator goes into the program and comes back advanced, so random numbers are
    those of the same calls made eagerly. The result has the methods `trace`, `lower`, `eval_shape`
    and `clear_cache` of `jax.jit`.

    Errors: TypeError for an option that `jax.jit` does not have and for arguments that are no
    arrays and not static, and JAX's ConcretizationTypeError where Python asks for the value of a
    traced array.

    >>> functx.manual_seed(0)
    >>> x = functx.jit(lambda: functx.rand(3))()
    >>> functx.manual_seed(0)
    >>> bool((functx.rand(3) == x).all())
    True
    """
    if func is None:
        return ft.partial(jit, **options)
    require_callable("jit", func)
    programs = _Programs(func, options)

    def entry(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not (wide_integers_fit(args) and wide_integers_fit(kwargs.values())):
            require_representable("jit", _named(args, kwargs))
        return programs.of(args)

    @ft.wraps(func)
    def jitted(*args: Any, **kwargs: Any) -> Any:
        try:
            return tracing("jit", drawing, entry(args, kwargs), *args, **kwargs)
        except TypeError as error:
            _refuse_foreign(args, kwargs)
            if str(error).startswith("Error interpreting argument"):
                _refuse_no_array(_traced(func, options, args, kwargs))
            raise
        except OverflowError as error:
            if str(error).startswith("An overflow was encountered while parsing an argument"):
                require_representable("jit", _named(args, kwargs))
            raise

    def trace(*args: Any, **kwargs: Any) -> Traced:
        return Traced(entry(args, kwargs).trace(upcoming_draw(), *args, **kwargs))

    def lower(*args: Any, **kwargs: Any) -> Lowered:
        return Lowered(entry(args, kwargs).lower(upcoming_draw(), *args, **kwargs))

    def eval_shape(*args: Any, **kwargs: Any) -> Any:
        return entry(args, kwargs).eval_shape(upcoming_draw(), *args, **kwargs)[0]

    for method in (trace, lower, eval_shape, programs.clear_cache):
        setattr(jitted, method.__name__, method)
    return jitted


def _named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    return [*zip(numbered("args", len(args)), args, strict=True), *kwargs.items()]


def _refuse_foreign(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuses arrays of another library where JAX could not take them."""
    for name, value in _named(args, kwargs):
        for x in jax.tree.leaves(value):
            if hint := foreign_hint(x):
                message = f"`{name}` must hold arrays, got {describe(x)}"
                fail("jit", message, hint=hint, error=TypeError)


def _traced(
    func: Callable[..., Any],
    options: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> list[tuple[str, Any]]:
    """The arguments of a call that are not static, with what errors call them."""
    static = _static_positions(func, options)
    names = {name for i, name in enumerate(_names(func)) if i in static}
    named = _named(args, kwargs)
    by_position = [pair for i, pair in enumerate(named[: len(args)]) if i not in static]
    return by_position + [(name, x) for name, x in named[len(args) :] if name not in names]


def _refuse_no_array(named: list[tuple[str, Any]]) -> None:
    """Refuses the first leaf that is neither an array nor a number."""
    for name, value in named:
        for x in jax.tree.leaves(value):
            is_array = isinstance(x, (jax.Array, np.ndarray, np.generic, int, float, complex))
            if not is_array and not hasattr(x, "__jax_array__"):
                fail(
                    "jit",
                    f"`{name}` must hold arrays and numbers, got {describe(x)}",
                    hint="jit(f, static_argnames=...) names the arguments that hold something else",
                    error=TypeError,
                )


class _Programs:
    """`jax.jit` of a function that takes the generator's draw before the arguments of `func`."""

    def __init__(self, func: Callable[..., Any], options: dict[str, Any]):
        self._inner, self._options = recording(giving_arrays(func)), dict(options)
        for name in ("static_argnums", "donate_argnums"):
            if options.get(name) is not None:
                self._options[name] = tuple(i + 1 for i in _positions(func, options[name]))
        if "out_shardings" in options:
            self._options["out_shardings"] = (options["out_shardings"], None)
        shardings = self._options.pop("in_shardings", ())
        # A single one is for every argument that is not static, however many a call has.
        self._for_all = None if isinstance(shardings, tuple) else shardings
        if self._for_all is not None:
            self._static = _static_positions(func, options)
        elif "in_shardings" in options:
            self._options["in_shardings"] = (None, *shardings)
        self._by_count: dict[int, Any] = {}

    def of(self, args: tuple[Any, ...]) -> Any:
        """The compiled function for a call with these positional arguments."""
        count = 0
        if self._for_all is not None:
            count = len(set(range(len(args))) - self._static)
        program = self._by_count.get(count)
        if program is None:
            options: dict[str, Any] = self._options
            if self._for_all is not None:
                options = options | {"in_shardings": (None, *(count * (self._for_all,)))}
            program = self._by_count[count] = jax.jit(self._inner, **options)
        return program

    def clear_cache(self) -> None:
        for program in self._by_count.values():
            program.clear_cache()


def _static_positions(func: Callable[..., Any], options: dict[str, Any]) -> set[int]:
    """Where static arguments stand, named by position or by name."""
    names = _names(func)
    positions = set(_positions(func, options.get("static_argnums")))
    named = options.get("static_argnames") or ()
    named = (named,) if isinstance(named, str) else named
    return positions | {names.index(name) for name in named if name in names}


def _names(func: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(func).parameters)
    except (TypeError, ValueError):  # builtins need not say
        return []


def _positions(func: Callable[..., Any], numbers: int | Iterable[int] | None) -> tuple[int, ...]:
    """Positions counted from the front. (JAX ignores negative `donate_argnums`.)"""
    if numbers is None:
        return ()
    several = tuple(numbers) if isinstance(numbers, Iterable) else (numbers,)
    count = len(_names(func))
    for i in several:
        if i < -count:
            fail(
                "jit",
                f"position {i} is out of range for the {count} parameters of `func`",
                error=ValueError,
            )
    return tuple(i % count if i < 0 else i for i in several)
