from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import real_of
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(2, 3), make(3))
    yield call(make(2, 3), dx=0.75)
    yield call(make(3, 2), make(3), dim=0)
    yield call(make(3, 2), dim=-2, dx=2)
    yield call(make(2, 3), dx=make(low=1, high=2, dtype=real_of(make.dtype)))
    yield call(make(2, 3, 2), make(1, 3, 2), dim=1)
    yield call(make(2, 3, 2), make(3, 2), dim=-2)
    yield call(make(2, 3), x=make(3, dtype="int32"))
    yield call(make(2, 9))
    yield call(make(2, 1))
    yield call(make(2, 0))
    yield call(make(0, 3), make(3))
    yield call(make(2, 1), make(1))


def refusals(make: Make) -> Iterator[Refusal]:
    y = make(2, 3)
    yield Refusal(call(make()), "`y` must have a dimension", IndexError)
    yield Refusal(call(y, make(2)), "`x` must hold a position for each of the 3 samples")
    yield Refusal(call(y, make(2), dim=1), "`x` must hold a position")
    yield Refusal(call(y, make(3), dim=0), "each of the 2 samples")
    yield Refusal(call(y, make(1)), "`x` must hold a position")
    yield Refusal(call(y, make()), "`x` must hold a position")
    yield Refusal(call(make(3), make(2, 3)), "`x` must hold a position")
    yield Refusal(call(y, make(3, 3)), "shapes do not fit")
    yield Refusal(call(y, make(3), dx=2), "`dx` must not be given beside `x`", TypeError)
    for dx in (1j, make(1), "2"):
        yield Refusal(call(y, dx=dx), "`dx` must be", TypeError)
    yield Refusal(call(y, dim=2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make.mask(2)), "expected number", TypeError)
    yield Refusal(call(make(2), make.mask(2)), "expected number", TypeError)


def np_areas(y, x=None, *, dx=None, dim=-1):
    """The areas of all trapezoids, `dim` last."""
    whole = lambda a: a.astype(np.int64) if a.dtype.kind in "iu" else a
    y = np.moveaxis(whole(y), dim, -1)
    sums = y[..., 1:] + y[..., :-1]
    if x is None:
        return sums * (1 if dx is None else dx) / 2
    x = whole(x)
    if x.ndim > 1:
        x = np.moveaxis(x.reshape((1,) * (y.ndim - x.ndim) + x.shape), dim, -1)
    return np.diff(x) * sums / 2


def np_trapezoid(y, x=None, *, dx=None, dim=-1):
    return np_areas(y, x, dx=dx, dim=dim).sum(-1)


def np_cumulative(y, x=None, *, dx=None, dim=-1):
    return np.moveaxis(np.cumsum(np_areas(y, x, dx=dx, dim=dim), -1), -1, dim)


def narrow_conventions(*, whole: bool):
    """Of integrals, or of those up to each sample."""

    def conventions(make: Make) -> Iterator[Convention]:
        y, x = make.put([100, 100, -100], "int8"), make.put([-100, 100, 127], "int8")
        what = "integers are added and multiplied in int64"
        reason = "PyTorch's overflow in int8"
        for sample, value in ((call(y), [100, 100]), (call(y, x), [20000, 20000])):
            departure = "" if whole and len(sample.args) == 1 else reason
            value = value[-1] if whole else value
            yield Convention(what, sample, value=value, departure=departure)
        if not whole:
            far = call(make.put([0, -(2**63 - 1), 0], "int64"))
            yield Convention("what is summed does not wrap", far, value=[-(2.0**62), -(2.0**63)])
        far = call(make.put([np.inf, 1, 1]))
        reason = "PyTorch takes half of the ends from the sum, which is NaN" if whole else ""
        value = np.inf if whole else [np.inf, np.inf]
        yield Convention("an infinite end", far, value=value, departure=reason)

    return conventions


OPS = [
    OpInfo(
        functx.trapezoid,
        samples,
        reference=np_trapezoid,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=narrow_conventions(whole=True),
    ),
    OpInfo(
        functx.cumulative_trapezoid,
        samples,
        reference=np_cumulative,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=narrow_conventions(whole=False),
    ),
]
