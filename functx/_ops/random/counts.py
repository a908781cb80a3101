"""Random counts: of trials until a success, of events, of successes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    available,
    category,
    Generator,
    highest,
    Key,
    operator,
    Promote,
    Requirement,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import at_least_zero, positive

from .draws import inside_unit_interval, parameter
from .rejection import binomial_numbers, poisson_numbers


__all__ = ["binomial", "geometric", "poisson"]


def _is_inside(*, p: Any, **_: Any) -> Iterator[Requirement]:
    if p.ndim == 0 and category(p.dtype) < 3:
        inside = positive(p) & (p < 1)
        yield Requirement(inside, "`p` must lie in (0, 1), got {got}", got=p)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.REAL_NUMBER,
    requires=_is_inside,
    random=True,
    differentiable=False,
)
def geometric(
    input: ArrayOnly, p: UnpromotedArray, *, key: Key = None, generator: Generator | None = None
) -> Array:
    """The number of trials until a first success, at random: $P(k) = p (1 - p)^{k - 1}$.

    This is PyTorch's `input.geometric_(p)`; the values of `input` do not matter.

    - `p`: the chance of success in each trial, a number or a 0-d array.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes and dtypes: those of `input`, integer or floating. Counts that an integer dtype does not
    hold are its greatest (PyTorch wraps them).
    Errors: RuntimeError for `p` outside (0, 1).

    >>> x = functx.geometric(jnp.zeros(3, "int32"), 0.5, key=jax.random.key(0))
    >>> x.dtype, bool((x >= 1).all())
    (dtype('int32'), True)
    """
    dtype = input.dtype
    floating = category(dtype) == 2
    wide = accumulator(dtype) if floating else available(np.float64)
    u = inside_unit_interval(key, input.shape, wide)
    trials = jnp.ceil(jnp.log(u) / jnp.log1p(-parameter(p, "p", wide)))
    trials = jnp.maximum(trials, 1)  # a chance that rounds to 1 gives 0
    if floating:
        return trials.astype(dtype)
    most = highest(dtype)
    fits = trials < np.asarray(most, wide)
    return jnp.where(fits, jnp.where(fits, trials, 0).astype(dtype), most)


def _is_rate(*, input: Any, **_: Any) -> Iterator[Requirement]:
    if category(input.dtype) == 2:
        said = "`input` must not be negative, got {got}"
        yield Requirement(at_least_zero(input), said, got=input)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=_is_rate,
    random=True,
    differentiable=False,
)
def poisson(input: ArrayOnly, *, key: Key = None, generator: Generator | None = None) -> Array:
    r"""Poisson random numbers with the rates `input`.

    Their probabilities are $P(k) = \lambda^k e^{-\lambda} / k!$ for a rate $\lambda$. An infinite
    rate gives infinity (PyTorch gives a negative number, also from $2^{63}$ on). No derivative
    reaches the rates.

    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes and dtypes: those of `input`, floating.
    Errors: RuntimeError for negative rates and NaN.

    >>> functx.poisson(jnp.asarray([0.0, 9.0], "float32"), key=jax.random.key(0)).shape
    (2,)
    """
    rate = lax.stop_gradient(input).astype(accumulator(input.dtype))
    return poisson_numbers(key, rate).astype(input.dtype)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.LAPACK_REAL,
    random=True,
    differentiable=False,
)
def binomial(
    count: ArrayOnly, prob: ArrayOnly, *, key: Key = None, generator: Generator | None = None
) -> Array:
    r"""The number of successes in `count` trials, at random.

    The probabilities are $P(k) = \binom{n}{k} p^k (1 - p)^{n - k}$.

    - `count`: the number of trials, $n$. Negative numbers count as 0, and fractions are dropped
      (PyTorch adds the fraction where `prob` exceeds a half).
    - `prob`: the chance of success in each trial, $p$. Chances below 0 count as 0, chances above 1
      as 1.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    NaN gives NaN.

    Shapes: `count` and `prob` broadcast. Dtypes: float32 or float64, the same for both.
    Errors: TypeError for other dtypes.

    >>> count = jnp.asarray([5.0, 7.0], "float32")
    >>> functx.binomial(count, jnp.asarray([0.0, 1.0], "float32"), key=jax.random.key(0))
    Array([0., 7.], dtype=float32)
    """
    count, prob = jnp.broadcast_arrays(*lax.stop_gradient((count, prob)))
    return binomial_numbers(key, count, prob)
