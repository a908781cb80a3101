from __future__ import annotations

import functools as ft
from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def chain_matmul_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3, 2))
    yield call(make(1, 3), make(3, 2), make(2, 4), make(4, 1))
    yield call(make(2, 3), make(3, 1), make(1, 4))
    yield call(make(2, 3))
    yield call(make(2, 0), make(0, 2), make(2, 1))
    yield call(make(0, 2), make(2, 1))


def chain_matmul_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 2)
    yield Refusal(call([]), "at least one matrix")
    yield Refusal(call(x, make(2)), r"`matrices\[1\]` must have 2 dimensions")
    yield Refusal(call(make(1, 2, 2)), r"`matrices\[0\]` must have 2 dimensions")
    yield Refusal(call(x, make(3, 2)), r"`matrices\[1\]` must have 2 rows")
    yield Refusal(call(x, make(2, 2, dtype="float16")), "same dtype", TypeError)
    yield Refusal(call(x, None), r"`matrices\[1\]` must be an array, got None", TypeError)


def np_chain_matmul(*matrices: Any) -> Any:
    return ft.reduce(np.matmul, matrices)


def chain_matmul_departures(make: Make) -> Iterator[Departure]:
    x = make(2, 2)
    reason = "matrices may come in a list, as in `torch.linalg.multi_dot`"
    yield Departure("accepted", reason, call([x, x]), "got list")


OPS = [
    OpInfo(
        functx.chain_matmul,
        chain_matmul_samples,
        reference=np_chain_matmul,
        refusals=chain_matmul_refusals,
        tolerances=(SUMS,),
        departures=(chain_matmul_departures,),
    )
]
