"""Correlations with one channel and one filter in each group, element by element of the kernel."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from .geometry import Geometry, padded, Part, put_back, seen_by, total


def by_elements(wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, where a group has one channel and one filter.

    The elements of the kernel follow one another, each in one pass over images and results.
    """
    a, b = (x.astype(g.sums) for x in (a, b))
    places = list(np.ndindex(*g.kernel))
    if wanted == Part.RESULT:
        image = padded(g, a)
        out = total(seen_by(g, image, at) * _element(b, at) for at in places)
        return out.astype(g.dtype_of(wanted))
    if wanted == Part.KERNEL:
        image, sizes = padded(g, a), tuple(range(2, b.ndim - 1))
        # The sum over the batch comes first, since vector units can do it.
        sums = [jnp.sum(jnp.sum(seen_by(g, image, at) * b, 1), sizes) for at in places]
        out = jnp.stack(sums, -1)
        return out.reshape(*out.shape[:2], 1, *g.kernel).astype(g.dtype_of(wanted))
    return total(put_back(g, _element(a, at) * b, at) for at in places).astype(g.dtype_of(wanted))


def _element(kernel: Array, at: tuple[int, ...]) -> Array:
    """One element of each group's kernel, in a shape that broadcasts against images and results."""
    one = kernel[(slice(None), slice(None), 0, *at)]
    return one.reshape(one.shape[0], 1, -1, *[1] * len(at))
