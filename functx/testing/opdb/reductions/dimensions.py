"""Dimensions to reduce: what is refused of them, and what NumPy calls them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functx.testing.make import Make
from functx.testing.opinfo import Refusal
from functx.testing.samples import call


def dim_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(), -2), r"`dim` must lie in \[-1, 0\]", IndexError)
    yield Refusal(call(make(2, 3), 0.5), "`dim` must be an int", TypeError)


def dims_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield Refusal(call(make(2, 3), (0, -2)), "`dim` names a dimension twice")


def nothing_refusals(make: Make) -> Iterator[Refusal]:
    empty = "dimension 1 must not be empty"
    yield Refusal(call(make(2, 0), 1), empty, IndexError)


def axes_of(dim: Any) -> Any:
    """NumPy's `axis` for PyTorch's `dim`, where none means all."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None
