"""Samples of contractions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def einsum_samples(make: Make) -> Iterator[Sample]:
    yield call("ij,jk->ik", [make(2, 3), make(3, 2)])
    yield call("...ij,...jk", [make(2, 1, 2), make(1, 2, 2)])
    yield call("ii->i", [make(3, 3)])
    yield call("i,ij,j->", [make(2), make(2, 3), make(3)])
    yield call("bA,b...->A...", [make(2, 3), make(2, 2)])
    yield call("ij,jk->ik", [make(2, 1), make(3, 2)])
    yield call("i,j->ij", [make(0), make(2)])
    yield call("", [make()])


def bool_samples(make: Make) -> Iterator[Sample]:
    yield call("ij->i", [make(2, 3)])
    yield call("i,i,i->i", [make(3), make(3), make(3)])
    yield call("i,j->ij", [make(3), make(2)])
    yield call("ij->ji", [make(2, 3)])


def bool_refusals(make: Make) -> Iterator[Refusal]:
    mask = make.mask(2)
    yield Refusal(call("i,i->", [mask, mask]), "products of bools must not be summed", TypeError)


def np_of_bools(equation: str, operands: list[Any]) -> Any:
    if equation == "ij->i":
        return operands[0].sum(1)
    return np.einsum(equation, *operands)


def spread_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), [0, 1], make(3, 2), [1, 2], [0, 2])
    yield call("ij,jk", make(2, 3), make(3, 2))
    yield call(make(2, 3), [1, 0])
    yield call(make(2, 2, 3), [..., 1], [..., 1])
    yield call(" j i ", make(2, 3))


def einsum_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call("i,", x, 2.0), "operands must be arrays, got 2.0", TypeError)
    yield Refusal(call("i"), "at least one operand", ValueError)
    yield Refusal(call("ij,jk", x), "one term for each operand")
    yield Refusal(call("ijk", x), "must name every dimension")
    yield Refusal(call("i", x), "must name every dimension")
    yield Refusal(call("i1", x), "subscripts must be letters")
    yield Refusal(call(". . .ij.", x), "subscripts must be letters")
    yield Refusal(call("ij->ik", x), "must name subscripts of the operands, got 'k'")
    yield Refusal(call("ij->ii", x), "must name a subscript once")
    yield Refusal(call("ii", x), "must name equal lengths within a term, got 2 and 3")
    yield Refusal(call("ij,jk", x, x), "'j' must name equal lengths, got 3 and 2")
    yield Refusal(call(x, [0, 52]), r"must lie in \[0, 51\]", ValueError)
    yield Refusal(call(x, 0), "must be a list of ints", TypeError)


def spread_einsum(*args: Any) -> Any:
    """`einsum` as called with operands one by one: no call that its declaration binds."""
    return functx.einsum(*args)


spread_einsum.__name__ = "einsum"


def np_einsum(*args: Any) -> Any:
    if isinstance(args[0], str):
        equation = args[0].replace(" ", "")
        operands = args[1] if isinstance(args[1], list) else args[1:]
        return np.einsum(equation, *operands)
    return np.einsum(*args)


def tensordot_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3, 2), dims=1)
    yield call(make(2, 3, 2), make(2, 3, 2), ([0, -2], [2, 1]))
    yield call(make(2, 3), make(2, 3))
    yield call(make(2), make(3), dims=0)
    yield call(make(), make(2), dims=0)
    yield call(make(2, 0), make(0, 2), 1)


def one_long_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 1), make(3, 2), 1)
    yield call(make(2, 3), make(1, 2), ([1], [0]))


def tensordot_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, x, -1), r"`dims` must lie in \[0, 2\], got -1")
    yield Refusal(call(x, x, 3), r"`dims` must lie in \[0, 2\], got 3")
    yield Refusal(call(x, x, 1), "must pair dimensions of one length, got 3")
    yield Refusal(call(x, x, ([0, 1], [0])), "must pair dimensions of `a` and `b`")
    yield Refusal(call(x, x, ([0, 0], [0, 0])), "names a dimension twice")
    yield Refusal(call(x, x, ([5], [0])), r"`dims` must lie in \[-2, 1\], got 5", IndexError)
    yield Refusal(call(x, x, (0, 0)), "an int or a sequence of sequences of ints", TypeError)


def np_tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    return np.tensordot(a, b, dims)


def np_one_long(a: Any, b: Any, dims: Any) -> Any:
    return a.sum(1)[:, None] * b.sum(0)


def einsum_departures(make: Make) -> Iterator[Departure]:
    narrow = make(2, 1, dtype="int32"), make(3, 2, dtype="int32")
    yield Departure(
        "dtype",
        "products have the dtype of the operands, also where one is summed before it broadcasts",
        call("ij,jk->ik", list(narrow)),
        r"int\d+, PyTorch int64",
    )
    yield Departure(
        "refused",
        "dtypes must agree, as PyTorch too demands where products are summed",
        call("i,j->ij", [make(3, dtype="int8"), make.mask(2)]),
        "arrays must have the same dtype",
    )
    yield Departure(
        "refused",
        "PyTorch sums products of bools where one of them broadcasts along the sum, and no others",
        call("ij,jk->ik", [make.mask(2, 1), make.mask(3, 2)]),
        "products of bools must not be summed",
    )


OPS = [
    OpInfo(
        functx.einsum,
        einsum_samples,
        reference=np_einsum,
        refusals=einsum_refusals,
        tolerances=(SUMS,),
        dtypes=Accepts.NUMBER.value,
        departures=(einsum_departures,),
    ),
    OpInfo(
        functx.einsum,
        bool_samples,
        reference=np_of_bools,
        refusals=bool_refusals,
        variant="bools",
        dtypes=("bool",),
    ),
    OpInfo(
        spread_einsum,
        spread_samples,
        reference=np_einsum,
        refusals=einsum_refusals,
        variant="spread",
        tolerances=(SUMS,),
    ),
    OpInfo(
        functx.tensordot,
        tensordot_samples,
        reference=np_tensordot,
        refusals=tensordot_refusals,
        tolerances=(SUMS,),
    ),
    OpInfo(
        functx.tensordot,
        one_long_samples,
        reference=np_one_long,
        variant="one_long",
        tolerances=(SUMS,),
    ),
]
