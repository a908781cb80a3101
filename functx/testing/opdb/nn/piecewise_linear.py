"""Samples of activation functions of straight pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import AT_ROOTS


NAN, INF = np.nan, np.inf


def unary(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, low=-8, high=8))
    yield call(make(4), inplace=True)
    yield call(make())
    yield call(make(2, 0))
    yield edge(make.edges(3, 6))


def hardtanh_samples(make: Make) -> Iterator[Sample]:
    at_least_zero = make.dtype.kind == "u"
    low, high = (1, 5) if at_least_zero else (-1.5, 2)
    yield call(make(2, 3, low=0 if at_least_zero else -4, high=8), low, high)
    yield call(make(3), low, max_val=make(low=2, high=3))
    if not at_least_zero:
        yield call(make(5, low=-3, high=3))
        yield call(make(6, low=-3, high=3), min_val=make(low=-1, high=0), inplace=True)
        yield call(make())
        yield edge(make.edges(1))
    if category(make.dtype) == 2:
        yield edge(make.put([-2.0, 3]), make.put(-INF), 1)
        yield edge(make.put([-2.0, 3]), -1, make.put(INF))
    yield call(make(2, 0), 0.0)


def with_lambda(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, low=-2, high=2))
    yield call(make(3, low=-2, high=2), make(low=0.25, high=1))
    yield call(make(), lambd=1)
    yield call(make(2, 0), 0)
    yield edge(make.edges(0.5))


def hardshrink_samples(make: Make) -> Iterator[Sample]:
    yield from with_lambda(make)
    yield call(make(4), -0.25)


def leaky_relu_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(3), make())
    yield call(make(), negative_slope=-2)
    yield call(make(4), inplace=True)
    yield call(make(2, 0))
    yield edge(make.edges())


def prelu_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3))
    yield call(make(2, 3, 2), make(3))
    yield call(make(2, 3, 2), make(1))
    yield call(make(4), make())
    yield call(make(), make(1))
    yield call(make(2, 0), make(0))
    yield edge(make.edges(), make.put(0.5))


def without_draw(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(3), 0.25, upper=make(low=0.5, high=1))
    yield call(make(4, low=-3, high=-1), make(low=-1, high=0), 0.5, False, True)
    yield call(make())
    yield edge(make.edges())


def drawn(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), training=True)
    yield call(make(3), 0.25, 0.75, True)
    yield call(make(2, 0), -0.5, upper=0.5, training=True)
    yield call(make(), training=True)


def threshold_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 0.25, 9)
    yield call(make(6), make(low=-0.5, high=0.5), value=make(low=2, high=5))
    yield call(make(), 1, 2, True)
    yield call(make(2, 0), threshold=-1, value=0)
    yield edge(make.edges(20), 20, 3)
    if category(make.dtype) == 2:
        yield edge(make.nonzero(4), make.put(INF), 3)


def np_hardtanh(x: Any, min_val: Any = -1.0, max_val: Any = 1.0, inplace: bool = False) -> Any:
    whole = category(x.dtype) == 1
    low, high = (np.trunc(v) if whole else np.asarray(v, x.dtype) for v in (min_val, max_val))
    return np.where(x < low, low, np.where(x > high, high, x)).astype(x.dtype)


def np_relu6(x: Any, inplace: bool = False) -> Any:
    return np.where(x < 0, 0, np.where(x > 6, 6, x)).astype(x.dtype)


def np_hardsigmoid(x: Any, inplace: bool = False) -> Any:
    return np.where(x <= -3, 0, np.where(x >= 3, 1, x / 6 + 0.5))


def np_hardswish(x: Any, inplace: bool = False) -> Any:
    far = np.where(x <= -3, x * 0, x)
    return np.where(np.abs(x) < 3, x * (x + 3) / 6, far)


def np_hardshrink(x: Any, lambd: Any = 0.5) -> Any:
    return np.where((x >= -lambd) & (x <= lambd), 0, x)


def np_softshrink(x: Any, lambd: Any = 0.5) -> Any:
    moved = np.where(x > 0, x - lambd, x + lambd)
    return np.where(np.abs(x) <= lambd, 0, moved)


def np_leaky_relu(x: Any, negative_slope: Any = 0.01, inplace: bool = False) -> Any:
    return np.where(x > 0, x, x * np.asarray(negative_slope, x.dtype))


def np_prelu(x: Any, weight: Any) -> Any:
    if weight.size != 1:
        weight = np.expand_dims(weight, list(range(1, x.ndim - 1)))
    return np.where(x > 0, x, x * weight.reshape(() if weight.size == 1 else weight.shape))


def np_rrelu(x: Any, lower: Any = 1 / 8, upper: Any = 1 / 3, *_: Any, **options: Any) -> Any:
    return np.where(x > 0, x, x * ((np.float64(lower) + upper) / 2))


def np_threshold(x: Any, threshold: Any, value: Any, inplace: bool = False) -> Any:
    whole = category(x.dtype) == 1
    bound, other = (np.trunc(v) if whole else np.asarray(v, x.dtype) for v in (threshold, value))
    return np.where(x <= bound, other, x).astype(x.dtype)


def rrelu_moments(
    x: Any, lower: Any = 1 / 8, upper: Any = 1 / 3, *_: Any, **options: Any
) -> tuple[Any, Any]:
    mean, deviation = (lower + upper) / 2, (upper - lower) / np.sqrt(12)
    return np.where(x > 0, x, x * mean), np.where(x > 0, 0, np.abs(x) * deviation)


def rrelu_sampler(
    rng: Any, n: int, x: Any, lower: Any = 1 / 8, upper: Any = 1 / 3, *_: Any, **options: Any
) -> Any:
    slopes = rng.uniform(lower, upper, (n, *x.shape))
    return np.where(x > 0, x, x * slopes)


def hardtanh_refusals(make: Make) -> Iterator[Refusal]:
    message = "`min_val` must not be greater than `max_val`, got 2"
    yield Refusal(call(make(3), 2, 1), message, ValueError)
    bytes_ = make(3, dtype="uint8")
    yield Refusal(call(bytes_), "`min_val` must not be negative beside uint8, got -1")
    yield Refusal(call(make(3, dtype=bool)), "expected real number arrays, got bool", TypeError)


def softshrink_refusals(make: Make) -> Iterator[Refusal]:
    for lambd in (-0.5, NAN):
        yield Refusal(call(make(3), lambd), f"`lambd` must not be negative, got {lambd}")
    yield Refusal(call(make(3, dtype="int64")), "expected floating arrays, got i64", TypeError)


def prelu_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, make(2)), "`weight` must have 1 element or one for each of 3 channels")
    yield Refusal(call(make(3), make(3)), "`weight` must have 1 element or .* 1 channels")
    yield Refusal(call(make(3), make(0)), "`weight` must have 1 element or .* 1 channels")
    yield Refusal(call(make(), make(2)), "`weight` must have 1 element or .* 1 channels")
    yield Refusal(call(x, make(1, 3)), "`weight` must have 0 or 1 dimensions, got")
    yield Refusal(call(make(2, dtype="float32"), make(1, dtype="float64")), "same dtype", TypeError)


def rrelu_refusals(make: Make) -> Iterator[Refusal]:
    message = "`lower` must not be greater than `upper`, got 0.5"
    for training in (False, True):
        yield Refusal(call(make(3), 0.5, 0.25, training), message)
        yield Refusal(call(make(3), 0.5, INF, training), "`upper` must be finite, got inf")
        yield Refusal(call(make(3), NAN, 0.5, training), "`lower` must be finite, got nan")


def threshold_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3, dtype=bool), 0, 1), "expected real number arrays", TypeError)
    yield Refusal(call(make(3, dtype="uint8"), 3, 300), "`value` must fit uint8, got 300")
    yield Refusal(call(make(3), 0, 1j), "`value` must not be complex", TypeError)


def hardtanh_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([-1.0, 1.0, -0.0, INF]))
    yield Convention("the bounds", at, value=[-1, 1, -0.0, 1], gradient=[0, 0, 1, 0])
    yield Convention("NaN", call(make.put([NAN])), value=[NAN])
    at = call(make.put([-2.0, 0.5, 2.0]), make.put(-1.0), make.put(1.0))
    yield Convention("slopes of the bounds", at, gradient=([0, 1, 0], 1, 1), departure=UNTRACED)
    at = call(make.put([-1.0, 0.5, 1.0]), make.put(-1.0), make.put(1.0))
    yield Convention("at the bounds", at, gradient=([0, 1, 0], 0, 0), departure=UNTRACED)
    for x in (-1.0, 1.0):
        at = call(make.put(x), make.put(-1.0), make.put(1.0))
        yield Convention(f"at {x}", at, gradient=(0, 0, 0), departure=UNTRACED)
    yield Convention("a bound that is NaN", call(make.put([0.5]), NAN), value=[NAN])
    small = call(make.put([5e-310, -5e-310]), 0, 1)
    yield Convention("subnormal numbers", small, value=[5e-310, 0], gradient=[1, 0])
    whole = call(make.put([-7, -1, 0, 3, 8], "int64"), -2.7, 3.9)
    yield Convention("bounds beside integers are cut", whole, value=[-2, -1, 0, 3, 3])


UNTRACED = "PyTorch's numbers have no gradient"


def relu6_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, 6.0, INF]))
    yield Convention("the bounds", at, value=[0, -0.0, 6, 6], gradient=[0, 0, 0, 0])
    yield Convention("NaN", call(make.put([NAN])), value=[NAN])


def hardsigmoid_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([-3.0, 0.0, 3.0, -INF]))
    yield Convention("the bounds", at, value=[0, 0.5, 1, 0], gradient=[0, 1 / 6, 0, 0])
    yield Convention("NaN", call(make.put([NAN])), value=[NAN])


def hardsigmoid_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "PyTorch's slope in float64 is a sixth in float32",
        call(make.put([0.5], "float64")),
        r"f64\[",
    )


def hardswish_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([-3.0, 3.0, 0.0, -INF, INF]))
    value, gradient = [-0.0, 3, 0, NAN, INF], [0, 1, 0.5, 0, 1]
    yield Convention("the bounds", at, value=value, gradient=gradient)


def hardshrink_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([-0.5, 0.5, -0.0, INF]))
    yield Convention("the bounds", at, value=[0, 0, 0, INF], gradient=[0, 0, 0, 1])
    yield Convention("NaN", call(make.put([NAN])), value=[NAN])
    small = call(make.put([5e-310, -5e-310]), 0)
    yield Convention("subnormal numbers", small, value=[5e-310, -5e-310], gradient=[1, 1])


def softshrink_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([-0.5, 0.5, INF]))
    yield Convention("the bounds", at, value=[0, 0, INF], gradient=[0, 0, 1])
    yield Convention("NaN", call(make.put([NAN])), value=[NAN])
    at = call(make.put([-2.0, 0.25, 3.0, 4.0]), make.put(1.0))
    gradient = [1, 0, 1, 1], -1
    yield Convention("the slope of lambd", at, gradient=gradient, departure=UNTRACED)


def leaky_relu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, INF]), 0.25)
    yield Convention("0", at, value=[0, -0.0, INF], gradient=[0.25, 0.25, 1])
    yield Convention("infinity times 0", call(make.put([-INF, NAN]), 0), value=[NAN, NAN])
    small = call(make.put([5e-310, -5e-310]), 0.5)
    yield Convention("subnormal numbers", small, gradient=[1, 0.5])


def prelu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 2.0, -3.0]), make.put(0.25))
    gradient = [0.25, 1, 0.25], -3
    yield Convention("0", at, value=[0, 2, -0.75], gradient=gradient)
    at = call(make.put([1.0, 2.0, -3.0]), make.put(0.25))
    yield Convention("mixed second derivatives", at, hessian=PRELU_HESSIAN)


PRELU_HESSIAN = np.zeros((4, 4))
PRELU_HESSIAN[[2, 3], [3, 2]] = 1


def rrelu_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -2.0, 2.0]), 0.25, 0.75)
    yield Convention("0", at, value=[0, -1, 2], gradient=[0.5, 0.5, 1])


def drawn_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -1.0, 2.0, NAN, -INF]), 0.5, 0.5, True)
    value, gradient = [0, -0.5, 2, NAN, -INF], [0.5, 0.5, 1, 1, 0.5]
    yield Convention("equal bounds", at, value=value, gradient=gradient)
    for dtype in ("float32", "float64"):
        x = make.delicate(32).astype(dtype)
        want = jnp.where(x > 0, x, x / 2)
        halved = lambda y, want=want: (y == want) | (jnp.isnan(y) & jnp.isnan(want))
        yield Convention(f"large, small and NaN, {dtype}", call(x, 0.5, 0.5, True), holds=halved)
    within = lambda y: (y >= -0.75) & (y < -0.25)
    yield Convention(
        "within the bounds", call(-make.put([1.0] * 64), 0.25, 0.75, True), holds=within
    )


def threshold_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.5, 1.0, NAN, -INF]), 0.5, 9)
    yield Convention("the bound and NaN", at, value=[9, 1, NAN, 9], gradient=[0, 1, 1, 0])
    at = call(make.put([0.25, 1.0, 0.0]), 0.5, make.put(2.0))
    yield Convention("the slope of value", at, gradient=([0, 1, 0], 2), departure=UNTRACED)
    small = call(make.put([5e-310, -5e-310]), 0, 9)
    yield Convention("subnormal numbers", small, value=[5e-310, 9])
    whole = call(make.put([-7, 0, 3], "int64"), 0.5, 2.7)
    yield Convention("numbers beside integers are cut", whole, value=[2, 2, 3])


def hardtanh_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "bounds are compared as they are, in PyTorch after -1 has become a byte",
        call(make(), -1, make.put(0, "uint8")),
        "min_val cannot be greater than max_val",
    )


OPS = [
    OpInfo(
        F.hardtanh,
        hardtanh_samples,
        np_hardtanh,
        hardtanh_refusals,
        conventions=hardtanh_conventions,
        departures=(hardtanh_departures,),
    ),
    OpInfo(F.relu6, unary, np_relu6, conventions=relu6_conventions),
    OpInfo(
        F.hardsigmoid,
        unary,
        np_hardsigmoid,
        conventions=hardsigmoid_conventions,
        departures=(hardsigmoid_departures,),
        tolerances=(AT_ROOTS,),
    ),
    OpInfo(
        F.hardswish,
        unary,
        np_hardswish,
        conventions=hardswish_conventions,
        tolerances=(AT_ROOTS,),
        tails=(Tail(lambda mp, x: x * (x + 3) / 6, low=-3, high=3),),
    ),
    OpInfo(
        F.hardshrink,
        hardshrink_samples,
        np_hardshrink,
        conventions=hardshrink_conventions,
        kinked=True,
    ),
    OpInfo(
        F.softshrink,
        with_lambda,
        np_softshrink,
        softshrink_refusals,
        conventions=softshrink_conventions,
        kinked=True,
    ),
    OpInfo(F.leaky_relu, leaky_relu_samples, np_leaky_relu, conventions=leaky_relu_conventions),
    OpInfo(
        F.prelu,
        prelu_samples,
        np_prelu,
        prelu_refusals,
        conventions=prelu_conventions,
        kinked=True,
    ),
    OpInfo(
        F.rrelu,
        drawn,
        refusals=rrelu_refusals,
        moments=rrelu_moments,
        sampler=rrelu_sampler,
        conventions=drawn_conventions,
        kinked=True,
    ),
    OpInfo(F.rrelu, without_draw, np_rrelu, variant="without_draw", conventions=rrelu_conventions),
    OpInfo(
        F.threshold,
        threshold_samples,
        np_threshold,
        threshold_refusals,
        conventions=threshold_conventions,
        kinked=True,
    ),
]
