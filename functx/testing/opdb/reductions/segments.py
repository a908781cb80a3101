from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS


REDUCTIONS = ("sum", "mean", "max", "min", "prod")


def samples(make: Make) -> Iterator[Sample]:
    cut = lambda *lengths, dtype="int64": make.put(lengths, dtype)
    for reduce in REDUCTIONS:
        x = make.distinct(6)
        yield call(x, reduce, lengths=cut(*make.rng.permutation([3, 1, 2])))
        number = make(low=1, high=1.5)
        yield call(make.distinct(5, 2), reduce, lengths=cut(2, 0, 3), initial=number)
        two = make.put(make.rng.permutation([[0, 1, 3], [0, 2, 3]]), "int64")
        yield call(make.distinct(2, 3, 2), reduce, offsets=two, axis=-2)
        three = make.put([[[1, 2]] * 2] * 2, "int32")
        yield call(make.distinct(2, 2, 3), reduce, lengths=three, axis=2, initial=0.5)
        yield call(make.distinct(5), reduce, lengths=cut(2, 2), unsafe=True)
        yield call(make.distinct(5), reduce, offsets=cut(1, 2, 4, dtype="int32"))
        yield call(make(2, 0), reduce, lengths=cut(2))
        yield call(make(0, 2), reduce, lengths=cut(0, 0), initial=2)
        yield call(make(0), reduce, offsets=cut(0))
        yield edge(make.delicate(16), reduce, lengths=cut(1, 1, 1, 1, 0, 12))
    first = make.put([0, 2, 4], "int64")
    yield call(make.distinct(4), "sum", lengths=cut(9), offsets=first)
    yield call(data=make.small(4), reduce="max", lengths=cut(2, 2))


def refusals(make: Make) -> Iterator[Refusal]:
    x = make(4)
    cut = lambda *lengths, dtype="int64": make.put(lengths, dtype)
    yield Refusal(call(x, "amax", lengths=cut(4)), "`reduce` must be 'sum', .*, got 'amax'")
    scalar = call(make(), "sum", lengths=cut(1))
    yield Refusal(scalar, r"`data` must have at least one dimension, got .*\[\]")
    yield Refusal(call(x, "sum"), "`lengths` or `offsets` must be given")
    yield Refusal(call(x, "sum", lengths=cut(2, 1)), "`lengths` must add up to 4, got 3")
    yield Refusal(call(x, "sum", lengths=cut(2, 3)), "`lengths` must add up to 4, got 5")
    yield Refusal(call(x, "sum", lengths=cut(5, -1)), "`lengths` must not be negative, got -1")
    yield Refusal(call(x, "sum", offsets=cut(0, 3, 2, 4)), "`offsets` must not decrease, .* of -1")
    outside = r"`offsets` must lie in \[0, 4\], got 5"
    yield Refusal(call(x, "sum", offsets=cut(0, 5)), outside)
    none = call(x, "sum", offsets=make.put([], "int64"))
    yield Refusal(none, "`offsets` must have at least 1 element")
    narrow = call(x, "sum", lengths=cut(4, dtype="int8"))
    yield Refusal(narrow, "`lengths` must be int32 or int64, got i8", TypeError)
    floating = call(x, "sum", lengths=make.put([4.0], "float32"))
    yield Refusal(floating, "`lengths` must be int32 or int64, got f32", TypeError)
    shape = r"`lengths` must have the shape \[m\] for axis=0 of "
    yield Refusal(call(x, "sum", lengths=make.put(4, "int64")), shape)
    yield Refusal(call(x, "sum", lengths=make.put([[4]], "int64")), shape)
    rows = call(make(2, 2), "sum", lengths=make.put([[2]], "int64"), axis=1)
    yield Refusal(rows, r"`lengths` must have the shape \[2, m\] for axis=1")
    far = call(x, "sum", lengths=cut(4), axis=1)
    yield Refusal(far, r"`axis` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(x, "sum", lengths=cut(4), initial=1j), "`initial` must", TypeError)
    yield Refusal(call(1.0, "sum", lengths=cut(1)), "`data` must be an array", TypeError)
    whole = jnp.ones(4, "int32")
    yield Refusal(call(whole, "sum", lengths=cut(4)), "expected floating arrays", TypeError)


def np_segments(
    data: Any,
    reduce: str,
    lengths: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    data = np.asarray(data)
    if offsets is None:
        lengths = np.asarray(lengths)
        zeros = np.zeros((*lengths.shape[:-1], 1), int)
        offsets = np.concatenate([zeros, np.cumsum(lengths, -1)], -1)
    offsets = np.asarray(offsets)
    axis = axis % data.ndim
    shape = (*data.shape[:axis], offsets.shape[-1] - 1, *data.shape[axis + 1 :])
    out = np.zeros(shape, np.float64)
    neutral = {"sum": 0, "mean": 0, "prod": 1, "max": -np.inf, "min": np.inf}[reduce]
    start = np.float64(neutral if initial is None else initial)
    for row in np.ndindex(*data.shape[:axis]):
        for i in range(shape[axis]):
            part = data[row][offsets[row][i] : offsets[row][i + 1]].astype(np.float64)
            if reduce == "mean":
                total = start + part.sum(0)
                empty = np.nan if initial is None else start
                out[(*row, i)] = total / len(part) if len(part) else empty
            else:
                combine = {"sum": np.add, "prod": np.multiply, "max": np.maximum}
                combine = combine.get(reduce, np.minimum)
                out[(*row, i)] = combine.reduce(part, 0, initial=start)
    return out


def conventions(make: Make) -> Iterator[Convention]:
    cut = lambda *lengths: make.put(lengths, "int64")
    for reduce, tied in (("max", [1, 2, 2, 3]), ("min", [4, 2, 2, 3])):
        at = call(make.put(tied), reduce, lengths=cut(3, 1))
        yield Convention(f"{reduce}: ties share", at, gradient=[0, 0.5, 0.5, 1])
        at = call(make.put(tied), reduce, lengths=cut(3, 1), initial=make.put(2.0))
        alone = [0, 0.5, 0.5, 1] if reduce == "max" else [0, 0.5, 0.5, 0]
        taken = int(reduce == "min")
        reason = "PyTorch's initial value is a number"
        what = f"{reduce}: a tie with `initial` is the elements'"
        yield Convention(what, at, gradient=(alone, taken), departure=reason)
        at = call(make.put([0, 0, 0, 1]), reduce, lengths=cut(3, 1), initial=make.put(0.0))
        alone = [1 / 3] * 3 + [1 if reduce == "max" else 0]
        what = f"{reduce}: a tie with `initial` at 0"
        yield Convention(what, at, gradient=(alone, taken), departure=reason)
        at = call(make.put([1, np.nan, 2, np.nan]), reduce, lengths=cut(3, 1))
        nan = [np.nan, np.nan]
        yield Convention(f"{reduce}: NaN", at, value=nan, gradient=[0, 1, 0, 1])
        at = call(make.put([np.inf, -np.inf, np.inf, -np.inf]), reduce, lengths=cut(2, 2))
        where = [1, 0, 1, 0] if reduce == "max" else [0, 1, 0, 1]
        yield Convention(f"{reduce}: infinities", at, gradient=where)
    empty = lambda reduce: call(make.put([5.0]), reduce, lengths=cut(0, 1))
    for reduce, value in zip(REDUCTIONS, (0, np.nan, -np.inf, np.inf, 1), strict=True):
        yield Convention(f"{reduce}: an empty one", empty(reduce), value=[value, 5], gradient=[1])
    at = call(make.put([0, 2, 3, 0, 0, 4]), "prod", lengths=cut(3, 3))
    yield Convention("prod: zeros", at, value=[0, 0], gradient=[6, 0, 0, 0, 0, 0])
    at = call(make.put([0.0, 3]), "prod", lengths=cut(2), initial=make.put(2.0))
    second = [[0, 2, 3], [2, 0, 0], [3, 0, 0]]
    yield Convention(
        "prod: at zero, to second order",
        at,
        gradient=([6, 0], 0),
        hessian=second,
        departure="PyTorch has no second derivative, and its initial value is a number",
    )
    at = call(make.put([1.0, 2, 3]), "mean", lengths=cut(1, 2, 0), initial=2)
    yield Convention("mean: `initial`", at, value=[3, 3.5, 2], gradient=[1, 0.5, 0.5])
    at = call(make.put([1.0, 2, np.nan]), "sum", lengths=cut(1, 1), unsafe=True)
    yield Convention("what is in no segment", at, value=[1, 2], gradient=[1, 1, 0])


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "`unsafe` looks at no length, in PyTorch at some",
        call(make(5), "sum", lengths=make.put([-2, -3], "int64"), unsafe=True),
        "unsafe=True.*Expected segment_length >= 0",
    )


OPS = [
    OpInfo(
        functx.segment_reduce,
        samples,
        np_segments,
        refusals,
        conventions=conventions,
        tolerances=(SUMS,),
        departures=(departures,),
        kinked=True,
    )
]
