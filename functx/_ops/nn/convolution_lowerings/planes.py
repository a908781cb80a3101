"""Correlations of volumes, as correlations of their planes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax.numpy as jnp
import numpy as np
from jax import Array

from .geometry import Geometry, padded, Part, put_back, seen_by, total


CorrelationProgram = Callable[[Part, Geometry, Array, Array], Array]


def by_planes(program: CorrelationProgram, wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, from the two others, by a program for one dimension less.

    Each plane of the kernel is correlated with the planes of all images that it meets, which form a
    larger batch.
    """
    sums = np.dtype(g.sums)
    flat = Geometry(
        g.strides[1:],
        g.pads[1:],
        g.dilations[1:],
        g.groups,
        g.image[1:],
        g.kernel[1:],
        dtype=sums,  # halves are rounded once, at the end
        sums=sums,
        output=g.output,
    )
    a, b = a.astype(sums), b.astype(sums)
    count = g.result[0]
    if wanted == Part.RESULT:
        met = zip(_met(g, a), _of_kernel(b), strict=True)
        out = total(program(wanted, flat, image, kernel) for image, kernel in met)
        return _as_volumes(out, count).astype(g.dtype_of(wanted))
    planes = _as_batch(b)
    if wanted == Part.KERNEL:
        each = [program(wanted, flat, image, planes) for image in _met(g, a)]
        return jnp.stack(each, 3).astype(g.dtype_of(wanted))
    each = (program(wanted, flat, kernel, planes) for kernel in _of_kernel(a))
    back = (put_back(g, _as_volumes(x, count), [i]) for i, x in enumerate(each))
    return total(back).astype(g.dtype_of(wanted))


def _met(g: Geometry, image: Array) -> Iterator[Array]:
    """For each plane of the kernel, the planes of an image that it meets."""
    image = padded(g, image, 1)
    for i in range(g.kernel[0]):
        yield _as_batch(seen_by(g, image, [i]))


def _of_kernel(kernel: Array) -> Iterator[Array]:
    for i in range(kernel.shape[3]):
        yield kernel[:, :, :, i]


def _as_batch(x: Array) -> Array:
    """`[l, n, c, planes, *]` as `[l, n * planes, c, *]`."""
    x = jnp.swapaxes(x, 2, 3)
    return x.reshape(x.shape[0], x.shape[1] * x.shape[2], *x.shape[3:])


def _as_volumes(x: Array, planes: int) -> Array:
    """The inverse of `_as_batch`."""
    x = x.reshape(x.shape[0], x.shape[1] // planes, planes, *x.shape[2:])
    return jnp.swapaxes(x, 2, 3)
