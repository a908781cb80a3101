"""Calls with masks of every kind, and what it means to take no notice of an element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from functx._core import category
from functx.testing.make import Make
from functx.testing.opdb.reductions.rows import far, not_finite
from functx.testing.opinfo import Convention, Departure, Refusal, Sample
from functx.testing.samples import call, edge


DrawArray = Callable[..., jax.Array]


def some_in_each_row(make: Make, *shape: int, least: int = 1) -> jax.Array:
    """A mask that keeps at least so many elements of each row, and not all of a longer one."""
    n = shape[-1]
    places = make.rng.permuted(np.broadcast_to(np.arange(n), shape), axis=-1)
    return make.put(places < make.rng.integers(least, max(n, least + 1), (*shape[:-1], 1)), bool)


def over_several(make: Make, draw: DrawArray | None = None, *before: Any) -> Iterator[Sample]:
    """Calls of what reduces any dimensions; `before` are arguments between `input` and `dim`."""
    draw = draw or make
    yield from over_one(make, draw, *before)
    yield call(draw(2, 3, 2), *before, (0, -1), keepdim=True, mask=make.mask(2, 3, 1))
    yield call(draw(2, 3), *before, dim=[], mask=some_in_each_row(make, 3))
    yield call(draw(2, 2, 3), *before, dim=(1, 2), mask=make.mask(2, 1, 3))


def over_one(make: Make, draw: DrawArray | None = None, *before: Any) -> Iterator[Sample]:
    """Calls of what reduces one dimension, or all."""
    draw = draw or make
    yield call(draw(2, 3), *before, 1, mask=some_in_each_row(make, 2, 3, least=2))
    yield call(
        draw(2, 3), *before, -2, keepdim=True, mask=make.put([[True] * 3, [False] * 3], bool)
    )
    yield call(draw(2, 3), *before, None, mask=make.put([2, 0, -1], "int64"))
    yield call(draw(2, 3), *before, 0)
    yield call(draw(2, 3), *before, None, keepdim=True, mask=some_in_each_row(make, 2, 3))
    yield call(draw(2, 2, 3), *before, 1, mask=some_in_each_row(make, 1, 2, 1))
    yield call(draw(), *before, 0, mask=make.put(True, bool))
    yield from rows(make, *before)


def rows(make: Make, *before: Any) -> Iterator[Sample]:
    """Calls along the last of four dimensions, and along rows that hold NaN and infinities.

    Each row is there with what is not finite kept, and masked out; the last ones have nothing left.
    """
    yield edge(far(make, 1, 2, 2, 4), *before, -1, mask=some_in_each_row(make, 2, 4))
    if category(make.dtype) == 2:
        x = np.asarray(not_finite(make))
        keep = np.stack([make.rng.integers(0, 2, x.shape) > 0, np.isfinite(x)])
        yield edge(make.put(np.stack([x, x])), *before, -1, mask=make.put(keep, bool))


def mask_refusals(make: Make, *rest: Any) -> Iterator[Refusal]:
    """Masks that do not broadcast; `rest` are the arguments after `input`."""
    for shape in ((2,), (1, 2, 3), (2, 2)):
        sample = call(make(2, 3), *rest, mask=make.mask(*shape))
        yield Refusal(sample, r"`mask` must broadcast to \w+\[2,3\], got bool")
    yield Refusal(call(2.0, *rest), "`input` must be an array, got 2.0", TypeError)


def kept(x: np.ndarray, mask: Any) -> np.ndarray:
    return np.broadcast_to(True if mask is None else np.asarray(mask) != 0, x.shape)


def over_kept(
    reduce: Callable[[np.ndarray], Any], x: np.ndarray, dim: Any, keepdim: bool, mask: Any
) -> np.ndarray:
    """`reduce` of the kept elements of each slice: others are not there at all."""
    several = (dim,) if isinstance(dim, int) else tuple(dim or range(x.ndim))
    axes = tuple(axis % x.ndim for axis in several) if x.ndim else ()
    rest = [n for axis, n in enumerate(x.shape) if axis not in axes]
    to_rows = lambda y: np.moveaxis(y, axes, range(-len(axes), 0)).reshape(int(np.prod(rest)), -1)
    if x.size == 0:
        out = [reduce(x.ravel())] * int(np.prod(rest))
    else:
        each = zip(to_rows(x), to_rows(kept(x, mask)), strict=True)
        out = [reduce(row[keep]) for row, keep in each]
    shape = [1 if axis in axes else n for axis, n in enumerate(x.shape)] if keepdim else rest
    return np.asarray(out).reshape(shape)


def unheard(
    value: Any, *, make: Make, rest: tuple[Any, ...] = (), slope: Any = 0, **said: Any
) -> Iterator[Convention]:
    """That nothing is heard of what is masked out, whatever it holds.

    One element is left, a 2, of which the result is `value`, with slope `slope`.
    """
    for hidden in (np.nan, np.inf, -np.inf):
        x, mask = make.put([hidden, 2.0, hidden]), make.put([False, True, False], bool)
        yield Convention(
            f"{hidden} is masked out",
            call(x, *rest, mask=mask),
            value=value,
            gradient=[0, slope, 0],
            hessian=np.zeros((3, 3)),
            **said,
        )


def of_numbers(make: Make, *rest: Any, **said: Any) -> Convention:
    """A mask of numbers keeps the 2 of 4, 2, 8."""
    mask = make.put([0.0, np.nan, -0.0])
    return Convention("a mask of numbers", call(make.put([4, 2, 8]), *rest, mask=mask), **said)


def nothing_left(value: Any, *, make: Make, rest: tuple[Any, ...] = (), **said: Any) -> Convention:
    """What there is where all is masked out, and that nothing has a gradient."""
    x, mask = make.put([np.nan, 2.0, np.inf]), make.put([False] * 3, bool)
    return Convention(
        "all is masked out",
        call(x, *rest, mask=mask),
        value=value,
        gradient=[0, 0, 0],
        hessian=np.zeros((3, 3)),
        **said,
    )


NO_IDENTITY = "PyTorch has no identity for bools, which have a least and a greatest value"
BOOLS_MASKED = (
    Departure(
        "dtype",
        NO_IDENTITY,
        answer=r"\1",
        match=r"^\(\*(?=.*mask=).*dtype=([\w*]+)",
        dtypes=frozenset({"bool"}),
    ),
    Departure(
        "dtype",
        NO_IDENTITY,
        answer="bool",
        match=r"^\(\*(?!.*dtype=).*mask=",
        dtypes=frozenset({"bool"}),
    ),
)


def bools_accepted(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        NO_IDENTITY,
        call(make.mask(2, 3), 0, mask=make.mask(3)),
        "identity of .* on torch.bool",
    )
