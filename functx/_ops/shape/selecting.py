"""A part of a dimension: one position, or a run of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    ArrayLike,
    ArrayOnly,
    available,
    category,
    converted,
    describe,
    Dim,
    highest,
    Index,
    index_in_range,
    LONG,
    lowest,
    operator,
    Promote,
    refuse,
    Requirement,
)

from .models import check_source


__all__ = ["narrow", "select", "select_scatter", "slice", "slice_scatter"]


def _select_in_range(*, input: Any, dim: int, index: Any, **_: Any) -> Iterator[Requirement]:
    yield index_in_range(index, input.shape[dim], negative=True)


@operator(promote=Promote.NO_OPMATH, requires=_select_in_range, aliases=("select_copy",))
def select(input: ArrayLike, dim: Dim, index: Index) -> Array:
    """The slice at one position of `dim`, without that dimension.

    `index` may be traced. One that is out of range is refused where its value is known;
    elsewhere it reads NaN, or what `jax.numpy` fills with if `input` is not floating.

    >>> functx.select(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), 1, -1)
    Array([2., 4.], dtype=float32)
    """
    if not input.ndim or not input.shape[dim]:
        refuse(f"`input` must have an element along `dim`, got {describe(input)}", error=IndexError)
    return lax.squeeze(_run(input, dim, _position(index, "index"), 1), [dim])


def _run_in_range(
    *, input: Any, dim: int, start: Any, length: int, **_: Any
) -> Iterator[Requirement]:
    size = input.shape[dim]
    yield Requirement(
        (start >= -size) & (start <= size),
        f"`start` must lie in [{-size}, {size}], got {{got}}",
        got=start,
        error=IndexError,
    )
    yield Requirement(
        jnp.where(start < 0, start + size, start) + length <= size,
        f"`start` + `length` must not exceed {size}, got {{got}} + {length}",
        got=start,
    )


@operator(promote=Promote.NO_OPMATH, requires=_run_in_range, aliases=("narrow_copy",))
def narrow(input: ArrayLike, dim: Dim, start: Index, length: int) -> Array:
    """The `length` positions of `dim` from `start` on.

    `start` may be traced; a negative one counts from the end. A run that is not inside
    `input` is refused where the value is known; elsewhere it reads as `select` does.

    >>> functx.narrow(jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32"), 0, 1, 2)
    Array([2., 3.], dtype=float32)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}")
    if not 0 <= length <= input.shape[dim]:
        refuse(f"`length` must lie in [0, {input.shape[dim]}], got {length}")
    if np.ndim(start):
        refuse(f"`start` must be 0-d, got {describe(start)}")
    return _run(input, dim, _position(start, "start"), length)


@operator(promote=Promote.NO_OPMATH)
def slice(
    input: ArrayLike,
    dim: Dim = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """Every `step`-th position of `dim` from `start` to before `end`, as Python's slices have it.

    >>> functx.slice(jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32"), 0, 0, -1, 2)
    Array([1., 3.], dtype=float32)
    """
    places = _sliced(input, dim, start, end, step)
    return lax.slice_in_dim(input, places.start, max(places.start, places.stop), step, dim)


@operator(promote=Promote.NONE, takes_storage=True)
def slice_scatter(
    input: ArrayLike,
    src: ArrayOnly,
    dim: Dim = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """A copy of `input` with `src` where `slice` would read.

    Shapes: `src` has that of `slice(input, dim, start, end, step)`.
    Dtypes: that of `input`, to which `src` is cast.

    >>> functx.slice_scatter(jnp.zeros(4, "float32"), jnp.ones(2, "float32"), 0, 0, None, 2)
    Array([1., 0., 1., 0.], dtype=float32)
    """
    places, n = _sliced(input, dim, start, end, step), input.shape[dim]
    expected = [len(places) if d == dim else m for d, m in enumerate(input.shape)]
    check_source(src, expected)
    if not len(places):
        return input
    src = converted(src, input.dtype)
    sides = (places[0], n - places[-1] - 1, places.step - 1)
    padding = [sides if d == dim else (0, 0, 0) for d in range(input.ndim)]
    written = np.isin(np.arange(n), places)
    written = lax.broadcast_in_dim(written, input.shape, (dim,))
    return jnp.where(written, lax.pad(src, np.zeros((), src.dtype), padding), input)


@operator(promote=Promote.NONE, requires=_select_in_range, takes_storage=True)
def select_scatter(input: ArrayLike, src: ArrayOnly, dim: Dim, index: Index) -> Array:
    """A copy of `input` with `src` where `select` would read.

    `index` may be traced. One that is out of range is refused where its value is known;
    elsewhere nothing is written.

    Shapes: `src` has that of `select(input, dim, index)`.
    Dtypes: that of `input`, to which `src` is cast.

    >>> functx.select_scatter(jnp.zeros((2, 2), "float32"), jnp.ones(2, "float32"), 0, -1)
    Array([[0., 0.],
           [1., 1.]], dtype=float32)
    """
    if not input.ndim or not input.shape[dim]:
        refuse(f"`input` must have an element along `dim`, got {describe(input)}", error=IndexError)
    check_source(src, [n for d, n in enumerate(input.shape) if d != dim])
    position, size = _position(index, "index"), input.shape[dim]
    position = jnp.where(position < 0, position + size, position)
    here = lax.broadcasted_iota(position.dtype, input.shape, dim) == position
    return jnp.where(here, lax.expand_dims(converted(src, input.dtype), [dim]), input)


def _sliced(input: Array, dim: int, start: int | None, end: int | None, step: int) -> range:
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}", error=IndexError)
    if step <= 0:
        refuse(f"`step` must be positive, got {step}")
    return range(input.shape[dim])[start:end:step]


def _position(index: Any, name: str) -> Array:
    index = jnp.asarray(index)
    if category(index.dtype) != 1:
        refuse(f"`{name}` must be an integer, got {describe(index)}", error=TypeError)
    if index.size != 1:
        refuse(f"`{name}` must be one integer, got {describe(index)}")
    return lax.convert_element_type(index, available(LONG)).reshape(())


def _run(input: Array, dim: int, start: Array, length: int) -> Array:
    size = input.shape[dim]
    start = jnp.where(start < 0, start + size, start)
    inside = (start >= 0) & (start + length <= size)
    run = lax.dynamic_slice_in_dim(input, start, length, dim)
    return jnp.where(inside, run, _fill(input.dtype))


def _fill(dtype: np.dtype) -> np.ndarray:
    """What `jax.numpy` reads out of bounds: NaN, or the value least likely to be meant."""
    if category(dtype) >= 2:
        return np.asarray(np.nan, dtype)
    signed = jnp.issubdtype(dtype, np.signedinteger)
    return np.asarray(lowest(dtype) if signed else highest(dtype), dtype)
