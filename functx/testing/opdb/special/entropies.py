from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import PAIRS, quiet, real_only, reals_or_a_number, unary
from functx.testing.opinfo import Convention, OpInfo, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import AT_ROOTS, ZERO_TIMES_A_LOGARITHM


def xlog1py_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make(*second, low=-0.8))
    yield call(make(3), 2)
    yield call(2, make(3, low=-0.8))
    yield call(make.put([0, 0, 1]), make(3, low=-0.8))
    if make.dtype.kind == "f":
        yield edge(*make.edge_pairs())
        yield edge(make.put([0, 0, np.nan, 0, 1]), make.put([-1, -2, 0, np.nan, -1]))


def xlog1py_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    x, y = make.put([0.0, 0, nan, 0, 1, 1]), make.put([-1.0, nan, -1, inf, -1, -2])
    yield Convention("0 and NaN", call(x, y), value=[0, nan, nan, 0, -inf, nan])
    yield Convention(
        "0 in either place",
        call(make.put([0.0, 2, 2, 0]), make.put([3.0, 3, -1, -2])),
        gradient=([np.log(4), np.log(4), -inf, 0], [0, 0.5, inf, 0]),
    )
    infinite = call(make.put([0.0, nan]), make.put([inf, 1]))
    yield Convention("infinity and NaN", infinite, gradient=([inf, np.log(2)], [0, nan]))
    yield Convention(
        "0 and -1",
        call(make.put(0.0), make.put(-1.0)),
        gradient=(0, 0),
        departure="PyTorch's gradient of the second is NaN",
    )
    at = call(make.put(0.0), make.put(1.0))
    yield Convention("second derivatives at 0", at, hessian=[[0, 0.5], [0.5, 0]])


def entr_samples(make: Make) -> Iterator[Sample]:
    yield from unary(low=0.01 if make.dtype.kind == "f" else 0)(make)
    if make.dtype.kind == "f":
        yield edge(make(300, low=0, high=2))


def entr_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    at = call(make.put([0.0, -0.0, 1, -1, nan, inf, -inf]))
    value, gradient = [0, 0, -0.0, -inf, nan, -inf, -inf], [inf, inf, -1, nan, nan, -inf, nan]
    yield Convention("0, below, infinities", at, value=value, gradient=gradient)
    yield Convention("second derivative", call(make.put(0.5)), hessian=-2)


OPS = [
    OpInfo(
        functx.special.entr,
        entr_samples,
        reference=quiet(scipy.special.entr),
        refusals=real_only,
        tolerances=(AT_ROOTS, ZERO_TIMES_A_LOGARITHM),
        conventions=entr_conventions,
        tails=(Tail(lambda mp, x: -x * mp.log(x), low=0),),
    ),
    OpInfo(
        functx.special.xlog1py,
        xlog1py_samples,
        reference=quiet(scipy.special.xlog1py),
        refusals=reals_or_a_number,
        tolerances=(ZERO_TIMES_A_LOGARITHM,),
        conventions=xlog1py_conventions,
    ),
]
