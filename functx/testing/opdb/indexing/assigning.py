from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, FEW_TERMS

from .masks import some
from .sources import terms


def index_put_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 4), (make.index(3, 5), make.index(4, 5)), make(5))
    yield call(make(3, 2), (make.put([-1, 0], "int64"),), make(2, 2))
    yield call(make(2, 3), (None, make.index(3, 2, dtype="int32")), make())
    yield call(make(3, 2, 2), (make.index(3, 2, 1), make.index(2, 1, 3)), make(2, 3, 2))
    yield call(make(2, 3, 2), (make.index(2, 2), None, make.index(2, 2)), make(2, 3))
    yield call(make(3), (make.put(1, "int64"),), make())
    yield call(make(3), (make.put(1, "int64"),), 1)
    yield call(make.small(2, 1, 3, 2), (None, None, make.index(3, 2)), make.small(2))
    yield edge(make.delicate(2, 8), (make.put(0, "int64"),), make.delicate(8))


def accumulate_samples(make: Make) -> Iterator[Sample]:
    x, at = terms(make, 3, 4), (make.index(3, 5), make.index(4, 5))
    yield call(x, at, terms(make, 5), accumulate=True)
    yield call(terms(make, 2, 3), (None, make.index(3, 2, dtype="int32")), terms(make), True)
    yield call(make.small(2, 3), (make.put([1, 0], "int64"),), make.small(3), True)
    yield edge(make.delicate(2, 8), (make.put(0, "int64"),), make.delicate(8), True)


def masked_samples(make: Make) -> Iterator[Sample]:
    """As many True in every lane, so that `values` fit."""
    yield call(make(4, 2), (some(make, 2, 4),), make(2, 2))
    yield call(terms(make, 2, 3), [some(make, 3, 2, 3)], terms(make, 3), accumulate=True)
    yield call(make(2, 4), (None, some(make, 2, 4)), make())
    yield call(make(3, 4), (make.index(3, 2), some(make, 2, 4)), make(2))
    yield call(make(3, 4), (some(make, 1, 3), make.index(4, 2)), make(2))
    yield call(make(3, 4), (some(make, 2, 3), some(make, 1, 4)), make(2))
    yield call(make(2, 3, 2), (some(make, 1, 2), None, make.index(2, 2)), make(2, 3))
    yield call(make(2, 3), (make.put(True, bool),), make(3))
    yield call(make(2), (some(make, 0, 2),), make(0))
    yield call(make.small(2, 1, 3, 2), (None, None, some(make, 2, 3)), make.small(2))
    yield edge(make.delicate(2, 8), (some(make, 1, 2),), make.delicate(8))


def index_put_refusals(make: Make) -> Iterator[Refusal]:
    x, rows = make(3, 4), make.index(3, 2)
    for outside in (3, -4):
        yield Refusal(
            call(x, (make.put([0, outside], "int64"),), make(4)),
            rf"`indices\[0\]` must lie in \[-3, 2\], got {outside}",
            IndexError,
        )
    yield Refusal(call(x, (), make(4)), "at least one dimension", IndexError)
    yield Refusal(call(x, (rows, rows, rows), make(2)), "at most 2 dimensions", IndexError)
    yield Refusal(call(x, (rows.astype("int8"),), make(4)), "int32, int64 or bool", IndexError)
    yield Refusal(call(x, (rows,), make(3, 4)), r"`values` must broadcast to \[2, 4\]")
    yield Refusal(call(x, (rows,), make(4, dtype="float16")), "dtype of `input`", TypeError)
    yield Refusal(call(x, (make.mask(4),), make(4)), r"must have the shape \[3\]", IndexError)
    yield Refusal(call(make(0, 2), (rows,), make(2)), "must be empty for a dimension", IndexError)
    yield Refusal(
        call(x, (make.put([True, False, True], bool),), make(3, 4)), "must have 1 or 2 entries"
    )
    yield Refusal(
        call(x, (make.put([True, False, True], bool), make.index(4, 3)), make()),
        "equally many positions",
        IndexError,
    )
    none = make(3, 0), (make.put([-1, 0], "int64"),), make(2, 2)
    yield Refusal(call(*none), r"`values` must broadcast to \[2, 0\]")
    apart = make.put([False, True], bool), None, make.put([], "int64")
    yield Refusal(call(make(2, 3, 2), apart, make(2, 3)), "must have 1 or 0 entries")


def np_index_put(x, indices, values, accumulate=False):
    out = np.array(x)
    at = tuple(slice(None) if i is None else i for i in indices)
    if accumulate:
        np.add.at(out, at, values)
    else:
        out[at] = values
    return out


def index_put_conventions(make: Make) -> Iterator[Convention]:
    for outside in (2, -3):
        yield Convention(
            f"{outside} is dropped in a compiled program",
            call(make.put([1, 2]), (make.put([outside], "int64"),), make.put([9])),
            value=[1, 2],
            gradient=([1, 1], [0]),
            departure="PyTorch refuses",
        )
    same = make.put([1, 1], "int64")
    yield Convention(
        "the one that stays has the gradient",
        call(make.put([1, 2]), (same,), make.put([5, 6])),
        value=[1, 6],
        gradient=([1, 0], [0, 1]),
        departure="PyTorch gives it to all that were written",
    )
    both = call(make.put([1, 2]), (same,), make.put([5, 6]), True)
    yield Convention("both are added", both, value=[1, 13], gradient=([1, 1], [1, 1]))


def index_put_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "of several values written to one place, the one that stays has the gradient",
        call(make.put([1, 2]), (make.put([1, 1], "int64"),), make.put([5, 6])),
        r"i\d+\[2\]\[(-?\d+), \1\].*of array 1: \(?-?0(\.0|j)?[-+0j)]* at",
    )
    yield Departure(
        "gradient",
        "a value that is written to one place twice stays there once",
        call(make.put([1, 2]), (make.put([1, 1], "int64"),), make.put(5)),
        r"i\d+\[2\]\[(-?\d+), \1\].*(f64|c128)\[\].*: of array 1: .*\(1 of 1 off\)",
    )
    yield Departure(
        "accepted",
        "a 0-d mask takes no dimension, as in NumPy",
        call(make(3), (make.put(1, "int64"), make.put(True, bool)), make()),
        r"bool\[\].*(too many indices|cannot be broadcast to indexing result)",
    )
    yield Departure(
        "refused",
        "PyTorch takes bytes for masks, and has long advised against it",
        call(make(2), (make.put([1, 1], "uint8"),), make(2)),
        r"must be int32, int64 or bool, got u8",
    )
    yield Departure(
        "refused",
        "one value has the dtype of the array too, where PyTorch casts what it fills a mask with",
        call(make(2), (make.put([True, False], bool),), make(1, dtype="float16")),
        r"bool\[.*`values` must have the dtype of `input`, got \w+\[[1,]*\] ",
    )


OPS = [
    OpInfo(
        functx.index_put,
        index_put_samples,
        reference=np_index_put,
        refusals=index_put_refusals,
        conventions=index_put_conventions,
        departures=(index_put_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.index_put,
        accumulate_samples,
        reference=np_index_put,
        variant="accumulate",
        tolerances=(FEW_TERMS,),
    ),
    OpInfo(
        functx.index_put,
        masked_samples,
        reference=np_index_put,
        variant="masks",
        tolerances=(FEW_TERMS,),
    ),
]
