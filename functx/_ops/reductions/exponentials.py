"""Logarithms of sums of exponentials, without overflow."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    axes_of,
    category,
    Dim,
    Dims,
    operator,
    Promote,
)
from functx._core.order import greatest
from functx._core.rules import derivative_rules

from .costly_scanning import running_costly
from .scanning import scanned


__all__ = ["logcumsumexp", "logsumexp"]


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, aliases=("special.logsumexp",))
def logsumexp(input: ArrayLike, dim: Dims, keepdim: bool = False) -> Array:
    r"""$\log \sum_i e^{x_i}$ over `dim`.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1. Of nothing, $-\infty$.
    The gradient is the softmax, and 0 where the result is infinite (NaN in PyTorch).

    >>> functx.logsumexp(jnp.asarray([1000.0, 1000.0], "float32"), 0)
    Array(1000.6932, dtype=float32)
    """
    axes = axes_of(dim, input.ndim)
    out = (_of_complex if category(input.dtype) == 3 else _of_real)(input, axes)
    return out if keepdim else jnp.squeeze(out, axes)


def _of_real(input: Array, axes: tuple[int, ...]) -> Array:
    """Sums of exponentials keep the NaN and the infinities, which the maximum may lose."""

    def shifted(x: Array) -> tuple[Array, Array]:
        top = jnp.max(lax.stop_gradient(x), axis=axes, keepdims=True, initial=-jnp.inf)
        top = jnp.where(jnp.isfinite(top), top, 0)
        return x - top, top

    def forward(x: Array) -> Array:
        less, top = shifted(x)
        return jnp.log(jnp.sum(jnp.exp(less), axis=axes, keepdims=True)) + top

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        infinite = jnp.isinf(output)
        exponentials = jnp.exp(jnp.where(infinite, 0, shifted(primals[0])[0]))
        weighted = jnp.sum(exponentials * tangents[0], axis=axes, keepdims=True)
        slope = weighted / jnp.sum(exponentials, axis=axes, keepdims=True)
        return jnp.where(infinite, 0, slope)

    return derivative_rules(forward, jvp=jvp, name="logsumexp")(input)


def _of_complex(input: Array, axes: tuple[int, ...]) -> Array:
    # The result does not depend on the shift, so neither do its derivatives.
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


@operator(accepts=Accepts.INEXACT)
def logcumsumexp(input: ArrayLike, dim: Dim) -> Array:
    r"""$y_i = \log \sum_{j \le i} e^{x_j}$ along `dim`.

    Shapes: the input's. An infinite result has gradient 0 (NaN in PyTorch). Of complex numbers,
    the logarithm is the one nearest to the dominating $x_j$.

    >>> functx.logcumsumexp(jnp.asarray([1000.0, 1000.0], "float32"), 0)
    Array([1000.    , 1000.6932], dtype=float32)
    """
    add = lambda a, b: (_log_add_exp(a[0], b[0]),)
    return scanned(lambda x, axis: running_costly(add, (x,), axis)[0], input, dim)


def _log_add_exp(left: Array, right: Array) -> Array:
    """Smooth in both, ties included: which one is larger decides the rounding only."""
    complex_ = category(left.dtype) == 3
    a, b = (lax.real(left), lax.real(right)) if complex_ else (left, right)
    swap = (a < b) | jnp.isnan(b)
    high, low = jnp.where(swap, right, left), jnp.where(swap, left, right)
    infinite = jnp.isinf(lax.real(high) if complex_ else high)
    shift = lax.stop_gradient(jnp.where(infinite, 0, high))
    excess = lax.expm1(jnp.where(infinite, 0, high - shift))
    added = lax.exp(jnp.where(infinite, 0, low - shift))
    return jnp.where(infinite, lax.stop_gradient(high), shift + lax.log1p(excess + added))
