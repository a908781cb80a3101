from __future__ import annotations

from collections.abc import Callable, Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail

from .operands import PAIRS, quiet, real_only, real_without_numbers, unary, unary_nonzero


def turns(**limits: float) -> Callable[[Make], Iterator[Sample]]:
    """Few angles, and many of several turns, none large or one in fifty."""

    def samples(make: Make) -> Iterator[Sample]:
        yield from unary(**limits)(make)
        if category(make.dtype) == 2:
            many = make(300, low=-900, high=900)
            yield edge(many)
            large = float(jnp.finfo(make.dtype).max) / 2
            yield edge(make.put(np.where(np.arange(300) % 50, np.asarray(many), large)))

    return samples


def atan2_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make.nonzero(*first), make.nonzero(*second))
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        yield edge(make(300, low=-9, high=9), make(300))  # more than fit in one register


def angle_samples(make: Make) -> Iterator[Sample]:
    yield from unary_nonzero(make)
    if category(make.dtype) == 2:
        yield edge(make.put([1, np.inf, -np.inf, np.nan]))


def np_angle(x):
    if x.dtype.kind == "c":
        return np.angle(x)
    return np.where(np.isnan(x), np.nan, np.where(x < 0, np.pi, 0))


def sinc_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield edge(make(300, low=-9, high=9))


@quiet
def np_sinc(x):
    """Of what is left beside the nearest integer: NumPy's sine of many turns has fewer digits."""
    x = np.where(x == 0, 1e-30, x)
    whole = np.rint(x.real)
    wave = np.sin(np.pi * (x - whole)) * np.where(whole % 2, -1, 1)
    return np.where(np.abs(x) < 1e-9, 1, wave / (np.pi * x))


def sinc_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, -0.0, 1, -3, 1e20, np.inf])
    value, gradient = [1, 1, -0.0, 0, 0, np.nan], [0, 0, -1, 1 / 3, 1e-20, np.nan]
    yield Convention("integers", call(at), value=value, gradient=gradient)
    yield Convention(
        "a small number",
        call(make.put([1e-9])),
        gradient=[-(np.pi**2) / 3 * 1e-9],
        departure="PyTorch's is a difference without digits",
    )
    yield Convention(
        "second derivative at 0",
        call(make.put([0.0])),
        hessian=[[-(np.pi**2) / 3]],
        departure="PyTorch's is NaN",
    )
    like = lambda x: jnp.sin(jnp.pi * x) / (jnp.pi * x)
    for point in (0.499, 0.501):
        where = f"third derivative at {point}"
        yield Convention(where, call(make.put([point])), like=like, order=3, ulps=1e4)


def atan2_conventions(make: Make) -> Iterator[Convention]:
    y, x = make.put([0.0, 0, 0, 1]), make.put([0.0, -1, 1, 0])
    yield Convention("on the axes", call(y, x), gradient=([0, -1, 1, 0], [0, 0, 0, -1]))
    tiny, huge = 1e-200, 1e200
    yield Convention(
        "squares that leave the range",
        call(make.put([tiny, huge]), make.put([tiny, huge])),
        gradient=([0.5 / tiny, 0.5 / huge], [-0.5 / tiny, -0.5 / huge]),
        departure="PyTorch squares, and gets NaN and 0",
    )
    origin = call(make.put(0.0), make.put(0.0))
    yield Convention("no curvature at the origin", origin, hessian=np.full((2, 2), np.nan))
    nowhere = call(make.put([np.nan, 0.0]), make.put([0.0, np.nan]))
    nan = [np.nan, np.nan]
    yield Convention("NaN", nowhere, value=nan, gradient=(nan, nan))
    one = make.put(1.0)
    ends = [np.inf, -np.inf, np.inf, -0.0, 0.0, -0.0]
    yield Convention(
        "infinities and signs of zeros",
        call(make.put(ends), make.put([np.inf, -np.inf, 1, -1, -0.0, 0])),
        value=[np.pi / 4, -3 * np.pi / 4, np.pi / 2, -np.pi, np.pi, -0.0],
    )
    tiny = 2.0**-140
    small = [make.put(v, "float32") for v in ([tiny, tiny, tiny], [tiny, 0, -2 * tiny])]
    value = [np.pi / 4, np.pi / 2, np.arctan2(1, -2)]
    yield Convention("subnormal numbers", call(*small), value=value)
    yield Convention("a diagonal", call(one, one), hessian=[[-0.5, 0], [0, 0.5]])


def atan2_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "PyTorch negates the ordinate in its own dtype, and unsigned integers wrap",
        call(make.put([2], "uint8"), make.put([1.0], "float64")),
        r"atan2\(u8",
    )
    yield Departure(
        "gradient",
        "PyTorch divides by a sum of squares, which leaves the range sooner than the derivative",
        call(make.put([1e-200], "float64"), make.put([1e-200], "float64")),
        r"PyTorch -?(0\.0|inf) ",
    )


def angle_conventions(make: Make) -> Iterator[Convention]:
    reals = make.put([0.0, -0.0, -1.0, 1.0, -np.inf, np.nan])
    value = [0, 0, np.pi, 0, np.pi, np.nan]
    yield Convention("reals", call(reals), value=value, gradient=[0, 0, 0, 0, 0, 0])
    yield Convention("complex 0", call(make.put([0j], "complex128")), gradient=[0])


OPS = [
    OpInfo(
        functx.sin,
        turns(),
        reference=np.sin,
        tails=(Tail(lambda mp, x: mp.sin(x), low=-9, high=9),),
    ),
    OpInfo(
        functx.cos,
        turns(),
        reference=np.cos,
        tails=(Tail(lambda mp, x: mp.cos(x), low=-9, high=9),),
    ),
    OpInfo(
        functx.tan,
        turns(low=-1, high=1),
        reference=np.tan,
        tails=(Tail(lambda mp, x: mp.tan(x), low=-1.5, high=1.5),),
    ),
    OpInfo(
        functx.atan2,
        atan2_samples,
        reference=np.arctan2,
        refusals=real_without_numbers,
        conventions=atan2_conventions,
        departures=(atan2_departures,),
    ),
    OpInfo(functx.deg2rad, unary(), reference=np.deg2rad, refusals=real_only),
    OpInfo(functx.rad2deg, unary(), reference=np.rad2deg, refusals=real_only),
    OpInfo(
        functx.sinc,
        sinc_samples,
        reference=np_sinc,
        conventions=sinc_conventions,
        tails=(Tail(lambda mp, x: mp.sinc(mp.pi * x), low=-9, high=9),),
    ),
    OpInfo(
        functx.angle,
        angle_samples,
        reference=np_angle,
        conventions=angle_conventions,
    ),
]
