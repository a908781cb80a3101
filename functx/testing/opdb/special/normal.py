from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import real_only
from functx.testing.opinfo import Convention, Departure, OpInfo
from functx.testing.samples import call
from functx.testing.tail import Tail

from .operands import in_double, no_complex, samples_at


def np_erfc(x):
    """SciPy's scaled one times the power, of a square without its rounding error."""
    far = np.abs(x) > 1.25
    size = np.where(far, np.minimum(np.abs(x), 28), 2)
    tail = np.exp(-(size.astype(np.longdouble) ** 2)).astype(x.dtype) * scipy.special.erfcx(size)
    tail = np.where(x == np.inf, 0, np.where(x < 0, 2 - tail, tail))
    return np.where(far, tail, scipy.special.erfc(x))


def np_erfinv(x):
    return np.where(x == 0, x, scipy.special.erfinv(x))


def np_erfcx(x):
    power = 2 * np.exp(x.astype(np.longdouble) ** 2) - scipy.special.erfcx(-x)
    return np.where(x < -2, power.astype(x.dtype), scipy.special.erfcx(x))


def np_ndtr(x):
    tail = scipy.special.erfcx(np.abs(x) * np.sqrt(0.5)) / 2
    tail = (tail * np.exp(-(x.astype(np.longdouble) ** 2) / 2)).astype(x.dtype)
    tail = np.where(np.isinf(x), 0, tail)
    return np.where(x < -1, tail, np.where(x > 1, 1 - tail, scipy.special.ndtr(x)))


def np_log_ndtr(x):
    return np.where(x > 1, np.log1p(-np_ndtr(-np.abs(x))), scipy.special.log_ndtr(x))


def erfc_conventions(make: Make) -> Iterator[Convention]:
    far = call(make.put([np.inf, -np.inf, 1e3, -1e3]))
    yield Convention("far out", far, value=[0, 2, 0, 2], gradient=[0, 0, 0, 0])
    tail = [1.3841340656352704e-234, 1.5374597944280347e-12, 0.15729920705028513]
    yield Convention("a tail", call(make.put([23.125, 5, 1])), value=[*tail], ulps=4)
    slope = -2 / np.sqrt(np.pi)
    yield Convention("0", call(make.put(0.0)), value=1, gradient=slope, hessian=0)


def erfcx_conventions(make: Make) -> Iterator[Convention]:
    far = call(make.put([np.inf, -np.inf, -1e3]))
    yield Convention("far out", far, value=[0, np.inf, np.inf])
    slope = -2 / np.sqrt(np.pi)
    yield Convention("0", call(make.put(0.0)), value=1, gradient=slope, hessian=2)
    yield Convention(
        "where terms of the derivative cancel",
        call(make.put(1e3)),
        value=0.0005641893014533877,
        gradient=-5.641887372654967e-07,
        hessian=1.1283757819707055e-09,
    )


def erfinv_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([1.0, -1.0, 1.5, -1.5, np.nan]))
    yield Convention("ends", at, value=[np.inf, -np.inf, np.nan, np.nan, np.nan])
    ends = call(make.put([1.0, -1.0]))
    yield Convention("slopes at the ends", ends, gradient=[np.inf, np.inf])
    slope = np.sqrt(np.pi) / 2
    yield Convention("0", call(make.put(0.0)), value=0, gradient=slope, hessian=0)
    near = call(make.put([1 - 2**-40, 0.5, 2**-30]))
    value = [5.05125408524939, 0.4769362762044699, 8.253631419062224e-10]
    yield Convention("near the end, between, and small", near, value=value, ulps=4)


def ndtr_conventions(make: Make) -> Iterator[Convention]:
    far = call(make.put([np.inf, -np.inf, 1e3, -1e3]))
    yield Convention("far out", far, value=[1, 0, 1, 0], gradient=[0, 0, 0, 0])
    slope = np.sqrt(0.5 / np.pi)
    yield Convention("0", call(make.put(0.0)), value=0.5, gradient=slope, hessian=0)
    tail = call(make.put([-37.5, -10]))
    value = [4.605353009581955e-308, 7.619853024160526e-24]
    yield Convention("a tail", tail, value=value)


def ndtri_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 1.0, -0.5, 1.5, np.nan]))
    yield Convention("ends", at, value=[-np.inf, np.inf, np.nan, np.nan, np.nan])
    ends = call(make.put([0.0, 1.0]))
    yield Convention("slopes at the ends", ends, gradient=[np.inf, np.inf])
    slope = np.sqrt(2 * np.pi)
    yield Convention("the middle", call(make.put(0.5)), value=0, gradient=slope, hessian=0)
    small = call(make.put([1e-300, 0.125, 0.875]))
    value = [-37.0470962993612, -1.1503493803760082, 1.1503493803760082]
    yield Convention("quantiles", small, value=value, ulps=4)


def log_ndtr_conventions(make: Make) -> Iterator[Convention]:
    far = call(make.put([np.inf, 1e3]))
    yield Convention("far above", far, value=[-0.0, -0.0], gradient=[0, 0])
    below = call(make.put([-np.inf, -1e200]))
    yield Convention("far below", below, value=[-np.inf, -np.inf])
    yield Convention("slope below", call(make.put(-1e3)), gradient=1000.00099999800001)
    slope = np.sqrt(2 / np.pi)
    yield Convention(
        "0", call(make.put(0.0)), value=-np.log(2), gradient=slope, hessian=-(slope**2)
    )


def log_ndtr_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "far below 0 the slope is -x, of which PyTorch loses digits",
        call(make.put([-1e5], "float64")),
        r"of array 0: -?(\d{3,}\.|[\d.]+e\+)",
    )


OPS = [
    OpInfo(
        functx.erfc,
        samples_at(-20, 5, 9, 20, np.inf, -np.inf),
        reference=in_double(np_erfc),
        refusals=real_only,
        conventions=erfc_conventions,
        tails=(Tail(lambda mp, x: mp.erfc(x)),),
    ),
    OpInfo(
        functx.special.erfcx,
        samples_at(-20, 5, 9, 20, 30, 60, 1e10, np.inf, -np.inf),
        reference=in_double(np_erfcx),
        refusals=no_complex,
        conventions=erfcx_conventions,
        tails=(Tail(lambda mp, x: mp.exp(x * x) * mp.erfc(x)),),
    ),
    OpInfo(
        functx.erfinv,
        samples_at(-1, 1, 0.9999, -0.9999, 1e-7, -2, 2, low=-0.9, high=0.9),
        reference=in_double(np_erfinv),
        refusals=real_only,
        conventions=erfinv_conventions,
        tails=(Tail(lambda mp, x: mp.erfinv(x), low=-1, high=1),),
    ),
    OpInfo(
        functx.special.ndtr,
        samples_at(-12, -8, -6, 5, 9, np.inf, -np.inf),
        reference=in_double(np_ndtr),
        refusals=real_only,
        conventions=ndtr_conventions,
        tails=(Tail(lambda mp, x: mp.ncdf(x)),),
    ),
    OpInfo(
        functx.special.ndtri,
        samples_at(0, 1, 0.125, 0.875, 0.9999, 1e-7, 1e-30, -1, 2, low=0.05, high=0.95),
        reference=in_double(scipy.special.ndtri),
        refusals=no_complex,
        conventions=ndtri_conventions,
        tails=(Tail(lambda mp, x: mp.sqrt(2) * mp.erfinv(2 * x - 1), low=0, high=1),),
    ),
    OpInfo(
        functx.special.log_ndtr,
        samples_at(-1e4, -20, -8, 5, 9, np.inf, -np.inf),
        reference=in_double(np_log_ndtr),
        refusals=no_complex,
        conventions=log_ndtr_conventions,
        departures=(log_ndtr_departures,),
        tails=(
            Tail(
                lambda mp, x: (
                    mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)
                    if x < 1
                    else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)
                )
            ),
        ),
    ),
]
