"""The arrays that are written at positions: those that add up, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import jax

from functx.testing.make import Make
from functx.testing.opinfo import Refusal
from functx.testing.samples import call


def terms(make: Make, *shape: int) -> jax.Array:
    """Values of one sign: their sums do not cancel, and so are exact to ulps."""
    return make(*shape, low=0.5)


def source_refusals(make: Make) -> Iterator[Refusal]:
    """What scatter, scatter_add and scatter_reduce refuse alike, but for their last argument."""
    for outside in (3, -1):
        yield Refusal(
            call(make(2, 3), 1, make.put([[outside]], "int64"), make(1, 1)),
            rf"`index` must lie in \[0, 2\], got {outside}",
            IndexError,
        )
    x, src = make(3, 2), make(2, 2)
    yield Refusal(call(x, 0, make.index(3, 2), src), "as many dimensions as `input`")
    yield Refusal(call(x, 0, make.index(3, 2, 2), make(2, 2, 1)), "`src` must have as many")
    yield Refusal(call(x, 0, make.index(3, 3, 1), src), "no larger than `src`")
    yield Refusal(call(x, 1, make.index(2, 4, 1), make(4, 1)), "no larger than `input`")
    yield Refusal(
        call(x, 0, make.index(3, 2, 2), make(2, 2, dtype="float16")),
        "`src` must have the dtype of `input`",
        TypeError,
    )
    yield Refusal(call(x, 0, make.index(3, 2, 2, dtype="uint8"), src), "int32 or int64", TypeError)
    yield Refusal(call(x, 2, make.index(3, 2, 2), src), "`dim` must lie in", IndexError)
