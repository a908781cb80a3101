"""Distances and cosines of vectors, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    canonical_dim,
    operator,
    Promote,
    RealScalar,
    Requirement,
    Scalar,
)
from functx._core.context.user_contexts import showing_singular
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._ops.quotients import quotient
from functx._ops.reductions.power_norms import vector_norm

from .vector_distances import distance


__all__ = ["cosine_similarity", "pairwise_distance"]


def _eps_is_not_negative(*, eps: Any, **_: Any) -> Iterator[Requirement]:
    yield Requirement(at_least_zero(jnp.asarray(eps)), "`eps` must not be negative, got {got}", eps)


@operator(
    accepts=Accepts.FLOATING,
    zero_dim_promotes_alike=True,
    requires=_eps_is_not_negative,
    aliases=("cosine_similarity",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def cosine_similarity(x1: ArrayOnly, x2: ArrayOnly, dim: int = 1, eps: Scalar = 1e-8) -> Array:
    r"""Cosine of the angle of vectors along `dim`: $x_1 \cdot x_2 / (|x_1| |x_2|)$.

    Shapes: `x1` and `x2` broadcast, and the result lacks `dim`.

    - `dim`: the dimension of the vectors, counted in the joint shape of `x1` and `x2`.
    - `eps`: the least norm: a norm below it counts as `eps`. It must not be negative.

    Gradients: the gradient of a norm below `eps` is that of the norm, and 0 at 0.
    Errors: RuntimeError for shapes that do not broadcast and for a negative `eps`, IndexError for a
    `dim` that does not exist, TypeError for dtypes that are not floating.

    >>> one = jnp.ones((1, 4), "float32")
    >>> functx.cosine_similarity(one, -one)
    Array([-1.], dtype=float32)
    """
    x1, x2 = jnp.broadcast_arrays(jnp.atleast_1d(x1), jnp.atleast_1d(x2))
    dim = canonical_dim(dim, x1.ndim)
    units = []
    for x in (x1, x2):
        with showing_singular(False):  # a norm of 0 counts as eps, with a slope of 0
            norm = jnp.expand_dims(vector_norm(x, 2, (dim,)), dim)
        held = eps + (norm - lax.stop_gradient(norm))
        units.append(quotient(x, jnp.where(norm >= eps, norm, held)))
    return jnp.sum(units[0] * units[1], axis=dim)


@operator(
    accepts=Accepts.NUMBER,
    promote=Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT,
    aliases=("pairwise_distance",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def pairwise_distance(
    x1: ArrayOnly,
    x2: ArrayOnly,
    p: float = 2.0,  # static: it chooses how to compute
    eps: RealScalar = 1e-6,
    keepdim: bool = False,
) -> Array:
    r"""Distance of vectors along the last dimension: $|x_1 - x_2 + \epsilon|_p$.

    Shapes: `x1` and `x2` broadcast; the result lacks their last dimension.

    - `p`: the order of the norm.
    - `eps`: $\epsilon$, which is added to each difference, so that equal vectors have derivatives.
    - `keepdim`: whether the last dimension stays, with a size of 1.

    Dtypes: the result is real, also for complex vectors; integers become floating.
    Gradients: with `eps=0` the gradient of equal vectors is 0, and so is their second derivative,
    although it is infinite; the square of the distance is `functx.square(x1 - x2).sum(-1)`.
    Errors: RuntimeError for shapes that do not broadcast, TypeError for bools.

    >>> x = jnp.asarray([[0.0, 0.0]], "float32")
    >>> functx.pairwise_distance(x, x + 3.0, p=1, eps=0.0)
    Array([6.], dtype=float32)
    """
    out = distance(x1, x2, p, eps)
    return out[..., None] if keepdim else out
