from __future__ import annotations

import itertools
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Convention, FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call


def randint_samples(make: Make) -> Iterator[Sample]:
    yield call(1, 7, (2, 3), dtype=make.dtype)
    yield call(5, (2,))
    yield call(high=2, size=())
    yield call(-3, 3, [3])
    yield call(low=0, high=100, size=(2,), dtype=make.dtype, device="cpu")
    yield call(5, (2, 0))
    yield call(2**40, 2**40 + 3, 2, dtype="float64")


def randint_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(3, 3, (2,)), r"`low` must be less than `high`, got 3 and 3")
    yield Refusal(call(0, (0,)), r"`low` must be less than `high`, got 0 and 0")
    yield Refusal(call(257, (2,), dtype="uint8"), r"must fit uint8, got 0 and 257")
    yield Refusal(call(-1, 2, (2,), dtype="bool"), r"must fit bool, got -1 and 2")
    yield Refusal(call(70000, (2,), dtype="float16"), r"must fit float16")
    yield Refusal(call(2**70, (2,)), r"`high` must fit 64 bits", OverflowError)
    yield Refusal(call(3.0, (2,)), r"`high` must be an int, got 3.0", TypeError)
    yield Refusal(call(3, (2,), dtype="complex64"), r"`dtype` must not be complex", TypeError)
    yield Refusal(call(3, (-2,)), r"`size` must not be negative, got \[-2\]")


def bounds_and_size(*args, high=None, size=None, low=0, dtype=None, device=None):
    if len(args) == 3:
        low, high, size = args
    elif len(args) == 2:
        high, size = args
    return low, high, (size,) if np.ndim(size) == 0 else tuple(size)


def randint_moments(*args, **kwargs):
    low, high, size = bounds_and_size(*args, **kwargs)
    mean, std = (low + high - 1) / 2, np.sqrt(((high - low) ** 2 - 1) / 12)
    return np.full(size, mean), np.full(size, std)


def randint_sampler(rng, n, *args, **kwargs):
    low, high, size = bounds_and_size(*args, **kwargs)
    return rng.integers(low, high, (n, *size))


def randint_like_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 10)
    yield call(make(2, 3), 2, 10)
    yield call(make(), high=2)
    yield call(make(2), 1, high=7)
    yield call(make(2), low=0, high=5, device="cpu")
    yield call(make(2, 0), 4)
    yield call(make(2), 5, dtype="float64")
    yield call(make(2), -3, 5, dtype="int64")
    yield call(make(2, 1, 3, 2), 3)


def randint_like_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, dtype="float32")
    yield Refusal(call(x, 3, 3), r"`low` must be less than `high`, got 3 and 3")
    yield Refusal(call(x, 0), r"`low` must be less than `high`, got 0 and 0")
    yield Refusal(call(make(2, dtype="uint8"), 257), r"must fit uint8, got 0 and 257")
    yield Refusal(call(make(2, dtype="bool"), 3), r"must fit bool, got 0 and 3")
    yield Refusal(call(x, -1, 2, dtype="bool"), r"must fit bool, got -1 and 2")
    yield Refusal(call(x, 70000, dtype="float16"), r"must fit float16")
    yield Refusal(call(x, 3.0), r"`high` must be an int, got 3.0", TypeError)
    yield Refusal(call(x, 3, dtype="complex64"), r"`dtype` must not be complex", TypeError)
    yield Refusal(call(make(2, dtype="complex64"), 3), r"`dtype` must not be complex", TypeError)
    yield Refusal(call(1, 3), r"`input` must be an array", TypeError)


def bounds_like(input, *args, low=0, high=None, dtype=None, device=None):
    *lows, high = args if high is None else (*args, high)
    return (lows or [low])[0], high, np.shape(input)


def randint_like_moments(*args, **kwargs):
    return randint_moments(*bounds_like(*args, **kwargs))


def randint_like_sampler(rng, n, *args, **kwargs):
    return randint_sampler(rng, n, *bounds_like(*args, **kwargs))


def randperm_samples(make: Make) -> Iterator[Sample]:
    yield call(5, dtype=make.dtype)
    yield call(3)
    yield call(0)
    yield call(n=2, device="cpu")


def randperm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(-1), r"`n` must not be negative, got \[-1\]")
    yield Refusal(call(300, dtype="uint8"), r"`n` must not exceed what uint8 tells apart, got 300")
    yield Refusal(call(3000, dtype="float16"), r"what float16 tells apart")
    yield Refusal(call(3, dtype="bool"), r"`dtype` must be integer or floating", TypeError)


def randperm_moments(n, dtype=None, device=None):
    return np.full(n, (n - 1) / 2), np.full(n, np.sqrt(max(n**2 - 1, 0) / 12))


def randperm_sampler(rng, draws, /, n, dtype=None, device=None):
    return rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)


def bernoulli_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, low=0, high=1))
    yield call(make(low=0, high=1))
    yield call(make(2, 2), 0.3)
    yield call(make(2), p=make(low=0, high=1))
    yield call(make.put([0.0, 1.0]))
    yield call(make(2, 0, low=0, high=1))


def bernoulli_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make.put([0.5, 1.5])), r"`input` must lie in \[0, 1\], got 1.5")
    small = make.put([0.5, -1e-310], "float64")
    yield Refusal(call(small), r"`input` must lie in \[0, 1\], got -1e-310")
    yield Refusal(call(make.put([np.nan])), r"`input` must lie in \[0, 1\], got nan")
    yield Refusal(call(make(2), -0.5), r"`p` must lie in \[0, 1\], got -0.5")
    yield Refusal(call(jnp.ones(2, "int32")), r"`input` must be floating, got i32\[2\]", TypeError)
    yield Refusal(call(make(2), jnp.ones(2)), r"`p` must be a real number or 0-d", TypeError)
    yield Refusal(call(make(2), 2j), r"`p` must be a real number or 0-d, got c128", TypeError)


def bernoulli_moments(input, p=None):
    chance = np.asarray(input if p is None else np.full(np.shape(input), p)).astype(float)
    return chance, np.sqrt(chance * (1 - chance))


def bernoulli_sampler(rng, n, input, p=None):
    chance = np.asarray(input if p is None else np.full(np.shape(input), p))
    return rng.random((n, *chance.shape)) < chance


def multinomial_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, low=0.01, high=5), 6, replacement=True)
    yield call(make(4, low=0.1, high=2), 2)
    yield call(make(2, 3, low=0.1, high=2), 2, True)
    yield call(make(2, 3, low=0.1, high=2), num_samples=3, replacement=False)
    yield call(make.put([0.0, 0.2, 0.0, 0.6, 0.0]), 3, True)
    yield call(make.put([0.0, 0.2, 0.0, 0.6, 0.0]), 2)
    yield call(make(0, 3), 2, True)
    yield call(make(300, low=0.1, high=2), 1, True)  # few of many


def multinomial_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2, 2, low=1), 1), r"`input` must have 1 or 2 dimensions, got")
    yield Refusal(
        call(jnp.ones(2, "int32"), 1), r"`input` must be floating, got i32\[2\]", TypeError
    )
    yield Refusal(call(make(2, low=1), 0), r"`num_samples` must be positive, got 0")
    yield Refusal(call(make(2, low=1), 3), r"must not exceed 2 without replacement, got 3")
    yield Refusal(call(make.put([1.0, -1.0]), 1), r"must be finite and not negative, got -1.0")
    small = make.put([1.0, -1e-310], "float64")
    yield Refusal(call(small, 1), r"must be finite and not negative, got -1e-310")
    yield Refusal(call(make.put([1.0, np.inf]), 1), r"must be finite and not negative, got inf")
    yield Refusal(call(make.put([[1.0], [0.0]]), 1), r"must have a positive sum, got 0.0")


def multinomial_moments(input, num_samples, replacement=False):
    """By the probability of every sequence of positions that may be drawn."""
    rows = np.atleast_2d(np.asarray(input).astype(float))
    moments = np.zeros((2, len(rows), num_samples))
    for row, weights in enumerate(rows):
        for drawn in itertools.product(range(rows.shape[1]), repeat=num_samples):
            chance, left = 1.0, weights.copy()
            for position in drawn:
                chance *= left[position] / left.sum() if left[position] else 0
                left[position] *= replacement
            moments[:, row] += chance * np.asarray([drawn, np.square(drawn)])
    mean, square = moments.reshape(2, *np.shape(input)[:-1], num_samples)
    return mean, np.sqrt(np.maximum(square - mean**2, 0))


def multinomial_sampler(rng, n, input, num_samples, replacement=False):
    rows = np.atleast_2d(np.asarray(input).astype(float))
    drawn = np.zeros((n, len(rows), num_samples))
    for row, weights in enumerate(rows):
        positive = weights.nonzero()[0]
        if replacement:
            chances = weights[positive] / weights.sum()
            drawn[:, row] = rng.choice(positive, (n, num_samples), p=chances)
        else:  # the first of a race, in which each runs at its own rate
            times = rng.exponential(1 / weights[positive], (n, len(positive)))
            drawn[:, row] = positive[times.argsort(-1)[:, :num_samples]]
    return drawn.reshape(n, *np.shape(input)[:-1], num_samples)


def randint_conventions(make: Make) -> Iterator[Convention]:
    bytes_ = call(-128, 128, (20000,), dtype="int8")
    ends = lambda x: (x.min() == -128) & (x.max() == 127)
    yield Convention("both ends are reached", bytes_, holds=ends)
    wide = call(-(2**63), 2**63 - 1, (1000,))
    yield Convention(
        "64 bits are filled", wide, holds=lambda x: (x.min() < -(2**62)) & (x.max() > 2**62)
    )


def randint_like_conventions(make: Make) -> Iterator[Convention]:
    bools = call(make.put(np.zeros(1000), "bool"), 2)
    yield Convention("both bools", bools, holds=lambda x: x.any() & ~x.all())
    for dtype in ("uint8", "int8", "float16"):
        x = make.put(np.zeros(20000), dtype)
        ends = lambda x: (x.min() == 100) & (x.max() == 127)
        yield Convention(f"both ends, {dtype}", call(x, 100, 128), holds=ends)
    yield Convention("one alone", call(make.put([3e-4, 1e-5]), 2, 3), value=[2, 2])
    yield Convention("no gradient", call(make.put([0.5, np.nan]), 3), gradient=[0, 0])


def randperm_conventions(make: Make) -> Iterator[Convention]:
    once = lambda x: jnp.sort(x) == jnp.arange(50)
    yield Convention("each number once", call(50), holds=once)


def bernoulli_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("True for the probability", call(make.put([0.0, 0.5]), True), value=[1, 1])
    certain = call(make.put(np.tile([0.0, 1.0], 1000)))
    yield Convention("certain coins", certain, value=np.tile([0.0, 1.0], 1000))
    yield Convention("no gradient", call(make.put([0.5, 0.25])), gradient=[0, 0])


def multinomial_conventions(make: Make) -> Iterator[Convention]:
    weights = make.put(np.tile([0.0, 1.0, 0.0, 2.0, 0.0], (2000, 1)))
    positive = lambda x: (x == 1) | (x == 3)
    yield Convention("weights of 0 are never drawn", call(weights, 2, True), holds=positive)
    sparse = np.where(np.arange(2**18) % 2, 0.1, 0)  # whose sums are rounded in many places
    odd = lambda x: x % 2 == 1
    yield Convention(
        "nor where sums round", call(make.put(sparse, "float32"), 2**18, True), holds=odd
    )
    few = np.zeros((4000, 300))
    few[:, [7, 8, 200]] = [1, 2, 1]
    shares = lambda x: jnp.stack([(x == i).mean() for i in (7, 8, 200)])
    near = lambda x: abs(x - jnp.asarray([0.25, 0.5, 0.25], x.dtype)) < 0.04  # five deviations
    drawn = call(make.put(few), 1, True)
    yield Convention("one of many, by their weights", drawn, holds=lambda x: near(shares(x)))
    last = lambda x: (jnp.sort(x) == jnp.arange(5)[None]) & positive(x[:, :2]).all()
    yield Convention(
        "or last", call(weights, 5), holds=last, departure="PyTorch refuses to draw them at all"
    )


OPS = [
    OpInfo(
        functx.randint,
        randint_samples,
        moments=randint_moments,
        sampler=randint_sampler,
        refusals=randint_refusals,
        conventions=randint_conventions,
    ),
    OpInfo(
        functx.randint_like,
        randint_like_samples,
        moments=randint_like_moments,
        sampler=randint_like_sampler,
        refusals=randint_like_refusals,
        conventions=randint_like_conventions,
        dtypes=Accepts.REAL_NUMBER.value,
    ),
    OpInfo(
        functx.randperm,
        randperm_samples,
        moments=randperm_moments,
        sampler=randperm_sampler,
        refusals=randperm_refusals,
        conventions=randperm_conventions,
    ),
    OpInfo(
        functx.bernoulli,
        bernoulli_samples,
        moments=bernoulli_moments,
        sampler=bernoulli_sampler,
        refusals=bernoulli_refusals,
        conventions=bernoulli_conventions,
    ),
    OpInfo(
        functx.multinomial,
        multinomial_samples,
        moments=multinomial_moments,
        sampler=multinomial_sampler,
        refusals=multinomial_refusals,
        conventions=multinomial_conventions,
        fixed_sizes=(
            FixedSizes(
                "input",
                "a key draws otherwise from many categories than from few",
                dims=(-1,),
                given={"replacement": True},
            ),
        ),
    ),
]
