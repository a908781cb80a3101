"""Normalization by the values of neighbouring channels."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    describe,
    known,
    operator,
    Promote,
    refuse,
    Scalar,
)
from functx._ops.pointwise.power_slopes import raised
from functx._ops.quotients import quotient


__all__ = ["local_response_norm"]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL_NUMBER, autocast=Autocast.FLOAT32)
def local_response_norm(
    input: ArrayLike,
    size: int,
    alpha: Scalar = 1e-4,
    beta: Scalar = 0.75,
    k: Scalar = 1.0,
) -> Array:
    r"""$y_c = x_c \big/ \big(k + \frac{\alpha}{n} \sum_{c'} x_{c'}^2\big)^\beta$ over the $n$
    channels $c'$ around $c$ (Krizhevsky et al., 2012).

    Shapes: `input: [N, C, *]` with 3 dimensions or more; the result has the same.

    - `size`: $n$. Channels that do not exist count as 0. An even `size` has one more channel before
      $c$ than after it.
    - `alpha`, `beta`, `k`: $\alpha$, $\beta$ and $k$.

    Dtypes: that of `input`; integers become floating, whereas PyTorch rounds the mean of their
    squares to an integer.
    Errors: ValueError for fewer than 3 dimensions, RuntimeError for a `size` below 1, TypeError for
    dtypes.

    >>> x = jnp.asarray([[[1.0], [2.0]]], "float32")
    >>> functx.nn.functional.local_response_norm(x, 1, alpha=1.0, beta=1.0)
    Array([[[0.5],
            [0.4]]], dtype=float32)
    """
    if input.ndim < 3:
        refuse(
            f"`input` must be [N, C, ...] of 3 dimensions or more, got {describe(input)}",
            error=ValueError,
        )
    if size < 1:
        refuse(f"`size` must be at least 1, got {size}")
    rest = (1,) * (input.ndim - 2)
    # Windows are no wider than the channels: XLA aborts at sizes beyond its bounds.
    channels = input.shape[1]
    before, after = size // 2, (size - 1) // 2
    if known(channels):
        before, after = (min(n, channels) for n in (before, after))
    total = lax.reduce_window(
        input * input,
        np.zeros((), input.dtype),
        lax.add,
        (1, before + 1 + after, *rest),
        (1,) * input.ndim,
        ((0, 0), (before, after), *((0, 0),) * len(rest)),
    )
    response = quotient(total, size) * alpha + k
    return quotient(input, raised(response, jnp.asarray(beta, input.dtype)))
