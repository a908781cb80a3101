"""The logarithm of the sigmoid, and the cross entropy that is made of it."""

from __future__ import annotations

import functools as ft
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.sigmoids import sigmoid


def _curve(x: Array) -> Array:
    return jnp.log1p(jnp.exp(-jnp.abs(x)))


# Both pieces have a kink at 0 and their sum has none, so the derivative is given.
log_sigmoid = derivative_rules(
    lambda x: jnp.minimum(x, 0) - _curve(x),
    jvp=lambda primals, output, tangents: sigmoid(-primals[0]) * tangents[0],
    name="log_sigmoid",
    of="primals",
)


def cross_entropy(x: Array, positive: Any, negative: Any) -> Array:
    r"""$-p \log \sigma(x) - n \log \sigma(-x)$ with $p$ the `positive` share and $n$ the `negative`
    share.
    """
    return _cross_entropy(*jnp.broadcast_arrays(x, positive, negative))


def _entropy(x: Array, positive: Array, negative: Array) -> Array:
    curve = _curve(x)
    return positive * (curve - jnp.minimum(x, 0)) + negative * (curve + jnp.maximum(x, 0))


def _slopes(primals: Any) -> tuple[Array, Array, Array]:
    x, positive, negative = primals
    return negative * sigmoid(x) - positive * sigmoid(-x), -log_sigmoid(x), -log_sigmoid(-x)


def _tangent(primals: Any, output: Array, tangents: Any) -> Array:
    # An argument that is not differentiated has a tangent of 0, whatever its slope.
    pairs = zip(_slopes(primals), tangents, strict=True)
    terms = (jnp.where(t == 0, 0, slope * t) for slope, t in pairs)
    return ft.reduce(jnp.add, terms)


def _cotangents(primals: Any, output: Array, cotangent: Array) -> tuple[Array, ...]:
    return tuple(slope * cotangent for slope in _slopes(primals))


_cross_entropy = derivative_rules(
    _entropy,
    jvp=_tangent,
    vjp=_cotangents,
    name="binary_cross_entropy_with_logits",
    of="primals",
)
