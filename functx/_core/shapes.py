"""Facts of shapes."""

from __future__ import annotations

from collections.abc import Sequence

from .dimensions import canonical_shape
from .errors import fail, Refused
from .symbolic import known_sizes


def broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of `shape` fits `target` without enlarging it."""
    ends = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(n in (1, m) for n, m in ends)


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape to which arrays of the given shapes broadcast.

    - `shapes`: sequences of sizes, or an int for a shape of one dimension.

    Errors: RuntimeError if the shapes do not broadcast, ValueError for negative sizes.

    >>> functx.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    who = "broadcast_shapes"
    try:
        each = [canonical_shape(shape, f"shapes[{i}]") for i, shape in enumerate(shapes)]
    except Refused as refused:
        raise refused.by(who) from None
    if any(n < 0 for shape in each for n in known_sizes(shape)):
        fail(who, f"sizes must not be negative, got {list(map(list, each))}", error=ValueError)
    out = [1] * max(map(len, each), default=0)
    for shape in each:
        for place, n in enumerate(reversed(shape), 1):
            if n != 1 and out[-place] not in (1, n):
                fail(who, f"shapes do not broadcast: {', '.join(str(list(s)) for s in each)}")
            out[-place] = n if n != 1 else out[-place]
    return tuple(out)
