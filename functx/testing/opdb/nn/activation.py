from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.special

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import Tolerance


def unary(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3))
    for shape in [(), (5,), (2, 0, 3)]:
        yield call(make.nonzero(*shape))
    yield call(make.nonzero(3), inplace=True)
    yield edge(make.edges())


def gelu_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    for shape in [(), (2, 0, 3)]:
        yield call(make(*shape))
    yield edge(make.edges())


def tanh_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), approximate="tanh")
    yield call(make(8, low=-4, high=-2), approximate="tanh")
    yield edge(make.edges(), approximate="tanh")


def gelu_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(
        call(make(3), approximate="sigmoid"), r"`approximate` must be 'none' or 'tanh'", ValueError
    )
    yield Refusal(call(make(3, dtype="int64")), "expected floating arrays, got i64", TypeError)
    yield Refusal(call(2), "expected floating numbers, got int", TypeError)
    yield Refusal(call(True), "expected floating arrays, got bool", TypeError)


def softplus_refusals(make: Make) -> Iterator[Refusal]:
    for dtype in ("float16", "float32"):
        x = make(2, dtype=dtype)
        yield Refusal(call(x, 1e39), "`beta` must fit float32, got 1e")
        yield Refusal(call(x, threshold=-1e39), "`threshold` must fit float32, got -1e")


def softplus_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(2, 3), 2.0, threshold=3)
    yield call(make(2, 3, low=-90, high=90))
    yield call(make(), beta=0.5)
    yield call(make(2), 1e9 if make.dtype == "float16" else 2.0, True)
    yield call(make(0, 2))
    yield edge(make.edges(20))
    yield edge(make.edges(), 2.0, threshold=3)


def np_gelu(x, approximate="none"):
    if approximate == "none":
        return x * scipy.special.ndtr(x)
    return x * scipy.special.expit(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))


def np_softplus(x, beta=1, threshold=20):
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


def relu_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, -0.0, -1.0, 1.0, np.nan])
    value, gradient = [0, -0.0, 0, 1, np.nan], [0, 0, 0, 1, 1]
    yield Convention("zeros and NaN", call(at), value=value, gradient=gradient)
    yield Convention("no curvature at 0", call(make.put([0.0])), hessian=0)
    small = call(make.put([5e-310, -5e-310]))
    yield Convention("subnormal numbers", small, value=[5e-310, 0], gradient=[1, 0])


def gelu_conventions(make: Make) -> Iterator[Convention]:
    for approximate in ("none", "tanh"):
        at = call(make.put([0.0, 1e3, -1e3]), approximate)
        yield Convention(approximate, at, value=[0, 1e3, -0.0], gradient=[0.5, 1, 0])
    far = np.linspace(-12.5, 12.5, 1001, dtype="float32")
    want = np_gelu(far.astype("float64"))
    near = lambda y: abs(y.astype("float64") - want) <= 8 * np.finfo("float32").eps * abs(want)
    yield Convention("digits far out", call(make.put(far, "float32")), holds=near)


def silu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 1e3, -1e3]))
    yield Convention("0 and far out", at, value=[0, 1e3, -0.0], gradient=[0.5, 1, 0])


def softplus_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 20.0, 30.0, -1e3]))
    slope = 1 / (1 + np.exp(-20.0))
    yield Convention("0, the threshold and beyond", at, gradient=[0.5, slope, 1, 0])
    at = call(make.put([-1e3, -np.inf]))
    yield Convention("no -0.0 far out", at, value=[0.0, 0.0], gradient=[0, 0])
    departure = "PyTorch's curve has its threshold below that of its slope"
    at = call(make.put([2.0]), 1.0, 2.0)
    curvature = 1 / (2 + 2 * np.cosh(2.0))
    yield Convention("curvature at the threshold", at, hessian=curvature, departure=departure)
    flat, infinite = make.put([2.0, -2.0]), [np.inf, np.inf]
    yield Convention("beta=0", call(flat, 0), value=infinite, gradient=[0.5, 0.5])
    yield Convention("infinity times 0", call(make.put([np.inf]), 0), value=[np.nan])
    yield Convention("beta=-0.0", call(flat, -0.0), value=[-np.inf, -np.inf], gradient=[0.5, 0.5])


def gelu_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "where the cube leaves the range, the slope is 1 or 0, and PyTorch's NaN",
        call(make.put([1e160], "float64"), approximate="tanh"),
        r"approximate='tanh'.*PyTorch -?nan",
    )


def softplus_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "an infinite `beta` has no derivative to hand on, times which slopes are none",
        call(make.put([-50.0], "float64"), np.inf),
        r"beta=-?inf.*: nan at|, -?inf\): .*: nan at",
    )


def exact_by_tanh(mp: Any, x: Any) -> Any:
    inner = mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)
    return x / (1 + mp.exp(-2 * inner))


OPS = [
    OpInfo(
        F.relu,
        unary,
        reference=lambda x, inplace=False: np.where(x < 0, 0, x).astype(x.dtype),
        conventions=relu_conventions,
    ),
    OpInfo(
        F.gelu,
        gelu_samples,
        reference=np_gelu,
        refusals=gelu_refusals,
        conventions=gelu_conventions,
        departures=(gelu_departures,),
        tails=(Tail(lambda mp, x: x * mp.ncdf(x)),),
    ),
    OpInfo(
        F.gelu,
        tanh_samples,
        reference=np_gelu,
        variant="tanh",
        tolerances=(
            Tolerance(
                "of an exponent of 2000, the rounding is 2000 roundings of the result",
                ulps=4000,
                dtypes=frozenset({"float64"}),
            ),
        ),
        tails=(Tail(exact_by_tanh, of=lambda op, x: op(x, approximate="tanh")),),
    ),
    OpInfo(
        F.silu,
        unary,
        reference=lambda x, inplace=False: x / (1 + np.exp(-x)),
        conventions=silu_conventions,
        tails=(Tail(lambda mp, x: x / (1 + mp.exp(-x)), order=3),),
    ),
    OpInfo(
        F.softplus,
        softplus_samples,
        reference=np_softplus,
        refusals=softplus_refusals,
        conventions=softplus_conventions,
        departures=(softplus_departures,),
        tails=(
            Tail(lambda mp, x: mp.log1p(mp.exp(x)), high=20),
            Tail(
                lambda mp, x: 2 * mp.log1p(mp.exp(x / 2)),
                lambda op, x: op(x, 0.5, 99.0),
                "wide",
                high=198,
            ),
        ),
    ),
]
