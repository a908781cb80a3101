from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, FEW_TERMS

from .sources import terms


def permuted(make: Make, size: int, *shape: int):
    """Positions of which no two coincide, some of them counted from the end."""
    count = int(np.prod(shape))
    at = make.rng.permutation(size)[:count].reshape(shape)
    return make.put(at - size * make.rng.integers(0, 2, shape), "int64")


def take_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make.index(6, 4))
    yield call(make(3, 2), make.put([[-1, 0], [5, -6]], "int64"))
    yield call(make(4), index=make.index(4))
    yield call(make(), make.put([0, -1], "int64"))
    yield call(make(2, 3), make.index(6, 0))
    yield call(make(0, 2), make.put(np.zeros((3, 0)), "int64"))
    yield call(make.small(2, 1, 3, 2), make.index(12, 2, 1, 2, 1))
    yield edge(make.delicate(8), make.put(np.arange(8)[::-1], "int64"))


def outside_refusals(make: Make) -> Iterator[Refusal]:
    for outside in (6, -7):
        at = make.put([outside], "int64")
        message = rf"`index` must lie in \[-6, 5\], got {outside}"
        yield Refusal(call(make(2, 3), at), message, IndexError)
    empty = call(make(0), make.put([0], "int64"))
    yield Refusal(empty, "`index` must be empty", IndexError)
    yield Refusal(call(make(3), make.put([0], "uint8")), "int32 or int64", TypeError)
    yield Refusal(call(make(3), make.put([0], "float32")), "int32 or int64", TypeError)
    yield Refusal(call(2.0, make.put([0], "int64")), "`input` must be an array", TypeError)


def np_take(x, index):
    return np.take(x, index) if index.size else np.zeros(index.shape, x.dtype)


def take_conventions(make: Make) -> Iterator[Convention]:
    twice = call(make.put([5, 6]), make.put([1, -1], "int64"))
    yield Convention("read twice, added twice", twice, gradient=[0, 2])
    for outside in (2, -3):
        yield Convention(
            f"{outside} reads NaN in a compiled program",
            call(make.put([1, 2]), make.put([outside, 1], "int64")),
            value=[np.nan, 2],
            through=lambda y: y[1],
            gradient=[0, 1],
            departure="PyTorch refuses",
        )


def put_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), permuted(make, 6, 4), make(4))
    yield call(make(3, 2), permuted(make, 6, 2, 2), make(4, 1))
    yield call(terms(make, 2, 3), make.index(6, 5), terms(make, 5), True)
    yield call(terms(make, 4), make.index(4, 6), source=terms(make, 2, 3), accumulate=True)
    yield call(make(), make.put(-1, "int64"), make())
    yield call(make(3), make.put(1, "int64"), make(1))
    yield call(make(2, 2), make.index(4, 3), make(3))
    yield call(make(2, 3), make.index(6, 0), make(0))
    yield call(make(0), make.index(0, 0), make(0), accumulate=True)
    yield call(make.small(2, 1, 3, 2), permuted(make, 12, 2, 1, 2, 1), make.small(4))
    yield edge(make.delicate(2, 8), permuted(make, 16, 8), make.delicate(8))
    yield edge(make.delicate(2, 8), permuted(make, 16, 8), make.delicate(8), accumulate=True)


def put_refusals(make: Make) -> Iterator[Refusal]:
    for refusal in outside_refusals(make):
        x, index = refusal.sample.args
        source = make(1)
        match = refusal.match
        yield Refusal(call(x, index, source), match, refusal.error)
    x, index = make(3), make.put([0, 1], "int64")
    yield Refusal(call(x, index, make(3)), "as many elements as `index`", IndexError)
    yield Refusal(call(x, index, make()), "as many elements as `index`", IndexError)
    yield Refusal(call(x, index, make(2, dtype="float16")), "dtype of `input`", TypeError)


def np_put(x, index, source, accumulate=False):
    out = np.array(x)
    flat = out.reshape(-1)
    for at, value in zip(index.ravel(), source.ravel(), strict=True):
        flat[at] = flat[at] + value if accumulate else value
    return out


def put_conventions(make: Make) -> Iterator[Convention]:
    x, same, source = make.put([1, 2]), make.put([1, -1], "int64"), make.put([5, 6])
    yield Convention(
        "the one that stays has the gradient",
        call(x, same, source),
        value=[1, 6],
        gradient=([1, 0], [0, 1]),
        departure="PyTorch gives it to all that were written",
    )
    both = call(x, same, source, True)
    yield Convention("both are added", both, value=[1, 13], gradient=([1, 1], [1, 1]))
    for outside in (2, -3):
        for accumulate in (False, True):
            yield Convention(
                f"{outside} is dropped in a compiled program",
                call(x, make.put([outside], "int64"), make.put([9]), accumulate),
                value=[1, 2],
                gradient=([1, 1], [0]),
                departure="PyTorch refuses",
            )


def put_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "of several values written to one place, the one that stays has the gradient",
        call(make.put([1, 2]), make.put([1, 1], "int64"), make.put([5, 6])),
        r"of array 1: \(?-?0(\.0|j)?[-+0j)]* at",
    )


OPS = [
    OpInfo(
        functx.take,
        take_samples,
        reference=np_take,
        refusals=outside_refusals,
        conventions=take_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.put,
        put_samples,
        reference=np_put,
        refusals=put_refusals,
        conventions=put_conventions,
        departures=(put_departures,),
        tolerances=(FEW_TERMS,),
    ),
]
