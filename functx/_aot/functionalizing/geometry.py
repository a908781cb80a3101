"""Where the elements of a view lie in its storage: sizes and strides, as PyTorch counts them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from functx._core import Size


@dataclasses.dataclass(frozen=True)
class Layout:
    """Sizes, strides and offset of a view, in elements of its storage; sizes may be symbolic.

    The offset is None where a traced index decides it.
    """

    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size | None = 0

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie side by side, in row-major order."""
        packed = packed_strides(self.shape)
        sides = zip(self.shape, self.strides, packed, strict=True)
        return 0 in self.shape or all(n == 1 or here == there for n, here, there in sides)

    def moved(self, by: Size | None) -> Size | None:
        """The offset, further on by so many elements; None where one of the two is unknown."""
        return None if by is None or self.offset is None else self.offset + by

    def permuted(self, order: Sequence[int]) -> Layout:
        """The dimensions in another order."""
        shape, strides = [self.shape[i] for i in order], [self.strides[i] for i in order]
        return Layout(tuple(shape), tuple(strides), self.offset)

    def without(self, dims: Sequence[int], by: Size | None = 0) -> Layout:
        """Without some dimensions, and with the offset further on."""
        kept = [i for i in range(len(self.shape)) if i not in dims]
        return dataclasses.replace(self.permuted(kept), offset=self.moved(by))

    def with_dim(self, dim: int, size: Size, stride: Size, by: Size | None = 0) -> Layout:
        """With another size and stride of one dimension, and with the offset further on."""
        shape = (*self.shape[:dim], size, *self.shape[dim + 1 :])
        strides = (*self.strides[:dim], stride, *self.strides[dim + 1 :])
        return Layout(shape, strides, self.moved(by))

    def inserted(self, dim: int) -> Layout:
        """With a further dimension of size 1 at `dim`, whose stride is PyTorch's."""
        stride = self.shape[dim] * self.strides[dim] if dim < len(self.shape) else 1
        shape = (*self.shape[:dim], 1, *self.shape[dim:])
        return Layout(shape, (*self.strides[:dim], stride, *self.strides[dim:]), self.offset)

    def reshaped(self, shape: tuple[Size, ...]) -> Layout | None:
        """The same elements in another shape, or None if no strides give them in that order."""
        if self.shape == shape:
            return self
        if self.contiguous:
            return Layout(shape, packed_strides(shape), self.offset)
        strides = _split_strides(self.shape, self.strides, shape)
        return None if strides is None else Layout(shape, strides, self.offset)


def packed_strides(shape: Sequence[Size]) -> tuple[Size, ...]:
    """The strides of an array of that shape, its elements side by side."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step = step * (n if n != 0 else 1)
    return tuple(reversed(strides))


def _split_strides(
    shape: tuple[Size, ...], strides: tuple[Size, ...], target: tuple[Size, ...]
) -> tuple[Size, ...] | None:
    """The strides of `target` over elements that lie as `shape` and `strides` say.

    Neighbouring dimensions that lie as one are joined; each group must fill dimensions of the
    target, from the last one on.
    """
    out: list[Size] = []
    rest = list(target)
    for size, step in _groups(shape, strides):
        filled: Size = 1
        while rest and (filled != size or rest[-1] == 1):
            out.append(filled * step)
            filled = filled * rest.pop()
            if filled != size and filled > size:  # of symbolic sizes JAX says what is undecided
                return None
        if filled != size:
            return None
    return None if rest else tuple(reversed(out))


def _groups(shape: tuple[Size, ...], strides: tuple[Size, ...]) -> list[tuple[Size, Size]]:
    """The size and stride of each run of dimensions that lie as one, the last run first."""
    groups: list[tuple[Size, Size]] = []
    for n, step in zip(reversed(shape), reversed(strides), strict=True):
        if n == 1:
            continue
        if groups and step == groups[-1][0] * groups[-1][1]:
            groups[-1] = (groups[-1][0] * n, groups[-1][1])
        else:
            groups.append((n, step))
    return groups or [(math.prod(shape), 1)]
