from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge


def bincount_samples(make: Make) -> Iterator[Sample]:
    few = lambda n: make.put(make.rng.permutation(np.arange(n) % 4))
    yield call(few(6))
    yield call(few(6), make(6, dtype="float32"))
    yield call(few(6), make(6, dtype="float64"), 2)
    yield call(few(5), weights=make(5, dtype="float16"), minlength=7)
    yield call(few(5), make(5, dtype="int32"), minlength=4)
    yield call(few(4), make.mask(4))
    yield call(few(6), size=3)
    yield call(few(6), make(6, dtype="float32"), size=5)
    yield call(few(6), size=2, minlength=6)
    yield call(make(0))
    yield call(make(0), minlength=3)
    yield call(make.put([100]))


def bincount_refusals(make: Make) -> Iterator[Refusal]:
    x = make.put([1, 0, 2], "int64")
    yield Refusal(call(x.reshape(1, 3)), "`input` must have 1 dimension, got i64")
    yield Refusal(call(x[0]), "`input` must have 1 dimension, got i64")
    yield Refusal(call(x - 1), "`input` must not be negative, got -1")
    shape = "`weights` must have the shape of `input`"
    yield Refusal(call(x, make(2, dtype="float32")), shape)
    yield Refusal(call(x, make(1, 3, dtype="float32")), shape)
    yield Refusal(call(x, make(3, dtype="complex64")), "`weights` must be real", TypeError)
    yield Refusal(call(x, minlength=-1), "`minlength` must not be negative, got -1", ValueError)
    yield Refusal(call(x, minlength=1.5), "`minlength` must be an int", TypeError)
    yield Refusal(call(x, minlength=True), "`minlength` must be an int", TypeError)
    yield Refusal(call(x, size=-1), "`size` must not be negative, got -1", ValueError)
    yield Refusal(call(make.mask(2)), "expected integer arrays", TypeError)
    yield Refusal(call(make(2, dtype="float32")), "expected integer arrays", TypeError)
    yield Refusal(call(3), "`input` must be an array, got 3", TypeError)


def np_bincount(x, weights=None, minlength=0, size=None):
    have = int(x.astype(int).max(initial=-1)) + 1 if size is None else size
    out = np.zeros(max(have, minlength), "int64" if weights is None else "float64")
    for i, n in enumerate(x.astype(int)):
        if n < len(out):
            out[n] += 1 if weights is None else weights[i]
    return out if weights is None or weights.dtype != np.float32 else out.astype("float32")


def bincount_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([1, 0, 1], "int64")
    yield Convention(
        "each weight has the gradient of its bin",
        call(x, make.put([1, 2, 3], "float64"), size=2),
        value=[2, 4],
        through=lambda out: out[1],
        gradient=[1, 0, 1],
        departure="PyTorch has no gradient here",
    )


def bincount_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "PyTorch drops the imaginary parts of weights",
        call(make.put([1, 1], "int64"), make.put([1, 2], "complex64")),
        r"c(64|128)",
    )
    yield Departure(
        "dtype",
        "sums of no weights are of their dtype too, for which PyTorch takes int64",
        call(make.put([], "int64"), make.put([], "float64"), 3),
        r"bincount\([iu]\d+\[0\]",
    )


def histc_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 4), 4)
    # In the middle of intervals, which halves reach exactly.
    yield call(make.put([-1.5, 0.5, 1.5, 2.9, 2.2, -2.5, -0.5, 0.5, -1.5]), min=-2, max=2)
    low, high = make(low=-3, high=-1), make(low=1, high=3)
    yield call(make.distinct(2, 3, 2), bins=5, min=low, max=high)
    # Where intervals meet, halves are rounded.
    least = 0.1 if jnp.finfo(make.dtype).bits > 16 else 0.15
    yield call(make.put([least, least + 0.2, 0.55, 0.55, 0.95]), 10, 0, 1)
    yield call(make.put([0.25, 0.5, 1, 0, 0.75]), 4)
    yield call(make.distinct(), 3)
    yield call(make(0, 2), 3)
    yield call(make(0), 2, 0, 1)
    yield call(make.put([2, 2]), 4)
    yield call(make.distinct(5), 3, 1, 1)
    yield edge(make.put([np.nan, np.inf, 1, -np.inf, 3, 0]), 3, 0, 3)


def histc_refusals(make: Make) -> Iterator[Refusal]:
    x, finite = make(3), "must be finite"
    yield Refusal(call(x, 0), "`bins` must be positive, got 0", ValueError)
    yield Refusal(call(x, -1), "`bins` must be positive, got -1", ValueError)
    yield Refusal(call(x, 2.5), "`bins` must be an int", TypeError)
    yield Refusal(call(x, True), "`bins` must be an int", TypeError)
    yield Refusal(call(x, 4, 3, 0), "`max` must not be less than `min`")
    yield Refusal(call(make.put([1, np.nan]), 4), finite)
    yield Refusal(call(make.put([1, np.inf]), 4), finite)
    yield Refusal(call(x, 4, np.nan, 2), finite)
    yield Refusal(call(x, 4, 0, np.inf), finite)
    yield Refusal(call(make(2, dtype="int64")), "expected floating arrays", TypeError)
    yield Refusal(call(make(2, dtype="complex64")), "expected floating arrays", TypeError)


def np_histc(x, bins=100, min=0, max=0):
    x = np.asarray(x, np.float64).reshape(-1)
    low, high = float(min), float(max)
    if low == high and x.size:
        low, high = x.min(), x.max()
    if low == high:
        low, high = low - 1, high + 1
    inside = x[(x >= low) & (x <= high)]
    place = np.minimum(np.floor((inside - low) * bins / (high - low)), bins - 1)
    return np.bincount(place.astype(int), minlength=bins).astype(np.float64)


def histc_conventions(make: Make) -> Iterator[Convention]:
    edges = call(make.put([0, 1, 2, 3]), 3, 0, 3)
    yield Convention("the last interval takes in its end", edges, value=[1, 1, 2])
    yield Convention("all alike", call(make.put([5, 5]), 4), value=[0, 0, 2, 0])
    halves = call(make.put([0.1, 0.3, 0.55, 0.95], "float16"), 10, 0, 1)
    counted = [0, 1, 0, 1, 0, 1, 0, 0, 0, 1]
    yield Convention("halves are rounded at each step", halves, value=counted)
    special = call(make.put([np.nan, np.inf, 1]), 2, 0, 2)
    yield Convention("NaN and infinities are outside", special, value=[0, 1])


def histc_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "value",
        "of so great a number neither 1 more nor 1 less is another: the range has no width",
        call(make.put(2.0**1022, "float64"), bins=5),
        r"histc\(f64\[\][-\d.]+e\+\d\d",
    )


OPS = [
    OpInfo(
        functx.bincount,
        bincount_samples,
        reference=np_bincount,
        refusals=bincount_refusals,
        conventions=bincount_conventions,
        departures=(bincount_departures,),
    ),
    OpInfo(
        functx.histc,
        histc_samples,
        reference=np_histc,
        refusals=histc_refusals,
        conventions=histc_conventions,
        departures=(histc_departures,),
    ),
]
