from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx._core import real_of
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call


def number(make: Make, low: float, high: float) -> Any:
    """A 0-d array in the real dtype of the samples."""
    return make(low=low, high=high, dtype=real_of(make.dtype))


def bad_parameters(op: str) -> Callable[[Make], Iterator[Refusal]]:
    """Of the operator's last parameter: not positive, no number, complex."""

    def refusals(make: Make) -> Iterator[Refusal]:
        x = make(2)
        for bad in (0, -1, np.nan):
            at = call(x, **{op: bad})
            yield Refusal(at, f"`{op}` must be positive, got {bad}")
        small = make.put(-1e-310, "float64")
        yield Refusal(call(x, **{op: small}), f"`{op}` must be positive, got -1e-310")
        words = f"`{op}` must be a real number or a 0-d array"
        yield Refusal(call(x, **{op: make(2)}), words, TypeError)
        yield Refusal(call(x, **{op: 1j}), words, TypeError)
        yield Refusal(call(jnp.ones(2, "int32")), "expected floating arrays", TypeError)
        yield Refusal(call(1.0), "`input` must be an array", TypeError)
        yield Refusal(
            call(x, generator=0), "`generator` must be a functx.Generator, got 0", TypeError
        )

    return refusals


def quantiles(*expected: tuple[Any, float]) -> Callable[[Any], Any]:
    """Whether shares of many numbers below bounds are as expected, by 5 standard deviations."""

    def hold(x: Any) -> Any:
        sure = [
            abs((x < bound).mean() - share) < 5 * (share * (1 - share) / x.size) ** 0.5
            for bound, share in ((float(bound), float(share)) for bound, share in expected)
        ]
        return jnp.stack(sure)

    return hold


def by_formula(
    make: Make, formula: Callable[..., Any], *parameters: float, normal: bool = False
) -> Iterator[Convention]:
    """With a known key, numbers are `formula(draw, step, *parameters)`, the parameters small.

    The draw is a multiple of `step` in [0, 1), or normal.
    """
    key = jax.random.key(7)  # with which conventions are drawn
    draw = jax.random.normal if normal else jax.random.uniform
    for dtype in ("float32", "float64"):
        for shape in ((), (5,), (2, 3), (2, 1, 3, 2)):
            given = [make.put(p, dtype) for p in parameters]
            drawn = np.float64(draw(key, shape, dtype))
            want = formula(drawn, float(jnp.finfo(dtype).eps), *map(np.float64, given))
            at = call(make.put(np.full(shape, 3e-4), dtype), *given)
            yield Convention(f"the formula, {dtype}{shape}", at, value=want, ulps=64, floor=1e-12)


def uniform_samples(make: Make) -> Iterator[Sample]:
    yield call(make(5), number(make, -3, 0), number(make, 1, 3))
    yield call(make(2, 3))
    yield call(make(10), -100, 100)
    yield call(make(), 1, 2)
    yield call(make(2, 0), to=0.75)
    yield call(make(2), **{"from": -1, "to": number(make, 1, 2)})
    yield call(make(2), True, 3)
    yield call(make(2, 1, 3, 2), 0.25)


def uniform_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, dtype="float32")
    yield Refusal(call(x, 3, -1), "`to` must not be less than `from`, got -1")
    yield Refusal(call(x, 0.0, -1e-310), "`to` must not be less than `from`, got -1e-310")
    yield Refusal(call(x, np.nan), "`from` must fit float32, got nan")
    yield Refusal(call(x, 0, np.inf), "`to` must fit float32, got inf")
    yield Refusal(call(x, 0, 1e39), "`to` must fit float32, got 1e.39")
    yield Refusal(call(make(2, dtype="float16"), 0, 1e5), "`to` must fit float16, got 100000")
    long = r"the length of \[`from`, `to`\) must fit float32, got 6e.38"
    yield Refusal(call(x, -3e38, 3e38), long)
    words = "must be a real number or a 0-d array"
    yield Refusal(call(x, make(2)), f"`from` {words}", TypeError)
    yield Refusal(call(x, 0, 1j), f"`to` {words}", TypeError)
    yield Refusal(call(jnp.ones(2, "int32")), "expected inexact arrays", TypeError)
    yield Refusal(call(1.0), "`input` must be an array", TypeError)


def uniform_moments(x, from_=0.0, to=1.0, **named):
    low, high = (np.float64(b) for b in (named.get("from", from_), to))
    parts = 1 + np.iscomplexobj(x)
    mean = (low + high) / 2 * (1 + 1j if parts == 2 else 1)
    return np.full(np.shape(x), mean), np.full(np.shape(x), (high - low) * np.sqrt(parts / 12))


def uniform_sampler(rng, n, x, from_=0.0, to=1.0, **named):
    low, high = (np.float64(b) for b in (named.get("from", from_), to))
    drawn, imaginary = rng.uniform(low, high, (2, n, *np.shape(x)))
    return drawn + 1j * imaginary if np.iscomplexobj(x) else drawn


def uniform_conventions(make: Make) -> Iterator[Convention]:
    yield from by_formula(make, lambda u, step, a, b: a + u * (b - a), 3e-4, 8e-4)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        x = make.put(np.zeros(20000), dtype)
        for low, high in [(1, 2), (100, 101), (-1, 0)]:
            inside = lambda x, low=low, high=high: (x >= low) & (x < high)
            yield Convention(f"{dtype} in [{low}, {high})", call(x, low, high), holds=inside)
    x = make.put(np.zeros(3))
    yield Convention("equal bounds", call(x, 2, 2), value=[2, 2, 2])
    at = call(x, make.put(0.0), make.put(1.0))
    share = "the shares add up to the number of elements"
    total = lambda x: x.sum()
    yield Convention(share, at, gradient=([0, 0, 0], None, None), through=total)
    many = make.put(np.zeros(1 << 16), "complex64")
    below = lambda z: (z.real < 0.5) & (z.imag < 0.5)
    halves = lambda z: quantiles((0.5, 0.25))(1 - below(z).astype("float32") * 0.75)
    yield Convention("parts are independent", call(many), holds=halves)
    fine = lambda x: (x != x.astype("float32").astype("float64")).any()
    yield Convention("float64 has all its digits", call(make.put(np.zeros(20)), 1, 2), holds=fine)


def exponential_samples(make: Make) -> Iterator[Sample]:
    yield call(make(5), number(make, 0.5, 2))
    yield call(make(2, 3))
    yield call(make(10), 0.5)
    yield call(make(), 1)
    yield call(make(2, 0), lambd=1.5)
    yield call(make(2, 1, 3, 2), True)


def exponential_moments(x, lambd=1.0):
    mean = np.full(np.shape(x), 1 / np.float64(lambd))
    return mean, mean


def exponential_sampler(rng, n, x, lambd=1.0):
    return rng.exponential(1 / np.float64(lambd), (n, *np.shape(x)))


def exponential_conventions(make: Make) -> Iterator[Convention]:
    yield from by_formula(make, lambda u, step, rate: -np.log1p(-u - step / 2) / rate, 5e-4)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        x = make.put(np.zeros(20000), dtype)
        yield Convention(f"{dtype} is never 0", call(x), holds=lambda x: (x > 0) & (x < 50))
    x = make.put(np.zeros(3))
    yield Convention("an infinite rate", call(x, np.inf), value=[0, 0, 0])
    thirds = quantiles((np.log(1.5), 1 / 3), (np.log(3), 2 / 3), (5.0, 1 - np.exp(-5)))
    yield Convention("shares", call(make.put(np.zeros(50000))), holds=thirds)


def cauchy_samples(make: Make) -> Iterator[Sample]:
    yield call(make(5), number(make, -2, 2), number(make, 0.5, 2))
    yield call(make(2, 3))
    yield call(make(10), 0, 0.5)
    yield call(make(), -2, 1)
    yield call(make(2, 0), median=1.0, sigma=2.0)
    yield call(make(2), 0.5)
    yield call(make(2, 1, 3, 2), True, True)


def cauchy_sampler(rng, n, x, median=0.0, sigma=1.0):
    return median + sigma * rng.standard_cauchy((n, *np.shape(x)))


def cauchy_conventions(make: Make) -> Iterator[Convention]:
    tangent = lambda u, step, m, s: m + s * np.tan(np.pi * (u + step / 2 - 0.5))
    yield from by_formula(make, tangent, 3e-4, 8e-4)
    many = make.put(np.zeros(100000))
    for m, s in [(0.0, 1.0), (1.0, 0.5)]:
        shares = [(m + s * np.tan(np.pi * (p - 0.5)), p) for p in (0.01, 0.25, 0.5, 0.75, 0.99)]
        told = {"median": m, "sigma": s} if s != 1 else {}
        yield Convention(f"shares, {m}, {s}", call(many, **told), holds=quantiles(*shares))
    for dtype in ("float32", "float64"):
        x = make.put(np.zeros(3), dtype)
        yield Convention(
            f"no median, {dtype}", call(x, make.put(np.nan, dtype)), value=[np.nan] * 3
        )
        yield Convention(f"no end, {dtype}", call(x, 0, np.inf), holds=jnp.isinf)
    tail = lambda x: (abs(x) > 5000).any() & (x > 5).any() & (x < -5).any()
    yield Convention("tails", call(make.put(np.zeros(100000), "bfloat16")), holds=tail)


def log_normal_samples(make: Make) -> Iterator[Sample]:
    yield call(make(5), number(make, -0.5, 0.5), number(make, 0.2, 0.6))
    yield call(make(10), 0, 0.25)
    yield call(make(2, 3), std=0.5)  # of 2, the default, no sample shows the fourth moment
    yield call(make(), 0.5, 1)
    yield call(make(2, 0), mean=0.0, std=0.5)
    yield call(make(2), 0.25, std=0.5)
    yield call(make(2, 1, 3, 2), True, 0.5)


def log_normal_moments(x, mean=1.0, std=2.0):
    mean, std = np.float64(mean), np.float64(std)
    middle = np.full(np.shape(x), np.exp(mean + std**2 / 2))
    return middle, middle * np.sqrt(np.expm1(std**2))


def log_normal_sampler(rng, n, x, mean=1.0, std=2.0):
    return rng.lognormal(np.float64(mean), np.float64(std), (n, *np.shape(x)))


def log_normal_conventions(make: Make) -> Iterator[Convention]:
    yield from by_formula(make, lambda z, step, m, s: np.exp(m + s * z), 3e-4, 8e-4, normal=True)
    many = make.put(np.zeros(50000))
    shares = [(np.exp(1 + 2 * z), p) for z, p in [(0, 0.5), (-1, 0.158655), (1, 0.841345)]]
    yield Convention("shares", call(many), holds=quantiles(*shares))
    x = make.put(np.zeros(3))
    yield Convention("no mean", call(x, make.put(np.nan), 1), value=[np.nan] * 3)
    ends = lambda x: (x == 0) | jnp.isinf(x)
    yield Convention("an infinite spread", call(x, 0, np.inf), holds=ends)
    wide = lambda x: (x > 20).any()
    yield Convention(
        "halves have tails", call(make.put(np.zeros(20000), "float16"), 0, 1), holds=wide
    )


OPS = [
    OpInfo(
        functx.uniform,
        uniform_samples,
        moments=uniform_moments,
        sampler=uniform_sampler,
        refusals=uniform_refusals,
        conventions=uniform_conventions,
    ),
    OpInfo(
        functx.exponential,
        exponential_samples,
        moments=exponential_moments,
        sampler=exponential_sampler,
        refusals=bad_parameters("lambd"),
        conventions=exponential_conventions,
    ),
    OpInfo(
        functx.cauchy,
        cauchy_samples,
        sampler=cauchy_sampler,
        refusals=bad_parameters("sigma"),
        conventions=cauchy_conventions,
    ),
    OpInfo(
        functx.log_normal,
        log_normal_samples,
        moments=log_normal_moments,
        sampler=log_normal_sampler,
        refusals=bad_parameters("std"),
        conventions=log_normal_conventions,
    ),
]
