"""Sizes that are symbols: of arrays that `jax.export` traces once for all sizes.

A symbolic size (`b` of `jax.export.symbolic_shape("b")`, `2*b`, `b + 1`) adds and multiplies like
an int, and is at least 1 unless something is taken off it. It is none: `int(b)` and `np.prod`
raise, and so do comparisons that some sizes meet and others do not. `==` raises never: JAX answers
False where sizes may be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import core, export, lax


# An int, or a symbolic size.
Size: TypeAlias = Any


def known(*sizes: Size) -> bool:
    """Whether all sizes are numbers, and none is symbolic."""
    return not any(map(export.is_symbolic_dim, sizes))


def known_sizes(shape: Iterable[Size]) -> list[int]:
    """The sizes that are numbers."""
    return [n for n in shape if known(n)]


def decided(condition: Callable[[], bool], otherwise: bool) -> bool:
    """What a comparison of sizes says, or `otherwise` where a symbolic size leaves it open.

    - `condition`: makes the comparison: `lambda: n <= 8`.
    - `otherwise`: the answer that is right for all sizes. Of a choice of algorithm, it takes the
      one that no size excludes; of a refusal, it lets pass.

    >>> from functx._core.shapes.symbolic_sizes import decided
    >>> (b,) = jax.export.symbolic_shape("b")
    >>> decided(lambda: b > 8, otherwise=False), decided(lambda: b > 0, otherwise=False)
    (False, True)
    """
    try:
        return bool(condition())
    except jax.errors.InconclusiveDimensionOperation:
        return otherwise


def differ(size: Size, other: Size) -> bool:
    """Whether two sizes are unequal. Where symbolic sizes leave it open, it raises, as `<` does.

    `size != other` says True there, which is right only where unequal sizes are a mistake, or where
    what is done with them serves equal ones too.
    """
    return size != other and (size < other or other < size)


def as_number(size: Size, dtype: Any) -> Any:
    """A size that arithmetic with arrays of `dtype` takes: the int itself, or a 0-d array.

    The array of a symbolic size knows it when the exported program runs.
    """
    return size if known(size) else lax.convert_element_type(jnp.asarray(size), dtype)


def repeat(count: Size, step: Callable[[Any, Any], Any], start: Any) -> Any:
    """`lax.fori_loop` from 0 to a size, which may be symbolic: it has derivatives of both modes."""
    if known(count):
        return lax.fori_loop(0, count, step, start)
    return lax.scan(lambda state, i: (step(i, state), None), start, jnp.arange(count))[0]


def bit_length(size: Size) -> Any:
    """How many binary digits a size has: an int, or a 0-d array for a symbolic size."""
    if known(size):
        return size.bit_length()
    number = jnp.asarray(size)
    return number.dtype.itemsize * 8 - lax.clz(number)


def slice_bounds(start: int | None, stop: int | None, size: Size) -> tuple[Size, Size]:
    """Where a slice, as Python has it, begins and ends in a dimension of a size.

    The end may lie before the beginning, as that of `slice.indices`.
    """
    if known(size):
        return slice(start, stop).indices(size)[:2]
    return _inside(start, size, 0), _inside(stop, size, size)


def _inside(place: int | None, size: Size, otherwise: Size) -> Size:
    if place is None:
        return otherwise
    return core.max_dim(size + place, 0) if place < 0 else core.min_dim(size, place)


def as_scalar(size: Size, dtype: Any) -> Any:
    """A size as a 0-d array of `dtype`: NumPy's, if it is known."""
    return np.asarray(size, dtype) if known(size) else as_number(size, dtype)
