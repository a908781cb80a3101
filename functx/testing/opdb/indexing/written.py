"""What holds of all that writes at positions."""

from __future__ import annotations

from collections.abc import Iterator

from functx.testing.make import Make
from functx.testing.opinfo import Convention
from functx.testing.samples import call


def dropped_outside(make: Make) -> Iterator[Convention]:
    """What is named outside of an array is not written."""
    for outside in (2, -3):
        yield Convention(
            f"{outside} is dropped in a compiled program",
            call(make.put([1, 2]), 0, make.put([outside], "int64"), make.put([9])),
            value=[1, 2],
            gradient=([1, 1], [0]),
            departure="PyTorch refuses",
        )


def written_conventions(make: Make) -> Iterator[Convention]:
    """Of what is written to one place the last stays, with its gradient."""
    yield from dropped_outside(make)
    same = make.put([1, 1], "int64")
    yield Convention(
        "the one that stays has the gradient",
        call(make.put([1, 2]), 0, same, make.put([5, 6])),
        value=[1, 6],
        gradient=([1, 0], [0, 1]),
        departure="PyTorch gives it to all that were written",
    )
