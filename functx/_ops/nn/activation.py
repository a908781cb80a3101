"""Activation functions."""

from __future__ import annotations

import functools as ft
import math
from typing import Literal

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, ComputeDtypeScalar, operator, refuse
from functx._core.numbers.bitwise_comparison import negative, nonzero
from functx._ops.quotients import quotient
from functx._ops.sigmoids import sigmoid, sigmoid_beside_slope

from .gates import Gate, gated
from .log_sigmoids import log_sigmoid
from .normal_share import normal_share


__all__ = ["gelu", "relu", "silu", "softplus"]


@operator(accepts=Accepts.REAL_NUMBER, aliases=("relu",))
def relu(input: ArrayLike, inplace: bool = False) -> Array:
    r"""Rectified linear unit: $y = \max(x, 0)$ for each element $x$ of `input`.

    - `inplace` has no effect: arrays are immutable.

    Gradients: the derivative at 0 is 0.

    >>> functx.nn.functional.relu(jnp.asarray([-1.0, 2.0], "float32"))
    Array([0., 2.], dtype=float32)
    """
    flat = jnp.where(nonzero(input), input, lax.stop_gradient(input))  # zeros of either sign
    return jnp.where(negative(input), 0, flat)


@operator(accepts=Accepts.FLOATING)
def gelu(input: ArrayLike, approximate: Literal["none", "tanh"] = "none") -> Array:
    r"""Gaussian error linear unit: $y = x \cdot \Phi(x)$ for each element $x$ of `input` (Hendrycks
    and Gimpel, 2016).

    - `approximate`: `"none"`, or `"tanh"` for the cheaper fit
      $\tfrac{x}{2}(1 + \tanh(\sqrt{2/\pi}\,(x + 0.044715 x^3)))$.

    Errors: ValueError for another `approximate`, TypeError for dtypes that are not floating.

    >>> functx.nn.functional.gelu(jnp.asarray([0.0, 10.0], "float32"))
    Array([ 0., 10.], dtype=float32)
    """
    if approximate == "none":
        return gated(normal_share, input)
    if approximate == "tanh":
        beside_slope = ft.partial(_share_by_tanh, gate=sigmoid_beside_slope)
        return gated(_share_by_tanh, input, beside_slope=beside_slope)
    refuse(f"`approximate` must be 'none' or 'tanh', got {approximate!r}", error=ValueError)


@operator(accepts=Accepts.INEXACT)
def silu(input: ArrayLike, inplace: bool = False) -> Array:
    r"""Sigmoid linear unit, or swish: $y = x \cdot \sigma(x)$ for each element $x$ of `input`.

    - `inplace` has no effect: arrays are immutable.

    >>> functx.nn.functional.silu(jnp.asarray([0.0, 20.0], "float32"))
    Array([ 0., 20.], dtype=float32)
    """
    return gated(sigmoid, input, beside_slope=sigmoid_beside_slope)


def _share_by_tanh(x: Array, gate: Gate = sigmoid) -> Array:
    x = jnp.clip(x, -30, 30)  # beyond 30 the share is 0 or 1, and powers overflow
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return gate(2 * inner)  # equals (1 + tanh) / 2, whose sum would cancel


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def softplus(
    input: ArrayLike, beta: ComputeDtypeScalar = 1, threshold: ComputeDtypeScalar = 20
) -> Array:
    r"""A smooth maximum of $x$ and 0: $y = \tfrac{1}{\beta} \log(1 + e^{\beta x})$ for each element
    $x$ of `input`.

    - `beta`: $\beta$. The greater it is, the sharper the bend at 0.
    - `threshold`: where $\beta x$ exceeds it, $y = x$, and the derivative is exactly 1.

    >>> functx.nn.functional.softplus(jnp.asarray([30.0], "float32"))
    Array([30.], dtype=float32)
    """
    scaled = input * beta
    linear = scaled > threshold
    # A difference, since the negative of log_sigmoid(inf) is -0.0.
    smooth = 0 - log_sigmoid(-jnp.where(linear, jnp.zeros_like(scaled), scaled))
    if isinstance(beta, int):
        return jnp.where(linear, input, quotient(smooth, beta))
    flat = beta == 0  # a slope of one half, at infinity
    at_infinity = lax.stop_gradient(smooth / beta) + 0.5 * (input - lax.stop_gradient(input))
    smooth = jnp.where(flat, at_infinity, quotient(smooth, jnp.where(flat, 1, beta)))
    return jnp.where(linear, input, smooth)
