"""The gamma function of matrices."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import Accepts, ArrayOnly, operator, Promote, refuse
from functx._core.rules import derivative_rules
from functx._ops.pointwise.gamma_slopes import digamma_function
from functx._ops.pointwise.log_gamma import log_gamma

from .wide import widened


__all__ = ["mvlgamma"]


@operator(
    name="mvlgamma",
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL_NUMBER,
    aliases=("special.multigammaln",),
)
def mvlgamma(input: ArrayOnly, p: int) -> Array:
    r"""Logarithm of the gamma function of $p \times p$ matrices.

    $$\tfrac{p(p - 1)}{4} \ln \pi + \sum_{j=0}^{p-1} \ln |\Gamma(x_i - \tfrac{j}{2})|$$

    which is that where $x_i > \tfrac{p - 1}{2}$.

    Errors: TypeError where `p` is no int, RuntimeError where it is less than 1.

    >>> functx.mvlgamma(jnp.asarray([1.0, 2.0], "float32"), 2).round(2)
    Array([1.14, 0.45], dtype=float32)
    """
    if not isinstance(p, int) or isinstance(p, bool):
        refuse(f"`p` must be an int, got {p!r}", error=TypeError)
    if p < 1:
        refuse(f"`p` must be at least 1, got {p}")
    return _multivariate(p)(input)


Function = Callable[..., Array]


def _arguments(x: Array, p: int) -> Array:
    return x[..., None] - np.arange(p, dtype=x.dtype) / 2


@ft.lru_cache
def _multivariate(p: int) -> Function:
    def forward(x: Array) -> Array:
        terms = log_gamma(_arguments(x, p))
        return p * (p - 1) / 4 * math.log(math.pi) + jnp.sum(terms, axis=-1)

    def tangent(primals: tuple[Array], output: Array, tangents: tuple[Array]) -> Array:
        slopes = digamma_function(_arguments(primals[0], p))
        return tangents[0] * jnp.sum(slopes, axis=-1)

    return derivative_rules(widened(forward), jvp=tangent, name="mvlgamma")
