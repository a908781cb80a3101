"""Logarithms of sums of exponentials, and the share that each has in the sum.

Where one of them is nearly all, what is left to 1 is the sum of the others: values and derivatives
are made of that, as differences from 1 would have lost it.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.rules.custom_derivatives import derivative_rules


def greatest_or_0(x: Array, axes: Any) -> Array:
    """The greatest real part over `axes`, which stay; 0 where that is -inf. It has no derivative.

    Sums of exponentials are made of what is left without it; they do not depend on it.
    """
    real = lax.stop_gradient(x.real)
    top = jnp.max(real, axis=axes, keepdims=True, initial=-jnp.inf)
    return jnp.where(top == -jnp.inf, 0, top).astype(x.dtype)


def log_of_sum(x: Array, axes: Any) -> Array:
    r"""$\log \sum_i e^{x_i}$ over `axes`, which stay, of what is left without the greatest.

    That is 0 then, and left out of the sum, which is small if it is far above the others.
    """
    powers = jnp.exp(x)
    whole = jnp.sum(powers, axis=axes, keepdims=True)
    if category(x.dtype) == 3:
        return jnp.log(whole)
    others = jnp.sum(jnp.where(x == 0, 0, powers), axis=axes, keepdims=True)
    # How many were left out: none, where a compiler rounds a difference of products otherwise than
    # their maximum, and then the whole is what there is.
    left_out = jnp.where(others < whole, whole - others, 0)  # none of an infinity
    greatest = lax.round(left_out, lax.RoundingMethod.TO_NEAREST_EVEN)
    return jnp.log1p(others + (greatest - 1))


def shares(x: Array, axes: Any) -> tuple[Array, Array]:
    r"""$e^{x_i} / \sum_j e^{x_j}$ over `axes`, and 1 where there are any.

    Of nothing but $-\infty$ they are 0, as are their derivatives.
    """
    total = lambda x: jnp.sum(x, axis=axes, keepdims=True)

    def forward(x: Array) -> tuple[Array, Array]:
        powers = jnp.exp(x - greatest_or_0(x, axes))
        whole = total(powers)
        return powers / jnp.where(whole == 0, 1, whole), (whole != 0).astype(x.dtype)

    def along(share: Array, t: Array) -> Array:
        # Less the tangent of the greatest, which the result does not depend on.
        apart = t - total(_most(share) * t)
        return share * (apart - total(share * apart))

    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: (
            along(output[0], tangents[0]),
            jnp.zeros_like(output[1]),
        ),
        vjp=lambda primals, output, cotangent: (along(output[0], cotangent[0]),),
        name="softmax",
        of="output",
    )(x)


def log_shares(x: Array, axes: Any) -> tuple[Array, Array]:
    r"""$x_i - \log \sum_j e^{x_j}$ over `axes`, and 1 where any is not $-\infty$.

    Of nothing but $-\infty$ they are that, and their derivatives are 0.
    """
    total = lambda x: jnp.sum(x, axis=axes, keepdims=True)

    def forward(x: Array) -> tuple[Array, Array]:
        less = x - greatest_or_0(x, axes)
        of_sum = log_of_sum(less, axes)
        some = of_sum.real != -jnp.inf
        return less - jnp.where(some, of_sum, 0), some.astype(x.dtype)

    def jvp(primals: Any, output: tuple, tangents: tuple[Array]) -> tuple[Array, Array]:
        share, some = jnp.exp(output[0]), output[1]
        apart = tangents[0] - total(_most(share) * tangents[0])
        return some * (apart - total(share * apart)), jnp.zeros_like(some)

    def vjp(primals: Any, output: tuple, cotangent: tuple) -> tuple[Array]:
        share, some = jnp.exp(output[0]), output[1]
        # All of them sum to 0: that of the greatest is what the others leave.
        most = _most(share)
        others = (some - most) * (cotangent[0] - share * total(cotangent[0]))
        return (others - most * total(others),)

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name="log_softmax", of="output")(x)


def _most(share: Array) -> Array:
    """1 for what is most of all, and 0 for the others; of complex ones none is.

    No two are, however shares are rounded, and few shares are where it is decided: a share that is
    computed twice may differ in its last digit.
    """
    if category(share.dtype) == 3:
        return jnp.zeros_like(share)
    return (share > 0.8137).astype(share.dtype)
