from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.stats

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call


def distributed_as(law: Any) -> Callable[[Any], Any]:
    """Whether shares of many numbers are SciPy's: no quantile is off by 5 standard deviations."""
    at = np.unique(law.ppf([0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999]))
    share = law.cdf(at)

    def hold(x: Any) -> Any:
        got = (x[:, None].astype("float64") <= jnp.asarray(at)[None]).mean(0, dtype="float64")
        return abs(got - share) <= 5 * np.sqrt(share * (1 - share) / len(x)) + 1e-12

    return hold


def whole(x: Any) -> Any:
    """Whether all are whole numbers, and not all 0."""
    return (x == jnp.round(x)).all() & (x > 0).any()


def geometric_samples(make: Make) -> Iterator[Sample]:
    yield call(make(10), 0.2)
    yield call(make(2, 3), make(low=0.3, high=0.9, dtype="float32"))
    yield call(make(), p=0.8)
    yield call(make(2, 0), 0.5)
    yield call(make(2, 1, 3, 2), 0.5)


def geometric_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2)
    for bad in (0, 1, -1, 1.5, np.nan):
        yield Refusal(call(x, bad), rf"`p` must lie in \(0, 1\), got {bad}")
    words = "`p` must be a real number or a 0-d array"
    yield Refusal(call(x, make(2)), words, TypeError)
    yield Refusal(call(x, 0.5j), words, TypeError)
    yield Refusal(call(jnp.ones(2, bool), 0.5), "expected real number arrays", TypeError)
    yield Refusal(call(1.0, 0.5), "`input` must be an array", TypeError)


def geometric_moments(x, p):
    p = np.float64(p)
    return np.full(np.shape(x), 1 / p), np.full(np.shape(x), np.sqrt(1 - p) / p)


def geometric_sampler(rng, n, x, p):
    return rng.geometric(p, (n, *np.shape(x)))


def geometric_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("uint8", "int32", "int64", "float32", "float64"):
        many = make.put(np.zeros(50000), dtype)
        law = distributed_as(scipy.stats.geom(0.3))
        yield Convention(f"shares, {dtype}", call(many, 0.3), holds=law)
        sure = call(many, 1 - 1e-12)
        yield Convention(f"a near certainty, {dtype}", sure, value=np.ones(50000))
    rare = "PyTorch wraps them"
    for dtype in ("uint8", "int8", "int16", "int64"):
        most = np.iinfo(dtype).max
        x = make.put([0], dtype)
        never = call(x, 1e-25)
        holds = lambda x, most=most: x == most
        yield Convention(f"more than {dtype} holds", never, holds=holds, departure=rare)
    long = call(make.put(np.zeros(20000), "int64"), 1e-6)
    many = lambda x: (
        (x.max() > 2**22) & (x.min() < 2**10) & ((jnp.diff(jnp.sort(x)) > 0).sum() > 19000)
    )
    yield Convention("many trials", long, holds=many)
    small = call(make.put(np.full(50, 3e-4)), make.put(5e-4))
    yield Convention("whole numbers", small, holds=whole)


def poisson_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, low=0.1, high=9))
    yield call(make(4, low=10, high=90))
    yield call(make(low=1, high=30))
    yield call(make.put([0.0, 2.0, -0.0, 20.0]))
    yield call(make(2, 0, low=1))
    yield call(make(2, 1, 3, 2, low=0, high=20))


def poisson_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make.put([1.0, -1.0])), "`input` must not be negative, got -1")
    yield Refusal(call(make.put([np.nan])), "`input` must not be negative, got nan")
    small = make.put([1.0, -1e-310], "float64")
    yield Refusal(call(small), "`input` must not be negative, got -1e-310")
    yield Refusal(call(jnp.ones(2, "int32")), "expected floating arrays", TypeError)
    yield Refusal(call(1.0), "`input` must be an array", TypeError)


def poisson_moments(x):
    rate = np.asarray(x).astype(float)
    return rate, np.sqrt(rate)


def poisson_sampler(rng, n, x):
    return rng.poisson(x, (n, *np.shape(x)))


def scaled(x: Any, rate: float) -> Any:
    """Of Poisson numbers, mean and standard deviation as they differ from 0 and 1."""
    off = (x - rate).astype("float64") / rate**0.5
    return jnp.stack([off.mean(), off.std() - 1])


def poisson_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("float32", "float64"):
        for rate in (0.5, 9.5, 10.5, 300, 1e6):
            many = call(make.put(np.full(50000, rate), dtype))
            law = distributed_as(scipy.stats.poisson(rate))
            yield Convention(f"shares, rate {rate}, {dtype}", many, holds=law)
    # Where a rate has no room for single events, its spread is still right.
    for dtype, rate in [("float32", 1e10), ("float64", 1e20)]:
        near = lambda x, rate=rate: abs(scaled(x, rate)) < np.asarray([0.03, 0.02])
        many = call(make.put(np.full(50000, rate), dtype))
        yield Convention(f"a great rate, {dtype}", many, holds=near)
    small = call(make.put(np.full(50000, 3e-4)))
    yield Convention("whole numbers", small, holds=whole)
    yield Convention(
        "no end",
        call(make.put([np.inf, 0.0])),
        value=[np.inf, 0],
        departure="PyTorch gives a negative number",
    )
    yield Convention("no gradient", call(make.put([0.5, 20.0])), gradient=[0, 0])


def binomial_samples(make: Make) -> Iterator[Sample]:
    yield call(make.put(make.rng.permutation([3, 10, 7])), make(3, low=0.1, high=0.9))
    yield call(make.put([[100], [60]]), make(3, low=0.3, high=0.7))
    yield call(make.put(5), make(2, low=0.2, high=0.8))
    yield call(make.put([40.0, 0.0, 3.0, 2.0]), make.put([0.5, 0.5, 0.0, 1.0]))
    yield call(prob=make(low=0.1, high=0.9), count=make.put(30))
    yield call(make(2, 0), make(0, low=0, high=1))
    yield call(make.put(np.full((2, 1, 3, 2), 25)), make(2, 1, 3, 2, low=0.1, high=0.9))


def binomial_refusals(make: Make) -> Iterator[Refusal]:
    x = make.put([3.0, 4.0], "float32")
    yield Refusal(call(x, make(3)), "broadcast|shapes|dtype", (ValueError, RuntimeError))
    double = make.put([0.5, 0.5], "float64")
    yield Refusal(call(x, double), "must have the same dtype", TypeError)
    yield Refusal(call(x, 0.5), "`prob` must be an array", TypeError)
    yield Refusal(call(jnp.ones(2, "int32"), x), "float32 or float64 arrays", TypeError)


def binomial_moments(count, prob):
    count, prob = np.broadcast_arrays(count, prob)
    mean = count.astype(float) * prob
    return mean, np.sqrt(mean * (1 - prob))


def binomial_sampler(rng, n, count, prob):
    count, prob = np.broadcast_arrays(count, prob)
    return rng.binomial(count.astype(int), prob, (n, *count.shape))


def binomial_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("float32", "float64"):
        for n, p in [(1, 0.3), (30, 0.25), (21, 0.5), (50, 0.9), (1000, 0.001), (10**6, 0.3)]:
            chance = make.put(np.full(50000, p), dtype)
            law = distributed_as(scipy.stats.binom(n, float(chance[0])))
            many = call(make.put(n, dtype), chance)
            yield Convention(f"shares of {n}, {p}, {dtype}", many, holds=law)
    count = make.put([np.nan, 3, 3, 3, -1, np.inf, np.inf, np.inf, 3, 3])
    prob = make.put([0.5, np.nan, -0.5, 1.5, 0.5, 0, 0.5, 1, 3e4, np.inf])
    edges = [np.nan, np.nan, 0, 3, 0, 0, np.inf, np.inf, 3, 3]
    never = "PyTorch never ends where a count is NaN or infinite"
    yield Convention("edges", call(count, prob), value=edges, departure=never)
    small = call(make.put(np.full(50, 1e4)), make.put(np.full(50, 5e-4)))
    yield Convention("whole numbers", small, holds=whole)
    parts = call(make.put([2.5, 0.5]), make.put([1.0, 1.0]))
    yield Convention("whole parts", parts, value=[2, 0], departure="PyTorch adds the fraction")
    flat = call(make.put([4.0, 90.0]), make.put([0.5, 0.5]))
    reason = "PyTorch has no derivative here"
    yield Convention("no gradient", flat, gradient=([0, 0], [0, 0]), departure=reason)


OPS = [
    OpInfo(
        functx.geometric,
        geometric_samples,
        moments=geometric_moments,
        sampler=geometric_sampler,
        refusals=geometric_refusals,
        conventions=geometric_conventions,
    ),
    OpInfo(
        functx.poisson,
        poisson_samples,
        moments=poisson_moments,
        sampler=poisson_sampler,
        refusals=poisson_refusals,
        conventions=poisson_conventions,
    ),
    OpInfo(
        functx.binomial,
        binomial_samples,
        moments=binomial_moments,
        sampler=binomial_sampler,
        refusals=binomial_refusals,
        conventions=binomial_conventions,
    ),
]
