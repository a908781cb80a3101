from __future__ import annotations

import dataclasses
import functools as ft
import math
from collections.abc import Callable, Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import real_only
from functx.testing.opinfo import Convention, Departure, OpInfo
from functx.testing.samples import call
from functx.testing.tail import Tail

from .operands import beside, in_double, no_complex, samples_at


_EULER = np.longdouble("0.57721566490153286060651209")
_PI = 4 * np.arctan(np.longdouble(1))


def np_expansion(n, sign, x):
    """Of $\\sqrt{x} e^{-x} I_n$ or $\\sqrt{x} e^x K_n$ for large x, but for a factor."""
    term = total = np.ones_like(x)
    for k in range(1, 30):
        term = term * sign * (4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
        total = total + term
    return total


def np_i(n, scaled, x):
    """Power series; from 30 on the asymptotic one."""
    size = np.abs(x).astype(np.longdouble)
    near = np.minimum(size, 30)
    total = term = (near / 2) ** n
    for k in range(1, 90):
        term = term * (near / 2) ** 2 / (k * (n + k))
        total = total + term
    far = np.clip(size, 30, 1e4 if not scaled else None)
    far = np_expansion(n, -1, far) / np.sqrt(2 * _PI * far) * (1 if scaled else np.exp(far))
    near = total * (np.exp(-near) if scaled else 1)
    out = np.where(size < 30, near, far).astype(np.float64)
    return np.where((x < 0) & (n == 1), -out, out)


def np_k(n, scaled, x):
    """Power series, from 1 on the integral by the trapezoidal rule, from 30 on asymptotic."""
    x = np.where(x < 0, np.nan, x)
    size = x.astype(np.longdouble)
    middle, far = np.clip(size, 1, 30), np.maximum(size, 30)
    out = np.where(
        size < 1, np_small_k(n, np.minimum(size, 1)) * (np.exp(size) if scaled else 1), 0
    )
    t = np.arange(-400, 401).astype(np.longdouble) / 64
    kernel = np.cosh(n * t) / 2 / 64
    integral = np.exp(-middle[..., None] * 2 * np.sinh(t / 2) ** 2) @ kernel
    far = np.sqrt(_PI / (2 * far)) * np_expansion(n, 1, far)
    scale = 1 if scaled else np.exp(-np.maximum(size, 1))
    return np.where(size < 1, out, np.where(size < 30, integral, far) * scale).astype(np.float64)


def np_small_k(n, x):
    """Abramowitz and Stegun 9.6.11 and 9.6.13."""
    square, total = (x / 2) ** 2, np.zeros_like(x)
    slow = np.log(np.maximum(x, 1e-308) / 2) + _EULER
    for k in range(20):
        sums = math.fsum(1 / j for j in range(1, k + 1))
        sums = np.longdouble(sums) if n == 0 else np.longdouble(sums) + 0.5 / (k + 1)
        power = square**k * (x / 2) ** n / (math.factorial(k) * math.factorial(n + k))
        total = total + (-1) ** n * (sums - slow) * power
    return np.where(x == 0, np.inf, total + (1 / x if n else 0))


FAR = "PyTorch divides infinities"
OVERFLOW = "PyTorch's exponential is infinite, but the function is not"
KINK = "the limit on both sides; PyTorch leaves out one of its terms"
NO_SLOPE = "PyTorch has no derivative"


def i0_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("0", call(make.put(0.0)), value=1)
    slope = call(make.put(0.0))
    yield Convention("slopes at 0", slope, gradient=0, hessian=0.5)
    ends = call(make.put([np.inf, -np.inf]))
    yield Convention("ends", ends, value=[np.inf, np.inf], departure=FAR)
    ends = call(make.put(np.inf))
    yield Convention("slopes at an end", ends, gradient=np.inf, hessian=np.inf, departure=FAR)
    large = call(make.put(712.0))
    value = 2.4684110577627523e307
    yield Convention(
        "large", large, value=value, gradient=2.4666770135246153e307, departure=OVERFLOW
    )
    middle = call(make.put(0.5))
    yield Convention("orders", middle, smooth=True, order=4)


def i1_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("0", call(make.put(0.0)), value=0)
    yield Convention("slopes at 0", call(make.put(0.0)), gradient=0.5, hessian=0)
    ends = call(make.put([np.inf, -np.inf]))
    yield Convention("ends", ends, value=[np.inf, -np.inf], departure=FAR)
    large = call(make.put(-712.0))
    yield Convention("large", large, value=-2.4666770135246153e307, departure=OVERFLOW)
    yield Convention("orders", call(make.put(0.5)), smooth=True, order=4)


def without_slopes(
    conventions: Callable[[Make], Iterator[Convention]],
) -> Callable[[Make], Iterator[Convention]]:
    """The same of an operator to which PyTorch gives no derivative."""

    def stated(make: Make) -> Iterator[Convention]:
        for convention in conventions(make):
            sloped = convention.gradient is not None
            reason = NO_SLOPE if sloped else convention.departure
            yield dataclasses.replace(convention, departure=reason)

    return stated


def i0e_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("0", call(make.put(0.0)), value=1, gradient=0)
    yield Convention("curvature at 0", call(make.put(0.0)), hessian=1.5, departure=KINK)
    ends = call(make.put([np.inf, -np.inf]))
    yield Convention("ends", ends, value=[0, 0], gradient=[0, 0])
    far = call(make.put(-1e6))
    value, slope = 0.00039894233026924577, 1.9947121500246404e-10
    yield Convention(
        "far out",
        far,
        value=value,
        gradient=slope,
        hessian=2.992068973055139e-16,
    )
    near = call(make.put(0.5))
    slopes = -0.4886144672642784, 0.6643873281588133
    yield Convention("near", near, gradient=slopes[0], hessian=slopes[1])
    yield Convention("orders", call(make.put([0.5, 9.0])), smooth=True, order=4)


def i1e_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("0", call(make.put(0.0)), value=0, gradient=0.5, hessian=0)
    far = call(make.put(-1e6))
    value, slope = -0.0003989421307980308, -1.9947091579556673e-10
    yield Convention(
        "far out",
        far,
        value=value,
        gradient=slope,
        hessian=-2.9920614928808364e-16,
    )
    near = call(make.put(0.5))
    yield Convention("near", near, gradient=0.17577286089453498, hessian=-0.3902498372083965)
    yield Convention("orders", call(make.put([0.5, 9.0])), smooth=True, order=4)


def outside(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, -1.0, -np.inf, np.nan]))
    yield Convention("0 and below", at, value=[np.inf, np.inf, np.nan, np.nan, np.nan])
    slopes = call(make.put(0.0))
    yield Convention("slopes at 0", slopes, gradient=-np.inf, hessian=np.inf, departure=NO_SLOPE)
    orders = call(make.put([0.5, 9.0]))
    yield Convention("orders", orders, smooth=True, order=4)


def k_conventions(*facts: tuple[float, ...]) -> Callable[[Make], Iterator[Convention]]:
    """Arguments, values, slopes and curvatures."""

    def conventions(make: Make) -> Iterator[Convention]:
        yield from outside(make)
        for at, value, slope, curvature in facts:
            yield Convention(f"at {at}", call(make.put(at)), value=value)
            sloped, bends = call(make.put([at, at])), np.diag([curvature] * 2)
            seen = NO_SLOPE if abs(slope) > 1e-3 else ""  # smaller ones PyTorch's 0 is close to
            what = f"slopes at {at}, twice"
            yield Convention(what, sloped, gradient=[slope] * 2, hessian=bends, departure=seen)

    return conventions


def infinite_slopes(make: Make) -> Iterator[Departure]:
    ends = call(make.put([np.inf, -np.inf], "float64"))
    yield Departure("gradient", FAR, ends, r"of array 0: -?inf at .*, PyTorch -?nan")


def slopes_of_nan(make: Make) -> Iterator[Departure]:
    nan = call(make.put(np.nan, "float64"))
    why = "PyTorch's slope of NaN is the one at 0"
    yield Departure("gradient", why, nan, r"of array 0: nan at .*, PyTorch -?\d")


def slopes_of_i1(make: Make) -> Iterator[Departure]:
    yield from infinite_slopes(make)
    yield from slopes_of_nan(make)


_I0 = samples_at(-700, -20, -8, 8, 9, 20, 710, np.inf, -np.inf)
_K = samples_at(0, 0.5, 1, 2, 30, 700, 1e10, -1, np.inf, -np.inf, low=0.1, high=3)


def scaled_first_kind(n):
    # Up to 8 derivatives are differences of power series: two digits are lost.
    return lambda mp, x: mp.exp(-abs(x)) * mp.besseli(n, x)


OPS = [
    OpInfo(
        functx.i0,
        _I0,
        reference=in_double(ft.partial(np_i, 0, False)),
        refusals=real_only,
        conventions=i0_conventions,
        departures=(infinite_slopes,),
        tails=(Tail(lambda mp, x: mp.besseli(0, x), high=999, low=-999),),
    ),
    OpInfo(
        functx.special.i0e,
        _I0,
        reference=in_double(ft.partial(np_i, 0, True)),
        refusals=real_only,
        conventions=i0e_conventions,
        # Near 6, the terms of the second derivative cancel to a fiftieth of each; those of
        # `i1e`, to an eightieth.
        tails=(Tail(scaled_first_kind(0), low=0, high=999, ulps=32),),
    ),
    OpInfo(
        functx.special.i1,
        _I0,
        reference=in_double(ft.partial(np_i, 1, False)),
        refusals=real_only,
        conventions=i1_conventions,
        departures=(slopes_of_i1,),
        tails=(Tail(lambda mp, x: mp.besseli(1, x), low=-999, high=999),),
    ),
    OpInfo(
        functx.special.i1e,
        _I0,
        reference=in_double(ft.partial(np_i, 1, True)),
        refusals=real_only,
        conventions=i1e_conventions,
        departures=(slopes_of_nan,),
        # An eightieth, as above: the two roundings of its terms are 160 ulps of it at 6.37.
        tails=(Tail(scaled_first_kind(1), low=0, high=999, ulps=256),),
    ),
    OpInfo(
        functx.special.modified_bessel_i0,
        _I0,
        reference=in_double(ft.partial(np_i, 0, False)),
        refusals=no_complex,
        conventions=without_slopes(i0_conventions),
        tails=(Tail(lambda mp, x: mp.besseli(0, x), low=-999, high=999),),
    ),
    OpInfo(
        functx.special.modified_bessel_i1,
        _I0,
        reference=in_double(ft.partial(np_i, 1, False)),
        refusals=no_complex,
        conventions=without_slopes(i1_conventions),
        tails=(Tail(lambda mp, x: mp.besseli(1, x), low=-999, high=999),),
    ),
    OpInfo(
        functx.special.modified_bessel_k0,
        _K,
        reference=in_double(ft.partial(np_k, 0, False)),
        refusals=no_complex,
        conventions=k_conventions(
            (0.5, 0.9244190712276659, -1.656441120003301, 4.237301311234267),
            (3.0, 0.03473950438627925, -0.040156431128194184, 0.048124981429010644),
            (500.0, 3.992321609117793e-219, -3.9963119385460035e-219, 4.000314232994885e-219),
        ),
        tails=(Tail(lambda mp, x: mp.besselk(beside(mp, 0), x), low=0, high=999),),
    ),
    OpInfo(
        functx.special.modified_bessel_k1,
        _K,
        reference=in_double(ft.partial(np_k, 1, False)),
        refusals=no_complex,
        conventions=k_conventions(
            (0.5, 1.656441120003301, -4.237301311234267, 16.75680822248504),
            (3.0, 0.040156431128194184, -0.048124981429010644, 0.06065991728544153),
            (500.0, 3.9963119385460035e-219, -4.000314232994885e-219, 4.004328552259747e-219),
        ),
        tails=(Tail(lambda mp, x: mp.besselk(beside(mp, 1), x), low=0, high=999),),
    ),
    OpInfo(
        functx.special.scaled_modified_bessel_k0,
        _K,
        reference=in_double(ft.partial(np_k, 0, True)),
        refusals=no_complex,
        conventions=k_conventions(
            (0.5, 1.5241093857739094, -1.2069003224378763, 3.048218771547819),
            (1e6, 0.0012533139806513213, -6.266568336615697e-10, 9.399850154963945e-16),
        ),
        tails=(Tail(lambda mp, x: mp.exp(x) * mp.besselk(beside(mp, 0), x), low=0, high=999),),
    ),
    OpInfo(
        functx.special.scaled_modified_bessel_k1,
        _K,
        reference=in_double(ft.partial(np_k, 1, True)),
        refusals=no_complex,
        conventions=k_conventions(
            (0.5, 2.731009708211786, -4.255119093985695, 16.386058249270715),
            (1e6, 0.0012533146073081549, -6.266577736465852e-10, 9.399873654583457e-16),
        ),
        tails=(Tail(lambda mp, x: mp.exp(x) * mp.besselk(beside(mp, 1), x), low=0, high=999),),
    ),
]
