"""The number of windows that an adaptive pooling is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from functx._core import refuse, Size
from functx._ops.nn.windows import per_dimension


def asked_sizes(
    output_size: Size | Sequence[Size | None], sizes: tuple[Size, ...]
) -> tuple[Size, ...]:
    """One number of windows for each of `sizes`. In a sequence of several, None keeps the size of
    the input.
    """
    n = len(sizes)
    several = isinstance(output_size, (tuple, list))
    asked = tuple(output_size) if several else (output_size,) * n
    if len(asked) != n:
        refuse(f"`output_size` must be an int or {n} of them, got {output_size}", error=ValueError)
    if several and n > 1:
        asked = tuple(m if a is None else a for a, m in zip(asked, sizes, strict=True))
    return per_dimension(asked, n, "output_size")
