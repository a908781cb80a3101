"""The three arrays that a correlation ties together, and the description of a correlation."""

from __future__ import annotations

import enum
import functools as ft
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from functx._core import Size
from functx._ops.nn.windows import a_stride_apart, at_least_none, put_apart


class Part(enum.IntEnum):
    """One of the three arrays of a correlation, in the order in which two of them are given."""

    IMAGE = 0  # [l, n, c, *]
    KERNEL = 1  # [l, f, c / groups, *]
    RESULT = 2  # [l, n, f, *]


class Geometry(NamedTuple):
    """The description of a correlation without its operands."""

    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]  # zeros before and after; after, negative: a cut
    dilations: tuple[int, ...]  # of the kernel
    groups: int
    image: tuple[Size, ...]  # the sizes of an image
    kernel: tuple[int, ...]
    dtype: Any  # the dtype in which operands are multiplied
    sums: Any  # the dtype in which products are summed
    output: Part = Part.RESULT  # is not rounded, and holds no products with zeros

    def dtype_of(self, part: Part) -> Any:
        """The dtype in which a part is returned."""
        return self.sums if part == self.output else self.dtype

    @property
    def result(self) -> tuple[Size, ...]:
        """The sizes of a result."""
        return tuple(
            at_least_none((size + before + after - d * (k - 1) - 1) // s + 1)
            for s, (before, after), d, size, k in self.dimensions()
        )

    def dimensions(self) -> list[tuple[int, tuple[int, int], int, Size, int]]:
        """Stride, padding, dilation, and the sizes of image and kernel, for each dimension."""
        return list(
            zip(self.strides, self.pads, self.dilations, self.image, self.kernel, strict=True)
        )


def padded(g: Geometry, image: Array, dimensions: int | None = None) -> Array:
    """The image with zeros before and after it, in its first dimensions or in all."""
    pads = [(before, max(after, 0)) for before, after in g.pads[:dimensions]]
    return jnp.pad(image, [(0, 0)] * 3 + pads + [(0, 0)] * (image.ndim - 3 - len(pads)))


def seen_by(g: Geometry, image: Array, at: Sequence[int]) -> Array:
    """The elements of the image by which the element of a kernel at a place is multiplied. A
    shorter place stands for a row or a plane of the kernel.
    """
    given = zip(at, g.dilations, g.strides, g.result, strict=False)
    return a_stride_apart(
        image, {axis: (i * d, o, s) for axis, (i, d, s, o) in enumerate(given, 3)}
    )


def put_back(g: Geometry, x: Array, at: Sequence[int]) -> Array:
    """The transpose of `seen_by` and of padding together."""
    given = enumerate(zip(at, g.dimensions(), strict=False), 3)
    places = {axis: (i * d - before, size, s) for axis, (i, (s, (before, _), d, size, _)) in given}
    return put_apart(x, places)


def total(terms: Iterable[Array]) -> Array:
    """The sum of all terms."""
    return ft.reduce(jnp.add, terms)
