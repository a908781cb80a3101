from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dim_refusals
from functx.testing.opdb.rows import log_share, share, share_of_second, tails_of_shares
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS

from .masked_calls import kept, mask_refusals, NO_IDENTITY, rows, some_in_each_row


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 1, mask=some_in_each_row(make, 2, 4, least=2))
    yield call(make(4, 2), -2, mask=make.put([[True]] * 3 + [[False]], bool))
    yield call(make(2, 3), dim=0)
    yield call(make(2, 3), 1, mask=make.put([2, 0, -1], "int64"))
    yield call(make(2, 3), 1, mask=make.put([[True] * 3, [False] * 3], bool))
    yield call(make(2, 2, 3), 1, mask=some_in_each_row(make, 1, 2, 1))
    yield call(make(), 0, mask=make.put(True, bool))
    yield call(make(2, 0), 1, mask=make.mask(2, 1))
    yield call(make(2, 3, low=-500, high=500), 1, mask=make.put([True, False, True], bool))
    yield call(make(2, 4), 1, dtype="float64", mask=some_in_each_row(make, 2, 4, least=2))
    yield call(make(2, 3, dtype="int32"), 1, dtype="float32", mask=some_in_each_row(make, 2, 3))
    many = make.put([[200, 3, 100], [0, 255, 254]], "uint8")
    yield call(many, 1, dtype="float64", mask=make.put([True, False, True], bool))
    yield call(make.mask(2, 3), 1, dtype="float32", mask=some_in_each_row(make, 2, 3))
    yield edge(make(75), 0, mask=make.mask(75))
    yield from rows(make)


def refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from mask_refusals(make, 0)
    integers = make(3, dtype="int64")
    yield Refusal(call(integers, 0), "expected a floating dtype, got int64", TypeError)
    yield Refusal(call(make.mask(3), 0), "expected a floating dtype, got bool", TypeError)
    yield Refusal(call(make(3), 0, dtype="int32"), "expected a floating dtype", TypeError)
    yield Refusal(call(make(3), 0, dtype="complex64"), "expected a floating dtype", TypeError)
    yield Refusal(call(make(3, dtype="complex64"), 0), "expected real arrays", TypeError)


def np_log_softmax(x, dim, dtype=None, mask=None):
    x = np.atleast_1d(np.where(kept(x, mask), np.asarray(x, np.float64), -np.inf)).copy()
    if x.size:
        x = x - x.max(axis=dim, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=dim, keepdims=True))


def reference(sign, last):
    def of_kept(x, dim, dtype=None, mask=None):
        wide = sign * x.astype(dtype or x.dtype).astype(np.float64)
        return last(np_log_softmax(wide, dim, mask=mask)).reshape(x.shape)

    return of_kept


def conventions(sign: int, logarithm: bool):
    alone = [-np.inf, 0, -np.inf] if logarithm else [0, 1, 0]

    def stated(make: Make) -> Iterator[Convention]:
        zeros, flat = [0, 0, 0], np.zeros((3, 3))
        second = lambda y: y[1]
        mask = make.put([False, True, False], bool)
        for hidden in (np.nan, np.inf, -np.inf):
            yield Convention(
                f"{hidden} is masked out",
                call(make.put([hidden, 2, hidden]), 0, mask=mask),
                value=alone,
                through=second,
                gradient=zeros,
                hessian=flat,
            )
        numbers = call(make.put([4, 2, 8]), 0, mask=make.put([0.0, np.nan, -0.0]))
        yield Convention("a mask of numbers", numbers, value=alone)
        nothing = call(make.put([np.nan, 2, np.inf]), 0, mask=make.put([False] * 3, bool))
        yield Convention(
            "all is masked out", nothing, value=[np.nan] * 3, gradient=zeros, hessian=flat
        )
        two = make.put([True, False, True], bool)
        beside = call(make.put([1, np.nan, 1]), 0, mask=two)
        value, slope = (-np.log(2), 0.5) if logarithm else (0.5, 0.25)
        yield Convention(
            "one half each",
            beside,
            value=[value, -np.inf if logarithm else 0, value],
            through=lambda y: y[0],
            gradient=[sign * slope, 0, -sign * slope],
        )
        large = call(make.put([7e4, 0]), 0, dtype="float16")
        infinite = [0, 1] if sign < 0 else [np.nan, np.nan]
        yield Convention("the input is cast first", large, value=infinite)
        if logarithm:
            yield Convention(
                "minus infinity has the slope of the sum",
                beside,
                through=second,
                gradient=[-0.5, 0, -0.5],
                hessian=np.array([[-1, 0, 1], [0, 0, 0], [1, 0, -1]]) / 4,
            )

    return stated


BOOLS_CAST = Departure("dtype", NO_IDENTITY, answer=r"\1", match=r"^\(bool.*dtype=([\w*]+), mask=")


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "complex numbers have no order: PyTorch takes the real parts",
        call(make.put([1, 2], "complex64"), 0, dtype="float32"),
        "expected real arrays",
    )
    yield Departure(
        "accepted",
        NO_IDENTITY,
        call(make.mask(2, 3), 0, dtype="float32", mask=make.mask(3)),
        "identity of .* on torch.bool",
    )
    yield Departure(
        "refused",
        "PyTorch refuses these dtypes too, if there is an element of which to compute something",
        call(make(2, 0, dtype="int64"), 1),
        r"\b0[,\]].*expected a floating dtype",
    )


def softmin_departures(make: Make) -> Iterator[Departure]:
    yield from departures(make)
    yield Departure(
        "accepted",
        "bools are cast before they are negated, where PyTorch has no negative of them",
        call(make.mask(2, 3), 0, dtype="float32"),
        "Negation, the `-` operator, on a bool",
    )


OPS = [
    OpInfo(
        functx.masked.softmax,
        samples,
        reference=reference(1, np.exp),
        refusals=refusals,
        dtypes=Accepts.FLOATING.value,
        tolerances=(SUMS,),
        conventions=conventions(1, False),
        departures=(BOOLS_CAST, departures),
        tails=(*tails_of_shares(share, share_of_second),),
    ),
    OpInfo(
        functx.masked.log_softmax,
        samples,
        reference=reference(1, np.asarray),
        refusals=refusals,
        dtypes=Accepts.FLOATING.value,
        tolerances=(SUMS,),
        conventions=conventions(1, True),
        departures=(BOOLS_CAST, departures),
        tails=(*tails_of_shares(log_share),),
    ),
    OpInfo(
        functx.masked.softmin,
        samples,
        reference=reference(-1, np.exp),
        refusals=refusals,
        dtypes=Accepts.FLOATING.value,
        tolerances=(SUMS,),
        conventions=conventions(-1, False),
        departures=(BOOLS_CAST, softmin_departures),
    ),
]
