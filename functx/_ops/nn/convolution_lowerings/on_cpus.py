"""The lowering of a correlation that is fastest on CPUs."""

from __future__ import annotations

import functools as ft
import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, decided, known
from functx._core.shapes.convolution_layouts import channels_last

from .depthwise import by_elements
from .geometry import Geometry, Part
from .im2col import by_blocks, by_windows
from .phases import by_phases
from .planes import by_planes
from .xla_kernels import by_kernels


WINDOW = 64  # elements of a kernel that is not large
_MANY = 2**19  # products; a group with fewer is not worth a step of a loop
_CHANNELS = 32  # filters or channels; fewer fill no vectors
_SMALL, _MEDIUM = 25, 49  # elements: kernels above the first and up to the second are XLA's
_COLUMNS = 2**20  # elements of a matrix of windows that is larger than the kernel
_BLOCK = 2**18  # elements of a matrix of windows that stays in the cache
_ROW = 2**20  # elements of the matrix of one row's windows, at most
_SLICES = 54  # at most, that make such a matrix; each takes a hundredth of a second to compile


def on_cpus(wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, from the two others, by the program that is fastest on CPUs.

    It is computed before it is read: XLA would transpose the output of a kernel, or add up the
    elements of a window, anew in each of the programs that read it, and look at one element after
    the other there.
    """
    return lax.optimization_barrier(_fastest(wanted, g, a, b))


def _fastest(wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The program for the part that is wanted.

    XLA's kernels multiply each group with the zeros between it and every other group, so they get
    one group at a time, in a loop. They are slow at volumes, so they get volumes plane by plane.
    """
    lanes, volumes = a.shape[0], len(g.kernel) > 2
    groups = lanes * g.groups
    if groups == 1 and (not volumes or windows_pay(wanted, g, a, b)):
        return _one_group(wanted, g, a, b)
    batch, filters, channels = _extents(wanted, g, a, b)
    products = batch * filters * channels * math.prod(g.kernel) * math.prod(g.result)
    if math.prod(g.kernel) <= WINDOW:
        if filters == channels == 1:
            return by_elements(wanted, g, a, b)
        if decided(lambda: products < _MANY, otherwise=False):
            return by_windows(wanted, g, a, b)
    if wanted == Part.KERNEL and windows_pay(wanted, g, a, b, in_loop=True):
        return by_windows(wanted, g, a, b)
    if volumes and known(g.image[0]):
        return by_planes(_fastest, wanted, g, a, b)
    given = [part for part in Part if part != wanted]
    operands = tuple(_groups_as_lanes(g, x, part) for x, part in zip((a, b), given, strict=True))
    alone = ft.partial(_one_group, wanted, g._replace(groups=1), in_loop=True)
    one = lambda x: alone(x[0][None], x[1][None])[0]
    return _lanes_as_groups(g, lax.map(one, operands), wanted, lanes)


def _one_group(wanted: Part, g: Geometry, a: Array, b: Array, *, in_loop: bool = False) -> Array:
    if windows_pay(wanted, g, a, b, in_loop=in_loop):
        return by_windows(wanted, g, a, b)
    if wanted == Part.KERNEL and blocks_pay(g, a, b):
        return by_blocks(g, a, b, _BLOCK)
    if wanted == g.output == Part.IMAGE and max(g.strides) > 1:
        return by_phases(g, a[0], b[0])[None]
    return by_kernels(channels_last, wanted, g, a, b)


def windows_pay(wanted: Part, g: Geometry, a: Array, b: Array, *, in_loop: bool = False) -> bool:
    """Whether `by_windows` is faster than XLA's kernels for each group.

    XLA's kernels take, or return, the elements of a kernel before its channels and filters. That
    transposition takes as long as a hundred products of each element, so it is most of the time
    where the results of a batch have few places, as in the last layers of a network. The matrix of
    windows has a column for each place: it is small there, too, beside the kernel.
    """
    batch, filters, channels = _extents(wanted, g, a, b)
    elements, places = math.prod(g.kernel), batch * math.prod(g.result)
    at_most = lambda times: decided(lambda: places <= times * filters, otherwise=False)
    dtype = np.dtype(g.dtype)
    if dtype.itemsize < 4:  # products of halves take longer than their convolutions
        return False
    very_few = decided(lambda: 2 * places <= filters, otherwise=False)
    if category(dtype) == 3:
        return very_few
    wide = decided(lambda: filters >= _CHANNELS and channels >= _CHANNELS, otherwise=False)
    one = decided(lambda: batch == 1, otherwise=False)
    # A product of matrices as it stands, but for the order of the batch.
    if elements == 1 and (wanted != Part.KERNEL or one):
        return wide or one
    if in_loop:
        return very_few
    if wanted == Part.RESULT:
        return at_most(6 if elements > WINDOW else 3)
    if wanted == Part.IMAGE:  # XLA's kernels have large windows and few channels there
        return at_most(32 if elements > WINDOW else 3)
    fits = decided(lambda: elements * channels * places <= _COLUMNS, otherwise=False)
    return at_most(1) or (wide and fits and 1 < elements <= 9 and len(g.kernel) == 2)


def blocks_pay(g: Geometry, image: Array, result: Array) -> bool:
    """Whether `by_blocks` is faster than XLA's kernels.

    These have the results as their windows and the images of the batch as their channels, and
    transpose both. Kernels of 26 to 49 elements are left to them: at 7 x 7 they take 0.8 of the
    blocks' time in a first layer of 3 channels, and 1.8 with 16 channels.
    """
    dtype = np.dtype(g.dtype)
    if not known(*image.shape, *result.shape) or 0 in result.shape:
        return False
    row = image.shape[2] * math.prod(g.kernel) * math.prod(g.result[1:])
    elements = math.prod(g.kernel)
    fits = sum(g.kernel) <= _SLICES and row <= _ROW and not _SMALL < elements <= _MEDIUM
    return fits and category(dtype) == 2 and dtype.itemsize >= 4


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
