"""Identities with a wrong derivative: put before an operator, they spoil one array's."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import core, lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from functx._core import category
from functx._core.rules.custom_derivatives import derivative_rules


WrongIdentity = Callable[[Any], jax.Array]  # the identity, as far as values go


@ft.cache
def scaled(forward: float, reverse: float) -> WrongIdentity:
    """Tangents are off by the factor `forward`, cotangents by `reverse`."""
    return derivative_rules(
        lambda x: x,
        jvp=lambda primals, output, tangents: _times(tangents[0], forward),
        vjp=lambda primals, output, cotangent: (_times(cotangent, reverse),),
        name="identity",
    )


@ft.cache
def bent(forward: float, reverse: float) -> WrongIdentity:
    """Right at first order. The rule's own derivative is off: that of `1 + k (x - x0)` at `x0`."""

    def off(x: jax.Array, k: float) -> jax.Array:
        return 1 + _times(x - lax.stop_gradient(x), k)

    return derivative_rules(
        lambda x: x,
        jvp=lambda primals, output, tangents: tangents[0] * off(primals[0], forward),
        vjp=lambda primals, output, cotangent: (cotangent * off(primals[0], reverse),),
        name="identity",
    )


@ft.cache
def beside_1(mode: str) -> WrongIdentity:
    """Of tangents or cotangents, what is left beside 1: few digits if they are small."""
    exact = lambda t: t
    coarse = lambda t: lax.optimization_barrier(t + jnp.ones((), t.dtype)) - jnp.ones((), t.dtype)
    forward, reverse = (coarse if each == mode else exact for each in ("forward", "reverse"))
    return derivative_rules(
        lambda x: x,
        jvp=lambda primals, output, tangents: forward(tangents[0]),
        vjp=lambda primals, output, cotangent: (reverse(cotangent),),
        name="identity",
    )


@ft.cache
def flat_at_zero() -> WrongIdentity:
    """Right but for the reverse rule's derivative at a cotangent of zero, which is zero."""
    return derivative_rules(
        lambda x: x,
        jvp=lambda primals, output, tangents: tangents[0],
        vjp=lambda primals, output, cotangent: (jnp.where(cotangent == 0, 0, cotangent),),
        name="identity",
    )


# The identity, whose cotangents come out in single precision.
_widening = Primitive("widens_cotangents")
_widening.def_impl(lambda x: x)
_widening.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(_widening, lambda ctx, x: [x])
ad.deflinear(_widening, lambda cotangent: [_in_single(cotangent)])
batching.primitive_batchers[_widening] = lambda args, dims: (_widening.bind(*args), dims[0])


def _in_single(cotangent: Any) -> Any:
    return cotangent if type(cotangent) is ad.Zero else cotangent.astype(jnp.float32)


def widens_cotangents(x: Any) -> jax.Array:
    """`x`. Its cotangents are float32, which no transform looks at."""
    return _widening.bind(jnp.asarray(x))


def _times(x: jax.Array, factor: float) -> jax.Array:
    return x * jnp.asarray(factor, x.dtype)


def kept(x: Any, mask: Any) -> jax.Array:
    """Zero, with the derivative of the sum of `x` over `mask`."""
    chosen = jnp.where(mask, x, jnp.zeros((), x.dtype))
    return jnp.sum(chosen - lax.stop_gradient(chosen))


def inexact(x: Any) -> bool:
    """Whether an array carries a tangent."""
    return category(x.dtype) >= 2
