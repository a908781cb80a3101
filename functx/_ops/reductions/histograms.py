"""Counts of elements, or of points, in each of many intervals, or boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    as_dtype,
    as_number,
    decided,
    describe,
    known,
    LONG,
    operator,
    Promote,
    refuse,
    Requirement,
    Size,
    UnpromotedArray,
    UnpromotedArrays,
)
from functx._core.numbers.bitwise_comparison import at_most, greatest, least
from functx._ops.creation.spacing import evenly_spaced
from functx._ops.quotients import quotient
from functx._ops.sorting.bisection import insertion_points

from .ties import shared_evenly


__all__ = ["histogram", "histogramdd"]


class HistogramResult(NamedTuple):
    """The counts, and the ends of the intervals, that `histogram` finds."""

    hist: Array
    bin_edges: Array


class HistogramddResult(NamedTuple):
    """The counts, and the ends of the intervals in each coordinate, that `histogramdd` finds."""

    hist: Array
    bin_edges: tuple[Array, ...]


def _edges_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads arrays that are given for `bins` as `edges`."""
    bins = args[1] if len(args) > 1 else kwargs.get("bins")
    first = bins[0] if isinstance(bins, (list, tuple)) and bins else bins
    if not isinstance(first, (jax.Array, np.ndarray)):
        return args, kwargs
    kwargs = {name: value for name, value in kwargs.items() if name != "bins"}
    if len(args) > 2:
        kwargs |= dict(zip(("range", "weight", "density"), args[2:], strict=False))
    return args[:1], kwargs | {"edges": bins}


def _range_fits(*, input: Any, range: Any, edges: Any, **_: Any) -> Iterator[Requirement]:
    if edges is None:
        yield from _finite(input.reshape(-1, 1), range)


def _ranges_fit(*, input: Any, range: Any, edges: Any, **_: Any) -> Iterator[Requirement]:
    if edges is None and input.ndim > 1:
        yield from _finite(input.reshape(-1, input.shape[-1]), range)


def _finite(points: Array, range: Any) -> Iterator[Requirement]:
    ends = [points] if range is None else [jnp.asarray(x) for x in range]
    finite = [jnp.all(jnp.isfinite(x)) for x in ends if x.dtype.kind == "f"]
    yield Requirement(jnp.all(jnp.asarray(finite)), "`range`, or that of `input`, must be finite")
    if range is not None:
        for low, high in zip(ends[::2], ends[1::2], strict=False):
            yield Requirement(low <= high, "`range` must not end below its beginning")


@overload
def histogram(
    input: ArrayOnly,
    bins: int = 100,
    *,
    range: UnpromotedArrays | None = None,
    weight: UnpromotedArray | None = None,
    density: bool = False,
) -> HistogramResult: ...
@overload
def histogram(
    input: ArrayOnly, bins: Array, *, weight: UnpromotedArray | None = None, density: bool = False
) -> HistogramResult: ...
@operator(
    promote=Promote.NONE,
    accepts=Accepts.LAPACK_REAL,
    other_signatures=_edges_form,
    requires=_range_fits,
)
def histogram(
    input: ArrayOnly,
    bins: int = 100,
    *,
    range: UnpromotedArrays | None = None,
    weight: UnpromotedArray | None = None,
    density: bool = False,
    edges: UnpromotedArray | None = None,
) -> HistogramResult:
    """The number of elements of `input` in each interval, and the ends: `(hist, bin_edges)`.

    - `bins`: a number of intervals of one width, or their ends in ascending order, one more than
      there are intervals.
    - `range`: the ends of the range of intervals of one width, by default the least and the
      greatest element. Where these are equal, the range reaches 0.5 to either side.
    - `weight`: what each element counts, in the shape and dtype of `input`.
    - `density`: whether counts are divided by their sum and by the widths.
    - `edges`: another name of `bins` for ends.

    Each interval contains its lower end, the last one both ends. Elements outside, and NaN, count
    nowhere.

    Shapes: `[...] -> [n], [n + 1]`.
    Dtypes: that of `input`, float32 or float64, which arrays for `bins` must have too.
    Errors: RuntimeError for a range that is not finite, or ends below its beginning.

    >>> functx.histogram(jnp.asarray([1.0, 2.0, 1.0], "float32"), 3, range=(0, 3)).hist
    Array([0., 2., 1.], dtype=float32)
    """
    points = input.reshape(-1, 1)
    sequences = [edges] if edges is not None else None
    ends = _ends(points, (bins,), range, sequences)
    hist = _counted(points, ends, _weights(weight, input, input.shape), density)
    return HistogramResult(hist, ends[0])


@overload
def histogramdd(
    input: ArrayOnly,
    bins: int | Sequence[int],
    range: UnpromotedArrays | None = None,
    weight: UnpromotedArray | None = None,
    density: bool = False,
) -> HistogramddResult: ...
@overload
def histogramdd(
    input: ArrayOnly,
    bins: Sequence[Array],
    *,
    weight: UnpromotedArray | None = None,
    density: bool = False,
) -> HistogramddResult: ...
@operator(
    promote=Promote.NONE,
    accepts=Accepts.LAPACK_REAL,
    other_signatures=_edges_form,
    requires=_ranges_fit,
)
def histogramdd(
    input: ArrayOnly,
    bins: int | Sequence[int] | None = None,
    range: UnpromotedArrays | None = None,
    weight: UnpromotedArray | None = None,
    density: bool = False,
    *,
    edges: UnpromotedArrays | None = None,
) -> HistogramddResult:
    """The number of points in each box, and the ends of the intervals: `(hist, bin_edges)`.

    - `input`: points, with their coordinates in the last dimension.
    - `bins`: for each coordinate a number of intervals of one width, one number for all of them, or
      arrays of ends in ascending order.
    - `range`: the ends of the ranges of intervals of one width, `(begin, end, begin, end, ...)`; by
      default the least and the greatest coordinates. Where these are equal, a range reaches 0.5 to
      either side.
    - `weight`: what each point counts, in the shape of `input` without its last dimension.
    - `density`: whether counts are divided by their sum and by the volumes.
    - `edges`: another name of `bins` for ends.

    Each interval contains its lower end, the last one both ends. Points outside, and NaN, count
    nowhere.

    Shapes: `[..., d] -> [n1, ..., nd]` and `d` vectors, `[n1 + 1]` and so on.
    Dtypes: that of `input`, float32 or float64, which arrays for `bins` must have too.
    Errors: RuntimeError for a range that is not finite, or ends below its beginning.

    >>> points = jnp.asarray([[0.0, 1.0], [2.0, 2.0]], "float32")
    >>> functx.histogramdd(points, [2, 1]).hist
    Array([[1.],
           [1.]], dtype=float32)
    """
    if input.ndim < 2:
        refuse(f"`input` must have at least 2 dimensions, got {describe(input)}")
    if bins is None and edges is None:
        refuse("`bins` must be given", error=TypeError)
    d = input.shape[-1]
    numbers = (bins,) * d if isinstance(bins, int) else tuple(bins or ())
    given = len(numbers if edges is None else edges)
    if given != d:
        refuse(f"`bins` must be {d}, one for each coordinate of {describe(input)}, got {given}")
    points = input.reshape(math.prod(input.shape[:-1]), d)
    ends = _ends(points, numbers, range, edges)
    hist = _counted(points, ends, _weights(weight, input, input.shape[:-1]), density)
    return HistogramddResult(hist, tuple(ends))


def _ends(points: Array, bins: Sequence[int], range: Any, edges: Any) -> list[Array]:
    """The ends of the intervals in each coordinate."""
    d = points.shape[1]
    if edges is not None:
        if range is not None:
            refuse("`range` goes with a number of bins, got arrays", error=TypeError)
        return [_sequence(jnp.asarray(x), points) for x in edges]
    for n in bins:
        if n < 1:
            refuse(f"`bins` must be positive, got {n}", error=ValueError)
    if range is None:
        low, high = _extent(points)
    else:
        if len(range) != 2 * d:
            refuse(f"`range` must be {2 * d} numbers, got {len(range)}", error=ValueError)
        for x in range:
            if jnp.ndim(x):
                refuse(f"`range` must hold numbers, got {describe(x)}", error=TypeError)
        bounds = [lax.convert_element_type(x, points.dtype) for x in range]
        low, high = bounds[::2], bounds[1::2]
    return [evenly_spaced(*_apart(low[i], high[i]), n + 1) for i, n in enumerate(bins)]


def _sequence(edges: Array, points: Array) -> Array:
    if edges.dtype != points.dtype:
        refuse(
            f"arrays for `bins` must have the dtype of `input`, got {describe(edges)}",
            error=TypeError,
        )
    if edges.ndim != 1 or edges.size < 2:
        refuse(
            "arrays for `bins` must have 1 dimension, and 2 elements or more, "
            f"got {describe(edges)}"
        )
    return edges


def _extent(points: Array) -> tuple[Array, Array]:
    if points.shape[0] == 0:
        none = jnp.zeros(points.shape[1], points.dtype)
        return none, none + 1
    first = shared_evenly(lambda x: least(x, (0,)), (0,))
    last = shared_evenly(lambda x: greatest(x, (0,)), (0,))
    return first(points), last(points)


def _apart(low: Array, high: Array) -> tuple[Array, Array]:
    alone = low == high
    return jnp.where(alone, low - 0.5, low), jnp.where(alone, high + 0.5, high)


def _weights(weight: Any, input: Array, shape: tuple[int, ...]) -> Array | None:
    if weight is None:
        return None
    weight = jnp.asarray(weight)
    if weight.dtype != input.dtype:
        refuse(
            f"`weight` must have the dtype of `input`, got {describe(weight)} for "
            f"{describe(input)}",
            error=TypeError,
        )
    if weight.shape != shape:
        refuse(f"`weight` must have shape {list(shape)}, got {describe(weight)}")
    return weight.reshape(-1)


def _counted(points: Array, ends: list[Array], weight: Array | None, density: bool) -> Array:
    long = as_dtype(LONG)
    shape = tuple(edges.shape[0] - 1 for edges in ends)
    if decided(lambda: math.prod(shape) > np.iinfo(long).max, otherwise=False):
        refuse(f"{list(shape)} boxes are more than memory holds", error=MemoryError)
    places, inside = list[Array](), jnp.ones(points.shape[0], bool)
    for i, edges in enumerate(ends):
        x, edges = lax.stop_gradient((points[:, i], edges))
        at = insertion_points(edges, x, right=True) - 1
        inside &= at_most(edges[0], x) & at_most(x, edges[-1])
        places.append(jnp.minimum(at, as_number(shape[i], long) - 1))
    # Integers count: a sum of ones in a floating dtype stops growing at the dtype's last digit.
    added = jnp.ones(points.shape[0], long) if weight is None else weight
    hist = _added(added, places, inside, shape).astype(points.dtype)
    if density:
        hist = quotient(hist, jnp.sum(hist))
        for i, edges in enumerate(ends):
            hist = quotient(hist, lax.broadcast_in_dim(jnp.diff(edges), shape, (i,)))
    return hist


def _added(added: Array, places: list[Array], inside: Array, shape: tuple[Size, ...]) -> Array:
    """The sums of the numbers `added` in each box."""
    if known(*shape):
        total = math.prod(shape)
        place = jnp.zeros(inside.shape, as_dtype(LONG))
        for n, at in zip(shape, places, strict=True):
            place = place * n + at
        place = jnp.where(inside, place, total)
        return jnp.zeros(total, added.dtype).at[place].add(added, mode="drop").reshape(shape)
    outside = as_number(shape[0], places[0].dtype)
    at = (jnp.where(inside, places[0], outside), *places[1:])
    return jnp.zeros(shape, added.dtype).at[at].add(added, mode="drop")
