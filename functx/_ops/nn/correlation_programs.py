"""The program of a correlation of images with kernels: by XLA's kernels, or as a product."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import decided, known
from functx._core.shapes.convolution_layouts import channels_last, convolved

from .correlation_parts import Geometry, Part
from .correlation_phases import by_phases
from .correlation_planes import by_planes
from .correlation_products import by_elements, by_windows, WINDOW
from .windows import with_gaps


Convolution = Callable[..., Array]

_MANY = 2**19  # products; a group with fewer is not worth a step of a loop


def by_lanes(wanted: Part, geometry: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, from the two others, by XLA's kernels."""
    return _each(convolved, wanted, geometry, a, b)


def on_cpus(wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, from the two others, by the program that is fastest on CPUs.

    XLA's kernels multiply each group with the zeros between it and every other group, so they get
    one group at a time, in a loop. They are slow at volumes, so they get volumes plane by plane.
    """
    lanes, volumes = a.shape[0], len(g.kernel) > 2
    groups = lanes * g.groups
    if groups == 1 and not volumes:
        return _one_group(wanted, g, a, b)
    batch, filters, channels = _extents(wanted, g, a, b)
    products = batch * filters * channels * math.prod(g.kernel) * math.prod(g.result)
    if math.prod(g.kernel) <= WINDOW:
        if filters == channels == 1:
            return by_elements(wanted, g, a, b)
        if decided(lambda: products < _MANY, otherwise=False):
            return by_windows(wanted, g, a, b)
    if volumes and known(g.image[0]):
        return by_planes(on_cpus, wanted, g, a, b)
    given = [part for part in Part if part != wanted]
    operands = tuple(_groups_as_lanes(g, x, part) for x, part in zip((a, b), given, strict=True))
    one = lambda x: _one_group(wanted, g._replace(groups=1), x[0][None], x[1][None])[0]
    return _lanes_as_groups(g, lax.map(one, operands), wanted, lanes)


def _one_group(wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    if wanted == g.output == Part.IMAGE and max(g.strides) > 1:
        return by_phases(g, a[0], b[0])[None]
    return _each(channels_last, wanted, g, a, b)


def _extents(wanted: Part, g: Geometry, a: Array, b: Array) -> tuple[int, int, int]:
    """The size of the batch, and the numbers of filters and channels in a group."""
    if wanted == Part.RESULT:
        return a.shape[1], b.shape[1] // g.groups, b.shape[2]
    if wanted == Part.KERNEL:
        return a.shape[1], b.shape[2] // g.groups, a.shape[2] // g.groups
    return b.shape[1], a.shape[1] // g.groups, a.shape[2]


def _groups_as_lanes(g: Geometry, x: Array, part: Part) -> Array:
    """`x` with one group, and with the groups among the lanes."""
    axis = 1 if part == Part.KERNEL else 2
    split = x.reshape(*x.shape[:axis], g.groups, x.shape[axis] // g.groups, *x.shape[axis + 1 :])
    split = jnp.moveaxis(split, axis, 1)
    return split.reshape(x.shape[0] * g.groups, *split.shape[2:])


def _lanes_as_groups(g: Geometry, x: Array, part: Part, lanes: int) -> Array:
    """The inverse of `_groups_as_lanes`."""
    axis = 1 if part == Part.KERNEL else 2
    x = jnp.moveaxis(x.reshape(lanes, g.groups, *x.shape[1:]), 1, axis)
    return x.reshape(*x.shape[:axis], g.groups * x.shape[axis + 1], *x.shape[axis + 2 :])


def _each(convolve: Convolution, wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
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
