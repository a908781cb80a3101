"""One lane of a mapped call: a program recorded at symbolic sizes, run on padded arrays."""

from __future__ import annotations

import contextlib
import functools as ft
import itertools as it
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, export, lax

from functx._core import fail
from functx._core.errors import Refused
from functx._core.randomness.ambient_generator import drawn_key, scope
from functx._core.shapes.symbolic_sizes import known
from functx._transforms.programs.inlining import closed
from functx._transforms.programs.recording import record
from functx._transforms.programs.walking import type_of

from .arrays import is_nested, Nested
from .outputs import PaddedOutput
from .padding import PaddedRun
from .sizes import fitted, LaneSizes


WHO = "nested.vmap"
_SCOPE = export.SymbolicScope()


class LaneCall:
    """One lane of a call: its sizes, and its arguments at any of them."""

    def __init__(self, func: Callable[..., Any], leaves: list[Any], structure: Any):
        self._func, self._leaves, self._structure = func, leaves, structure
        self._key = _ambient_key()
        self.symbols, self._lengths = dict[str, str | None](), dict[str, Array]()
        self._longest, self._maybe_empty = dict[str, int](), dict[str, bool]()
        self._of_leaf = [self._symbols_of(x) if is_nested(x) else () for x in leaves]

    def _symbols_of(self, x: Nested) -> tuple[str, ...]:
        """The symbols of a sequence's ragged sizes."""
        values, *lengths = x.tree_flatten()[0]
        if lengths[0].ndim:
            fail(
                WHO,
                f"a batch of sequences is mapped along its first dimension, got {x!r} in one lane",
                hint="its entry of `in_dims` must be 0",
                error=ValueError,
            )
        found = []
        for dim, name, length, filled in zip(x.dims, x.names, lengths, x.filled, strict=True):
            symbol = self._symbol(name)
            self.symbols[symbol] = name
            self._lengths.setdefault(symbol, length)
            longest = max(self._longest.get(symbol, 1), values.shape[dim])
            self._longest[symbol] = longest
            self._maybe_empty[symbol] = self._maybe_empty.get(symbol, True) and not filled
            found.append(symbol)
        return tuple(found)

    def _symbol(self, name: str | None) -> str:
        known_as = (symbol for symbol, other in self.symbols.items() if name == other is not None)
        taken = {*self.symbols, *(name for x in self._leaves if is_nested(x) for name in x.names)}
        free = (x for x in it.chain("nmklpq", (f"n{i}" for i in it.count())) if x not in taken)
        return next(known_as, None) or name or next(free)

    def choices_of_empty(self) -> Iterator[dict[str, int]]:
        """Each set of sizes that may be 0 at once, as the sizes that then are."""
        symbols = [symbol for symbol, may_be in self._maybe_empty.items() if may_be]
        for count in range(1, len(symbols) + 1):
            for chosen in it.combinations(symbols, count):
                yield dict.fromkeys(chosen, 0)

    def are_empty(self, sizes: Mapping[str, int]) -> Array:
        """Whether of the sizes that may be 0 just these are."""
        which: Any = True
        for symbol, may_be in self._maybe_empty.items():
            if may_be:
                empty = self._lengths[symbol] == 0
                which &= empty if symbol in sizes else ~empty
        return jnp.asarray(which)

    def run(self, empty: Mapping[str, int]) -> PaddedOutput:
        """What the function returns for a lane in which the sizes `empty` are 0, others are not."""
        symbols = {symbol: _symbolic(symbol) for symbol in self.symbols if symbol not in empty}
        sizes = LaneSizes(
            {symbol: self._longest[symbol] for symbol in symbols},
            {symbol: self._lengths[symbol] for symbol in symbols},
        )
        of_symbols = {**symbols, **empty}
        specs, arrays = [], []
        used = self.are_empty(empty) if any(self._maybe_empty.values()) else None
        for leaf, dims in zip(self._leaves, self._of_leaf, strict=True):
            if not is_nested(leaf):
                specs.append(leaf)
                arrays.append(leaf)
                continue
            values = leaf.tree_flatten()[0][0]
            shape, whole = list(values.shape), list(values.shape)
            for dim, symbol in zip(leaf.dims, dims, strict=True):
                shape[dim] = of_symbols[symbol]
                whole[dim] = 0 if symbol in empty else self._longest[symbol]
            values = sizes.filled(fitted(values, whole), shape, 0)
            specs.append(jax.ShapeDtypeStruct(tuple(shape), values.dtype))
            arrays.append(values)
        return self._recorded_and_run(specs, arrays, sizes, used)

    def _recorded_and_run(
        self, specs: list[Any], arrays: list[Any], sizes: LaneSizes, used: Array | None
    ) -> PaddedOutput:
        moving = [i for i, x in enumerate(specs) if _is_array(x)]

        def function(key: Any, *given: Any) -> Any:
            leaves = [*specs]
            for i, x in zip(moving, given, strict=True):
                leaves[i] = x
            args, kwargs = self._structure.unflatten(leaves)
            with contextlib.nullcontext() if key is None else scope(key):
                return jax.tree.map(_number_of_size, self._func(*args, **kwargs))

        key = self._key
        program = _recorded(function, [key, *(specs[i] for i in moving)])
        given = [*jax.tree.leaves(key), *(_used_only_if(used, arrays[i]) for i in moving)]
        consts = [_used_only_if(used, x) for x in program.consts]
        run = PaddedRun(WHO, sizes)
        found = run.run(closed(program.jaxpr, consts), given)
        shapes = [tuple(type_of(x).shape) for x in program.jaxpr.outvars]
        return PaddedOutput.of(program.outputs, found, shapes, sizes)


def _recorded(function: Callable[..., Any], specs: Sequence[Any]) -> Any:
    """The program of `function`, which must not look at what a size is."""
    try:
        return record(function, *specs)
    except jax.errors.InconclusiveDimensionOperation as error:
        reason = str(error).partition("\n")[0]
        fail(
            WHO,
            f"the function makes a choice that depends on a ragged size: {reason}",
            hint="one program is recorded for all lengths: choose by jnp.where between values, or "
            "call the function sequence by sequence, over x.unbind()",
        )


def _ambient_key() -> Any:
    """A key of the lane's stream, for a program that may draw; None where it may not."""
    try:
        return drawn_key()
    except Refused:
        return None


@ft.cache
def _symbolic(name: str) -> Any:
    """The symbol of this name: the same at each call, so that what is kept by shapes is found."""
    return export.symbolic_shape(name, scope=_SCOPE)[0]


def _is_array(x: Any) -> bool:
    return isinstance(x, (jax.Array, jax.ShapeDtypeStruct)) or hasattr(x, "__array__")


def _number_of_size(x: Any) -> Any:
    """A ragged size that the function returns, as a number of each lane."""
    return x if known(x) else jnp.asarray(x)


def _used_only_if(used: Array | None, x: Any) -> Any:
    """`x`, which gets no cotangent in lanes whose results are not used: it might be NaN there."""
    if used is None or not isinstance(x, jax.Array) or not jnp.issubdtype(x.dtype, jnp.inexact):
        return x
    return lax.select(used, x, lax.stop_gradient(x))
