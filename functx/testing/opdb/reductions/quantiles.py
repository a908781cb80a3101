from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge, held
from functx.testing.tolerances import SUMS

from .rows import at_edges


def shares(make: Make, *shape: int):
    return make(*shape, low=0.05, high=0.95)


def quantile_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), shares(make))
    yield call(make.distinct(4, 2), shares(make, 2), 0)
    yield call(make.distinct(2, 5), 0.3, -1, True)
    yield call(make.distinct(2, 3, 2), shares(make, 3), dim=1, keepdim=True)
    for interpolation in ("lower", "higher", "midpoint", "nearest"):
        yield call(make.distinct(6), 0.43, interpolation=interpolation)
        q = make.put([0, 0.4, 0.9, 1])  # at the ends, where positions jump
        yield held(make.distinct(2, 4), q, 1, interpolation=interpolation)
    yield call(make.distinct(3), 0.5, None, True, interpolation="linear")
    yield call(make.distinct(), 0.5)
    yield call(make.distinct(), shares(make, 2), 0, True)
    yield call(make.distinct(3), make(0))
    yield call(make.distinct(5), 1)
    yield edge(make.put([[2, 1, 2, 2], [1, 1, 0, 0]]), make.put([0, 0.25, 0.5, 1]), 1)
    yield from at_edges(make, 0.3, -1)
    yield from at_edges(make, 0.5, -1, interpolation="midpoint")
    yield from at_edges(make, make.put([0, 0.6, 1]), -1, interpolation="nearest")


def nan_samples(make: Make) -> Iterator[Sample]:
    yield from quantile_samples(make)
    nan = np.nan
    rows = [[nan, 1, 5, 2, nan], [nan] * 5, [nan, nan, 3, nan, nan], [4, 1, 0, 2, nan]]
    for interpolation in ("linear", "lower", "higher", "midpoint", "nearest"):
        q = make.put([0, 0.4, 0.5, 1])
        yield edge(make.put(rows), q, 1, interpolation=interpolation)
    yield edge(make.put(rows), 0.35)


def quantile_refusals(make: Make) -> Iterator[Refusal]:
    x = make(3)
    range_ = r"`q` must lie in \[0, 1\], got"
    for q in (1.5, -0.1, np.nan):
        yield Refusal(call(x, q), range_)
    yield Refusal(call(x, make.put([0.5, 2])), range_)
    yield Refusal(call(x, make.put([[0.5]])), "`q` must have at most 1 dimension")
    other = "float32" if make.dtype == np.float64 else "float64"
    yield Refusal(call(x, make(2, dtype=other)), "`q` must be a real number or have", TypeError)
    yield Refusal(call(x, 0.5j), "`q` must be a real number or have", TypeError)
    yield Refusal(call(x, [0.5]), "`q` must be an array", TypeError)
    yield Refusal(call(x, 0.5, interpolation="foo"), "`interpolation` must be one of", ValueError)
    yield Refusal(call(make(2, 0), 0.5, 0), "`input` must not be empty")
    yield Refusal(call(make(2, 0), 0.5, 1), "`input` must not be empty")
    yield Refusal(call(x, 0.5, 1), r"`dim` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(make(3, dtype="int64"), 0.5), "expected float32 or float64", TypeError)
    yield Refusal(call(make(3, dtype="float16"), 0.5), "expected float32 or float64", TypeError)
    yield Refusal(call(make(3, dtype="complex64"), 0.5), "expected float32 or float64", TypeError)
    yield Refusal(call(3.0, 0.5), "`input` must be an array, got 3.0", TypeError)


def of_row(row, q, interpolation, omit):
    kept = np.sort(row[row == row])
    if len(kept) == 0 or (len(kept) < len(row) and not omit):
        return np.nan
    rank = float(q) * (len(kept) - 1)
    low, high = float(kept[math.floor(rank)]), float(kept[math.ceil(rank)])
    share = rank - math.floor(rank)
    if interpolation == "lower" or low == high:
        return low
    if interpolation == "higher":
        return high
    if interpolation == "nearest":
        return float(kept[round(rank)])
    share = 0.5 if interpolation == "midpoint" else share
    return (1 - share) * low + share * high


def np_quantile(x, q, dim=None, keepdim=False, interpolation="linear", omit=False):
    if dim is None or x.ndim == 0:
        rows, kept = x.reshape(1, -1), (1,) * x.ndim if keepdim else ()
    else:
        rest = np.moveaxis(x, dim, -1)
        rows = rest.reshape(-1, x.shape[dim])
        kept = np.expand_dims(rest[..., 0], dim).shape if keepdim else rest.shape[:-1]
    out = [[of_row(row, p, interpolation, omit) for row in rows] for p in np.reshape(q, -1)]
    return np.array(out, np.float64).reshape((*np.shape(q), *kept))


def np_nanquantile(*args, **kwargs):
    return np_quantile(*args, **kwargs, omit=True)


def quantile_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([1, 2, 4])
    at = call(x, make.put(0.75))
    yield Convention("between two", at, value=3, gradient=([0, 0.5, 0.5], 4))
    yield Convention("at one", call(x, make.put(0.5)), value=2, gradient=([0, 1, 0], 0))
    for end, gradient in ((0.0, [1, 0, 0]), (1.0, [0, 0, 1])):
        yield Convention(f"at {end}", call(x, make.put(end)), gradient=(gradient, 0))
    tied = call(make.put([2, 1, 2, 2]), make.put(0.5))
    yield Convention("between equals", tied, value=2, gradient=([0.5, 0, 0.5, 0], 0))
    middle = call(x, make.put(0.3), interpolation="midpoint")
    yield Convention("no slope in q", middle, value=1.5, gradient=([0.5, 0.5, 0], 0))
    half = call(make.put([1, 2, 4]), make.put([0.25, 0.75]), interpolation="nearest")
    yield Convention("the even rank", half, value=[1, 4])
    inf = np.inf
    infinite = call(make.put([-inf, 1, inf]), make.put([0, 0.25, 0.5, 0.75, 1]))
    why = "PyTorch subtracts infinities from each other"
    yield Convention("infinities", infinite, value=[-inf, -inf, 1, inf, inf], departure=why)
    wide = call(make.put([-1.5e308, 1.5e308]), 0.5)
    why = "the difference overflows in PyTorch"
    yield Convention("a wide range", wide, value=0, departure=why)


def plain_conventions(make: Make) -> Iterator[Convention]:
    yield from quantile_conventions(make)
    nan = call(make.put([1, np.nan, 4]), make.put(0.3))
    yield Convention("NaN", nan, value=np.nan, gradient=([0, 1, 0], 0))


def nan_conventions(make: Make) -> Iterator[Convention]:
    yield from quantile_conventions(make)
    some = call(make.put([1, np.nan, 4]), make.put(0.25))
    yield Convention("without NaN", some, value=1.75, gradient=([0.75, 0, 0.25], 3))
    none = call(make.put([np.nan, np.nan]), make.put(0.3))
    yield Convention("nothing but NaN", none, value=np.nan, gradient=([1, 0], 0))


OPS = [
    OpInfo(
        functx.quantile,
        quantile_samples,
        reference=np_quantile,
        refusals=quantile_refusals,
        conventions=plain_conventions,
        tolerances=(SUMS,),
        kinked=True,
    ),
    OpInfo(
        functx.nanquantile,
        nan_samples,
        reference=np_nanquantile,
        refusals=quantile_refusals,
        conventions=nan_conventions,
        tolerances=(SUMS,),
        kinked=True,
    ),
]
