"""Draws from categories that have a derivative."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, Dim, Generator, Key, operator, RealScalar

from .normalized_exponentials import probabilities


__all__ = ["gumbel_softmax"]


@operator(
    accepts=Accepts.FLOATING, random=True, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP
)
def gumbel_softmax(
    logits: ArrayLike,
    tau: RealScalar = 1.0,
    hard: bool = False,
    eps: float = 1e-10,
    dim: Dim = -1,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    r"""$\mathrm{softmax}((x + g) / \tau)$ with Gumbel noise $g$: nearly a draw of one category
    (Jang et al., 2017).

    Shapes: `logits` ($x$) may have any shape, and the result has the same.

    - `tau`: the temperature $\tau$. The less it is, the nearer the draw is to one category.
    - `hard`: whether the result is 1 for the greatest category and 0 elsewhere, with the derivative
      of the softmax.
    - `eps` has no effect, as in PyTorch.
    - `dim`: the dimension along which the categories lie.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: IndexError for a `dim` that does not exist, TypeError for dtypes that are not floating.

    >>> x = jnp.asarray([0.0, 1000.0], "float32")
    >>> functx.nn.functional.gumbel_softmax(x, hard=True, key=jax.random.key(0))
    Array([0., 1.], dtype=float32)
    """
    if logits.size == 0:
        return logits
    noise = jax.random.gumbel(key, logits.shape, logits.dtype)
    soft = probabilities((logits + noise) / tau, dim) if logits.ndim else jnp.ones_like(logits)
    if not hard or not logits.ndim:
        return soft
    greatest = jnp.argmax(soft, dim, keepdims=True)
    one = (lax.broadcasted_iota(greatest.dtype, soft.shape, dim) == greatest).astype(soft.dtype)
    return one - lax.stop_gradient(soft) + soft
