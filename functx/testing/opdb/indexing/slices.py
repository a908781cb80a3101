from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .written import written_conventions


def some_of(make: Make, size: int, count: int):
    """Positions of which no two coincide."""
    return make.put(make.rng.permutation(size)[:count], "int64")


def index_fill_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1, make.index(3, 2), make())
    yield call(make(3, 2, 2), -3, make.put([-1, 0], "int64"), 1)
    yield call(make(3), dim=0, index=make.index(3), value=make())
    yield call(make(), 0, make.put([-1], "int64"), make())
    yield call(make(2, 3), 1, make.index(3, 0), 1)
    yield call(make(2, 3), 0, make.put([1, 1], "int64"), 0)
    yield call(make.small(2, 1, 3, 2), -2, make.put([2, 0], "int64"), make.small())
    yield edge(make.delicate(2, 8), 0, make.put([1], "int64"), make.delicate())


def index_fill_refusals(make: Make) -> Iterator[Refusal]:
    x, index = make(2, 3), make.index(3, 2)
    for outside in (3, -4):
        message = rf"`index` must lie in \[-3, 2\], got {outside}"
        yield Refusal(call(x, 1, make.put([outside], "int64"), 1), message, IndexError)
    yield Refusal(call(x, 2, index, 1), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(x, 1, make.index(3, 1, 1), 1), "must be a vector", IndexError)
    yield Refusal(call(x, 1, make.mask(2), 1), "int32 or int64", TypeError)
    yield Refusal(call(x, 1, index, make(1)), "`value` must be a number or a 0-d array")
    floats = make(3, dtype="float32")
    yield Refusal(call(floats, 0, index, 1j), "`value` must be real", TypeError)
    yield Refusal(call(make(3, dtype="int8"), 0, index, 300), "`value` must fit int8, got 300")
    yield Refusal(call(make(3, dtype="float16"), 0, index, 1e6), "`value` must fit float16")


def np_index_fill(x, dim, index, value):
    out = np.atleast_1d(np.array(x))
    np.moveaxis(out, dim, 0)[np.atleast_1d(index)] = np.asarray(value).astype(x.dtype)
    return out.reshape(x.shape)


def index_fill_conventions(make: Make) -> Iterator[Convention]:
    x, twice = make.put([np.nan, np.inf, 1]), make.put([0, 1, 1], "int64")
    yield Convention(
        "what is covered has gradient 0, the value that of all its places",
        call(x, 0, twice, make.put(3)),
        value=[3, 3, 1],
        gradient=([0, 0, 1], 2),
    )
    for outside in (2, -3):
        yield Convention(
            f"{outside} names nothing in a compiled program",
            call(make.put([1, 2]), 0, make.put([outside], "int64"), make.put(9)),
            value=[1, 2],
            gradient=([1, 1], 0),
            departure="PyTorch refuses",
        )


def index_copy_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1, some_of(make, 3, 2), make(2, 2))
    yield call(make(3, 2, 2), -3, some_of(make, 3, 2), make(2, 2, 2))
    yield call(make(4), dim=0, index=some_of(make, 4, 4), source=make(4))
    yield call(make(3, 2), 0, make.put([1, 1], "int64"), make(2, 2))
    yield call(make(), 0, make.put([0], "int64"), make())
    yield call(make(), 0, make.put(0, "int64"), make(1))
    yield call(make(3), 0, make.put(2, "int64"), make())
    yield call(make(2, 3), 1, make.index(3, 0), make(2, 0))
    yield call(make(2, 0), 0, make.index(2, 1), make(1, 0))
    yield call(make.small(2, 1, 3, 2), -2, some_of(make, 3, 2), make.small(2, 1, 2, 2))
    yield edge(make.delicate(2, 8), 0, make.put([1], "int64"), make.delicate(1, 8))


def index_copy_refusals(make: Make) -> Iterator[Refusal]:
    for outside in (3, -1):
        yield Refusal(
            call(make(3), 0, make.put([outside], "int64"), make(1)),
            rf"`index` must lie in \[0, 2\], got {outside}",
            IndexError,
        )
    x, index = make(3, 2), make.index(3, 2)
    yield Refusal(call(x, 0, index, make(2)), r"`source` must have shape \[2, 2\]")
    yield Refusal(call(x, 0, index, make(1, 2)), r"`source` must have shape \[2, 2\]")
    yield Refusal(call(x, 0, index, make(2, 1)), r"`source` must have shape \[2, 2\]")
    yield Refusal(call(x, 0, make.index(3, 2, 1), make(2, 2)), "must be a vector", IndexError)
    yield Refusal(call(x, 0, index, make(2, 2, dtype="float16")), "dtype of `input`", TypeError)
    yield Refusal(call(x, 0, make.mask(2), make(2, 2)), "int32 or int64", TypeError)
    yield Refusal(call(x, 2, index, make(2, 2)), "`dim` must lie in", IndexError)


def np_index_copy(x, dim, index, source):
    out = np.atleast_1d(np.array(x))
    moved = np.moveaxis(out, dim, 0)
    for i, row in zip(
        np.atleast_1d(index), np.moveaxis(np.atleast_1d(source), dim, 0), strict=True
    ):
        moved[i] = row
    return out.reshape(x.shape)


def index_copy_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "of several slices written to one place, the one that stays has the gradient",
        call(make.put([1, 2]), 0, make.put([1, 1], "int64"), make.put([5, 6])),
        r"of array 1: \(?-?0(\.0|j)?[-+0j)]* at",
    )


OPS = [
    OpInfo(
        functx.index_fill,
        index_fill_samples,
        reference=np_index_fill,
        refusals=index_fill_refusals,
        conventions=index_fill_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.index_copy,
        index_copy_samples,
        reference=np_index_copy,
        refusals=index_copy_refusals,
        conventions=written_conventions,
        departures=(index_copy_departures,),
        tolerances=(EXACT,),
    ),
]
