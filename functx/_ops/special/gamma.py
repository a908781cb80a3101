"""The incomplete gamma functions, and the gamma function of matrices."""

from __future__ import annotations

import functools as ft
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayOnly, operator, Promote, refuse
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.pointwise.gamma_slopes import digamma_function
from functx._ops.pointwise.log_gamma import log_gamma, log_gamma_of_doubles
from functx._ops.pointwise.operands import check_floating

from . import incomplete_gamma
from .slopes import PointwiseFunction, with_slopes
from .wide import widened


__all__ = ["igamma", "igammac", "mvlgamma"]


@operator(name="igamma", accepts=Accepts.REAL, aliases=("special.gammainc",))
def igamma(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Regularized lower incomplete gamma function of $a$, `input`, and $x$, `other`.

    $$P(a, x) = \frac{1}{\Gamma(a)} \int_0^x t^{a-1} e^{-t} dt$$

    It is NaN where either is negative, or both are 0 or infinite.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype, which must be floating.
    Errors: TypeError for other dtypes.
    Derivatives: in both, of any order (PyTorch has none in `input`).

    >>> functx.igamma(jnp.ones(2, "float32"), jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.   , 0.632], dtype=float32)
    """
    check_floating(input.dtype)
    return _lower(0)(*jnp.broadcast_arrays(input, other))


@operator(name="igammac", accepts=Accepts.REAL, aliases=("special.gammaincc",))
def igammac(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Regularized upper incomplete gamma function of $a$, `input`, and $x$, `other`: 1 - `igamma`.

    $$Q(a, x) = \frac{1}{\Gamma(a)} \int_x^\infty t^{a-1} e^{-t} dt$$

    It is NaN where either is negative, or both are 0 or infinite.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype, which must be floating.
    Errors: TypeError for other dtypes.
    Derivatives: in both, of any order (PyTorch has none in `input`).

    >>> functx.igammac(jnp.ones(2, "float32"), jnp.asarray([0.0, 1.0], "float32")).round(2)
    Array([1.  , 0.37], dtype=float32)
    """
    check_floating(input.dtype)
    return _upper()(*jnp.broadcast_arrays(input, other))


@operator(
    name="mvlgamma",
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL_NUMBER,
    aliases=("special.multigammaln",),
)
def mvlgamma(input: ArrayOnly, p: int) -> Array:
    r"""Logarithm of the gamma function of $p \times p$ matrices, of each element $x_i$ of `input`.

    $$\tfrac{p(p - 1)}{4} \ln \pi + \sum_{j=0}^{p-1} \ln |\Gamma(x_i - \tfrac{j}{2})|$$

    This formula is the logarithm where $x_i > \tfrac{p - 1}{2}$, and is used elsewhere too.

    - `p`: the size of the matrices, an integer from 1 on.

    Dtypes: integers give the default dtype.
    Errors: TypeError for bools and complex numbers, and where `p` is no int; RuntimeError where `p`
    is less than 1.

    >>> functx.mvlgamma(jnp.asarray([1.0, 2.0], "float32"), 2).round(2)
    Array([1.14, 0.45], dtype=float32)
    """
    if not isinstance(p, int) or isinstance(p, bool):
        refuse(f"`p` must be an int, got {p!r}", error=TypeError)
    if p < 1:
        refuse(f"`p` must be at least 1, got {p}")
    return _multivariate(p)(input)


def _arguments(x: Array, p: int) -> Array:
    return x[..., None] - np.arange(p, dtype=x.dtype) / 2


@ft.lru_cache
def _multivariate(p: int) -> PointwiseFunction:
    constant = p * (p - 1) / 4 * math.log(math.pi)

    def double(x: Array) -> Array:
        return constant + jnp.sum(log_gamma(_arguments(x, p)), axis=-1)

    def single(x: Array) -> Array:
        added = lambda j, total: total + log_gamma_of_doubles(x - 0.5 * j.astype(x.dtype))
        total = lax.fori_loop(0, p, added, jnp.full_like(x, constant))
        out = jnp.where(x != x, x, jnp.where(jnp.isinf(x), jnp.inf, total))
        return jnp.where(out == 0, 0, out)

    def tangent(primals: tuple[Array], output: Array, tangents: tuple[Array]) -> Array:
        slopes = digamma_function(_arguments(primals[0], p))
        return tangents[0] * jnp.sum(slopes, axis=-1)

    return derivative_rules(widened(double, single), jvp=tangent, name="mvlgamma")


# Functions of $a$ and $x$: the derivatives of $P(a, x)$ in $a$ of each order.
@ft.lru_cache
def _lower(order: int) -> PointwiseFunction:
    def slopes(a: Array, x: Array, output: Array) -> tuple[Array, Array]:
        return _lower(order + 1)(a, x), _density(order, 0)(a, x)

    forward = (
        ft.partial(incomplete_gamma.lower_in_first, order) if order else incomplete_gamma.lower
    )
    return with_slopes(widened(jax.jit(forward)), slopes, "igamma")


@ft.lru_cache
def _upper() -> PointwiseFunction:
    def slopes(a: Array, x: Array, output: Array) -> tuple[Array, Array]:
        return -_lower(1)(a, x), -_density(0, 0)(a, x)

    return with_slopes(widened(jax.jit(incomplete_gamma.upper)), slopes, "igammac")


@ft.lru_cache
def _density(order: int, lowered: int) -> PointwiseFunction:
    r"""The derivative of $x^{a-m-1} e^{-x} / \Gamma(a - m)$ in $a$ of `order`; $m$ is `lowered`."""

    def slopes(a: Array, x: Array, output: Array) -> tuple[Array, Array]:
        return _density(order + 1, lowered)(a, x), _density(order, lowered + 1)(a, x) - output

    forward = ft.partial(incomplete_gamma.density, order, lowered)
    return with_slopes(widened(jax.jit(forward)), slopes, "igamma")
