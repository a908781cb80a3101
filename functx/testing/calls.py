"""An operator's calls by name: which of its arguments are arrays, and which are options."""

from __future__ import annotations

import ast
import dis
import functools as ft
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

import jax
import numpy as np


Given = dict[str, Any]  # the arguments of one call by name, those left out left out
_ARRAYS = (jax.Array, np.ndarray)


class Calls:
    """The calls of `op`: a declared operator, or any function with a signature."""

    def __init__(self, op: Callable[..., Any]):
        self.op, self.spec = op, getattr(op, "spec", None)
        self.signature = self.spec.signature if self.spec else inspect.signature(op)
        self.parameters = self.signature.parameters
        flat = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        self.all_named = all(p.kind in flat for p in self.parameters.values())

    def arguments(self, args: tuple[Any, ...], kwargs: Any) -> Given:
        """The arguments of a call by name, in the declared form."""
        if self.spec is not None:
            return self.spec.arguments(args, kwargs)
        return dict(self.signature.bind(*args, **kwargs).arguments)

    def by_name(self, kwargs: Any) -> frozenset[str]:
        """The parameters that keyword arguments are given to."""
        return frozenset(kwargs if self.spec is None else self.spec.parameters.renamed(kwargs))

    def __call__(self, given: Given) -> Any:
        args, kwargs = self.call_of(given)
        return self.op(*args, **kwargs)

    def call_of(self, given: Given) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the keyword arguments of a call, by name where that is possible.

        Where an operator has several signatures, the declared one may lack names in PyTorch.
        """
        if self.all_named and (self.spec is None or self.spec.other_signatures is None):
            return (), given
        bound = inspect.BoundArguments(self.signature, given)  # pyright: ignore[reportArgumentType]
        return bound.args, bound.kwargs

    def note(self, name: str) -> str:
        """A parameter's annotation as written, without `| None`."""
        note = self.parameters[name].annotation
        return note.removesuffix(" | None") if isinstance(note, str) else ""

    @ft.cached_property
    def options(self) -> list[str]:
        """The parameters that may be left out, keys apart, and what can be nothing but None."""
        return [
            name
            for name, p in self.parameters.items()
            if p.default is not p.empty and self.note(name) not in ("Key", "None")
        ]

    def values_of(self, option: str) -> list[Any]:
        """The values that its annotation gives an option, the default's apart."""
        default = self.parameters[option].default
        note, values = self.note(option), get_args(self.parameters[option].annotation)
        if note.startswith("Literal["):
            values = ast.literal_eval(note.removeprefix("Literal").split("]")[0] + "]")
        elif note:
            values = ()
        return [v for v in values if v != default and isinstance(v, (str, int, type(None)))]

    def reads(self, option: str) -> bool:
        """Whether what the operator does can depend on an option: whether its code reads it."""
        rule = self.spec.rule if self.spec else self.op
        code = getattr(rule, "__code__", None)
        if code is None or self.note(option) in ("DType", "Device"):
            return True
        named = [i.argval for i in dis.get_instructions(code) if i.opname.startswith("LOAD_")]
        return any(option == name or (isinstance(name, tuple) and option in name) for name in named)

    def gives(self, given: Given, option: str) -> bool:
        """Whether a call gives `option` a value that is not its default."""
        default = self.parameters[option].default
        return option in given and not _same(given[option], default)

    def arrays(self, given: Given) -> dict[str, Any]:
        """The arrays of a call by the name of their parameter: `input`, `tensors[0]`."""
        return dict(self._arrays(given))

    def _arrays(self, given: Given) -> Iterator[tuple[str, Any]]:
        for name, value in given.items():
            if isinstance(value, (list, tuple)):
                yield from ((f"{name}[{i}]", x) for i, x in enumerate(value) if is_array(x))
            elif is_array(value) and self.note(name) != "Key":
                yield name, value


def is_array(x: Any) -> bool:
    """Whether `x` is an array of numbers; keys of random generators are none."""
    return isinstance(x, _ARRAYS) and not jax.numpy.issubdtype(x.dtype, jax.dtypes.extended)


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, _ARRAYS) or value is None or default is None:
        return value is default
    if isinstance(value, bool) or isinstance(default, bool):
        return value is default
    try:
        return bool(value == default)
    except (TypeError, ValueError):
        return False


def replaced(given: Given, target: str, value: Any) -> Given:
    """`given` with another array in the place of `target`."""
    name, _, place = target.partition("[")
    if not place:
        return given | {name: value}
    several = list(given[name])
    several[int(place.removesuffix("]"))] = value
    return given | {name: type(given[name])(several)}


def filled(given: Given, arrays: Mapping[str, Any]) -> Given:
    """`given` with other arrays in some places."""
    for target, x in arrays.items():
        given = replaced(given, target, x)
    return given
