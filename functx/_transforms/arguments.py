"""What goes into a transformed function: which arguments are differentiated, and may they be."""

from __future__ import annotations

import dataclasses
import functools as ft
import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, fail, foreign_hint, require_bool

from .numbers import as_array


Argnums = int | str | tuple[int | str, ...]
NumberKind = Literal["real", "complex", "integer", "other"]

_PYTHON_KINDS: dict[type, NumberKind] = {
    float: "real",
    complex: "complex",
    int: "integer",
    bool: "integer",
}


@ft.cache
def kind_of_dtype(dtype: Any) -> NumberKind:
    """The kind of numbers that `dtype` holds; `"other"` for keys, objects and unknown ones."""
    try:
        if jnp.issubdtype(dtype, np.floating):
            return "real"
        if jnp.issubdtype(dtype, np.complexfloating):
            return "complex"
        return "integer" if jnp.issubdtype(dtype, np.integer) or dtype == np.bool_ else "other"
    except TypeError:  # the dtype of another library
        return "other"


def kind_of(x: Any) -> NumberKind:
    """The kind of the leaf `x`: an array, a tracer, or a Python number."""
    dtype = getattr(x, "dtype", None)
    return _PYTHON_KINDS.get(type(x), "other") if dtype is None else kind_of_dtype(dtype)


def require_callable(who: str, func: Any) -> None:
    """Refuses what cannot be called."""
    if not callable(func):
        fail(who, f"`func` must be callable, got {describe(func)}", error=TypeError)


def require_bools(who: str, **options: Any) -> None:
    """Refuses options that are neither True nor False."""
    for name, option in options.items():
        require_bool(who, name, option)


def require_randomness(who: str, randomness: Any) -> None:
    """Refuses a `randomness` that is none of the three that `vmap` has."""
    if randomness not in ("error", "different", "same"):
        fail(
            who,
            f"`randomness` must be 'error', 'different' or 'same', got {describe(randomness)}",
            error=ValueError,
        )


def checked_argnums(who: str, argnums: Any) -> tuple[int | str, ...]:
    """`argnums` as a tuple, refused where no call could make sense of it."""
    which = argnums if isinstance(argnums, tuple) else (argnums,)
    if not which:
        fail(who, "`argnums` must not be empty", error=ValueError)
    for one in which:
        if isinstance(one, bool) or not isinstance(one, (int, str)):
            fail(
                who,
                "`argnums` must be an int, the name of a keyword argument, or a tuple of "
                f"those, got {argnums!r}",
                error=TypeError,
            )
    return which


class Picked(NamedTuple):
    """A call, seen as a function of its differentiated arguments only."""

    function: Callable[..., Any]
    values: tuple[Any, ...]
    paths: tuple[str, ...]


def pick(
    who: str,
    func: Callable[..., Any],
    which: tuple[int | str, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Picked:
    """Splits the call `func(*args, **kwargs)` at the arguments that `which` names."""
    if len(args) == 1 and not kwargs and (which == (0,) or which == (-1,)):
        return Picked(func, args, ("args[0]",))
    slots = tuple(_slot(who, func, one, args, kwargs) for one in which)
    if len(set(slots)) != len(slots):
        fail(who, f"`argnums` must name each argument once, got {which}", error=ValueError)

    def function(*picked: Any) -> Any:
        full, named = list(args), dict(kwargs)
        for slot, x in zip(slots, picked, strict=True):
            if isinstance(slot, int):
                full[slot] = x
            else:
                named[slot] = x
        return func(*full, **named)

    values = tuple(args[slot] if isinstance(slot, int) else kwargs[slot] for slot in slots)
    paths = tuple(f"args[{s}]" if isinstance(s, int) else f"kwargs[{s!r}]" for s in slots)
    return Picked(function, values, paths)


def _slot(
    who: str,
    func: Callable[..., Any],
    one: int | str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> int | str:
    """Where the argument lies in this call: a position, or a keyword."""
    if isinstance(one, str):
        if one in kwargs:
            return one
        position = _position(func, one)
        if position is not None and position < len(args):
            return position
        names = ", ".join(kwargs) or "none"
        fail(
            who,
            f"`argnums` names {one!r}, which this call does not pass; its keyword arguments: "
            f"{names}",
            error=TypeError,
        )
    if not -len(args) <= one < len(args):
        fail(
            who,
            f"`argnums` {describe(one)} is out of range for {len(args)} positional arguments",
            hint="name an argument that is passed by keyword, e.g. argnums='weight'"
            if kwargs
            else "",
            error=IndexError,
        )
    return one % len(args)


def _position(func: Callable[..., Any], name: str) -> int | None:
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):  # builtins need not say
        return None
    for i, parameter in enumerate(parameters):
        if parameter.name == name and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            return i
    return None


def has_no_tangent(x: Any) -> bool:
    """Whether the leaf `x` is an integer, a boolean or a key, or an array of such."""
    kind = kind_of(x)
    extended = jax.dtypes.extended
    return kind == "integer" or (kind == "other" and jnp.issubdtype(_dtype_of(x), extended))


def _dtype_of(x: Any) -> Any:
    dtype = getattr(x, "dtype", None)
    return dtype if isinstance(x, jax.Array) and dtype is not None else np.dtype(object)


class DifferentiableValues(NamedTuple):
    """The values to differentiate at, as arrays; Python numbers have the default dtype."""

    values: tuple[Any, ...]
    any_complex: bool


def differentiable(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], allow_int: bool | None = None
) -> DifferentiableValues:
    """`values` as points to differentiate at; refuses what has no derivative.

    With `allow_int` integers, booleans and keys are let pass; `None` is of a transform that has no
    such option.
    """
    any_complex = _any_complex(who, values, paths, allow_int)
    point = _as_point if allow_int else as_array
    return DifferentiableValues(jax.tree.map(point, values), any_complex)


def _as_point(x: Any) -> Any:
    """A leaf as an array, if it has a tangent."""
    return x if has_no_tangent(x) else as_array(x)


def _any_complex(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], allow_int: bool | None
) -> bool:
    any_complex = False
    if len(values) == 1:
        kind = kind_of(values[0])
        if kind == "real" or kind == "complex":
            return kind == "complex"
    for x in jax.tree.leaves(values):
        kind = kind_of(x)
        if kind == "complex":
            any_complex = True
        elif kind != "real" and not (allow_int and has_no_tangent(x)):
            _refuse_input(who, values, paths, allow_int)
    return any_complex


def _refuse_input(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], allow_int: bool | None
) -> None:
    for at, x in leaves_with_paths(values, paths):
        kind = kind_of(x)
        if kind == "integer" and not allow_int:
            option = "; allow_int=True passes over it" if allow_int is False else ""
            fail(
                who,
                f"`{at}` must be real or complex to be differentiated, got {describe(x)}",
                hint="convert it to a floating dtype, or do not differentiate with respect to it"
                + option,
                error=TypeError,
            )
        if kind == "other" and not (allow_int and has_no_tangent(x)):
            fail(
                who,
                f"`{at}` must be an array, got {describe(x)}",
                hint=foreign_hint(x) or _apart_hint(values, at in paths),
                error=TypeError,
            )


def _apart_hint(values: tuple[Any, ...], is_argument: bool) -> str:
    """How to differentiate a tree that holds something else beside arrays."""
    if is_argument:
        return ""
    if any(map(_holds_equinox, values)):
        return (
            "params, rest = eqx.partition(module, eqx.is_inexact_array) sets its arrays apart, "
            "eqx.combine(params, rest) joins them inside; eqx.filter_grad does both, with jax.grad"
        )
    return "differentiate a tree of arrays alone, and close over the rest or mark it as static"


def _holds_equinox(tree: Any) -> bool:
    """Whether a module of Equinox is in `tree`."""
    found: list[Any] = []
    jax.tree.leaves(tree, is_leaf=lambda x: _is_equinox(x) and not found.append(x))
    return bool(found)


def _is_equinox(x: Any) -> bool:
    return any(base.__module__.partition(".")[0] == "equinox" for base in type(x).__mro__)


def leaves_with_paths(values: tuple[Any, ...], paths: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The leaves of each value with their full path, such as `args[0]['w']`."""
    return [
        (start + jax.tree_util.keystr(path), leaf)
        for start, value in zip(paths, values, strict=True)
        for path, leaf in jax.tree_util.tree_leaves_with_path(value)
    ]


def registration_of(x: Any) -> str:
    """How an object of a user's class becomes a pytree; "" for other objects."""
    kind = type(x)
    if kind.__module__ == "builtins" or not hasattr(x, "__dict__"):
        return ""
    if dataclasses.is_dataclass(x):
        return f"jax.tree_util.register_dataclass({kind.__name__}) makes it a pytree"
    return "a dataclass that jax.tree_util.register_dataclass registers would be one"


def outline(structure: Any) -> str:
    """A tree's structure as `{'a': *, 'b': (*, *)}`."""
    return str(structure).removeprefix("PyTreeDef(").removesuffix(")")


def numbered(name: str, count: int) -> tuple[str, ...]:
    """`("primals[0]", "primals[1]", ...)`."""
    return tuple([f"{name}[{i}]" for i in range(count)])
