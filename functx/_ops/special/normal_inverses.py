"""The inverses of the error function and of the normal distribution function, in float64."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array, lax

from .gaussian_tails import (
    complement,
    error_function,
    exponential_of_square,
    scaled_complement,
)


def error_function_inverse(x: Array) -> Array:
    r"""The $y$ with $\mathrm{erf}(y) = x$: Giles' approximation, and a step of Newton's method."""
    y = lax.erf_inv(x)
    finite = jnp.where(jnp.abs(x) < 1, y, 0)
    size = jnp.abs(finite)
    near = size < 0.5
    excess = jnp.where(
        near,
        error_function(jnp.minimum(size, 0.5)) - jnp.abs(x),
        (1 - jnp.abs(x)) - complement(size),
    )
    step = excess * (0.5 * math.sqrt(math.pi)) * exponential_of_square(size, 1)
    better = jnp.copysign(size - step, x)
    return jnp.where((jnp.abs(x) < 1) & (x != 0), better, y)


def normal_quantile(p: Array) -> Array:
    r"""The $x$ with $\Phi(x) = p$."""
    middle = math.sqrt(2) * error_function_inverse(jnp.clip(2 * p - 1, -0.75, 0.75))
    small = jnp.clip(jnp.minimum(p, 1 - p), 1e-308, 0.25)
    depth = jnp.sqrt(-2 * jnp.log(small))
    # Hastings' approximation (Abramowitz and Stegun 26.2.23), and steps of Newton's method.
    size = depth - (0.010328 * depth * depth + 0.802853 * depth + 2.515517) / (
        ((0.001308 * depth + 0.189269) * depth + 1.432788) * depth + 1
    )
    log_of_small = -0.5 * depth * depth
    for _ in range(3):
        # Newton's method solves for $\ln\Phi$, which is nearly a square.
        scaled = 0.5 * scaled_complement(size * math.sqrt(0.5))
        slope = math.sqrt(0.5 / math.pi) / scaled
        residual = jnp.log(scaled) - 0.5 * size * size - log_of_small
        size = size + residual / slope
    tail = jnp.where(p < 0.5, -size, size)
    out = jnp.where((p < 0.125) | (p > 0.875), tail, middle)
    out = jnp.where(p == 0, -jnp.inf, jnp.where(p == 1, jnp.inf, out))
    return jnp.where((p >= 0) & (p <= 1), out, jnp.nan)
