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
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.sigmoids import sigmoid

from .costly_scanning import running_costly
from .log_sums import log_sum_exp
from .scanning import scanned


__all__ = ["logcumsumexp", "logsumexp"]


@operator(
    promote=Promote.INT_TO_FLOAT,
    aliases=("special.logsumexp",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def logsumexp(input: ArrayLike, dim: Dims, keepdim: bool = False) -> Array:
    r"""Logarithm of the sum of the exponentials of `input` over `dim`: $\log \sum_i e^{x_i}$.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.

    No elements give $-\infty$.

    Shapes: `[..., n, ...] -> [..., ...]`. Dtypes: bools and integers give the default dtype.
    Gradients: the softmax, and 0 where the result is infinite (NaN in PyTorch).

    >>> functx.logsumexp(jnp.asarray([1000.0, 1000.0], "float32"), 0)
    Array(1000.6932, dtype=float32)
    """
    return log_sum_exp(input, axes_of(dim, input.ndim), keepdim)


@operator(accepts=Accepts.INEXACT)
def logcumsumexp(input: ArrayLike, dim: Dim) -> Array:
    r"""Logarithm of the running sum of the exponentials of `input` along `dim`.

    This is $\log \sum_{j \le i} e^{x_j}$. The logarithm of complex numbers is the one nearest to
    the dominating $x_j$.

    - `dim`: the dimension along which the sum runs.

    Shapes: that of `input`. Dtypes: floating or complex.
    Gradients: 0 where the result is infinite (NaN in PyTorch). Errors: TypeError for integers.

    >>> functx.logcumsumexp(jnp.asarray([1000.0, 1000.0], "float32"), 0)
    Array([1000.    , 1000.6932], dtype=float32)
    """
    add = lambda a, b: (_log_add_exp(a[0], b[0]),)
    return scanned(lambda x, axis: running_costly(add, (x,), axis)[0], input, dim)


def _log_add_exp(left: Array, right: Array) -> Array:
    return (_of_complex if category(left.dtype) == 3 else _of_real)(left, right)


def _ordered(left: Array, right: Array) -> tuple[Array, Array, Array, Array]:
    """Whether the two are swapped, the higher, the lower, and whether the higher is infinite."""
    complex_ = category(left.dtype) == 3
    a, b = (lax.real(left), lax.real(right)) if complex_ else (left, right)
    swap = (a < b) | jnp.isnan(b)
    high, low = jnp.where(swap, right, left), jnp.where(swap, left, right)
    return swap, high, low, jnp.isinf(lax.real(high) if complex_ else high)


def _sum(left: Array, right: Array) -> Array:
    _, high, low, infinite = _ordered(left, right)
    return jnp.where(infinite, high, high + lax.log1p(lax.exp(jnp.where(infinite, 0, low - high))))


def _tangent(primals: tuple[Array, Array], output: Array, tangents: tuple[Array, Array]) -> Array:
    swap, high, low, infinite = _ordered(*primals)
    # Swapping equal numbers is smooth.
    less = sigmoid(jnp.where(infinite, 0, low - high))
    share = jnp.where(swap, less, 1 - less), jnp.where(swap, 1 - less, less)
    moved = share[0] * tangents[0] + share[1] * tangents[1]
    return jnp.where(infinite, 0, moved)


_of_real = derivative_rules(_sum, jvp=_tangent, name="logcumsumexp", of="primals")


def _of_complex(left: Array, right: Array) -> Array:
    """The logarithm of the sum for complex numbers, smooth in both, also where they are equal.

    Which of the two is larger decides the rounding only.
    """
    _, high, low, infinite = _ordered(left, right)
    shift = lax.stop_gradient(jnp.where(infinite, 0, high))
    excess = lax.expm1(jnp.where(infinite, 0, high - shift))
    added = lax.exp(jnp.where(infinite, 0, low - shift))
    return jnp.where(infinite, lax.stop_gradient(high), shift + lax.log1p(excess + added))
