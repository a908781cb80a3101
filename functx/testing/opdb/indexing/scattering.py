from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, FEW_TERMS

from .sources import source_refusals, terms
from .written import dropped_outside, written_conventions


def once(make: Make, dim: int, size: int, *shape: int):
    """Positions along `dim` of which no two coincide."""
    keys = make.rng.random([size if d == dim else n for d, n in enumerate(shape)])
    return make.put(np.argsort(keys, axis=dim)[tuple(map(slice, shape))], "int64")


def first_row(make: Make):
    """Positions along dimension 0 of 8 columns."""
    return make.put(np.zeros((1, 8)), "int64")


def scatter_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 4), 1, once(make, 1, 4, 2, 3), make(2, 3))
    yield call(make(3, 2), -2, make.index(3, 4, 1), make(4, 2))
    yield call(make(4), 0, make.index(4, 6), make(6))
    yield call(make(2, 3), 1, make.index(3, 2, 2, dtype="int32"), 1)
    yield call(make(2, 3), 1, once(make, 1, 3, 2, 1), value=1)
    yield call(make(), 0, make.put([0], "int64"), make(1))
    yield call(make(2), 0, make.put(1, "int64"), make())
    yield call(make(2, 3), 1, make.put(np.zeros((0, 3)), "int64"), make(2, 3))
    yield call(make.small(2, 1, 3, 2), -2, make.index(3, 2, 1, 2, 2), make.small(2, 1, 2, 2))
    yield edge(make.delicate(2, 8), 0, first_row(make), make.delicate(1, 8))


def scatter_reduce_samples(make: Make) -> Iterator[Sample]:
    yield call(terms(make, 3, 2), 0, make.index(3, 2, 2), terms(make, 3, 2), reduce="multiply")
    yield call(terms(make, 3, 2), -2, make.index(3, 4, 1), terms(make, 4, 2), reduce="add")
    for reduce in ("multiply", "add"):
        yield call(make.small(2), 0, make.put([0, 1], "int64"), make.small(2), reduce=reduce)
        yield edge(make.delicate(2, 8), 0, first_row(make), make.delicate(1, 8), reduce=reduce)


def scatter_refusals(make: Make) -> Iterator[Refusal]:
    yield from source_refusals(make)
    x, index = make(3), make.index(3, 2)
    yield Refusal(call(x, 0, index, make(2), reduce="sum"), "`reduce` must be", ValueError)
    yield Refusal(call(x, 0, index, 1j), "`value` must be real", TypeError)
    bytes_ = make(3, dtype="int8")
    yield Refusal(call(bytes_, 0, index, 300), "`value` must fit int8, got 300")


def np_scatter(x, dim, index, src=None, reduce=None, value=None):
    src = np.broadcast_to(
        value if src is None else src, index.shape if np.ndim(src) == 0 else src.shape
    )
    out = np.array(np.atleast_1d(x))
    src, index = np.atleast_1d(src), np.atleast_1d(index)
    for where in np.ndindex(index.shape):
        at = list(where)
        at[dim] = index[where]
        at, new = tuple(at), src[where]
        out[at] = new if reduce is None else out[at] + new if reduce == "add" else out[at] * new
    return out.reshape(x.shape)


def scatter_add_samples(make: Make) -> Iterator[Sample]:
    yield call(terms(make, 3, 4), 1, make.index(4, 2, 5), terms(make, 2, 5))
    yield call(terms(make, 3, 2), -2, make.index(3, 4, 1), terms(make, 4, 2))
    yield call(terms(make, 3), 0, index=make.index(3, 5, dtype="int32"), src=terms(make, 5))
    yield call(make(), 0, make.put(0, "int64"), make())
    yield call(make(), 0, make.put(0, "int64"), 1)
    yield call(make(2, 3), 1, make.put([], "int64"), make(2, 3))
    yield call(make.small(2, 1, 3, 2), -2, once(make, 2, 3, 2, 1, 2, 2), make.small(2, 1, 2, 2))
    yield edge(make.delicate(2, 8), 0, first_row(make), make.delicate(1, 8))


def np_scatter_add(x, dim, index, src):
    if index.size == 0:
        return x
    return np_scatter(x, dim, index, src, reduce="add")


def index_add_samples(make: Make) -> Iterator[Sample]:
    yield call(terms(make, 3, 4), 1, make.index(4, 5), terms(make, 3, 5), alpha=2)
    yield call(terms(make, 3, 2, 2), -3, make.index(3, 2), terms(make, 2, 2, 2))
    yield call(make(3), 0, make.index(3, dtype="int32"), make(1))
    yield call(make(), 0, make.put([0], "int64"), make(), alpha=0)
    yield call(make(), 0, make.put([0], "int64"), 1)
    yield call(terms(make, 3), 0, make.index(3, 2), terms(make, 2), alpha=True)
    if category(make.dtype) < 2:
        yield call(terms(make, 3), 0, make.index(3, 2), terms(make, 2), alpha=1.75)
    yield call(make(2, 3), dim=0, index=make.put([], "int64"), source=make(0, 3))
    yield call(make.small(2, 1, 3, 2), -2, make.put([2, 0], "int64"), make.small(2, 1, 2, 2))
    yield edge(make.delicate(2, 8), 0, make.put([0], "int64"), make.delicate(1, 8))


def index_add_refusals(make: Make) -> Iterator[Refusal]:
    for outside in (3, -1):
        yield Refusal(
            call(make(3), 0, make.put([outside], "int64"), make(1)),
            rf"`index` must lie in \[0, 2\], got {outside}",
            IndexError,
        )
    bytes_ = make(2, dtype="int8"), 0, make.index(2, 2), make(2, dtype="int8")
    yield Refusal(call(*bytes_, alpha=300), "`alpha` must fit int8, got 300")
    halves = make(2, dtype="float16"), 0, make.index(2, 2), make(2, dtype="float16")
    yield Refusal(call(*halves, alpha=70000), "`alpha` must fit float16, got 70000")
    x, index = make(3, 2), make.index(3, 2)
    yield Refusal(call(x, 0, index, make(2)), r"`source` must have shape \[2, 2\]")
    yield Refusal(call(x, 0, index, make(3, 2)), r"`source` must have shape \[2, 2\]")
    yield Refusal(call(x, 0, make.index(3, 2, 1), make(2, 2)), "must be a vector", IndexError)
    yield Refusal(call(x, 0, index, make(2, 2, dtype="float16")), "dtype of `input`", TypeError)
    yield Refusal(call(x, 0, index, make(2, 2), alpha=1j), "`alpha` must not be complex", TypeError)


def np_index_add(x, dim, index, source, alpha=1):
    out = np.atleast_1d(np.array(x))
    moved = np.moveaxis(out, dim, 0)
    slices = np.moveaxis(np.atleast_1d(source), dim, 0)
    for i, row in zip(np.atleast_1d(index), slices, strict=True):
        moved[i] += np.asarray(alpha, x.dtype) * row
    return out.reshape(x.shape)


def scatter_add_conventions(make: Make) -> Iterator[Convention]:
    yield from dropped_outside(make)
    same = make.put([1, 1], "int64")
    both = call(make.put([1, 2]), 0, same, make.put([5, 6]))
    yield Convention("both are added", both, value=[1, 13], gradient=([1, 1], [1, 1]))


def scatter_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "True is a number to write, and arrives as a 0-d array does",
        call(make(2), 0, make.put([1, 1], "int64"), make.put(True, bool)),
        r"bool\[\].*Expected self.dtype to be equal to src.dtype",
    )
    yield Departure(
        "gradient",
        "of several values written to one place, the one that stays has the gradient",
        call(make.put([1, 2]), 0, make.put([1, 1], "int64"), make.put([5, 6])),
        r"i\d+\[2\]\[(-?\d+), \1\].*of array 1: \(?-?0(\.0|j)?[-+0j)]* at",
    )


OPS = [
    OpInfo(
        functx.scatter,
        scatter_samples,
        reference=np_scatter,
        refusals=scatter_refusals,
        conventions=written_conventions,
        departures=(
            Departure(
                "refused",
                "no complex number is cast to a bool",
                answer="-",
                match="complex",
                dtypes=frozenset({"bool"}),
            ),
            scatter_departures,
        ),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.scatter,
        scatter_reduce_samples,
        reference=np_scatter,
        variant="reduce",
        tolerances=(FEW_TERMS,),
    ),
    OpInfo(
        functx.scatter_add,
        scatter_add_samples,
        reference=np_scatter_add,
        refusals=source_refusals,
        conventions=scatter_add_conventions,
        tolerances=(FEW_TERMS,),
    ),
    OpInfo(
        functx.index_add,
        index_add_samples,
        reference=np_index_add,
        refusals=index_add_refusals,
        conventions=scatter_add_conventions,
        tolerances=(FEW_TERMS,),
    ),
]
