"""Correlations with one channel and one filter in each group, element by element of the kernel."""

from __future__ import annotations

import functools as ft
import itertools
import math
import operator
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import known

from .geometry import Geometry, padded, Part, put_back, seen_by, total


_UNROLLED = 9  # elements of a kernel whose gradient is written out


def by_elements(wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, where a group has one channel and one filter.

    The elements of the kernel follow one another, each in one pass over images and results.
    """
    a, b = (x.astype(g.sums) for x in (a, b))
    places = list(np.ndindex(*g.kernel))
    fixed = known(*a.shape, *b.shape, *g.image, *g.result)
    if wanted == Part.RESULT:
        image = _once(padded(g, a))
        out = total(seen_by(g, image, at) * _element(b, at) for at in places)
    elif wanted == Part.KERNEL:
        if fixed and len(places) > _UNROLLED:
            out = _sums_in_a_loop(g, a, b)
        else:
            image, sizes = _once(padded(g, a)), tuple(range(2, b.ndim - 1))
            b = _once(b)
            # The sum over the batch comes first, since vector units can do it.
            sums = [jnp.sum(jnp.sum(seen_by(g, image, at) * b, 1), sizes) for at in places]
            out = jnp.stack(sums, -1)
        out = out.reshape(*out.shape[:2], 1, *g.kernel)
    elif fixed and g.output != Part.IMAGE and math.prod(g.strides) <= len(places):
        out = _sums_of_moved_results(g, a, b)
    else:
        out = total(put_back(g, _element(a, at) * b, at) for at in places)
    return out.astype(g.dtype_of(wanted))


def _once(x: Array) -> Array:
    """`x`, computed before it is read: XLA would compute it anew for each element of a kernel."""
    return lax.optimization_barrier(x)


def _element(kernel: Array, at: tuple[int, ...]) -> Array:
    """One element of each group's kernel, in a shape that broadcasts against images and results."""
    one = kernel[(slice(None), slice(None), 0, *at)]
    return one.reshape(one.shape[0], 1, -1, *[1] * len(at))


def _sums_in_a_loop(g: Geometry, image: Array, result: Array) -> Array:
    """The gradient of the kernel, `[l, c, elements]`, by one small program for all its elements.

    The program for each would take most of a network's time to compile. With the channels last,
    vector units do the sums also where images are small.
    """
    n = len(g.kernel)
    image = jnp.moveaxis(padded(g, image), 2, -1)
    for i, (s, _, d, _, k) in enumerate(g.dimensions()):
        blocks = d * (k - 1) // s + g.result[i]
        axis = 2 + 2 * i
        size = image.shape[axis]
        beyond = [
            (0, max(s * blocks - size, 0)) if a == axis else (0, 0) for a in range(image.ndim)
        ]
        image = lax.slice_in_dim(jnp.pad(image, beyond), 0, s * blocks, axis=axis)
        image = image.reshape(*image.shape[:axis], blocks, s, *image.shape[axis + 1 :])
    # The elements of an image that are a stride apart lie side by side: `[*s, l, n, *blocks, c]`.
    image = jnp.moveaxis(image, range(3, 3 + 2 * n, 2), range(n))
    result = jnp.moveaxis(result, 2, -1)
    offsets = np.indices(g.kernel).reshape(n, -1).T * np.asarray(g.dilations)
    at = np.concatenate([offsets % g.strides, offsets // g.strides], 1).astype(np.int32)
    zero = np.int32(0)

    def one(at: Array) -> Array:
        starts = [*at[:n], zero, zero, *at[n:], zero]
        seen = lax.dynamic_slice(image, starts, (*[1] * n, *result.shape))
        return jnp.sum(seen.reshape(result.shape) * result, tuple(range(1, n + 2)))

    return jnp.moveaxis(lax.map(one, at), 0, -1)


def _sums_of_moved_results(g: Geometry, kernel: Array, result: Array) -> Array:
    """The image as sums of moved results, for each phase: the elements that are a stride apart.

    XLA looks at each element of a padded array whether it is inside, once for each element of the
    kernel. Slices of a result that is padded once take a tenth of the time.
    """
    n, lanes = len(g.kernel), result.shape[:3]
    counts = [-(-size // s) for s, size in zip(g.strides, g.image, strict=True)]
    moves = [_moves(s, before, d, k) for s, (before, _), d, _, k in g.dimensions()]
    ends = [[move for phase in each for move in phase.values()] for each in moves]
    low = [max(0, -min(each)) for each in ends]
    high = [
        max(0, max(each) + count - size)
        for each, count, size in zip(ends, counts, g.result, strict=True)
    ]
    around = _once(jnp.pad(result, [(0, 0)] * 3 + list(zip(low, high, strict=True))))

    def term(element: Array, by: Sequence[int]) -> Array:
        starts = [move + before for move, before in zip(by, low, strict=True)]
        ends = [start + count for start, count in zip(starts, counts, strict=True)]
        product = element * lax.slice(around, (0, 0, 0, *starts), (*lanes, *ends))
        # Zeros that were added stay zeros beside an infinite element.
        inside = _inside(by, counts, g.result)
        return product if inside is None else jnp.where(inside, product, 0)

    phases = []
    for phase in itertools.product(*moves):
        terms = [
            term(_element(kernel, at), [each[i] for each, i in zip(phase, at, strict=True)])
            for at in itertools.product(*phase)
        ]
        phases.append(total(terms) if terms else jnp.zeros((*lanes, *counts), result.dtype))
    if len(phases) == 1:
        return phases[0]
    out = jnp.stack(phases, -1).reshape(*lanes, *counts, *g.strides)
    order = itertools.chain.from_iterable((3 + i, 3 + n + i) for i in range(n))
    out = out.transpose(0, 1, 2, *order)
    out = out.reshape(*lanes, *(s * count for s, count in zip(g.strides, counts, strict=True)))
    return out[(..., *(slice(size) for size in g.image))]


def _moves(stride: int, before: int, dilation: int, kernel: int) -> list[dict[int, int]]:
    """For each phase along a dimension, the elements of the kernel that reach it, and how far the
    result that they multiply lies from the element of the phase.
    """
    numerators = [[phase + before - i * dilation for i in range(kernel)] for phase in range(stride)]
    return [{i: x // stride for i, x in enumerate(row) if x % stride == 0} for row in numerators]


def _inside(moves: Sequence[int], counts: Sequence[int], sizes: Sequence[int]) -> Array | None:
    """Where the elements of moved results are elements of the result, None if everywhere."""
    n, found = len(moves), []
    for i, (move, count, size) in enumerate(zip(moves, counts, sizes, strict=True)):
        place = lax.broadcasted_iota(np.int32, [count if d == i else 1 for d in range(n)], i)
        found += [place >= -move] * (move < 0) + [place < size - move] * (move + count > size)
    return ft.reduce(operator.and_, found) if found else None
