"""Samples of smooth activation functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.special

import functx.nn.functional as F
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import AT_ROOTS, Tolerance


NAN, INF = np.nan, np.inf


def unary(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3))
    yield call(make(8, low=-12, high=12))
    yield call(make.nonzero())
    yield call(make(2, 0))
    if category(make.dtype) == 2:
        yield edge(make.edges())


def maybe_in_place(make: Make) -> Iterator[Sample]:
    yield from unary(make)
    yield call(make.nonzero(3), inplace=True)


def with_alpha(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3))
    yield call(make(4, low=-3, high=-1), make(low=1, high=2))
    yield call(make.nonzero(), alpha=-0.5)
    yield call(make.nonzero(3), 2, True)
    yield call(make(2, 0))
    yield edge(make.edges(), 1.5)


def glu_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4))
    yield call(make(4, 3), 0)
    yield call(make(2, 2, 3), dim=-2)
    yield call(make(2))
    yield call(make(3, 0))
    yield edge(make.put([1.0, 2, -3, 100, 0.5, -100]))


def np_elu(x: Any, alpha: Any = 1.0, inplace: bool = False) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def np_celu(x: Any, alpha: Any = 1.0, inplace: bool = False) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x / alpha)))


def np_selu(x: Any, inplace: bool = False) -> Any:
    return 1.0507009873554804934193349852946 * np_elu(x, 1.6732632423543772848170429916717)


def np_mish(x: Any, inplace: bool = False) -> Any:
    return x * np.tanh(np.logaddexp(0, x))


def np_softsign(x: Any) -> Any:
    x = x.astype(np.result_type(x, "float32" if category(x.dtype) == 1 else x.dtype))
    return x / (1 + np.abs(x))


def np_tanhshrink(x: Any) -> Any:
    x = x.astype(np.result_type(x, "float64"))
    return x - np.tanh(x)


def np_glu(x: Any, dim: int = -1) -> Any:
    value, gate = np.split(x, 2, dim)
    return value * scipy.special.expit(gate)


def celu_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), 0), "`alpha` must not be 0, got 0")
    yield Refusal(call(make(3, dtype="int64")), "expected floating arrays, got i64", TypeError)


def glu_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3)), r"`input` must be even in dimension 1, got \w+\[2,3\]")
    yield Refusal(call(make()), r"`input` must have a dimension, got \w+\[\]")
    yield Refusal(call(make(2, 4), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)


def no_bools(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3, dtype=bool)), "expected number arrays, got bool", TypeError)


def elu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, -INF, INF]), 2.0)
    value, gradient = [0, -0.0, -2, INF], [2, 2, 0, 1]
    yield Convention("0 and far out", at, value=value, gradient=gradient)
    yield Convention("no curvature at 0", call(make.put([0.0]), 2.0), hessian=0)
    at = call(make.put([0.0, 1.0, -INF]), make.put(2.0))
    untraced = "PyTorch's numbers have no gradient"
    yield Convention("the slope of alpha", at, gradient=([2, 1, 0], -1), departure=untraced)
    small = call(make.put([5e-310, -5e-310]), 2.0)
    yield Convention("subnormal numbers", small, gradient=[1, 2])


def celu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, -INF, INF]), 2.0)
    value, gradient = [0, -0.0, -2, INF], [1, 1, 0, 1]
    yield Convention("0 and far out", at, value=value, gradient=gradient)
    yield Convention("no curvature at 0", call(make.put([0.0]), 2.0), hessian=0)
    at = call(make.put(2.0), make.put(2.0))
    untraced = "PyTorch's numbers have no gradient"
    yield Convention("`input` is `alpha`", at, value=2, gradient=(1, 0), departure=untraced)


def selu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, -INF, INF]))
    steep = 1.758099340847377
    value, gradient = [0, -0.0, -steep, INF], [steep, steep, 0, 1.0507009873554805]
    yield Convention("0 and far out", at, value=value, gradient=gradient)
    yield Convention("no curvature at 0", call(make.put([0.0])), hessian=0)


def logsigmoid_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([-INF, -1e3, 0.0, 1e3, INF]))
    value, gradient = [-INF, -1e3, -np.log(2), 0, 0], [1, 1, 0.5, 0, 0]
    yield Convention("far out", at, value=value, gradient=gradient)
    for x in (-INF, 1e3, INF):
        yield Convention(f"no curvature at {x}", call(make.put([x])), hessian=0)
    yield Convention("curvature at 0", call(make.put([0.0])), hessian=-0.25)


def mish_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 1e3, -1e3]))
    yield Convention("0 and far out", at, value=[0, 1e3, -0.0], gradient=[0.6, 1, 0])
    for x, bend in ((0.0, 0.64), (1e3, 0.0)):
        departure = "PyTorch's power overflows" if x else None
        what = f"curvature at {x}"
        yield Convention(what, call(make.put([x])), hessian=bend, departure=departure)


def softsign_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0]))
    yield Convention("zeros", at, value=[0, -0.0], gradient=[1, 1])
    yield Convention("no curvature at 0", call(make.put([0.0])), hessian=0)
    yield Convention("infinity", call(make.put([INF])), value=[NAN])
    yield Convention(
        "complex 0",
        call(make.put([0j], "complex64")),
        value=[0],
        gradient=[1],
        through=lambda y: y.real,
    )
    yield Convention("far out", call(make.put([1e100])), gradient=[1e-200])


def tanhshrink_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("nearly flat", call(make.put([1e-8])), gradient=[1e-16])
    zeros = call(make.put([0.0, -0.0]))
    yield Convention("zeros of either sign, of which PyTorch gives 0.0", zeros, value=[0, -0.0])


def glu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([2.0, 0.0]))
    yield Convention("half open", at, value=[1], gradient=[0.5, 0.5])


OPS = [
    OpInfo(
        F.elu,
        with_alpha,
        np_elu,
        conventions=elu_conventions,
        tails=(Tail(lambda mp, x: 0.75 * mp.expm1(x), of=lambda op, x: op(x, 0.75), high=0),),
    ),
    OpInfo(
        F.celu,
        with_alpha,
        np_celu,
        celu_refusals,
        conventions=celu_conventions,
        gaps=(
            Gap(
                "extremal",
                "`alpha` must not be 0, which XLA's CPU takes these for",
                at="(zeros|subnormal) in array 1",
            ),
        ),
        tails=(
            Tail(
                lambda mp, x: 0.75 * mp.expm1(x / 0.75),
                of=lambda op, x: op(x, 0.75),
                high=0,
            ),
        ),
    ),
    OpInfo(
        F.selu,
        maybe_in_place,
        np_selu,
        conventions=selu_conventions,
        tails=(Tail(lambda mp, x: 1.0507009873554805 * 1.6732632423543772 * mp.expm1(x), high=0),),
    ),
    OpInfo(
        F.logsigmoid,
        unary,
        reference=lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
        conventions=logsigmoid_conventions,
        tolerances=(Tolerance("far out PyTorch has zeros of either sign", signed_zeros=False),),
        tails=(Tail(lambda mp, x: -mp.log1p(mp.exp(-x)), order=3),),
    ),
    OpInfo(
        F.mish,
        maybe_in_place,
        np_mish,
        conventions=mish_conventions,
        tails=(Tail(lambda mp, x: x * mp.tanh(mp.log1p(mp.exp(x)))),),
    ),
    OpInfo(
        F.softsign,
        unary,
        np_softsign,
        no_bools,
        conventions=softsign_conventions,
        tails=(
            Tail(lambda mp, x: x / (1 + x), low=0),
            Tail(lambda mp, x: x / (1 - x), what="below 0", high=0),
        ),
    ),
    OpInfo(
        F.tanhshrink,
        unary,
        np_tanhshrink,
        no_bools,
        tolerances=(
            AT_ROOTS,
            Tolerance(
                "of a difference that halves cannot hold, the reference has the sign",
                signed_zeros=False,
            ),
        ),
        conventions=tanhshrink_conventions,
        tails=(Tail(lambda mp, x: x - mp.tanh(x)),),
    ),
    OpInfo(
        F.glu,
        glu_samples,
        np_glu,
        glu_refusals,
        conventions=glu_conventions,
        tails=(
            Tail(
                lambda mp, x: 3 / (1 + mp.exp(-x)),
                of=lambda op, x: op(jnp.stack([3 * jnp.ones_like(x), x]))[0],
            ),
        ),
    ),
]
