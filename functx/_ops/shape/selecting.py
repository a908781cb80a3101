"""Parts of a dimension: one position, or a run of positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax

from functx._core import (
    ArrayLike,
    ArrayOnly,
    available,
    category,
    converted,
    decided,
    describe,
    Dim,
    highest,
    Index,
    index_in_range,
    known,
    LONG,
    lowest,
    operator,
    Promote,
    refuse,
    Requirement,
    Size,
    slice_bounds,
)

from .models import check_source


__all__ = ["narrow", "select", "select_scatter", "slice", "slice_scatter"]


def _select_in_range(*, input: Any, dim: int, index: Any, **_: Any) -> Iterator[Requirement]:
    yield index_in_range(index, input.shape[dim], negative=True)


@operator(promote=Promote.NO_OPMATH, requires=_select_in_range, aliases=("select_copy",))
def select(input: ArrayLike, dim: Dim, index: Index) -> Array:
    """The slice of `input` at one position of `dim`, without that dimension.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension.
    - `index`: the position, an integer that may be traced; a negative one counts from the end. A
      traced one that is out of range reads NaN; for integers the least value (uint8: the greatest),
      for bools True.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Errors: IndexError for an `index` out of range whose value is known, and if `input` does not
    have `dim` or no element along it; TypeError if `index` is not an integer.

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

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension.
    - `start`: the first position, an integer that may be traced; a negative one counts from the
      end. A traced one whose run leaves `input` reads NaN everywhere; for integers the least value
      (uint8: the greatest), for bools True.
    - `length`: how many positions.

    Shapes: `[..., n, ...] -> [..., length, ...]`.
    Errors: RuntimeError for a run that leaves `input`, IndexError for a `start` out of range and if
    `input` does not have `dim`, TypeError if `start` is not an integer.

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

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension.
    - `start`: the first position, None for 0. A negative one counts from the end.
    - `end`: the position before which the slice ends, None for the size. A negative one counts from
      the end.
    - `step`: the distance of two positions, at least 1.

    Shapes: `[..., n, ...] -> [..., ceil((end - start) / step), ...]`. Positions out of range are
    cut off.
    Errors: RuntimeError unless `step` is positive, IndexError if `input` does not have `dim`.

    >>> functx.slice(jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32"), 0, 0, -1, 2)
    Array([1., 3.], dtype=float32)
    """
    places = _sliced(input, dim, start, end, step)
    if not isinstance(places, range):
        return _read(input, dim, places)
    return lax.slice_in_dim(input, places.start, max(places.start, places.stop), step, dim)


@operator(promote=Promote.NONE, takes_storage_dtypes=True)
def slice_scatter(
    input: ArrayLike,
    src: ArrayOnly,
    dim: Dim = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """A copy of `input` with `src` at the positions of `dim` that `slice` would read.

    - `input`: an array of any dtype, which the result keeps.
    - `src`: the new elements, cast to the dtype of `input`.
    - `dim`: the dimension.
    - `start`: the first position, None for 0. A negative one counts from the end.
    - `end`: the position before which the slice ends, None for the size. A negative one counts from
      the end.
    - `step`: the distance of two positions, at least 1.

    Shapes: `src` has the shape of `slice(input, dim, start, end, step)`; the result has that of
    `input`.
    Errors: RuntimeError if `src` has another shape or `step` is not positive, IndexError if `input`
    does not have `dim`.

    >>> functx.slice_scatter(jnp.zeros(4, "float32"), jnp.ones(2, "float32"), 0, 0, None, 2)
    Array([1., 0., 1., 0.], dtype=float32)
    """
    places, n = _sliced(input, dim, start, end, step), input.shape[dim]
    count = len(places) if isinstance(places, range) else places.count
    expected = [count if d == dim else m for d, m in enumerate(input.shape)]
    check_source(src, expected)
    if count == 0:
        return input
    src = converted(src, input.dtype)
    if not isinstance(places, range):
        return _written(input, src, dim, places)
    sides = (places[0], n - places[-1] - 1, places.step - 1)
    padding = [sides if d == dim else (0, 0, 0) for d in range(input.ndim)]
    written = np.isin(np.arange(n), places)
    written = lax.broadcast_in_dim(written, input.shape, (dim,))
    return jnp.where(written, lax.pad(src, np.zeros((), src.dtype), padding), input)


@operator(promote=Promote.NONE, requires=_select_in_range, takes_storage_dtypes=True)
def select_scatter(input: ArrayLike, src: ArrayOnly, dim: Dim, index: Index) -> Array:
    """A copy of `input` with `src` at one position of `dim`.

    - `input`: an array of any dtype, which the result keeps.
    - `src`: the new elements, cast to the dtype of `input`.
    - `dim`: the dimension.
    - `index`: the position, an integer that may be traced; a negative one counts from the end. A
      traced one that is out of range writes nothing.

    Shapes: `src` has the shape of `input` without `dim`; the result has that of `input`.
    Errors: RuntimeError if `src` has another shape; IndexError for an `index` out of range whose
    value is known, and if `input` does not have `dim` or no element along it.

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


class _Places(NamedTuple):
    """The positions of a slice along a dimension of a symbolic size."""

    start: Size
    stop: Size
    step: int

    @property
    def count(self) -> Size:
        return core.max_dim((self.stop - self.start + self.step - 1) // self.step, 0)


def _sliced(
    input: Array, dim: int, start: int | None, end: int | None, step: int
) -> range | _Places:
    """The positions of a slice: a range, or `_Places` along a dimension of a symbolic size."""
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}", error=IndexError)
    if step <= 0:
        refuse(f"`step` must be positive, got {step}")
    n = input.shape[dim]
    if known(n):
        return range(n)[start:end:step]
    return _Places(*slice_bounds(start, end, n), step)


def _read(input: Array, dim: int, places: _Places) -> Array:
    """The elements of `input` at `places` of `dim`."""
    start, stop, step = places
    inside = decided(lambda: 0 <= start <= stop <= input.shape[dim], otherwise=False)
    if step == 1 and inside:
        return lax.slice_in_dim(input, start, stop, axis=dim)
    return jnp.take(input, start + step * jnp.arange(places.count), dim, mode="clip")


def _written(input: Array, src: Array, dim: int, places: _Places) -> Array:
    """`input` with `src` at `places` of `dim`."""
    start, stop, step = places
    at = lax.iota(available(LONG), input.shape[dim]) - jnp.asarray(start)
    written = (at >= 0) & (at < jnp.asarray(stop - start)) & (at % step == 0)
    # One more, so that there is one to read even where nothing is written.
    more = [(0, int(d == dim), 0) for d in range(src.ndim)]
    src = jnp.take(lax.pad(src, np.zeros((), src.dtype), more), at // step, dim, mode="clip")
    return jnp.where(lax.broadcast_in_dim(written, input.shape, (dim,)), src, input)


def _position(index: Any, name: str) -> Array:
    """One position as a 0-d integer; refuses all else by the argument's `name`."""
    index = jnp.asarray(index)
    if category(index.dtype) != 1:
        refuse(f"`{name}` must be an integer, got {describe(index)}", error=TypeError)
    if index.size != 1:
        refuse(f"`{name}` must be one integer, got {describe(index)}")
    return lax.convert_element_type(index, available(LONG)).reshape(())


def _run(input: Array, dim: int, start: Array, length: int) -> Array:
    """`length` positions from `start` on, or `_fill` everywhere unless they all lie in `input`."""
    size = input.shape[dim]
    start = jnp.where(start < 0, start + size, start)
    inside = (start >= 0) & (start + length <= size)
    run = lax.dynamic_slice_in_dim(input, start, length, dim)
    return jnp.where(inside, run, _fill(input.dtype))


def _fill(dtype: np.dtype) -> np.ndarray:
    """What `jax.numpy` reads out of bounds: NaN, or the value that is least likely to be meant."""
    if category(dtype) >= 2:
        return np.asarray(np.nan, dtype)
    signed = jnp.issubdtype(dtype, np.signedinteger)
    return np.asarray(lowest(dtype) if signed else highest(dtype), dtype)
