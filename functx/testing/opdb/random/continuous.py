from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx._core import Accepts, real_of
from functx.testing.make import Make
from functx.testing.opdb.creation.sizes import size_of
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import Tolerance


def size_samples(make: Make) -> Iterator[Sample]:
    yield call((2, 3), dtype=make.dtype)
    yield call((), dtype=make.dtype)
    yield call([2, 0], dtype=make.dtype)
    yield call(2, 2, dtype=make.dtype, device="cpu")
    yield call(size=3)


def size_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call((2, -1)), r"`size` must not be negative, got \[2, -1\]")
    yield Refusal(call(2, dtype="int32"), r"`dtype` must be floating or complex", TypeError)
    yield Refusal(call(2, key=0), r"`key` must be a PRNG key, got", TypeError)
    yield Refusal(call(2, generator=0), "`generator` must be a functx.Generator, got 0", TypeError)


def shape_and_dtype(*size, dtype="float32", device=None, **named):
    return np.zeros(size_of(*size, **named)).shape, np.dtype(dtype)


def rand_moments(*args, **kwargs):
    shape, dtype = shape_and_dtype(*args, **kwargs)
    if dtype.kind == "c":
        return np.full(shape, 0.5 + 0.5j), np.full(shape, np.sqrt(2 / 12))
    # The numbers of a half dtype lie so far apart that the mean of [0, 1) is noticeably less.
    spacing = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(dtype.name, 0)
    return np.full(shape, 0.5 - spacing / 2), np.full(shape, np.sqrt(1 / 12))


def randn_moments(*args, **kwargs):
    shape, _ = shape_and_dtype(*args, **kwargs)
    return np.zeros(shape), np.ones(shape)


def rand_sampler(rng, n, *args, **kwargs):
    shape, dtype = shape_and_dtype(*args, **kwargs)
    u, v = rng.random((2, n, *shape))
    return u + 1j * v if dtype.kind == "c" else u


def randn_sampler(rng, n, *args, **kwargs):
    shape, dtype = shape_and_dtype(*args, **kwargs)
    u, v = rng.standard_normal((2, n, *shape))
    return (u + 1j * v) / np.sqrt(2) if dtype.kind == "c" else u


def like_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make())
    yield call(make(2, 0))
    yield call(make(2), device="cpu")
    yield call(make(2), dtype="bfloat16")
    yield call(make(2), dtype="complex64")
    yield call(make(2, dtype="int32"), dtype=make.dtype)
    yield call(input=make(2, 1, 3, 2))


def like_refusals(make: Make) -> Iterator[Refusal]:
    for dtype in ("int32", "bool"):
        at = call(make(2, dtype=dtype))
        yield Refusal(at, "`dtype` must be floating or complex", TypeError)
    yield Refusal(call(make(2), dtype="int32"), "`dtype` must be floating or complex", TypeError)
    yield Refusal(call(1.0), "`input` must be an array", TypeError)
    yield Refusal(call(make(2), key=0), r"`key` must be a PRNG key, got", TypeError)


def moments_like(moments: Callable[..., Any]) -> Callable[..., Any]:
    """Those of numbers in the shape and dtype of an array."""

    def like(input, dtype=None, device=None):
        return moments(np.shape(input), dtype=dtype or input.dtype)

    return like


def sampler_like(sampler: Callable[..., Any]) -> Callable[..., Any]:
    """That of numbers in the shape and dtype of an array."""

    def like(rng, n, input, dtype=None, device=None):
        return sampler(rng, n, np.shape(input), dtype=dtype or input.dtype)

    return like


def normal_samples(make: Make) -> Iterator[Sample]:
    real = real_of(make.dtype)
    yield call(make(2, 3), make(2, 3, low=0.5, high=2, dtype=real))
    yield call(make(2, 1), make(3, low=0.5, high=2, dtype=real))
    yield call(make(3), 0.5)
    yield call(make())
    yield call(2.0, make(2, low=0.5, high=2, dtype=real))
    yield call(-1, 2, (2, 2), dtype=make.dtype, device="cpu")
    yield call(mean=0.0, std=1.0, size=2)
    yield call(make(2, 2), 1, 0.5)
    yield call(make(2), 0)
    yield call(make(2), True)
    yield call(make(2), make.put([False, True], bool))
    yield call(mean=True, std=make(2, low=0.5, high=2, dtype=real))
    yield call(make(0, 2))


def normal_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), -1), r"`std` must not be negative, got -1")
    yield Refusal(call(0.0, make.put([1, -2])), r"`std` must not be negative, got -2")
    small = make.put([1, -1e-310], "float64")
    yield Refusal(call(0.0, small), r"`std` must not be negative, got -1e-310")
    yield Refusal(call(make(2), make(3, low=1)), r"broadcast|shapes", (ValueError, RuntimeError))
    yield Refusal(call(0, 1), r"`size` must be given for two numbers", TypeError)
    yield Refusal(call(make(2), 1.0, size=(2,)), r"`size` must be left out", TypeError)
    yield Refusal(call(0.0, 1.0, True), r"`size` must be", TypeError)
    yield Refusal(call(make(2), 1.0, dtype="float32"), r"must come with `dtype`", TypeError)
    yield Refusal(call(jnp.zeros(2, int)), r"`dtype` must be floating or complex", TypeError)
    yield Refusal(call(make(2), jnp.ones(2, "complex64")), r"`std` must be real, got c64\[2\]")


def normal_moments(mean, std=1.0, size=None, dtype=None, device=None):
    if np.ndim(size) == 0 and size is not None and np.ndim(mean):  # normal(input, mean, std)
        mean, std, size = std, size, np.shape(mean)
    size = () if size is None else size
    wide = lambda x: np.asarray(x).astype(complex if np.iscomplexobj(x) else float)
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std), np.zeros(size).shape)
    return np.broadcast_to(wide(mean), shape), np.broadcast_to(wide(std), shape)


def normal_sampler(rng, n, *args, **kwargs):
    mean, std = normal_moments(*args, **kwargs)
    first = args[0] if args else kwargs["mean"]
    dtype = kwargs.get("dtype", np.asarray(first).dtype)
    return mean + std * randn_sampler(rng, n, mean.shape, dtype=np.dtype(dtype))


def uses_all_digits(sample: Callable[[str], Sample]) -> Iterator[Convention]:
    for dtype, narrower in [("float32", "bfloat16"), ("float64", "float32")]:
        fine = lambda x, narrower=narrower: (x != x.astype(narrower).astype(x.dtype)).any()
        yield Convention(f"{dtype} has all its digits", sample(dtype), holds=fine)


def rand_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        yield Convention(
            f"{dtype} stays below 1", call(20000, dtype=dtype), holds=lambda x: (x >= 0) & (x < 1)
        )
    yield from uses_all_digits(lambda dtype: call(20, dtype=dtype))


def randn_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("float16", "bfloat16"):
        tails = lambda x: abs(x).max() > 3.5
        yield Convention(f"{dtype} has tails", call(20000, dtype=dtype), holds=tails)
    yield from uses_all_digits(lambda dtype: call(20, dtype=dtype))


def by_key(make: Make, draw: Callable[..., Any]) -> Iterator[Convention]:
    """With a known key, numbers are those that JAX draws, whatever the array holds."""
    key = jax.random.key(7)  # with which conventions are drawn
    at = call(make.put([3e-4, 1e-5], "float32"))
    yield Convention("a known key", at, value=np.asarray(draw(key, (2,), "float32")))


def rand_like_conventions(make: Make) -> Iterator[Convention]:
    x = make.put(np.zeros(20000), "bfloat16")
    yield Convention("bfloat16 stays below 1", call(x), holds=lambda x: (x >= 0) & (x < 1))
    yield from uses_all_digits(lambda dtype: call(make(20), dtype=dtype))
    yield from by_key(make, jax.random.uniform)
    yield Convention("no gradient", call(make.put([0.5, np.nan])), gradient=[0, 0])


def randn_like_conventions(make: Make) -> Iterator[Convention]:
    x = make.put(np.zeros(20000), "bfloat16")
    yield Convention("bfloat16 has tails", call(x), holds=lambda x: abs(x).max() > 3.5)
    yield from uses_all_digits(lambda dtype: call(make(20), dtype=dtype))
    yield from by_key(make, jax.random.normal)
    yield Convention("no gradient", call(make.put([0.5, np.nan])), gradient=[0, 0])


def normal_conventions(make: Make) -> Iterator[Convention]:
    certain = call(make.put(np.zeros((2, 3)), "float16"), 5.0, 0.0)
    yield Convention("like an array, no spread", certain, value=np.full((2, 3), 5))
    yield from uses_all_digits(lambda dtype: call(0.0, 1.0, 20, dtype=dtype))
    values = make.put([np.nan, np.inf, -np.inf, 3e4, -3e4, 3e-4, -1e-6])
    yield Convention("the mean, no spread", call(values, 0.0), value=np.asarray(values))
    wide = call(make.put([0.0, 1.0]), make.put([np.inf, np.inf]))
    yield Convention("an infinite spread", wide, holds=jnp.isinf)
    at = make.put([0.5, 0.25])
    for what, sample in [("mean", call(at, 1.0)), ("std", call(0.0, at))]:
        yield Convention(f"no gradient in `{what}`", sample, gradient=[0, 0])


def normal_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "a 0-d array beside `size` is a number that is traced",
        call(make.put(0.5, "float16"), size=(2,)),
        r"size=.*normal\(\) received an invalid combination",
    )


OPS = [
    OpInfo(
        functx.rand,
        size_samples,
        moments=rand_moments,
        sampler=rand_sampler,
        refusals=size_refusals,
        conventions=rand_conventions,
    ),
    OpInfo(
        functx.randn,
        size_samples,
        moments=randn_moments,
        sampler=randn_sampler,
        refusals=size_refusals,
        conventions=randn_conventions,
    ),
    OpInfo(
        functx.rand_like,
        like_samples,
        moments=moments_like(rand_moments),
        sampler=sampler_like(rand_sampler),
        refusals=like_refusals,
        conventions=rand_like_conventions,
        dtypes=Accepts.INEXACT.value,
    ),
    OpInfo(
        functx.randn_like,
        like_samples,
        moments=moments_like(randn_moments),
        sampler=sampler_like(randn_sampler),
        refusals=like_refusals,
        conventions=randn_like_conventions,
        dtypes=Accepts.INEXACT.value,
    ),
    OpInfo(
        functx.normal,
        normal_samples,
        moments=normal_moments,
        sampler=normal_sampler,
        refusals=normal_refusals,
        conventions=normal_conventions,
        departures=(normal_departures,),
        tolerances=(Tolerance("the mean and the noise cancel", floor=8),),
    ),
]
