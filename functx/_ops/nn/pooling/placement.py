"""The places of the windows of a pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
from jax import core, lax

from functx._core import decided, describe, known, refuse, Size
from functx._ops.nn.windows import per_dimension


class Windows(NamedTuple):
    """The windows over an image, with a number for each of its dimensions.

    No window is wider than the padded image, and neither are its strides and dilations: XLA aborts
    at sizes beyond its bounds.
    """

    sizes: tuple[Size, ...]  # of the image
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[int, ...]  # on either side
    dilation: tuple[int, ...]
    counts: tuple[Size, ...]  # of windows

    @property
    def pads(self) -> list[tuple[int, int]]:
        """What to add before and after the image; a negative number after it where windows do not
        reach its end.
        """
        rows = zip(*self, strict=True)
        return [(p, (o - 1) * s + d * (k - 1) + 1 - n - p) for n, k, s, p, d, o in rows]

    def around(self, x: jax.Array, fill: Any) -> tuple[jax.Array, list[tuple[int, int]]]:
        """`x` and the padding still to be added: XLA pads windows by known numbers alone."""
        if known(*(n for pair in self.pads for n in pair)):
            return x, self.pads
        edges = [(0, 0, 0)] * (x.ndim - len(self.sizes)) + [(*pair, 0) for pair in self.pads]
        return lax.pad(x, fill, edges), [(0, 0)] * len(self.sizes)


def placed(
    input: jax.Array,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
    ceil_mode: bool,
    *,
    n: int,
) -> Windows:
    """The windows over the `n` trailing dimensions. Refuses places without any window."""
    require_image(input, n)
    kernel = per_dimension(kernel_size, n, "kernel_size", least=1)
    given = stride is not None and stride != ()
    strides = per_dimension(stride, n, "stride", least=1) if given else kernel
    pads = per_dimension(padding, n, "padding")
    dilations = per_dimension(dilation, n, "dilation", least=1)
    for k, p, d in zip(kernel, pads, dilations, strict=True):
        if p > (d * (k - 1) + 1) // 2:
            refuse(
                f"`padding` must be at most half of the kernel, got padding={padding}, "
                f"kernel_size={kernel_size} and dilation={dilation}",
                error=ValueError,
            )
    sizes = input.shape[-n:]
    counts = tuple(
        _count(*each, ceil_mode)
        for each in zip(sizes, kernel, strides, pads, dilations, strict=True)
    )
    if any(decided(lambda n=n: n < 1, otherwise=False) for n in counts):
        refuse(
            f"the window is larger than the input: {describe(input)} would give "
            f"{list(counts)} windows"
        )
    widths = [size + 2 * p for size, p in zip(sizes, pads, strict=True)]
    bounded = lambda numbers: tuple(map(_least, numbers, widths))
    kernel = tuple(
        _least(k, -(-width // d)) for k, d, width in zip(kernel, dilations, widths, strict=True)
    )
    return Windows(sizes, kernel, bounded(strides), pads, bounded(dilations), counts)


def require_image(input: jax.Array, n: int) -> None:
    """Refuses an input that is not `[N, C, *sizes]` or `[C, *sizes]`, or that has no elements in an
    image.
    """
    if input.ndim not in (n + 1, n + 2):
        refuse(
            f"`input` must have {n + 1} dimensions, or {n + 2} with a batch, got {describe(input)}"
        )
    if 0 in input.shape[input.ndim - n - 1 :]:
        refuse(f"`input` must not be empty except in its batch, got {describe(input)}")


def _count(
    size: Size, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> Size:
    """How many windows fit into `size`. With `ceil_mode`, the last may end beyond the padding,
    but it must start inside `size` or the padding before it."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode:
        out = core.min_dim(out, -(-(size + padding) // stride))
    return out if known(out) else core.max_dim(out, 0)


def _least(number: int, width: Size) -> int:
    """The lesser of the number and the width, if the width is known; else the number."""
    return min(number, width) if known(width) else number
