from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def gather_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 4), 1, make.index(4, 2, 5))
    yield call(make(4, 3), -2, make.index(4, 2, 3))
    yield call(make(5), 0, make.index(5, 3, dtype="int32"))
    yield call(make(), 0, make.put([0, 0], "int64"))
    yield call(make(), -1, make.put(0, "int64"))
    yield call(make(3), dim=0, index=make.index(3))
    yield call(make(3, 2), 0, make.put(np.zeros((0, 2)), "int64"))
    yield call(make(3, 2), 1, make.put(np.zeros(0), "uint8"))
    yield call(make.small(2, 1, 3, 2), -2, make.index(3, 2, 1, 4, 1))
    yield edge(make.delicate(8), 0, make.put(np.arange(8)[::-1], "int64"))


def out_of_range(make: Make) -> Iterator[Refusal]:
    for outside in (3, -1):
        yield Refusal(
            call(make(2, 3), 1, make.put([[0], [outside]], "int64")),
            rf"`index` must lie in \[0, 2\], got {outside}",
            IndexError,
        )


def gather_refusals(make: Make) -> Iterator[Refusal]:
    yield from out_of_range(make)
    x = make(2, 3)
    yield Refusal(
        call(x, 2, make.index(2, 2, 3)), r"`dim` must lie in \[-2, 1\], got 2", IndexError
    )
    yield Refusal(call(x, 0, make.index(2, 2)), "as many dimensions as `input`")
    yield Refusal(call(x, 1, make.index(3, 3, 1)), "no larger than `input` except in dimension 1")
    yield Refusal(call(x, 0, make.index(2, 1, 1, dtype="int16")), "int32 or int64", TypeError)
    yield Refusal(call(x, 0, make(1, 1, low=0, high=1)), "int32 or int64", TypeError)
    sparse = call(x, 0, make.index(2, 1, 1), sparse_grad=True)
    yield Refusal(sparse, "`sparse_grad` does not exist", ValueError)


def gather_departures(make: Make) -> Iterator[Departure]:
    sparse = call(make(3), 0, make.index(3, 2), sparse_grad=True)
    yield Departure(
        "refused", "gradients are dense arrays, always", sparse, "`sparse_grad` does not exist"
    )


def np_gather(x, dim, index, sparse_grad=False):
    if index.size == 0:
        return np.zeros(index.shape, x.dtype)
    line, at = np.atleast_1d(x), np.atleast_1d(index)
    out = np.empty(at.shape, x.dtype)
    for where in np.ndindex(at.shape):
        source = list(where)
        source[dim] = at[where]
        out[where] = line[tuple(source)]
    return out.reshape(index.shape)


def index_select_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 4), 1, make.index(4, 5))
    yield call(make(3, 2, 2), -3, make.index(3, 2, dtype="int32"))
    yield call(make(3, 2), 0, make.index(3))
    yield call(make(), 0, make.put([0], "int64"))
    yield call(make(2, 3), dim=1, index=make.put([], "int64"))
    yield call(make.small(2, 1, 3, 2), -2, make.index(3, 4))
    yield edge(make.delicate(2, 8), 0, make.index(2, 1))


def index_select_refusals(make: Make) -> Iterator[Refusal]:
    for outside in (3, -1):
        yield Refusal(
            call(make(2, 3), 1, make.put([0, outside], "int64")),
            rf"`index` must lie in \[0, 2\], got {outside}",
            IndexError,
        )
    yield Refusal(call(make(2, 3), 1, make.index(3, 1, 1)), "must be a vector", IndexError)
    yield Refusal(call(make(), 0, make.put([0, 0], "int64")), "must have one element")
    yield Refusal(call(make(3), 0, make.index(3, 2, dtype="int8")), "int32 or int64", TypeError)
    yield Refusal(call(make(3), 1, make.index(3, 2)), "`dim` must lie in", IndexError)


def np_index_select(x, dim, index):
    if x.ndim == 0:
        return x
    return np.take(x, np.atleast_1d(index), axis=dim)


def take_along_dim_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 4), make.index(4, 3, 2), 1)
    yield call(make(3, 1), make.index(3, 1, 4), -2)
    yield call(make(2, 3), make.put([[-1, 0], [2, -3]], "int64"), dim=1)
    yield call(make(2, 3), make.index(6, 2, 2))
    yield call(make(), make.put([0, -1], "int64"))
    yield call(make(2, 3), make.put(np.zeros((2, 0)), "int64"), 1)
    yield call(make.small(2, 1, 3, 2), make.index(3, 1, 2, 4, 1), -2)
    yield edge(make.delicate(8), make.put(np.arange(8)[::-1], "int64"), 0)


def take_along_dim_refusals(make: Make) -> Iterator[Refusal]:
    for outside in (3, -4):
        yield Refusal(
            call(make(1, 3), make.put([[outside]], "int64"), 1),
            rf"`indices` must lie in \[-3, 2\], got {outside}",
            IndexError,
        )
    yield Refusal(call(make(2, 3), make.index(3, 2), 1), "as many dimensions as `input`")
    yield Refusal(call(make(), make.put(0, "int64"), 0), "`dim` must be None", IndexError)
    yield Refusal(call(make(2), make(2, low=0, high=1), 0), "int32 or int64", TypeError)
    yield Refusal(call(make(2, 3), make.index(3, 3, 1), 1), "shapes do not fit.*`indices` i")


def np_take_along_dim(x, indices, dim=None):
    if dim is None:
        return x.ravel()[indices.ravel()]
    last = lambda a: np.moveaxis(a, dim, -1)
    shape = np.broadcast_shapes(last(x).shape[:-1], last(indices).shape[:-1])
    spread = lambda a: np.broadcast_to(last(a), (*shape, a.shape[dim]))
    return np.moveaxis(np.take_along_axis(spread(x), spread(indices), -1), -1, dim)


def outside_reads(along: Callable[..., Sample]):
    def conventions(make: Make) -> Iterator[Convention]:
        twice = along(make.put([5, 6]), make.put([1, 1], "int64"))
        yield Convention("read twice, added twice", twice, gradient=[0, 2])
        for outside in (2, -3):
            index = make.put([outside, 1], "int64")
            yield Convention(
                f"{outside} reads NaN in a compiled program",
                along(make.put([1, 2]), index),
                value=[np.nan, 2],
                through=lambda y: y[1],
                gradient=[0, 1],
                departure="PyTorch refuses",
            )

    return conventions


def take_along_dim_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "PyTorch takes positions outside modulo n: a mistake goes unseen",
        call(make(2, 3), make.put([[3], [0]], "int64"), 1),
        r"must lie in \[-",
    )
    yield Departure(
        "accepted",
        "negative positions count from the end without `dim` too",
        call(make(2, 3), make.put([-1], "int64")),
        r"index -\d+ is out of bounds",
    )


def after_dim(x: Any, index: Any) -> Sample:
    return call(x, 0, index)


def before_dim(x: Any, index: Any) -> Sample:
    return call(x, index, 0)


OPS = [
    OpInfo(
        functx.gather,
        gather_samples,
        reference=np_gather,
        refusals=gather_refusals,
        departures=(gather_departures,),
        only_on={"sparse_grad": frozenset()},
        conventions=outside_reads(after_dim),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.index_select,
        index_select_samples,
        reference=np_index_select,
        refusals=index_select_refusals,
        conventions=outside_reads(after_dim),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.take_along_dim,
        take_along_dim_samples,
        reference=np_take_along_dim,
        refusals=take_along_dim_refusals,
        conventions=outside_reads(before_dim),
        departures=(take_along_dim_departures,),
        tolerances=(EXACT,),
    ),
]
