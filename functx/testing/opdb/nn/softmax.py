from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
import functx.nn.functional as F
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opdb.rows import log_share, row, share, share_of_second, tails_of_shares
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tail import Tail
from functx.testing.tolerances import SUMS

from .extremes import smooth_at_extremes


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 3), dim=0)
    yield call(make(2, 3, 2), -1)
    yield call(make(2, 3, low=-500, high=500), 1)
    yield call(make(3))
    yield call(make(2, 3, 2), None)
    yield call(make(), 0)
    yield call(make(0, 2), 0)


def softmin_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 3, 2))
    yield call(make(2, 3, low=-500, high=500), 1)
    yield call(make(2, 3), -2)
    yield call(make(), 0)
    yield call(make(0, 2), 0, 5)


def softmin_with_dtype(make: Make) -> Iterator[Sample]:
    dtype = functx.float64 if make.dtype == np.float64 else functx.float32
    yield call(make(2, 3), 1, dtype=functx.float64)
    yield call(make(2, 3), 0, 5, dtype)


def with_dtype(make: Make) -> Iterator[Sample]:
    # Not narrower than the input, or finite differences would see the rounding.
    dtype = functx.float64 if make.dtype == np.float64 else functx.float32
    yield call(make(2, 3), 1, dtype=functx.float64)
    yield call(make(2, 3), 0, dtype)
    yield call(make(2, 3), 0, 5, dtype)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(3, dtype="int64"), 0), "expected floating arrays, got i64", TypeError)


def np_log_softmax(x, dim=None, *_, dtype=None):
    if dim is None:
        dim = 0 if x.ndim in (0, 1, 3) else 1
    if x.size == 0:
        return x
    x = np.asarray(x, np.result_type(x, np.float64))
    axis = dim if x.ndim else None
    shifted = x - x.real.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def np_softmax(x, dim=None, *_, dtype=None):
    return np.exp(np_log_softmax(x, dim))


def np_softmin(x, dim=None, _stacklevel=3, dtype=None):
    return np_softmax(-x.astype(np.result_type(x, np.float64)), dim)


INEXACT = Accepts.INEXACT.value


# Of nothing the result is a constant.
FLAT = {
    "gradient": [0, 0],
    "hessian": np.zeros((2, 2)),
    "departure": "in PyTorch it is NaN, also where nothing is asked of such a row",
}


def softmax_conventions(make: Make) -> Iterator[Convention]:
    yield from smooth_at_extremes(make, 1)
    large = call(make.put([7e4, 0]), 0, dtype="float16")
    yield Convention("the input is cast first", large, value=[np.nan, np.nan])
    inf = np.inf
    some = call(make.put([0.0, -inf]), 0)
    yield Convention("one impossible", some, value=[1, 0], gradient=[0, 0])
    nothing = call(make.put([-inf, -inf]), 0)
    yield Convention("nothing possible", nothing, value=[np.nan, np.nan], **FLAT)


def softmin_conventions(make: Make) -> Iterator[Convention]:
    some = call(make.put([0.0, np.inf]), 0)
    yield Convention("one impossible", some, value=[1, 0], gradient=[0, 0])
    nothing = call(make.put([np.inf, np.inf]), 0)
    yield Convention("nothing possible", nothing, value=[np.nan, np.nan], **FLAT)
    large = call(make.put([-7e4, 0]), 0, dtype="float16")
    yield Convention("the input is cast first", large, value=[np.nan, np.nan])
    whole = call(make.put([0, 3, 9], "uint8"), 0, dtype="float32")
    value = np.exp([0.0, -3, -9]) / np.exp([0.0, -3, -9]).sum()
    departure = "PyTorch negates bytes, which wrap, and casts then"
    yield Convention("bytes do not wrap", whole, value=value, departure=departure)


def log_softmax_conventions(make: Make) -> Iterator[Convention]:
    yield from smooth_at_extremes(make, 1)
    large = call(make.put([7e4, 0]), 0, dtype="float16")
    yield Convention("the input is cast first", large, value=[np.nan, np.nan])
    inf = np.inf
    some = call(make.put([0.0, -inf]), 0)
    yield Convention(
        "one impossible", some, value=[0, -inf], through=lambda y: y[0], gradient=[0, 0]
    )
    nothing = call(make.put([-inf, -inf]), 0)
    yield Convention("nothing possible", nothing, value=[np.nan, np.nan], **FLAT)


def with_dtype_conventions(make: Make) -> Iterator[Convention]:
    """Sums of what the three functions give do not move where two elements are equal."""
    equal = call(make.put([2.0, 2.0]), 0, dtype="float64")
    yield Convention("equal elements", equal, gradient=[0, 0])


def third_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "dtype",
        "a dtype in the third place is `dtype`, as in `torch.softmax`; PyTorch's function of this "
        "module takes it for `_stacklevel`, and makes nothing of it",
        call(make(2, 3, dtype="bfloat16"), 0, functx.float32),
        r"0, <class 'jax\.numpy\.\w+'>",
    )


OPS = [
    OpInfo(
        F.softmax,
        samples,
        reference=np_softmax,
        refusals=refusals,
        dtypes=INEXACT,
        tolerances=(SUMS,),
        conventions=softmax_conventions,
        tails=(*tails_of_shares(share, share_of_second),),
    ),
    OpInfo(
        F.log_softmax,
        samples,
        reference=np_log_softmax,
        refusals=refusals,
        dtypes=INEXACT,
        tolerances=(SUMS,),
        conventions=log_softmax_conventions,
        tails=(*tails_of_shares(log_share),),
    ),
    OpInfo(
        F.softmax,
        with_dtype,
        reference=np_softmax,
        variant="with_dtype",
        conventions=with_dtype_conventions,
        departures=(third_departures,),
        dtypes=Accepts.REAL.value,
        tolerances=(SUMS,),
    ),
    OpInfo(
        F.log_softmax,
        with_dtype,
        reference=np_log_softmax,
        variant="with_dtype",
        conventions=with_dtype_conventions,
        departures=(third_departures,),
        dtypes=Accepts.REAL.value,
        tolerances=(SUMS,),
    ),
    OpInfo(
        F.softmin,
        softmin_samples,
        reference=np_softmin,
        refusals=refusals,
        dtypes=INEXACT,
        tolerances=(SUMS,),
        conventions=softmin_conventions,
        tails=(Tail(lambda mp, x: share(mp, -x), lambda op, x: op(-row(-x), 0)[0]),),
    ),
    OpInfo(
        F.softmin,
        softmin_with_dtype,
        reference=np_softmin,
        variant="with_dtype",
        conventions=with_dtype_conventions,
        dtypes=Accepts.REAL_NUMBER.value,
        tolerances=(SUMS,),
    ),
]
