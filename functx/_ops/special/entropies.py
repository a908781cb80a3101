"""Products of numbers and logarithms, of which entropies are sums."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator, Promote
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.pointwise.near_one import logarithm_of_1_plus
from functx._ops.quotients import quotient


__all__ = ["entr", "xlog1py"]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def entr(input: ArrayLike) -> Array:
    r"""Entropy of each element $x_i$ of `input`: $-x_i \ln x_i$.

    It is 0 at 0 and $-\infty$ below, where the gradient is NaN.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.special.entr(jnp.asarray([0.0, 0.5, 1.0, -1.0], "float32")).round(3)
    Array([ 0.   ,  0.347, -0.   ,   -inf], dtype=float32)
    """
    return _entr(input)


def _entropy(x: Array) -> Array:
    inside = -x * lax.log(jnp.where(x > 0, x, 1))
    return jnp.where(x == 0, 0, jnp.where(x < 0, -jnp.inf, inside))


_entr = derivative_rules(
    _entropy,
    jvp=lambda primals, output, tangents: tangents[0] * (-lax.log(primals[0]) - 1),
    name="special.entr",
)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL, needs_array=True)
def xlog1py(input: ArrayLike, other: ArrayLike) -> Array:
    r"""Product of `input` $x$ and a logarithm of `other` $z$: $y = x \ln(1 + z)$.

    It is 0 where $x = 0$. Where $x = 0$ and $z \le -1$ both gradients are 0 (in PyTorch, at -1 one
    is NaN). NaN in `other` stays NaN.

    Shapes: `input` and `other` broadcast.
    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.special.xlog1py(jnp.zeros(2, "float32"), -1)
    Array([0., 0.], dtype=float32)
    """
    return _xlog1py(*jnp.broadcast_arrays(input, other))


def _product(x: Array, y: Array) -> Array:
    return jnp.where((x == 0) & (y == y), 0, x * logarithm_of_1_plus(y))


def _product_vjp(
    primals: tuple[Array, Array], output: Array, cotangent: Array
) -> tuple[Array, Array]:
    x, y = primals
    dead = (x == 0) & (y <= -1)
    safe = jnp.where(dead, 0, y)
    return (
        jnp.where(dead, 0, cotangent * logarithm_of_1_plus(safe)),
        jnp.where(dead, 0, cotangent * quotient(x, 1 + safe)),
    )


_xlog1py = derivative_rules(_product, vjp=_product_vjp, name="special.xlog1py")
