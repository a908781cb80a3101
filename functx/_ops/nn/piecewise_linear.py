"""Activation functions that consist of straight pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    available,
    ComputeDtypeScalar,
    describe,
    Generator,
    Key,
    operator,
    Promote,
    RealScalar,
    refuse,
    Requirement,
)
from functx._core.numbers.bitwise_comparison import at_most, less, positive


__all__ = [
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "prelu",
    "relu6",
    "rrelu",
    "softshrink",
    "threshold",
]


def _widest(number: Any) -> Array:
    return jnp.asarray(number).astype(available("float64"))


def _bounds_in_order(*, input: Any, min_val: Any, max_val: Any, **_: Any) -> Iterator[Requirement]:
    low, high = map(_widest, (min_val, max_val))
    message = "`min_val` must not be greater than `max_val`, got {got}"
    yield Requirement(~(low > high), message, got=low, error=ValueError)
    if jnp.issubdtype(jnp.asarray(input).dtype, jnp.unsignedinteger):
        yield Requirement(low >= 0, "`min_val` must not be negative beside uint8, got {got}", low)


@operator(accepts=Accepts.REAL_NUMBER, requires=_bounds_in_order)
def hardtanh(
    input: ArrayLike,
    min_val: ComputeDtypeScalar = -1.0,
    max_val: ComputeDtypeScalar = 1.0,
    inplace: bool = False,
) -> Array:
    r"""Clips each element $x$ of `input`:
    $y = \min(\max(x, \mathrm{min\_val}), \mathrm{max\_val})$.

    - `min_val`, `max_val`: the least and the greatest value of the result.
    - `inplace` has no effect: arrays are immutable.

    Gradients: the derivative at both bounds is 0.
    Errors: ValueError where `min_val` is greater than `max_val`, RuntimeError for a negative
    `min_val` beside uint8.

    >>> functx.nn.functional.hardtanh(jnp.asarray([-3.0, 0.5, 2.0], "float32"))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    return _clipped(input, min_val, max_val)


@operator(accepts=Accepts.REAL_NUMBER)
def relu6(input: ArrayLike, inplace: bool = False) -> Array:
    r"""Rectified linear unit with a ceiling: $y = \min(\max(x, 0), 6)$ for each element $x$ of
    `input`.

    - `inplace` has no effect: arrays are immutable.

    Gradients: the derivative at 0 and at 6 is 0.

    >>> functx.nn.functional.relu6(jnp.asarray([-3.0, 0.5, 8.0], "float32"))
    Array([0. , 0.5, 6. ], dtype=float32)
    """
    return _clipped(input, 0, 6)


@operator(accepts=Accepts.FLOATING)
def hardsigmoid(input: ArrayLike, inplace: bool = False) -> Array:
    r"""A sigmoid of straight pieces: $y = \min(\max(x + 3, 0), 6) / 6$ for each element $x$ of
    `input` (Howard et al., 2019).

    - `inplace` has no effect: arrays are immutable.

    Gradients: the derivative at -3 and at 3 is 0.

    >>> functx.nn.functional.hardsigmoid(jnp.asarray([-3.0, 0.0, 8.0], "float32"))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return _clipped(input + 3, 0, 6) / 6


@operator(accepts=Accepts.FLOATING)
def hardswish(input: ArrayLike, inplace: bool = False) -> Array:
    r"""$y = x \cdot \min(\max(x + 3, 0), 6) / 6$ for each element $x$ of `input`, which is $x$
    times its `hardsigmoid` (Howard et al., 2019).

    - `inplace` has no effect: arrays are immutable.

    Gradients: the derivative at -3 is 0, and at 3 it is 1.

    >>> functx.nn.functional.hardswish(jnp.asarray([-4.0, 1.5, 4.0], "float32"))
    Array([-0.   ,  1.125,  4.   ], dtype=float32)
    """
    low, high = input <= -3, input >= 3
    inner = jnp.where(low | high, 0, input)
    outer = jnp.where(low, lax.stop_gradient(input) * 0, input)
    return jnp.where(low | high, outer, inner * (inner + 3) / 6)


@operator(accepts=Accepts.FLOATING, aliases=("hardshrink",))
def hardshrink(input: ArrayLike, lambd: ComputeDtypeScalar = 0.5) -> Array:
    r"""$x$ where $|x|$ exceeds $\lambda$, else 0, for each element $x$ of `input`.

    - `lambd`: $\lambda$. Where it is negative, every $x$ is kept.

    Gradients: the derivative at $\pm\lambda$ is 0.

    >>> functx.nn.functional.hardshrink(jnp.asarray([-0.5, 0.2, 2.0], "float32"))
    Array([0., 0., 2.], dtype=float32)
    """
    bound = jnp.asarray(lambd, input.dtype)
    inside = at_most(-bound, input) & at_most(input, bound)
    flat = jnp.where(jnp.isnan(input), lax.stop_gradient(input), input)
    return jnp.where(inside, 0, flat)


def _not_negative(*, lambd: Any, **_: Any) -> Iterator[Requirement]:
    lambd = jnp.asarray(lambd)
    yield Requirement(lambd >= 0, "`lambd` must not be negative, got {got}", got=lambd)


@operator(accepts=Accepts.FLOATING, requires=_not_negative)
def softshrink(input: ArrayLike, lambd: ComputeDtypeScalar = 0.5) -> Array:
    r"""$x$ moved towards 0 by $\lambda$, and 0 where $|x| \le \lambda$, for each element $x$ of
    `input`.

    - `lambd`: $\lambda$, which must not be negative.

    Gradients: the derivative at $\pm\lambda$ is 0.
    Errors: RuntimeError for a negative `lambd`.

    >>> functx.nn.functional.softshrink(jnp.asarray([-0.5, 0.2, 2.0], "float32"))
    Array([0. , 0. , 1.5], dtype=float32)
    """
    bound = jnp.asarray(lambd, input.dtype)
    above, below = less(bound, input), less(input, -bound)
    inside = at_most(-bound, input) & at_most(input, bound)
    near = jnp.where(inside, 0, lax.stop_gradient(input + bound))  # a NaN stays
    return jnp.where(above, input - bound, jnp.where(below, input + bound, near))


@operator(accepts=Accepts.FLOATING)
def leaky_relu(
    input: ArrayLike, negative_slope: ComputeDtypeScalar = 0.01, inplace: bool = False
) -> Array:
    """$x$ where it is positive, else $x$ times `negative_slope`, for each element $x$ of `input`
    (Maas et al., 2013).

    - `negative_slope`: the slope below 0, and the derivative at 0.
    - `inplace` has no effect: arrays are immutable.

    >>> functx.nn.functional.leaky_relu(jnp.asarray([-1.0, 2.0], "float32"), 0.5)
    Array([-0.5,  2. ], dtype=float32)
    """
    return _leaky(input, negative_slope)


@operator(
    accepts=Accepts.FLOATING, promote=Promote.SAME, aliases=("prelu",), autocast=Autocast.LOWER
)
def prelu(input: ArrayOnly, weight: ArrayOnly) -> Array:
    """$x$ where it is positive, else $x$ times the weight of its channel, for each element $x$ of
    `input` (He et al., 2015).

    Shapes: `input: [N, C, *]`, and the result has its shape. `weight` is `[C]`, or `[1]` or `[]`
    for all channels. An input without dimension 1 has one channel.
    Gradients: the derivative at 0 is the weight.
    Errors: RuntimeError for a `weight` of another shape, TypeError for unequal dtypes.

    >>> functx.prelu(jnp.asarray([-1.0, 2.0], "float32"), jnp.asarray([0.25], "float32"))
    Array([-0.25,  2.  ], dtype=float32)
    """
    if weight.ndim > 1:
        refuse(f"`weight` must have 0 or 1 dimensions, got {describe(weight)}")
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.size != 1:
        if weight.size != channels:
            refuse(
                f"`weight` must have 1 element or one for each of {channels} channels of "
                f"{describe(input)}, got {describe(weight)}"
            )
        weight = weight.reshape([-1 if k == 1 else 1 for k in range(input.ndim)])
    else:
        weight = weight.reshape(())
    return _leaky(input, weight)


def _slopes_in_order(*, lower: Any, upper: Any, **_: Any) -> Iterator[Requirement]:
    lower, upper = map(_widest, (lower, upper))
    for name, x in (("lower", lower), ("upper", upper)):
        yield Requirement(jnp.isfinite(x), f"`{name}` must be finite, got {{got}}", got=x)
    message = "`lower` must not be greater than `upper`, got {got}"
    yield Requirement(~(lower > upper), message, got=lower)


@operator(
    accepts=Accepts.FLOATING,
    requires=_slopes_in_order,
    random=True,
    needs_key=lambda training, **_: bool(training),
    aliases=("rrelu",),
)
def rrelu(
    input: ArrayLike,
    lower: RealScalar = 1 / 8,
    upper: RealScalar = 1 / 3,
    training: bool = False,
    inplace: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """$x$ where it is positive, else $x$ times a random slope, for each element $x$ of `input` (Xu
    et al., 2015).

    - `lower`, `upper`: the bounds of the slopes, which are finite and in order.
    - `training`: whether each element draws its own slope, uniformly between the bounds. If not,
      every slope is the mean of the bounds.
    - `inplace` has no effect: arrays are immutable.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Gradients: the derivative at 0 is the slope.
    Errors: RuntimeError for bounds that are not finite or not in order.

    >>> functx.rrelu(jnp.asarray([-1.0, 2.0], "float32"), 0.25, 0.75)
    Array([-0.5,  2. ], dtype=float32)
    """
    if not training:
        return _leaky(input, (lower + upper) / 2)
    unit = jax.random.uniform(key, input.shape, np.result_type(input.dtype, "float32"))
    slope = lower + (upper - lower) * unit.astype(input.dtype)
    inner = jnp.where(positive(input), 0, input) * slope
    return jnp.where(at_most(input, jnp.zeros_like(input)), inner, input)


@operator(accepts=Accepts.REAL_NUMBER, aliases=("threshold",))
def threshold(
    input: ArrayLike,
    threshold: ComputeDtypeScalar,
    value: ComputeDtypeScalar,
    inplace: bool = False,
) -> Array:
    """$x$ where it exceeds `threshold`, else `value`, for each element $x$ of `input`. NaN stays.

    - `threshold`: the number that $x$ is compared with.
    - `value`: the result where $x$ is not greater.
    - `inplace` has no effect: arrays are immutable.

    Gradients: the derivative at `threshold` is 0.

    >>> functx.threshold(jnp.asarray([-1.0, 2.0], "float32"), 0.5, 20)
    Array([20.,  2.], dtype=float32)
    """
    bound, other = (jnp.asarray(x, input.dtype) for x in (threshold, value))
    return jnp.where(at_most(input, bound), other, input)


def _clipped(x: Array, low: Any, high: Any) -> Array:
    """`x` between the bounds. At both bounds it is flat in `x`."""
    low, high = (jnp.asarray(bound).astype(x.dtype) for bound in (low, high))
    out = jnp.where(less(x, low), low, lax.stop_gradient(x))
    out = jnp.where(less(high, x), high, out)
    bounded = jnp.where(less(low, x) & less(x, high), x, out)
    return jnp.where((low == low) & (high == high), bounded, low + high)


def _leaky(x: Array, slope: Any) -> Array:
    rises = positive(x)
    return jnp.where(rises, x, jnp.where(rises, 0, x) * slope)
