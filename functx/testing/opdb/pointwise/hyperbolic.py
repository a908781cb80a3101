from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail

from .operands import ALONG, both_sides, ONE_SIDE, quiet, sided, unary, UPRIGHT


BELOW_1 = [complex(-2, 0.0), complex(-2, -0.0), complex(0.5, 0.0), complex(0.5, -0.0)]


def growing(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield edge(make(300, low=-9, high=9))
        yield edge(make.put([11.0, -11, 10.5, 88.5, -89, 709.5]))  # some infinite in some dtypes
    if category(make.dtype) == 3:
        yield edge(make.put([1e-6 + 2j, 1e-6j, 20 + 1e-6j, -10 + 3j]))


def asinh_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    yield edge(make(300, low=-9, high=9))


def above_1(make: Make) -> Iterator[Sample]:
    yield from unary(low=1.2)(make)
    if category(make.dtype) == 2:
        yield edge(make.edges(1))
        yield edge(make(300, low=1, high=1.5))


def atanh_samples(make: Make) -> Iterator[Sample]:
    yield from unary(low=-0.9, high=0.9)(make)
    yield edge(make(300, low=-1, high=1))


def sinh_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, np.inf, -np.inf, 710]))
    value = [0, -0.0, np.inf, -np.inf, 1.1169973830808557e308]
    gradient = [1, 1, np.inf, np.inf, 1.1169973830808557e308]
    yield Convention("0 and far out", at, value=value, gradient=gradient)
    flat = make.put([complex(np.inf, 0.0), complex(-1e3, -0.0), complex(0, 1)], "complex128")
    value = [complex(np.inf, 0), complex(-np.inf, -0.0), 1j * np.sin(1)]
    yield Convention("on the axes", call(flat), value=value)


def cosh_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, np.inf, -np.inf, 710]))
    value = [1, np.inf, np.inf, 1.1169973830808557e308]
    gradient = [0, np.inf, -np.inf, 1.1169973830808557e308]
    yield Convention("0 and far out", at, value=value, gradient=gradient)
    flat = make.put([complex(np.inf, 0.0), complex(-1e3, -0.0), complex(0, 1)], "complex128")
    value = [complex(np.inf, 0), complex(np.inf, 0), np.cos(1)]
    yield Convention("on the axes", call(flat), value=value)


def tanh_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("far out", call(make.put([1e3, -np.inf])), value=[1, -1], gradient=[0, 0])


def asinh_conventions(make: Make) -> Iterator[Convention]:
    inf = np.inf
    at = call(make.put([0.0, -0.0, 1e300, -1e300, inf, -inf]))
    far = np.log(2e300)
    yield Convention("0 and far out", at, value=[0, -0.0, far, -far, inf, -inf])
    yield Convention("slopes", call(make.put([0.0, 1, inf])), gradient=[1, np.sqrt(0.5), 0])
    yield from both_sides(
        make, np.arcsinh, UPRIGHT, np.array([-1j, 1j, 1j, -1j]) / np.sqrt(3), ONE_SIDE
    )


def acosh_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    at = call(make.put([1.0, 0.5, -2, 1e300, inf]))
    value, gradient = [0, nan, nan, np.log(2e300), inf], [inf, nan, 1 / np.sqrt(3), 1e-300, 0]
    yield Convention("1, below and far out", at, value=value, gradient=gradient)
    yield Convention("curvature at 1", call(make.put([1.0])), hessian=[[-inf]])
    below = call(make.put([-1.0]))
    yield Convention("-1", below, value=[nan], gradient=[inf], hessian=[[inf]])
    slope = [-1 / np.sqrt(3), -1 / np.sqrt(3), -1j / np.sqrt(0.75), 1j / np.sqrt(0.75)]
    yield from both_sides(make, np.arccosh, BELOW_1, slope, ONE_SIDE)


def atanh_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    at = call(make.put([1.0, -1, 2, -0.0]))
    yield Convention("ends", at, value=[inf, -inf, nan, -0.0], gradient=[inf, inf, -1 / 3, 1])
    for end in (-1.0, 1.0):
        yield Convention(f"curvature at {end}", call(make.put([end])), hessian=[[end * inf]])
    yield from both_sides(make, np.arctanh, ALONG, np.full(4, -1 / 3))
    cut = make.put([complex(inf, -0.0), complex(inf, 0.0), complex(1e300, -0.0)], "complex128")
    value = [-0.5j * np.pi, 0.5j * np.pi, complex(1e-300, -0.5 * np.pi)]
    yield Convention("far out on the cut", call(cut), value=value)


OPS = [
    OpInfo(
        functx.sinh,
        growing,
        reference=quiet(np.sinh),
        conventions=sinh_conventions,
        tails=(Tail(lambda mp, x: mp.sinh(x)),),
    ),
    OpInfo(
        functx.cosh,
        growing,
        reference=quiet(np.cosh),
        conventions=cosh_conventions,
        tails=(Tail(lambda mp, x: mp.cosh(x)),),
    ),
    OpInfo(
        functx.tanh,
        unary(low=-1, high=1),
        reference=np.tanh,
        conventions=tanh_conventions,
        tails=(Tail(lambda mp, x: mp.tanh(x), order=3),),
    ),
    OpInfo(
        functx.asinh,
        asinh_samples,
        reference=quiet(np.arcsinh),
        conventions=asinh_conventions,
        departures=(sided(UPRIGHT),),
        tails=(Tail(lambda mp, x: mp.asinh(x)),),
    ),
    OpInfo(
        functx.acosh,
        above_1,
        reference=quiet(np.arccosh),
        conventions=acosh_conventions,
        departures=(sided(BELOW_1),),
        tails=(Tail(lambda mp, x: mp.acosh(x), low=1),),
    ),
    OpInfo(
        functx.atanh,
        atanh_samples,
        reference=quiet(np.arctanh),
        conventions=atanh_conventions,
        tails=(Tail(lambda mp, x: mp.atanh(x), low=-1, high=1),),
    ),
]
