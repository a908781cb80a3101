from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS


def starts(make: Make) -> Any:
    """Where four bags begin among 6 rows."""
    return make.put(np.append(0, np.sort(make.rng.integers(0, 7, 3))), "int64")


def samples(make: Make) -> Iterator[Sample]:
    rows, offsets = make.index(4, 6), starts(make)
    yield call(make.index(4, 2, 3), make(4, 2))
    yield call(rows, make(4, 2), offsets)
    yield call(rows, make(4, 2), offsets, mode="sum", include_last_offset=True)
    factors = make(6)
    yield call(rows, make(4, 2), offsets, mode="sum", per_sample_weights=factors)
    yield call(make.index(4, 2, 3), make(4, 2), mode="sum", per_sample_weights=make(2, 3))
    yield call(make.put([[0, 1], [1, 1]], "int64"), make(4, 2), padding_idx=1)
    yield call(make.put([[0, 1], [3, 2]], "int64"), make(4, 2), mode="sum", padding_idx=-1)
    yield call(make.put([[0, 2], [3, 1]], "int32"), make(4, 2), None, 100.0, 1.0, True)
    yield edge(make.put([[0, 2, 3]], "int64"), make(4, 2), max_norm=0.5, norm_type=1.0)
    yield edge(make(4, 2), make.index(4, 1, 2))
    yield call(make.index(4, 0), make(4, 2), make.put([0, 0], "int64"))
    # Long bags are summed in another way.
    yield call(make.index(4, 1, 9), make(4, 2))
    yield call(make.index(4, 17), make(4, 2), make.put([0, 8], "int64"), mode="sum", padding_idx=1)


def maximum_samples(make: Make) -> Iterator[Sample]:
    rows, offsets = make.put([3, 1, 0, 2, 1, 0], "int64"), starts(make)
    yield call(make.put([[0, 1, 2], [3, 1, 0]], "int64"), make.distinct(4, 2), mode="max")
    yield call(rows, make.distinct(4, 2), offsets, mode="max")
    yield call(rows, make.distinct(4, 2), offsets, mode="max", include_last_offset=True)
    yield call(make.put([[0, 1], [1, 1]], "int64"), make.distinct(4, 2), mode="max", padding_idx=1)
    yield call(make.index(4, 0), make(4, 2), make.put([0], "int64"), mode="max")


def refusals(make: Make) -> Iterator[Refusal]:
    rows, table, two = make.index(4, 3), make(4, 2), make.index(4, 2, 2)
    start = make.put([0, 1], "int64")
    yield Refusal(call(two + 4, table), r"`input` must lie in \[0, 3\]", IndexError)
    yield Refusal(call(make(2, 2), table), "`input` must hold integers", TypeError)
    yield Refusal(call(two, make(4)), "`weight` must have 2 dimensions")
    yield Refusal(call(two, table, mode="min"), "`mode` must be 'mean', 'sum' or 'max'", ValueError)
    for x in (make.index(4), make.index(4, 2, 2, 2)):
        yield Refusal(call(x, table), "`input` must have 1 or 2 dimensions", ValueError)
    for at in (call(rows, table), call(two, table, start)):
        yield Refusal(at, "`offsets` must be given for an input of 1 dimension", ValueError)
    for offsets in (start[:, None], make(2)):
        yield Refusal(call(rows, table, offsets), "`offsets` must be integers of 1 dimension")
    yield Refusal(call(rows, table, start + 1), "`offsets` must begin with 0, got 1")
    late = make.put([0, 4], "int64")
    yield Refusal(call(rows, table, late), r"`offsets` must lie in \[0, 3\], got 4")
    nothing = call(rows, table, start[:0], include_last_offset=True)
    yield Refusal(nothing, "`offsets` must hold where the last bag ends")
    at = call(two, table, mode="max", scale_grad_by_freq=True)
    yield Refusal(at, "`scale_grad_by_freq` is for the modes 'mean' and 'sum'")
    at = call(two, table, per_sample_weights=make(2, 2))
    yield Refusal(at, "`per_sample_weights` is for the mode 'sum'", NotImplementedError)
    for factors in (make(2), make(2, 2, dtype="float64")):
        at = call(two, table, mode="sum", per_sample_weights=factors)
        yield Refusal(at, "`per_sample_weights` must have the shape of `input`", ValueError)
    yield Refusal(call(two, table, padding_idx=4), "`padding_idx` must lie in", IndexError)
    yield Refusal(call(two, table, sparse=True), "`sparse` gradients do not exist", ValueError)


def np_bag(
    index: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: Any = None,
) -> Any:
    if index.dtype.kind == "f":
        index, weight = weight, index
    if max_norm is not None:
        norms = np.linalg.norm(weight, norm_type, -1, keepdims=True)
        weight = np.where(norms > max_norm, weight * (max_norm / (norms + 1e-7)), weight)
    if offsets is None:
        bounds = np.arange(len(index) + 1) * index.shape[1]
    else:
        bounds = offsets if include_last_offset else np.append(offsets, index.size)
    factors = np.ones(index.size) if per_sample_weights is None else per_sample_weights.ravel()
    out = np.zeros((len(bounds) - 1, weight.shape[1]), weight.dtype)
    for i, (start, stop) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        rows = np.arange(start, stop)
        if padding_idx is not None:
            rows = rows[index.ravel()[rows] != padding_idx % len(weight)]
        if len(rows):
            bag = weight[index.ravel()[rows]] * factors[rows, None]
            out[i] = {"mean": np.mean, "sum": np.sum, "max": np.max}[mode](bag, axis=0)
    return out


def conventions(make: Make) -> Iterator[Convention]:
    table = make.put(np.ones((2, 2)))
    rows = make.put([[0, 1], [1, 1]], "int64")
    twice = call(rows, table, mode="sum")
    yield Convention("rows read twice", twice, gradient=[[1, 1], [3, 3]])
    padded = call(rows, table, padding_idx=-1)
    yield Convention("no gradient for padding", padded, gradient=[[1, 1], [0, 0]])
    often = call(rows, table, scale_grad_by_freq=True, mode="sum")
    yield Convention("by frequency", often, gradient=[[1, 1], [1, 1]])
    empty = make.put([0, 0], "int64")
    yield Convention("an empty bag", call(rows[0], table, empty), value=[[0, 0], [1, 1]])
    zero = call(rows[:1], table, mode="sum", per_sample_weights=make.put([[0.0, 1.0]]))
    gradient = [[0, 0], [1, 1]], [[2, 2]]
    yield Convention("a factor of 0", zero, gradient=gradient)


def maximum_conventions(make: Make) -> Iterator[Convention]:
    table, rows = make.put([[1.0, 2.0], [1.0, 0.0]]), make.put([[1, 0]], "int64")
    gradient = [[0, 1], [1, 0]]
    yield Convention("the first of equals", call(rows, table, mode="max"), gradient=gradient)
    zeros = call(rows, make.put([[0.0], [-0.0]]), mode="max")
    yield Convention("zeros of both signs", zeros, value=[[-0.0]], gradient=[[0], [1]])
    nan = call(rows, make.put([[np.nan, 1.0], [1.0, 2.0]]), mode="max")
    yield Convention("NaN", nan, value=[[np.nan, 2]], departure=OVERLOOKED)


OVERLOOKED = "PyTorch overlooks a NaN that is not the first of its bag"


def maximum_departures(make: Make) -> Iterator[Departure]:
    rows = make.put([[0, 1]], "int64")
    beside_nan = call(rows, make.put([[1.0], [np.nan]]), mode="max")
    yield Departure("gradient", OVERLOOKED, beside_nan, r"\bnan\b.*mode='max'")


def departures(make: Make) -> Iterator[Departure]:
    table = make(2, 2)
    yield Departure(
        "accepted",
        "row numbers may have any integer dtype",
        call(make.put([[0, 1]], "uint8"), table),
        "Expected tensor for argument #1 'indices'",
    )
    yield Departure(
        "accepted",
        "rows of no numbers are empty bags, as between equal offsets",
        call(make.index(2, 2, 0), table),
        "step must be nonzero",
    )
    yield Departure(
        "gradient",
        "PyTorch divides by how often another row is read, where rows are read unequally often",
        call(make.put([[0, 1], [0, 3]], "int64"), make(4, 2), scale_grad_by_freq=True),
        "scale_grad_by_freq=True",
    )
    sparse = call(make.index(2, 2, 2), table, sparse=True)
    yield Departure(
        "refused", "gradients are dense arrays, always", sparse, "`sparse` gradients do not exist"
    )


OPS = [
    OpInfo(
        F.embedding_bag,
        samples,
        np_bag,
        refusals,
        tolerances=(SUMS,),
        conventions=conventions,
        departures=(departures,),
        only_on={"sparse": frozenset()},
        kinked=True,
    ),
    OpInfo(
        F.embedding_bag,
        maximum_samples,
        np_bag,
        variant="maximum",
        conventions=maximum_conventions,
        departures=(maximum_departures,),
        only_on={"sparse": frozenset()},
    ),
]
