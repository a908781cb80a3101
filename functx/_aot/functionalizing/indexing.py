"""`x[index]` and `x[index] = value`, as PyTorch has them.

Ints, slices, None and Ellipsis make a view first. What is left, arrays of positions and masks, then
picks elements of that view: to be read they are copied, to be written they are put back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import converted, describe, OPERATORS, peek_on_cpu, refuse

from .in_place import copy
from .view_methods import sliced
from .views import View


_NUMBERS = (bool, int, float, complex)


class Indexed(NamedTuple):
    """A view, and the arrays that pick its elements: one for each dimension, None for all of it.

    A mask stands for as many dimensions as it has.
    """

    view: View
    picked: list[jax.Array | None]


def indexed(view: View, index: Any) -> Indexed:
    """What an index says, in PyTorch's order: arrays come after all else."""
    items = list(index) if isinstance(index, tuple) else [index]
    items = [_as_array(x) if isinstance(x, (list, np.ndarray, np.generic)) else x for x in items]
    named = sum(map(_dimensions, items))
    if named > len(view.shape):
        refuse(
            f"too many indices: {named} for the {len(view.shape)} dimensions of "
            f"{describe(view.like)}",
            error=IndexError,
        )
    dim, picked = 0, []
    for item in items:
        if item is None:
            view, dim = view.inserted(dim), dim + 1
            picked.append(None)
        elif item is Ellipsis:
            rest = len(view.shape) - dim - sum(map(_dimensions, items[_at(items) + 1 :]))
            picked += [None] * rest
            dim += rest
        elif isinstance(item, slice):
            view, dim = sliced(view, dim, _with_ints(item)), dim + 1
            picked.append(None)
        elif isinstance(item, bool):
            view, dim = view.inserted(dim), dim + 1
            picked.append(jnp.asarray([item]))
        elif isinstance(item, jax.Array) and (item.ndim or item.dtype == np.bool_):
            if item.ndim == 0:
                view, item = view.inserted(dim), item.reshape(1)
            picked.append(item)
            dim += item.ndim if item.dtype == np.bool_ else 1
        else:
            view = view.selected(dim, _as_index(item))
    arrays = [i for i, x in enumerate(picked) if x is not None]
    return Indexed(view, picked[: arrays[-1] + 1] if arrays else [])


def read(view: View, index: Any) -> View | jax.Array:
    """A view, or a copy of the elements that arrays pick."""
    view, picked = indexed(view, index)
    if not picked:
        return view
    _check_inside(view, picked)
    return view.read()[tuple(slice(None) if x is None else x for x in picked)]


def write(view: View, index: Any, value: Any) -> None:
    """Writes to the elements that an index names; the value broadcasts to them."""
    view, picked = indexed(view, index)
    if not picked:
        copy(view, _without_leading_ones(value, len(view.shape)))
        return
    number = type(value) in _NUMBERS
    source = OPERATORS["fill"](jnp.zeros((), view.dtype), value) if number else jnp.asarray(value)
    whole = view.read()
    placed = _beside_mask(view, picked, source)
    if placed is None:
        _check_inside(view, picked)
        out = OPERATORS["index_put"](whole, picked, source)
    else:
        out = jnp.where(placed[0], converted(placed[1], view.dtype), whole)
    copy(view, out)


def _at(items: Sequence[Any]) -> int:
    return next(i for i, x in enumerate(items) if x is Ellipsis)


def _dimensions(item: Any) -> int:
    """How many dimensions an item names."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, jax.Array) and item.dtype == np.bool_:
        return item.ndim
    return 1


def _as_array(x: Any) -> jax.Array:
    array = jnp.asarray(x)
    return array.astype("int32") if array.size == 0 else array


def _as_index(item: Any) -> Any:
    """An int, or a 0-d integer array."""
    if isinstance(item, jax.Array):
        if not jnp.issubdtype(item.dtype, np.integer):
            refuse(f"an index must be an integer, got {describe(item)}", error=IndexError)
        return item
    if not hasattr(item, "__index__"):
        refuse(
            "an index must be an int, a slice, None, Ellipsis, or an array of integers or bools, "
            f"got {describe(item)}",
            error=IndexError,
        )
    return item.__index__()


def _with_ints(item: slice) -> slice:
    """A slice whose arrays of one integer, where they are at hand, are ints."""
    found = []
    for x in (item.start, item.stop, item.step):
        if isinstance(x, (jax.Array, np.generic)):
            value = peek_on_cpu(x)
            if value is None:
                refuse(
                    f"the bounds of a slice decide its shape, got {describe(x)}, which is traced",
                    hint="x.narrow takes a size and a start, jax.lax.dynamic_slice a traced start",
                    error=TypeError,
                )
            x = int(value)
        found.append(x)
    return slice(*found)


def _check_inside(view: View, picked: Sequence[jax.Array | None]) -> None:
    """Refuses masks of another shape and, where values are at hand, positions outside."""
    dim = 0
    for x in picked:
        width = x.ndim if x is not None and x.dtype == np.bool_ else 1
        here = view.shape[dim : dim + width]
        dim += width
        if x is None:
            continue
        if x.dtype == np.bool_:
            if tuple(x.shape) != here:
                refuse(
                    f"the mask must have the shape {list(here)} of the dimensions it masks, "
                    f"got {describe(x)}",
                    error=IndexError,
                )
        elif not jnp.issubdtype(x.dtype, np.integer):
            refuse(f"positions must be integers, got {describe(x)}", error=IndexError)
        elif (values := peek_on_cpu(x)) is not None and isinstance(here[0], int):
            outside = values[(values < -here[0]) | (values >= here[0])]
            if outside.size:
                refuse(
                    f"the index {int(outside[0])} is out of bounds for size {here[0]}",
                    error=IndexError,
                )


def _without_leading_ones(value: Any, ndim: int) -> Any:
    """A value without leading dimensions of size 1 that the written view does not have."""
    if not isinstance(value, (jax.Array, np.ndarray)) or value.ndim <= ndim:
        return value
    more = value.ndim - ndim
    return value.reshape(value.shape[more:]) if set(value.shape[:more]) == {1} else value


def _beside_mask(
    view: View, picked: Sequence[jax.Array | None], source: jax.Array
) -> tuple[jax.Array, jax.Array] | None:
    """The one mask and a source that is the same for all elements it picks, or None.

    Both broadcast to the view, so that a choice writes them whatever the mask holds.
    """
    mask = picked[-1]
    if mask is None or mask.dtype != np.bool_ or any(x is not None for x in picked[:-1]):
        return None
    before = len(picked) - 1
    after = len(view.shape) - before - mask.ndim
    if after < 0 or tuple(mask.shape) != view.shape[before : before + mask.ndim]:
        return None  # which `index_put` words
    wide = mask.reshape((1,) * before + mask.shape + (1,) * after)
    place = source.ndim - 1 - after
    if place < 0:
        return wide, source
    if source.shape[place] != 1 or place > before:
        return None
    shape = (*source.shape[:place], *(1,) * mask.ndim, *source.shape[place + 1 :])
    return wide, source.reshape(shape)
