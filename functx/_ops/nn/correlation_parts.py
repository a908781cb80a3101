"""The three arrays that a correlation ties together, and what is known of them."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class Part(enum.IntEnum):
    """One of the three arrays of a correlation, in the order in which two of them are given."""

    IMAGE = 0  # [l, n, c, *]
    KERNEL = 1  # [l, f, c / groups, *]
    RESULT = 2  # [l, n, f, *]


class Geometry(NamedTuple):
    """What is known of a correlation before its operands."""

    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]  # zeros before and after
    dilations: tuple[int, ...]  # of the kernel
    groups: int
    image: tuple[int, ...]  # sizes
    kernel: tuple[int, ...]
    dtype: Any  # of images and kernels
    sums: Any  # the dtype of results

    @property
    def result(self) -> tuple[int, ...]:
        """The sizes of a result."""
        return tuple(
            (size + before + after - d * (k - 1) - 1) // s + 1
            for s, (before, after), d, size, k in self.dimensions()
        )

    def dimensions(self) -> list[tuple[int, tuple[int, int], int, int, int]]:
        """Stride, padding, dilation, and the sizes of image and kernel, for each dimension."""
        return list(
            zip(self.strides, self.pads, self.dilations, self.image, self.kernel, strict=True)
        )
