"""Reading images between their elements: each point gives a weighted sum of a few elements, its
taps.

Along each dimension a point has one tap (nearest), two (linear) or four (cubic); it reads all their
combinations. The places of these taps depend on values, so they are traced, unlike those in
`resampling`.
"""

from __future__ import annotations

import functools as ft
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import max_dim

from functx._core import as_number, available, decided, LONG, Size
from functx._core.rules.custom_derivatives import derivative_rules


class Reading(NamedTuple):
    """The meaning of points in an image, and of what lies beyond its edges."""

    sizes: tuple[Size, ...]
    mode: str  # bilinear, nearest, bicubic
    padding: str  # zeros, border, reflection
    align_corners: bool


PointTaps = tuple[Array, "Array | None", Array]  # positions, whether they are inside, weights
_FEW = 6  # channels
_NARROW = 8  # channels; up to these, one scatter of joined rows is quicker than several
_LOOPS = 4  # scatters of wider rows at most, since each compiles for long
_CUBIC = -0.75  # the slope of the cubic convolution kernel at 1


def read_between(image: Array, points: Array, reading: Reading) -> Array:
    """The image at each point: `[N, C, *sizes]` and `[N, P, d]` give `[N, C, P]`.

    Derivatives read the elements again, so that none is kept for them.
    """
    flat = image.reshape(*image.shape[:2], math.prod(reading.sizes))
    if reading.mode == "nearest":
        _, (at, inside) = _taps(reading, points)
        return _masked(inside[0], _read(flat, at)[0])
    return derivative_rules(
        ft.partial(_weighed, reading),
        jvp=ft.partial(_tangent, reading),
        vjp=ft.partial(_cotangents, reading),
        name="read_between",
    )(flat, points)


def _weighed(reading: Reading, x: Array, points: Array) -> Array:
    weights, (at, inside) = _taps(reading, points)
    return _total(weights, inside, _read(x, at))


def _total(weights: Any, inside: Any, values: Any) -> Array:
    terms = zip(weights, inside, values, strict=True)
    return sum(w[:, None] * _masked(here, v) for w, here, v in terms)  # pyright: ignore[reportReturnType]


def _tangent(reading: Reading, primals: Any, output: Any, tangents: Any) -> Array:
    (x, points), (dx, dpoints) = primals, tangents
    taps = ft.partial(_taps, reading)
    weights, slopes, (at, inside) = jax.jvp(taps, (points,), (dpoints,), has_aux=True)
    along = _total(slopes, inside, _read(x, at))
    return _total(weights, inside, _read(dx, at)) + along


def _cotangents(reading: Reading, primals: Any, output: Any, cotangent: Array) -> tuple[Any, Any]:
    x, points = primals
    weights, back, (at, inside) = jax.vjp(ft.partial(_taps, reading), points, has_aux=True)
    pairs = list(zip(weights, inside, strict=True))
    given = [_masked(here, w[:, None] * cotangent) for w, here in pairs]
    values = zip(inside, _read(x, at), strict=True)
    slopes = [_over_channels(_masked(here, v) * cotangent) for here, v in values]
    return _spread(given, at, x.shape[2]), back(slopes)[0]


def _over_channels(x: Array) -> Array:
    """The sum over the second dimension. Few terms are added by hand, which on CPUs is a hundred
    times as fast.
    """
    if not decided(lambda: 1 <= x.shape[1] <= _FEW, otherwise=False):
        return jnp.sum(x, 1)
    return ft.reduce(lax.add, [x[:, i] for i in range(x.shape[1])])


def _masked(inside: Array | None, values: Array) -> Array:
    """`[N, C, P]` with zeros outside of `inside: [N, P]`. A product with zeros would keep NaN."""
    return values if inside is None else jnp.where(inside[:, None], values, 0)


def _read(x: Array, at: Sequence[Array]) -> Sequence[Array]:
    """`[N, C, n]` at several `[N, P]`, each `[N, C, P]`; its transpose is `_spread`."""
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(1,),
        collapsed_slice_dims=(2,),
        start_index_map=(2,),
        operand_batching_dims=(0,),
        start_indices_batching_dims=(0,),
    )
    sizes = (1, x.shape[1], 1)
    mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    return derivative_rules(
        lambda x, at: [lax.gather(x, i[..., None], numbers, sizes, mode=mode) for i in at],
        jvp=lambda primals, output, tangents: _read(tangents[0], primals[1]),
        vjp=lambda primals, output, cotangent: (_spread(cotangent, primals[1], x.shape[2]), None),
        name="read",
    )(x, list(at))


def _spread(updates: Sequence[Array], at: Sequence[Array], n: Size) -> Array:
    """The sums of several `[N, C, P]` at `[N, P]` each, `[N, C, n]`.

    Channels come last meanwhile: scatters whose channels come first handle each number by itself,
    which takes ten times as long on CPUs.
    """
    return derivative_rules(
        lambda updates, at: _scattered(updates, at, n),
        jvp=lambda primals, output, tangents: _spread(tangents[0], primals[1], n),
        vjp=lambda primals, output, cotangent: (_read(cotangent, primals[1]), None),
        name="spread",
    )(list(updates), list(at))


def _scattered(updates: Sequence[Array], at: Sequence[Array], n: Size) -> Array:
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=(2,),
        inserted_window_dims=(1,),
        scatter_dims_to_operand_dims=(1,),
        operand_batching_dims=(0,),
        scatter_indices_batching_dims=(0,),
    )
    mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    batch, channels, _ = updates[0].shape
    total = jnp.zeros((batch, n, channels), updates[0].dtype)
    narrow = decided(lambda: channels <= _NARROW, otherwise=False)
    each = len(at) if narrow else max(len(at) // _LOOPS, 1)
    for k in range(0, len(at), each):
        rows = jnp.swapaxes(jnp.concatenate(updates[k : k + each], 2), 1, 2)
        indices = jnp.concatenate(at[k : k + each], 1)[..., None]
        total = lax.scatter_add(total, indices, rows, numbers, mode=mode)
    return jnp.swapaxes(total, 1, 2)


def _taps(reading: Reading, points: Array) -> tuple[list[Array], Any]:
    """The weights `[N, P]` of all combinations of taps, their positions in the flat image, and
    whether these lie inside.
    """
    sizes, whole = reading.sizes, math.prod(reading.sizes)
    kind = np.dtype("int32") if decided(lambda: whole < 2**31, otherwise=False) else available(LONG)
    along = [  # the last coordinate is that of the first dimension
        _along(points[..., len(sizes) - 1 - k], n, reading) for k, n in enumerate(sizes)
    ]
    # Without a barrier each tap of each channel is placed anew, and programs compile for long.
    along = lax.optimization_barrier(along)
    weights: list[Array] = []
    at: list[Array] = []
    inside: list[Array | None] = []
    for taps in itertools.product(*along):
        flat: Any = 0
        for (position, _, _), n in zip(taps, sizes, strict=True):
            flat = flat * as_number(n, kind) + position.astype(kind)
        here = [mask for _, mask, _ in taps if mask is not None]
        at.append(flat)
        inside.append(ft.reduce(lax.bitwise_and, here) if here else None)
        weights.append(ft.reduce(lax.mul, [weight for _, _, weight in taps]))
    return weights, (at, inside)


def _along(coordinate: Array, n: Size, reading: Reading) -> list[PointTaps]:
    """The taps of one dimension of `n` elements, for coordinates between -1 and 1."""
    size = as_number(n, coordinate.dtype)
    x = coordinate + 1
    x = x * ((size - 1) / 2) if reading.align_corners else x * (size / 2) - 0.5
    if reading.mode == "bicubic":
        return _cubic_taps(x, n, reading)
    x = _padded(x, n, reading)
    if reading.mode == "nearest":
        nearest = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
        return [(*_position(nearest, 0, n, reading), jnp.ones_like(x))]
    if len(reading.sizes) == 3 and reading.padding == "zeros":
        x = jnp.where(lax.is_finite(x), x, -2)  # PyTorch reads 0 from volumes, NaN from images
    left = jnp.floor(x)
    share = x - left
    return [
        (*_position(left, 0, n, reading), 1 - share),
        (*_position(left, 1, n, reading), share),
    ]


def _cubic_taps(x: Array, n: Size, reading: Reading) -> list[PointTaps]:
    """The four taps of one dimension. The image goes on beyond its edges, so the taps are clipped
    or reflected, not the point.
    """
    left, a = lax.stop_gradient(jnp.floor(x)), _CUBIC
    t = x - left
    far = lambda t: ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    near = lambda t: ((a + 2) * t - (a + 3)) * t * t + 1
    weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
    taps: list[PointTaps] = []
    for k, weight in enumerate(weights, -1):
        at = left if reading.padding == "zeros" else _padded(left + k, n, reading)
        taps.append((*_position(at, k if reading.padding == "zeros" else 0, n, reading), weight))
    return taps


def _position(x: Array, k: int, n: Size, reading: Reading) -> tuple[Array, Array | None]:
    """The position `x + k` for whole numbers `x`, and whether it lies inside; a position outside
    becomes 0.
    """
    if reading.padding == "zeros":
        x = jnp.where((x >= -3) & (x <= n + 2), x, -3)  # excludes NaN and what integers cannot hold
    at = x.astype(np.int32) + np.int32(k)
    if reading.padding != "zeros":
        return (at, None) if k == 0 else (jnp.minimum(at, n - 1), at < n)
    inside = (at >= 0) & (at < n)
    return jnp.where(inside, at, 0), inside


def _padded(x: Array, n: Size, reading: Reading) -> Array:
    """Coordinates in `[0, n - 1]` in the place of those beyond, with PyTorch's slope of 0 at both
    ends.
    """
    if reading.padding == "zeros":
        return x
    if reading.padding == "reflection":
        x = _reflected(x, n, reading.align_corners)
    top = n - 1
    # NaN, and a reflected infinity, is placed at 0 in images and at the end in volumes.
    end = jnp.where(x >= top, top, 0) if len(reading.sizes) == 2 else jnp.where(x <= 0, 0, top)
    return jnp.where((x > 0) & (x < top), x, end.astype(x.dtype))


def _reflected(x: Array, n: Size, align_corners: bool) -> Array:
    """Coordinates mirrored at the centres of the outermost elements, or at their outer edges."""
    low, span = (0, n - 1) if align_corners else (-0.5, n)
    if span == 0:
        return jnp.zeros_like(x)
    flat = not decided(lambda: span > 0, otherwise=False)
    span = as_number(max_dim(span, 1), x.dtype)
    x = lax.abs(x - low)
    x = x - jnp.trunc(x / (2 * span)) * (2 * span)
    x = jnp.where(x > span, 2 * span - x, x) + low
    return jnp.where(as_number(n, x.dtype) == 1, 0, x) if flat else x
