"""Correlations of images with kernels by XLA's convolutions."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax import Array, lax

from functx._core import known
from functx._core.shapes.convolution_layouts import convolved
from functx._ops.nn.windows import with_gaps

from .geometry import Geometry, Part


Convolution = Callable[..., Array]


def by_lanes(wanted: Part, geometry: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, from the two others, by XLA's kernels."""
    return by_kernels(convolved, wanted, geometry, a, b)


def by_kernels(convolve: Convolution, wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, from the two others, by `convolve`, one lane as all others."""
    one = {Part.IMAGE: _image, Part.KERNEL: _kernel, Part.RESULT: _result}[wanted]

    def lane(a: Array, b: Array) -> Array:
        out = one(convolve, g, a.astype(g.dtype), b.astype(g.dtype))
        return out.astype(g.dtype_of(wanted))

    return lane(a[0], b[0])[None] if a.shape[0] == 1 else jax.vmap(lane)(a, b)


def _result(convolve: Convolution, g: Geometry, image: Array, kernel: Array) -> Array:
    return convolve(
        image,
        kernel,
        window_strides=g.strides,
        padding=g.pads,
        rhs_dilation=g.dilations,
        dimension_numbers=_numbers(image.ndim, swapped=False),
        feature_group_count=g.groups,
        preferred_element_type=g.sums,
    )


def _image(convolve: Convolution, g: Geometry, kernel: Array, result: Array) -> Array:
    """The image: the result, spread by the strides, correlated with the reversed kernel."""
    pads, steps = [], []
    for (s, (before, _), d, size, k), o in zip(g.dimensions(), g.result, strict=True):
        first, reach = d * (k - 1) - before, (o - 1) * s + 1
        if not known(o):
            result, s, reach = with_gaps(result, 2 + len(pads), s), 1, o * s
        pads.append((first, size + d * (k - 1) - first - reach))
        steps.append(s)
    filters, channels = kernel.shape[:2]
    swapped = kernel.reshape(g.groups, filters // g.groups, channels, *g.kernel).swapaxes(1, 2)
    return convolve(
        result,
        lax.rev(
            swapped.reshape(g.groups * channels, filters // g.groups, *g.kernel),
            tuple(range(2, kernel.ndim)),
        ),
        window_strides=(1,) * len(g.kernel),
        padding=pads,
        lhs_dilation=steps,
        rhs_dilation=g.dilations,
        dimension_numbers=_numbers(kernel.ndim, swapped=False),
        feature_group_count=g.groups,
        preferred_element_type=g.sums,
    )


def _kernel(convolve: Convolution, g: Geometry, image: Array, result: Array) -> Array:
    """The kernel: images correlated with results over the batch, with strides and dilations
    exchanged.
    """
    pads, steps = [], []
    for (s, (before, _), d, size, k), o in zip(g.dimensions(), g.result, strict=True):
        reach = (o - 1) * s + 1
        if not known(o):
            result, s, reach = with_gaps(result, 2 + len(pads), s), 1, o * s
        pads.append((before, d * (k - 1) + reach - size - before))
        steps.append(s)
    return convolve(
        image,
        result,
        window_strides=g.dilations,
        padding=pads,
        rhs_dilation=steps,
        dimension_numbers=_numbers(image.ndim, swapped=True),
        batch_group_count=g.groups,
        preferred_element_type=g.sums,
    )


def _numbers(ndim: int, *, swapped: bool) -> lax.ConvDimensionNumbers:
    order = (1, 0, *range(2, ndim)) if swapped else tuple(range(ndim))
    return lax.ConvDimensionNumbers(order, order, order)
