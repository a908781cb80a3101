from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail

from .operands import ALONG, both_sides, ONE_SIDE, quiet, sided, unary, UPRIGHT


def inside(make: Make) -> Iterator[Sample]:
    yield from unary(low=-0.9, high=0.9)(make)
    yield edge(make(300, low=-1, high=1))  # more than fit in one register


def slopes(values, gradient):
    def conventions(make: Make) -> Iterator[Convention]:
        inf, nan = np.inf, np.nan
        at = make.put([1.0, -1.0, 0.0, 2.0, inf, nan])
        yield Convention("ends and outside", call(at), value=values, gradient=gradient)

    return conventions


def curvatures(make: Make, rising: int) -> Iterator[Convention]:
    for end in (-1.0, 1.0):
        infinite = [[rising * end * np.inf]]
        yield Convention(f"curvature at {end}", call(make.put([end])), hessian=infinite)


def atan_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    yield edge(make(300, low=-9, high=9))


def asin_conventions(make: Make) -> Iterator[Convention]:
    half, inf, nan = np.pi / 2, np.inf, np.nan
    value, gradient = [half, -half, 0, nan, nan, nan], [inf, inf, 1, nan, nan, nan]
    yield from slopes(value, gradient)(make)
    yield from curvatures(make, 1)
    yield from both_sides(
        make, np.arcsin, ALONG, np.array([1j, -1j, -1j, 1j]) / np.sqrt(3), ONE_SIDE
    )


def acos_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    value, gradient = [0, np.pi, np.pi / 2, nan, nan, nan], [-inf, -inf, -1, nan, nan, nan]
    yield from slopes(value, gradient)(make)
    yield from curvatures(make, -1)
    yield from both_sides(
        make, np.arccos, ALONG, np.array([-1j, 1j, 1j, -1j]) / np.sqrt(3), ONE_SIDE
    )


def atan_conventions(make: Make) -> Iterator[Convention]:
    half, nan = np.pi / 2, np.nan
    value = [half / 2, -half / 2, 0, np.arctan(2), half, nan]
    yield from slopes(value, [0.5, 0.5, 1, 0.2, 0, nan])(make)
    yield from both_sides(make, np.arctan, UPRIGHT, np.full(4, -1 / 3))
    cut = make.put(
        [complex(-0.0, np.inf), complex(0.0, np.inf), complex(-0.0, 1e300)], "complex128"
    )
    value = [-half, half, complex(-half, 1e-300)]
    yield Convention("far out on the cut", call(cut), value=value)


OPS = [
    OpInfo(
        functx.acos,
        inside,
        reference=quiet(np.arccos),
        conventions=acos_conventions,
        departures=(sided(ALONG),),
        tails=(Tail(lambda mp, x: mp.acos(x), low=-1, high=1),),
    ),
    OpInfo(
        functx.asin,
        inside,
        reference=quiet(np.arcsin),
        conventions=asin_conventions,
        departures=(sided(ALONG),),
        tails=(Tail(lambda mp, x: mp.asin(x), low=-1, high=1),),
    ),
    OpInfo(
        functx.atan,
        atan_samples,
        reference=quiet(np.arctan),
        conventions=atan_conventions,
        tails=(Tail(lambda mp, x: mp.atan(x)),),
    ),
]
