"""Smooth activation functions that consist of exponentials and quotients, and the gated linear
unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    category,
    ComputeDtypeScalar,
    describe,
    Dim,
    operator,
    Promote,
    refuse,
    Requirement,
)
from functx._core.numbers.bitwise_comparison import nonzero, positive
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.magnitude import magnitude
from functx._ops.pointwise.near_one import exponential_less_1
from functx._ops.polynomials import horner
from functx._ops.sigmoids import hyperbolic_tangent, sigmoid

from .gates import gated
from .log_sigmoids import log_sigmoid


__all__ = ["celu", "elu", "glu", "logsigmoid", "mish", "selu", "softsign", "tanhshrink"]


_SELU = 1.6732632423543772  # Klambauer et al., 2017, equation 14


@operator(accepts=Accepts.FLOATING)
def elu(input: ArrayLike, alpha: ComputeDtypeScalar = 1.0, inplace: bool = False) -> Array:
    r"""$x$ where it is positive, else $\alpha (e^x - 1)$, for each element $x$ of `input` (Clevert
    et al., 2016).

    - `alpha`: $\alpha$, which the function approaches far below 0, negated.
    - `inplace` has no effect: arrays are immutable.

    Gradients: at 0 the derivative is $\alpha$, and the second derivative is 0.

    >>> functx.nn.functional.elu(jnp.asarray([-100.0, 2.0], "float32"), 0.5)
    Array([-0.5,  2. ], dtype=float32)
    """
    return _exponential_below(input, alpha, scale=1, slope=alpha)


def _nonzero(*, alpha: Any, **_: Any) -> Iterator[Requirement]:
    alpha = jnp.asarray(alpha)
    yield Requirement(alpha != 0, "`alpha` must not be 0, got {got}", got=alpha)


@operator(accepts=Accepts.FLOATING, requires=_nonzero, aliases=("celu",))
def celu(input: ArrayLike, alpha: ComputeDtypeScalar = 1.0, inplace: bool = False) -> Array:
    r"""$x$ where it is positive, else $\alpha (e^{x / \alpha} - 1)$, for each element $x$ of
    `input` (Barron, 2017).

    - `alpha`: $\alpha$, which the function approaches far below 0, negated; not 0.
    - `inplace` has no effect: arrays are immutable.

    Gradients: at 0 the derivative is 1, and the second derivative is 0.
    Errors: RuntimeError for an `alpha` of 0.

    >>> functx.celu(jnp.asarray([-100.0, 2.0], "float32"), 0.5)
    Array([-0.5,  2. ], dtype=float32)
    """
    # Far below 0 the power and its slopes are 0, rather than 0 times an overflowed 1 / alpha^2.
    lowest = float(np.log(np.float64(jnp.finfo(input.dtype).smallest_subnormal))) - 1
    far = (input < lowest * alpha) & (alpha > 0)
    rest, scale = jnp.where(far, 0, input), jnp.where(far, 1, alpha)
    near = _exponential_below(rest, alpha, scale=scale, slope=1)
    return jnp.where(far, -jnp.broadcast_to(alpha, far.shape), near)


@operator(accepts=Accepts.FLOATING, aliases=("selu",))
def selu(input: ArrayLike, inplace: bool = False) -> Array:
    r"""$s x$ where $x$ is positive, else $s \alpha (e^x - 1)$, for each element $x$ of `input`
    (Klambauer et al., 2017).

    The constants $s = 1.0507009873554805$ and $\alpha = 1.6732632423543772$ let layers of it keep a
    mean of 0 and a variance of 1.

    - `inplace` has no effect: arrays are immutable.

    Gradients: at 0 the derivative is $s \alpha$, and the second derivative is 0.

    >>> functx.selu(jnp.asarray([-100.0, 2.0], "float32"))
    Array([-1.7580993,  2.101402 ], dtype=float32)
    """
    return 1.0507009873554805 * _exponential_below(input, _SELU, scale=1, slope=_SELU)


@operator(accepts=Accepts.FLOATING)
def logsigmoid(input: ArrayLike) -> Array:
    r"""The logarithm of the sigmoid, without overflow: $y = -\log(1 + e^{-x})$ for each element $x$
    of `input`.

    >>> functx.nn.functional.logsigmoid(jnp.asarray([-1000.0, 1000.0], "float32"))
    Array([-1000.,     0.], dtype=float32)
    """
    return log_sigmoid(input)


@operator(accepts=Accepts.FLOATING)
def mish(input: ArrayLike, inplace: bool = False) -> Array:
    r"""$y = x \tanh(\log(1 + e^x))$ for each element $x$ of `input` (Misra, 2019).

    - `inplace` has no effect: arrays are immutable.

    >>> functx.nn.functional.mish(jnp.asarray([0.0, 20.0], "float32"))
    Array([ 0., 20.], dtype=float32)
    """
    return gated(_mish_share, input)


def _mish_share(x: Array) -> Array:
    r"""$\tanh(\log(1 + e^x))$, from powers that do not overflow and whose slopes do not cancel."""
    below = x < 0
    power = jnp.exp(jnp.where(below, x, -x))
    odds = power * (power + 2)
    rest = 2 * power * power / (1 + 2 * power + 2 * power * power)
    return jnp.where(below, odds / (odds + 2), 1 - rest)


@operator(accepts=Accepts.NUMBER, promote=Promote.INT_TO_FLOAT)
def softsign(input: ArrayLike) -> Array:
    """$y = x / (1 + |x|)$ for each element $x$ of `input`.

    Dtypes: integers become floating.
    Gradients: at 0 the derivative is 1, and the second derivative is 0.

    >>> functx.nn.functional.softsign(jnp.asarray([-1.0, 3.0], "float32"))
    Array([-0.5 ,  0.75], dtype=float32)
    """
    return _real_softsign(input) if category(input.dtype) == 2 else _softsign(input)


def _softsign(x: Array) -> Array:
    return x / lax.convert_element_type(1 + magnitude(x), x.dtype)


# The quotient rule's two terms cancel at large numbers, and higher powers overflow.
_real_softsign = derivative_rules(
    _softsign,
    jvp=lambda primals, output, tangents: tangents[0] * lax.square(1 / (1 + magnitude(primals[0]))),
    name="softsign",
    of="primals",
)


@operator(accepts=Accepts.NUMBER, promote=Promote.INT_TO_FLOAT)
def tanhshrink(input: ArrayLike) -> Array:
    r"""$y = x - \tanh x$ for each element $x$ of `input`.

    Dtypes: integers become floating.

    >>> functx.nn.functional.tanhshrink(jnp.asarray([0.0, 100.0], "float32"))
    Array([ 0., 99.], dtype=float32)
    """
    return _tanhshrink(input)


# The series of $(x \cosh x - \sinh x) / x^3$ in $x^2$, exact to all digits for numbers up to 1.
_DIFFERENCE = [2 * k / math.factorial(2 * k + 1) for k in range(1, 11)]


def _less_its_tanh(x: Array) -> Array:
    wide = x.astype(accumulator(x.dtype))
    if category(x.dtype) == 3:
        return (wide - lax.tanh(wide)).astype(x.dtype)
    near = jnp.clip(wide, -1, 1)  # where the difference would cancel
    square = near * near
    small = near * square * horner(_DIFFERENCE, square) / jnp.cosh(near)
    return jnp.where(lax.abs(wide) < 1, small, wide - lax.tanh(wide)).astype(x.dtype)


# The difference of 1 and the derivative of tanh cancels at small numbers.
_tanhshrink = derivative_rules(
    _less_its_tanh,
    jvp=lambda primals, output, tangents: tangents[0] * lax.square(hyperbolic_tangent(primals[0])),
    name="tanhshrink",
    of="primals",
)


@operator(accepts=Accepts.FLOATING)
def glu(input: ArrayLike, dim: Dim = -1) -> Array:
    r"""Gated linear unit: $y = a \cdot \sigma(b)$ of the halves $a, b$ of `input` along `dim`
    (Dauphin et al., 2017).

    Shapes: `input: [..., 2 n, ...] -> [..., n, ...]`.

    - `dim`: the dimension that is cut in two.

    Errors: RuntimeError for an odd size and for an input without dimensions, IndexError
    for a `dim` that does not exist.

    >>> functx.nn.functional.glu(jnp.asarray([3.0, 100.0], "float32"))
    Array([3.], dtype=float32)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}")
    if input.shape[dim] % 2:
        refuse(f"`input` must be even in dimension {dim}, got {describe(input)}")
    value, gate = jnp.split(input, 2, dim)
    return value * sigmoid(gate)


def _exponential_below(x: Array, alpha: Any, *, scale: Any, slope: Any) -> Array:
    """The common form of ELU, CELU and SELU: `x` above 0, and `alpha (exp(x / scale) - 1)` below.

    At 0 it is a straight line with this slope, since PyTorch's second derivative there is 0.
    """
    straight = positive(x) | ~nonzero(x)
    level = jnp.where(straight, x, 0) * slope
    power = alpha * exponential_less_1(jnp.where(straight, -1, x) / jnp.where(straight, 1, scale))
    return jnp.where(positive(x), x, jnp.where(straight, level, power))
