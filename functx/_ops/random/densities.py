"""Random numbers with a density and parameters, in the shape and dtype of an array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
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
    Key,
    operator,
    Promote,
    real_of,
    Requirement,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import from_keys, invertible_keys, less, positive
from functx._core.rules.custom_derivatives import derivative_rules

from .draws import inside_unit_interval, parameter


__all__ = ["cauchy", "exponential", "log_normal", "uniform"]


def _is_positive(name: str) -> Callable[..., Iterator[Requirement]]:
    def requires(**given: Any) -> Iterator[Requirement]:
        x = given[name]
        if x.ndim == 0 and category(x.dtype) < 3:
            yield Requirement(positive(x), f"`{name}` must be positive, got {{got}}", got=x)

    return requires


def _is_interval(*, input: Any, from_: Any, to: Any, **_: Any) -> Iterator[Requirement]:
    if from_.ndim or to.ndim or 3 in (category(from_.dtype), category(to.dtype)):
        return
    dtype = real_of(input.dtype)
    limit = float(jnp.finfo(dtype).max)
    wide = available(np.float64)
    low, high = (lax.convert_element_type(x, wide) for x in (from_, to))
    for name, x in (("from", low), ("to", high)):
        fits = (x >= -limit) & (x <= limit)
        yield Requirement(fits, f"`{name}` must fit {dtype.name}, got {{got}}", got=x)
    ordered = ~less(high, low)
    yield Requirement(ordered, "`to` must not be less than `from`, got {got}", got=high)
    length = high - low
    said = f"the length of [`from`, `to`) must fit {dtype.name}, got {{got}}"
    yield Requirement(length <= limit, said, got=length)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.INEXACT,
    requires=_is_interval,
    random=True,
    synonyms={"from": "from_"},
)
def uniform(
    input: ArrayOnly,
    from_: UnpromotedArray = 0.0,
    to: UnpromotedArray = 1.0,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Uniform random numbers from [from, to) in the shape of `input`.

    This is PyTorch's `input.uniform_(from, to)`.

    - `from_` (in PyTorch `from`), `to`: the bounds, numbers or 0-d arrays; 0 and 1 by default. `to`
      itself does not occur, in any dtype, unless it equals `from_` (PyTorch rounds some numbers up
      to it).
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    The parts of complex numbers are drawn independently.

    Dtypes: that of `input`, floating or complex.
    Derivatives: those of $a + u (b - a)$ for fixed $u$; none in the values of `input`.
    Errors: RuntimeError for bounds in the wrong order, or that the dtype does not hold.

    >>> x = functx.uniform(jnp.zeros(3, "float32"), 2, 4, key=jax.random.key(0))
    >>> x.shape, bool((x >= 2).all() and (x < 4).all())
    ((3,), True)
    """
    real = real_of(input.dtype)
    wide = accumulator(real)
    low, high = parameter(from_, "from", wide), parameter(to, "to", wide)
    if category(input.dtype) == 2:
        return _between(jax.random.uniform(key, input.shape, wide), low, high, real)
    share = jax.random.uniform(key, (2, *input.shape), wide)
    return lax.complex(*_between(share, low, high, real))


def _between(share: Array, low: Array, high: Array, dtype: np.dtype) -> Array:
    """`low + share * (high - low)` in `dtype`; no number is rounded up to `high`."""
    exact = low + share * (high - low)
    least, most = low.astype(dtype), high.astype(dtype)
    keys = invertible_keys(most)
    below = from_keys(keys - jnp.ones_like(keys), dtype)
    rounded = jnp.maximum(least, jnp.minimum(exact.astype(dtype), below))
    return _rounded(exact, lax.stop_gradient(rounded).astype(exact.dtype)).astype(dtype)


# The result has the values of the second array, and the derivatives of the first.
_rounded = derivative_rules(
    lambda exact, rounded: rounded, jvp=lambda primals, output, t: t[0], name="rounded"
)


@operator(
    promote=Promote.NONE, accepts=Accepts.FLOATING, requires=_is_positive("lambd"), random=True
)
def exponential(
    input: ArrayOnly,
    lambd: UnpromotedArray = 1.0,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    r"""Exponential random numbers, of density $\lambda e^{-\lambda x}$, in the shape of `input`.

    This is PyTorch's `input.exponential_(lambd)`.

    - `lambd`: $\lambda$, positive, a number or a 0-d array; 1 by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes and dtypes: those of `input`, floating. 0 does not occur, unless $x$ is too small for the
    dtype.
    Derivatives: those of $-\log(1 - u) / \lambda$ for fixed $u$; none in the values of `input`.
    Errors: RuntimeError for a `lambd` that is not positive.

    >>> x = functx.exponential(jnp.zeros(3, "float32"), 2.0, key=jax.random.key(0))
    >>> x.shape, bool((x > 0).all())
    ((3,), True)
    """
    wide = accumulator(input.dtype)
    waits = -jnp.log1p(-inside_unit_interval(key, input.shape, wide))
    return (waits / parameter(lambd, "lambd", wide)).astype(input.dtype)


@operator(
    promote=Promote.NONE, accepts=Accepts.FLOATING, requires=_is_positive("sigma"), random=True
)
def cauchy(
    input: ArrayOnly,
    median: UnpromotedArray = 0.0,
    sigma: UnpromotedArray = 1.0,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    r"""Cauchy random numbers, of density $\sigma / (\pi (\sigma^2 + (x - m)^2))$.

    This is PyTorch's `input.cauchy_(median, sigma)`, in the shape of `input`. The distribution has
    no mean.

    - `median`: $m$, a number or a 0-d array; 0 by default.
    - `sigma`: $\sigma$, half the distance of the quartiles, positive, a number or a 0-d array; 1 by
      default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes and dtypes: those of `input`, floating. Numbers that float16 does not hold are infinite.
    Derivatives: those of $m + \sigma \tan(\pi (u - \frac12))$ for fixed $u$; none in the values of
    `input`.
    Errors: RuntimeError for a `sigma` that is not positive.

    >>> functx.cauchy(jnp.zeros(3, "float32"), 1.0, 0.5, key=jax.random.key(0)).shape
    (3,)
    """
    wide = accumulator(input.dtype)
    # This is tan(pi w), by way of its reciprocal where pi w, once rounded, could pass the pole.
    w = inside_unit_interval(key, input.shape, wide) - 0.5
    size = jnp.abs(w)
    inner = size <= 0.25
    slope = jnp.tan(jnp.pi * jnp.where(inner, size, 0.5 - size))
    spread = jnp.sign(w) * jnp.where(inner, slope, 1 / slope)
    out = parameter(median, "median", wide) + parameter(sigma, "sigma", wide) * spread
    return out.astype(input.dtype)


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING, requires=_is_positive("std"), random=True)
def log_normal(
    input: ArrayOnly,
    mean: UnpromotedArray = 1.0,
    std: UnpromotedArray = 2.0,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    r"""Random numbers with normal logarithms, $e^{\mu + \sigma z}$, in the shape of `input`.

    This is PyTorch's `input.log_normal_(mean, std)`.

    - `mean`: $\mu$, the mean of the logarithms, a number or a 0-d array; 1 by default.
    - `std`: $\sigma$, the standard deviation of the logarithms, positive, a number or a 0-d array;
      2 by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes and dtypes: those of `input`, floating.
    Derivatives: those of the formula for fixed $z$; none in the values of `input`.
    Errors: RuntimeError for a `std` that is not positive.

    >>> x = functx.log_normal(jnp.zeros(3, "float32"), 0.0, 0.5, key=jax.random.key(0))
    >>> x.shape, bool((x > 0).all())
    ((3,), True)
    """
    wide = accumulator(input.dtype)
    noise = jax.random.normal(key, input.shape, wide)
    logarithm = parameter(mean, "mean", wide) + parameter(std, "std", wide) * noise
    return jnp.exp(logarithm).astype(input.dtype)
