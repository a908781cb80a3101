from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo
from functx.testing.samples import call
from functx.testing.tail import Tail

from .exact import bessel, elementwise, spherical
from .operands import beside, in_double, no_complex, samples_at


FAR = "PyTorch divides infinities"
NO_SLOPE = "PyTorch has no derivative"


def conventions(
    at_zero: tuple[float, float, float], zero: tuple[float, ...], far: tuple[float, ...]
) -> Callable[[Make], Iterator[Convention]]:
    """Value, slope and curvature at 0; and behind the argument those at a zero and far out."""

    def stated(make: Make) -> Iterator[Convention]:
        value, slope, curvature = at_zero
        yield Convention("0", call(make.put(0.0)), value=value)
        yield Convention(
            "slopes at 0",
            call(make.put(0.0)),
            gradient=slope,
            hessian=curvature,
            departure=NO_SLOPE,
        )
        yield Convention("a zero", call(make.put(zero[0])), value=zero[1])
        for at, _, slope, curvature in (zero, far):
            yield Convention(
                f"slopes at {at}",
                call(make.put(at)),
                gradient=slope,
                hessian=curvature,
                departure=NO_SLOPE,
            )
        ends = call(make.put(np.inf))
        yield Convention("the end", ends, value=0, departure=FAR)
        yield Convention(
            "slopes at the end", ends, value=0, gradient=0, hessian=0, departure=NO_SLOPE
        )
        orders = call(make.put([1.0, 4.5, 20.0]))
        yield Convention("orders", orders, smooth=True, order=4)

    return stated


def below(make: Make) -> Iterator[Convention]:
    at = call(make.put([-0.0, -1.0, -np.inf, np.nan]))
    yield Convention("below", at, value=[-np.inf, np.nan, np.nan, np.nan])


def second_kind(
    zero: tuple[float, ...], far: tuple[float, ...]
) -> Callable[[Make], Iterator[Convention]]:
    stated = conventions((-np.inf, np.inf, -np.inf), zero, far)

    def with_below(make: Make) -> Iterator[Convention]:
        yield from stated(make)
        yield from below(make)

    return with_below


def spherical_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("0", call(make.put([0.0, np.inf, -np.inf])), value=[1, 0, 0])
    for at, slopes in {
        0.0: (0, -1 / 3),
        0.001: (-0.0003333333000000012, -0.3333332333333393),
        1e3: (0.0005615521967501709, -0.0008280026449255029),
        np.inf: (0, 0),
    }.items():
        yield Convention(
            f"slopes at {at}",
            call(make.put(at)),
            gradient=slopes[0],
            hessian=slopes[1],
            departure=NO_SLOPE if at < np.inf else "",
        )
    orders = call(make.put([0.0, 1.0, 4.5, 20.0]))
    yield Convention("orders", orders, smooth=True, order=4)


_FIRST = samples_at(0, 2.404825557695773, -3.8317059702075125, 5, 8, 25, 1e9, np.inf, -np.inf)
_SECOND = samples_at(
    *(0, 0.8935769662791675, 2.197141326031017, 5, 8, 25, 1e9, -1, np.inf, -np.inf),
    low=0.1,
    high=7,
)

OPS = [
    OpInfo(
        functx.special.bessel_j0,
        _FIRST,
        reference=in_double(elementwise(ft.partial(bessel, "j", 0))),
        refusals=no_complex,
        conventions=conventions(
            (1, 0, -0.5),
            (2.404825557695773, -6.10876525973673e-17, -0.5191474972894667, 0.21587740350984022),
            (1e3, 0.024786686152420176, -0.004728311907089524, -0.024781957840513087),
        ),
        tails=(Tail(lambda mp, x: mp.besselj(0, x), low=-9, high=99),),
    ),
    OpInfo(
        functx.special.bessel_j1,
        _FIRST,
        reference=in_double(elementwise(ft.partial(bessel, "j", 1))),
        refusals=no_complex,
        conventions=conventions(
            (0, 0.5, 0),
            (3.8317059702075125, -6.149807356994906e-17, -0.402759395702553, 0.10511229171395452),
            (1e3, 0.004728311907089524, 0.024781957840513087, -0.00475308913661813),
        ),
        tails=(Tail(lambda mp, x: mp.besselj(1, x), low=-9, high=99),),
    ),
    OpInfo(
        functx.special.bessel_y0,
        _SECOND,
        reference=in_double(elementwise(ft.partial(bessel, "y", 0))),
        refusals=no_complex,
        conventions=second_kind(
            (0.8935769662791675, -2.3389279284062102e-17, 0.8794208024971948, -0.9841578685259551),
            (1e3, 0.0047159179776228135, 0.024784331292351778, -0.004740702308915165),
        ),
        tails=(Tail(lambda mp, x: mp.bessely(beside(mp, 0), x), low=0, high=99),),
    ),
    OpInfo(
        functx.special.bessel_y1,
        _SECOND,
        reference=in_double(elementwise(ft.partial(bessel, "y", 1))),
        refusals=no_complex,
        conventions=second_kind(
            (2.197141326031017, 2.513306678922122e-17, 0.5207864124022675, -0.23702909149819323),
            (1e3, -0.024784331292351778, 0.004740702308915165, 0.02477956580571157),
        ),
        tails=(Tail(lambda mp, x: mp.bessely(beside(mp, 1), x), low=0, high=99),),
    ),
    OpInfo(
        functx.special.spherical_bessel_j0,
        samples_at(0, np.pi, 5, 25, 1e9, np.inf, -np.inf),
        reference=in_double(elementwise(spherical)),
        refusals=no_complex,
        conventions=spherical_conventions,
        tails=(Tail(lambda mp, x: mp.sinc(x), low=-9, high=99),),
    ),
]
