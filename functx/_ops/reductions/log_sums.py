"""Logarithms of sums of exponentials over dimensions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.numbers.bitwise_comparison import greatest
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.exponential_sums import log_of_sum, shares


def log_sum_exp(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    r"""$\log \sum_i e^{x_i}$ over `axes`; where that is infinite, all derivatives are 0."""
    out = (_of_complex if category(x.dtype) == 3 else _of_real)(x, axes)
    return out if keepdims else jnp.squeeze(out, axes)


def _of_real(input: Array, axes: tuple[int, ...]) -> Array:
    """Sums of exponentials keep the NaN and the infinities, which the maximum may lose."""

    def shifted(x: Array) -> tuple[Array, Array]:
        top = jnp.max(lax.stop_gradient(x), axis=axes, keepdims=True, initial=-jnp.inf)
        top = jnp.where(jnp.isfinite(top), top, 0)
        return x - top, top

    def forward(x: Array) -> Array:
        less, top = shifted(x)
        return log_of_sum(less, axes) + top

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        infinite = jnp.isinf(output)
        share, _ = shares(jnp.where(infinite, 0, primals[0]), axes)
        slope = jnp.sum(share * tangents[0], axis=axes, keepdims=True)
        return jnp.where(infinite, 0, slope)

    return derivative_rules(forward, jvp=jvp, name="logsumexp")(input)


def _of_complex(input: Array, axes: tuple[int, ...]) -> Array:
    # The result does not depend on the shift, and its derivatives do not either.
    real = lax.stop_gradient(lax.real(input))
    top = (
        greatest(real, axes, keepdims=True)
        if real.size
        else jnp.max(real, axis=axes, keepdims=True, initial=-jnp.inf)
    )
    infinite = jnp.isinf(top)
    top = top.astype(input.dtype)
    total = jnp.sum(jnp.exp(jnp.where(infinite, 0, input - top)), axis=axes, keepdims=True)
    return jnp.where(infinite, top, jnp.log(total) + top)
