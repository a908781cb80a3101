"""Distances of arrays, and arrays scaled to a distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    category,
    describe,
    Dim,
    operator,
    Promote,
    RealScalar,
    refuse,
    Requirement,
)
from functx._core.context.user_contexts import showing_singular
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._ops.quotients import quotient

from .power_norms import vector_norm


__all__ = ["dist", "renorm"]

_NEVER_ZERO = 1e-7  # PyTorch's number, which keeps a divisor from 0


@operator(
    promote=Promote.COMPLEX_TO_FLOAT,
    accepts=Accepts.NUMBER,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def dist(
    input: ArrayOnly,
    other: ArrayOnly,
    p: float = 2,  # static: it chooses how to compute
) -> Array:
    r"""Norm of the difference of `input` $x$ and `other` $z$, taken as vectors.

    This is $(\sum_i |x_i - z_i|^p)^{1/p}$.

    - `p`: any real number, 2 by default; `inf` and `-inf` give the largest and the smallest
      $|x_i - z_i|$, 0 counts the elements that differ.

    Shapes: `input` and `other` broadcast; the result is 0-d.
    Dtypes: the common dtype, floating or complex; complex gives real.
    Gradients: 0 where the distance is 0, and for elements that are equal; the largest or smallest
    differences share theirs evenly. Where the second derivative is infinite, as at 0, 0 stands for
    it: for the square of a distance write `functx.square(x - z).sum()`.
    Errors: RuntimeError where `p` is negative or infinite and there are no elements, TypeError for
    integers.

    >>> functx.dist(jnp.asarray([3.0, 4.0], "float32"), jnp.zeros(2, "float32"))
    Array(5., dtype=float32)
    """
    if category(input.dtype) < 2:
        refuse(
            f"expected inexact arrays, got {describe(input)} and {describe(other)}",
            error=TypeError,
        )
    difference = input - other
    return vector_norm(difference, p, range(difference.ndim))


def _bound_is_positive(*, maxnorm: Any, **_: Any) -> Iterator[Requirement]:
    ok = at_least_zero(maxnorm)
    yield Requirement(ok, "`maxnorm` must not be negative, got {got}", got=maxnorm)


@operator(
    accepts=Accepts.INEXACT,
    requires=_bound_is_positive,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def renorm(
    input: ArrayOnly,
    p: float,  # static: it chooses how to compute
    dim: Dim,
    maxnorm: RealScalar,
) -> Array:
    r"""Scales each slice of `input` across `dim` whose norm exceeds `maxnorm` down to `maxnorm`.

    $y_i = x_i \cdot m / (\|x_i\|_p + 10^{-7})$ where $\|x_i\|_p > m$, `maxnorm`.

    - `p`: the order of the norm, positive.
    - `dim`: the dimension that counts slices.
    - `maxnorm`: the largest norm, a number that is not negative.

    Shapes: that of `input`, of at least two dimensions. Dtypes: floating or complex.
    Errors: RuntimeError where `p` is not positive or `maxnorm` is negative.

    >>> functx.renorm(jnp.asarray([[3.0, 4.0], [0.3, 0.4]], "float32"), 2, 0, 1.0)
    Array([[0.6, 0.8],
           [0.3, 0.4]], dtype=float32)
    """
    if input.ndim < 2:
        refuse(f"`input` must have at least 2 dimensions, got {describe(input)}")
    if not p > 0:
        refuse(f"`p` must be positive, got {p}")
    others = [d for d in range(input.ndim) if d != dim]
    with showing_singular(False):  # a norm of 0 exceeds no `maxnorm`
        norms = vector_norm(input, p, others)
    bound = jnp.broadcast_to(lax.convert_element_type(maxnorm, norms.dtype), norms.shape)
    factors = jnp.where(norms > bound, quotient(bound, norms + _NEVER_ZERO), 1)
    return input * jnp.expand_dims(factors, others).astype(input.dtype)
