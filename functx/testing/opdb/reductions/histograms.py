from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS


def ends_near(make: Make, *points: float):
    """Ends of intervals, others in each lane."""
    return make.put(np.array(points) + make.rng.uniform(0, 0.4, len(points)))


def histogram_samples(make: Make) -> Iterator[Sample]:
    ends = ends_near(make, -3, -0.9, 0.1, 1.3, 2.9)
    yield call(make.distinct(2, 3), 4)
    yield call(make.distinct(9), 3, weight=make(9))
    yield call(make.distinct(7), ends)
    yield call(make.distinct(7), bins=ends, weight=make(7), density=True)
    yield call(make.distinct(2, 5), 5, range=(-2, make(low=1.7, high=2.2)))
    yield call(make.distinct(8), 3, range=(-2, 2), weight=make(8, low=1), density=True)
    yield call(make.distinct(8))
    yield edge(make.distinct(), 2)  # which lies where two intervals meet
    yield call(make(0, 2), 3)
    yield call(make(4, low=0, high=2), 2, range=(1, 1))  # which is from 0.5 to 1.5
    yield edge(make.put([0, 1, 2, 3, 3, 1]), make.put([0, 1, 1, 3]))
    yield edge(make.put([5, 5]), 2, density=True)
    yield edge(make.put([np.nan, np.inf, 1, -np.inf, 3, 0]), make.put([0, 1, 3]))


def histogram_refusals(make: Make) -> Iterator[Refusal]:
    x, finite = make(4), "must be finite"
    for bins in (0, -1):
        yield Refusal(call(x, bins), f"`bins` must be positive, got {bins}", ValueError)
    yield Refusal(call(x, True), "`bins` must be an int", TypeError)
    yield Refusal(call(x, 2.5), "`bins` must be an int", TypeError)
    yield Refusal(call(x, 4, range=(3, 0)), "must not end below its beginning")
    yield Refusal(call(x, 4, range=(np.nan, 0)), finite)
    yield Refusal(call(x, 4, range=(0, np.inf)), finite)
    yield Refusal(call(make.put([1, np.nan]), 4), finite)
    yield Refusal(call(x, 4, range=(1,)), "`range` must be 2 numbers, got 1", ValueError)
    yield Refusal(call(x, 4, range=(0, make(1))), "`range` must hold numbers", TypeError)
    for ends in (make(1), make(0), make(), make(2, 2)):
        yield Refusal(call(x, ends), "must have 1 dimension, and 2 elements or more")
    other = "float32" if make.dtype == np.float64 else "float64"
    yield Refusal(call(x, make(3, dtype=other)), "must have the dtype of `input`", TypeError)
    yield Refusal(call(x, make(3), range=(0, 1)), "`range` goes with a number", TypeError)
    yield Refusal(call(x, 4, weight=make(2)), r"`weight` must have shape \[4\]")
    wide = make(4, dtype=other)
    yield Refusal(call(x, 4, weight=wide), "`weight` must have the dtype of `input`", TypeError)
    yield Refusal(call(make(2, dtype="int64")), "expected float32 or float64 arrays", TypeError)
    yield Refusal(call(make(2, dtype="float16")), "expected float32 or float64 arrays", TypeError)


def in_boxes(points, bins, range, weight, density):
    """By comparing each point with each end."""
    m, d = points.shape
    if not isinstance(bins, (list, tuple)):
        bins = (bins,) * d
    ends, shape = [], []
    for i, given in enumerate(bins):
        if np.ndim(given) == 0:
            low, high = (points[:, i].min(), points[:, i].max()) if m else (0, 1)
            low, high = (low, high) if range is None else map(float, range[2 * i : 2 * i + 2])
            low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
            given = np.linspace(low, high, given + 1)
        ends.append(np.asarray(given, np.float64))
        shape.append(len(given) - 1)
    hist = np.zeros(shape)
    for k, point in enumerate(points):
        if all(e[0] <= x <= e[-1] for x, e in zip(point, ends, strict=True)):
            at = [min(np.sum(e <= x), len(e) - 1) - 1 for x, e in zip(point, ends, strict=True)]
            hist[tuple(at)] += 1 if weight is None else weight[k]
    if density:
        with np.errstate(invalid="ignore", divide="ignore"):
            hist = hist / hist.sum()
            for i, e in enumerate(ends):
                hist = hist / np.diff(e).reshape([-1 if j == i else 1 for j in np.arange(d)])
    return hist, tuple(ends)


def np_histogram(x, bins=100, range=None, weight=None, density=False):
    weight = None if weight is None else weight.reshape(-1)
    bins = (bins,) if np.ndim(bins) else bins
    hist, ends = in_boxes(x.reshape(-1, 1), bins, range, weight, density)
    return hist, ends[0]


def np_histogramdd(x, bins, range=None, weight=None, density=False):
    weight = None if weight is None else weight.reshape(-1)
    points = x.reshape(int(np.prod(x.shape[:-1])), x.shape[-1])
    return in_boxes(points, bins, range, weight, density)


def histogram_conventions(make: Make) -> Iterator[Convention]:
    inside = call(make.put([0, 1, 2, 3]), make.put([0, 1, 3]))
    yield Convention("the last interval takes in its end", inside, value=([1, 3], [0, 1, 3]))
    alike = call(make.put([5, 5]), 2)
    yield Convention("all alike", alike, value=([0, 2], [4.5, 5, 5.5]))
    nothing = call(make.put([]), 2, density=True)
    yield Convention("of nothing", nothing, value=([np.nan, np.nan], [0, 0.5, 1]))
    yield Convention(
        "each weight has the gradient of its bin",
        call(make.put([1, 0, 2]), 2, weight=make.put([1, 2, 3])),
        value=([2, 4], [0, 1, 2]),
        through=lambda out: out.hist[1],
        gradient=([0, 0, 0], [1, 0, 1]),
        departure="PyTorch has no gradient here",
    )
    yield Convention(
        "points at ends, which a density is divided by",
        call(make.put([0, 1, 2, 3]), make.put([0, 1, 3]), density=True),
        through=lambda out: out.hist[0],
        gradient=([0, 0, 0, 0], [0.25, -0.25, 0]),
        departure="PyTorch has no gradient here",
    )
    yield Convention(
        "a range that ends at 0",
        call(make.put([-1.5, -0.25]), 2, range=(-2, make.put(0.0))),
        through=lambda out: out.bin_edges,
        gradient=([0, 0], 1.5),
        departure="PyTorch has no gradient here",
    )


def histogramdd_samples(make: Make) -> Iterator[Sample]:
    yield call(make(5, 2), [2, 3])
    yield call(make(4, 3), (2, 1, 2), weight=make(4))
    yield call(make(3, 2, 2), 3, density=True)
    yield call(make(6, 2), [ends_near(make, -3, -0.4, 1.4, 2.9), ends_near(make, -3, 2.8)])
    yield call(make(6, 2), bins=(2, 2), range=(-2, make(low=2.05, high=2.2), -1.9, 3))
    yield call(make(6, 1), [3], (-2.6, 2), make(6, low=1), True)
    yield call(make(0, 2), [2, 1])
    yield edge(make.put([[2, 1], [2, 0]]), 2)  # the middle of a range, where two bins meet


def histogramdd_refusals(make: Make) -> Iterator[Refusal]:
    x = make(5, 2)
    yield Refusal(call(make(5, 6), [1, 1, 1, 1, 1]), "`bins` must be 6, one for each coordinate")
    yield Refusal(call(x, [make(2)]), "`bins` must be 2, one for each coordinate")
    yield Refusal(call(x, [3, 0]), "`bins` must be positive, got 0", ValueError)
    yield Refusal(call(make(5), [3]), "`input` must have at least 2 dimensions")
    yield Refusal(call(x), "`bins` must be given", TypeError)
    yield Refusal(call(x, [3, 2], range=[0, 3]), "`range` must be 4 numbers, got 2", ValueError)
    yield Refusal(call(x, 2, (0, 1, 1, 0)), "must not end below its beginning")
    yield Refusal(call(x, 2, (0, np.inf, 0, 1)), "must be finite")
    yield Refusal(call(x, [2, 2], weight=make(5, 2)), r"`weight` must have shape \[5\]")
    yield Refusal(call(x, [make(2), make()]), "must have 1 dimension")


def histogramdd_conventions(make: Make) -> Iterator[Convention]:
    points = call(make.put([[0, 1], [2, 2], [5, 0]]), [2, 1], (0, 2, 0, 2))
    yield Convention("outside in one", points, value=([[1], [1]], [0, 1, 2], [0, 2]))
    yield Convention(
        "each weight has the gradient of its box",
        call(make.put([[1], [0], [2]]), [2], weight=make.put([1, 2, 0])),
        through=lambda out: out.hist[1],
        gradient=([[0], [0], [0]], [1, 0, 1]),
        departure="PyTorch has no gradient here",
    )
    yield Convention(
        "a range that ends at 0",
        call(make.put([[-1.5], [-0.25]]), [2], (-2, make.put(0.0))),
        through=lambda out: out.bin_edges[0],
        gradient=([[0], [0]], 1.5),
        departure="PyTorch has no gradient here",
    )


def edges_departures(*, several: bool):
    def departures(make: Make) -> Iterator[Departure]:
        edges = make.put([0.0, 1.0, 2.0])
        yield Departure(
            "accepted",
            "edges have a name of their own, beside PyTorch's `bins` for counts and edges",
            call(make(3, 1), edges=[edges]) if several else call(make(3), edges=edges),
            r"edges=.*invalid combination of arguments",
        )

    return departures


OPS = [
    OpInfo(
        functx.histogram,
        histogram_samples,
        reference=np_histogram,
        refusals=histogram_refusals,
        conventions=histogram_conventions,
        tolerances=(SUMS,),
        departures=(edges_departures(several=False),),
    ),
    OpInfo(
        functx.histogramdd,
        histogramdd_samples,
        reference=np_histogramdd,
        refusals=histogramdd_refusals,
        conventions=histogramdd_conventions,
        tolerances=(SUMS,),
        departures=(edges_departures(several=True),),
    ),
]
