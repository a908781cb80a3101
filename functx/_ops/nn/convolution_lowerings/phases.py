"""Images from results and kernels with strides, without products with the zeros in between.

XLA's kernels for CPUs spread the result by the strides, and multiply the zeros too, which gives NaN
where the kernel is infinite. A phase is the set of elements of the image that are a stride apart:
these see the elements of the kernel that are a stride apart, at stride 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import decided, Size
from functx._core.shapes.convolution_layouts import channels_last
from functx._ops.nn.windows import at_least_none, put_apart

from .geometry import Geometry, Part, total


_MOST = 4  # phases at most: each is a convolution in the program


class _Phase(NamedTuple):
    """A phase along one dimension: its elements of the kernel, its padding, and its place in the
    image.
    """

    kernel: slice
    dilation: int
    pads: tuple[int, int]
    place: tuple[Size, Size, int]


def has_few_phases(g: Geometry) -> bool:
    """Whether `by_phases` can be used."""
    one = all(s == 1 or d == 1 for s, d in zip(g.strides, g.dilations, strict=True))
    return one and math.prod(g.strides) <= _MOST


def by_phases(g: Geometry, kernel: Array, result: Array) -> Array:
    """The image `[n, c, *]` from a kernel `[f, c, *]` and a result `[n, f, *]` of one group."""
    kernel, result = kernel.astype(g.dtype), result.astype(g.dtype)
    each = [_phases(*x, o) for x, o in zip(g.dimensions(), g.result, strict=True)]
    parts = [_phase(g, kernel, result, phases) for phases in itertools.product(*each)]
    if not parts:  # the image lies between the elements of the kernel
        return jnp.zeros((result.shape[0], kernel.shape[1], *g.image), g.dtype_of(Part.IMAGE))
    return total(parts).astype(g.dtype_of(Part.IMAGE))


def _phases(
    stride: int, pads: tuple[int, int], dilation: int, size: Size, kernel: int, result: Size
) -> list[_Phase]:
    before = pads[0]
    found = []
    for i in range(min(stride, kernel)):
        # Element t of the image is element v of the phase, t + before = stride v + i.
        first, last = -((i - before) // stride), (size - 1 + before - i) // stride
        start = stride * first + i - before
        reach = dilation * (len(range(i, kernel, stride)) - 1)
        count = at_least_none(last - first + 1)
        if decided(lambda count=count: count > 0, otherwise=True):
            low = reach - first
            found.append(
                _Phase(
                    slice(i, None, stride),
                    dilation,
                    (low, count + reach - result - low),
                    (start, size, stride),
                )
            )
    return found


def _phase(g: Geometry, kernel: Array, result: Array, phases: Sequence[_Phase]) -> Array:
    """The elements of an image that are a stride apart, in their places among zeros."""
    n = len(phases)
    part = kernel[(slice(None), slice(None), *(x.kernel for x in phases))]
    numbers = tuple(range(n + 2))
    out = channels_last(
        result,
        lax.rev(part, numbers[2:]),
        window_strides=(1,) * n,
        padding=[x.pads for x in phases],
        rhs_dilation=[x.dilation for x in phases],
        dimension_numbers=lax.ConvDimensionNumbers(numbers, (1, 0, *numbers[2:]), numbers),
        preferred_element_type=g.sums,
    )
    return put_apart(out, {axis: x.place for axis, x in enumerate(phases, 2)})
