from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def number_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 2, 1)
    yield call(make(2, 3), 3)
    yield call(make(3), repeats=2, dim=-1, output_size=6)
    yield call(make(), 3)
    yield call(make(2, 3), 0, 0)
    yield call(make(0, 2), 2, 0)
    yield call(make.small(2, 1, 3, 2), 2, -2)
    yield edge(make.delicate(8), 2)


def counts_samples(make: Make) -> Iterator[Sample]:
    counts = lambda *values: make.put(make.rng.permutation(values), "int64")
    yield call(make(3, 2), counts(2, 0, 1), 0, output_size=3)
    yield call(make(2, 2), counts(1, 2, 3, 0))
    yield call(make(2, 3), counts(2, 1, 0), dim=-1, output_size=3)
    yield call(make(2, 3), make.put(2, "int32"), 1)
    yield call(make(3), make.put([2], "int32"), output_size=6)
    yield call(make(), make.put([3], "int64"))
    yield call(make(0, 2), make.put(np.zeros(0), "int64"), 0)
    yield call(make.small(2, 1, 3, 2), counts(2, 0, 1), -2, output_size=3)
    yield edge(make.delicate(8), counts(2, 1, 0, 1, 1, 1, 1, 1))
    yield edge(make.delicate(8, 2), counts(2, 1, 0, 3, 1, 1, 1, 0), 0)


def refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, -1), r"`repeats` must not be negative, got -1")
    yield Refusal(call(x, True), r"`repeats` must be an int", TypeError)
    yield Refusal(call(x, 1.5), r"`repeats` must be an int", TypeError)
    yield Refusal(call(x, 2, 0, output_size=5), r"`output_size` must be 4, got 5")
    yield Refusal(call(x, 0, 0, output_size=False), r"`output_size` must be 0, got False")
    yield Refusal(call(x, 2, 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(), 2, 0), r"`dim` must be left out for \S+\[\], got 0", IndexError)


def counts_refusals(make: Make) -> Iterator[Refusal]:
    x, counts = make(2, 3), lambda *values, dtype="int64": make.put(values, dtype)
    yield Refusal(call(x, counts(1, -1), 0), r"`repeats` must not be negative, got -1")
    yield Refusal(call(x, counts(1, 2, 3), 0), r"`repeats` must have shape \[2\], got i64\[3\]")
    yield Refusal(call(x, counts(1, 2, dtype="int16"), 0), r"must be int32 or int64", TypeError)
    yield Refusal(call(x, counts(1, 2), 0, output_size=4), r"`output_size` must be 3, got 4")
    none = call(make(0, 2), counts(3), 0, output_size=3)
    yield Refusal(none, r"`output_size` must be 0 for no elements, got 3")
    yield Refusal(
        call(make.put([[1]], "int64")), r"`repeats` must have 1 dimension, got i64\[1,1\]"
    )
    yield Refusal(
        call(make.put([1], "float32")), r"must be int32 or int64, got f32\[1\]", TypeError
    )


def conventions(make: Make) -> Iterator[Convention]:
    yield Convention("the gradient is the sum", call(make.put([1, 2]), 3), gradient=[3, 3])


def counts_conventions(make: Make) -> Iterator[Convention]:
    counts = make.put([2, 0, 1], "int64")
    three = make.put([1, 2, 3])
    at = call(three, counts, output_size=3)
    yield Convention("the gradient counts", at, value=[1, 1, 3], gradient=[2, 0, 1])
    yield Convention("positions", call(counts, output_size=3), value=[0, 0, 2])
    narrow = call(make.put([0, 1, 2], "int32"), output_size=3)
    yield Convention(
        "positions in their dtype", narrow, value=[1, 2, 2], holds=lambda y: y.dtype == "int32"
    )
    yield Convention(
        "what is missing reads NaN",
        call(three, counts, output_size=4),
        value=[1, 1, 3, np.nan],
        gradient=[2, 0, 1],
        departure="PyTorch refuses",
    )
    rest = call(make.put([np.nan, 1]), make.put([0, 2], "int64"), output_size=2)
    yield Convention("what is not read", rest, value=[1, 1], gradient=[0, 2])


def np_repeat_interleave(x, repeats, dim=None, output_size=None):
    return np.repeat(x, np.ravel(repeats), dim)


OPS = [
    OpInfo(
        functx.repeat_interleave,
        number_samples,
        reference=np_repeat_interleave,
        refusals=refusals,
        conventions=conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.repeat_interleave,
        counts_samples,
        reference=np_repeat_interleave,
        variant="counts",
        refusals=counts_refusals,
        conventions=counts_conventions,
        tolerances=(EXACT,),
    ),
]
