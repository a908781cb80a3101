"""Attention."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    Autocast,
    broadcasts_to,
    category,
    describe,
    is_probability,
    Key,
    operator,
    Other,
    Promote,
    refuse,
    Requirement,
    Scalar,
)

from .dropped import dropped, may_drop
from .normalized_exponentials import probabilities_or_zeros


__all__ = ["scaled_dot_product_attention"]


def _drops(*, dropout_p: Any, **_: Any) -> bool:
    return may_drop(dropout_p)


def _options_fit(*, dropout_p: Any, **_: Any) -> Iterator[Requirement]:
    yield is_probability(dropout_p, "dropout_p", error=ValueError)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
    random=True,
    requires=_options_fit,
    draws=_drops,
)
def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    attn_mask: Other | None = None,
    dropout_p: Scalar = 0.0,
    is_causal: bool = False,
    *,
    scale: Scalar | None = None,
    enable_gqa: bool = False,
    rng_key: Key = None,
) -> Array:
    r"""Attention: $y = \mathrm{softmax}(s\, Q K^\top + M)\, V$.

    Shapes: `query: [..., L, E]`, `key: [..., S, E]`, `value: [..., S, V]` give `[..., L, V]`; the
    dimensions before broadcast.

    - `attn_mask`: broadcasts to `[..., L, S]`. Booleans say which positions take part; numbers
      are added. A row without any position that takes part gives zeros, and has a gradient of
      zeros.
    - `dropout_p`: how likely a weight becomes 0; the others are scaled up. PyTorch calls an array
      `key`, so the PRNG key of the dropout is `rng_key`.
    - `is_causal`: position `i` attends to positions `<= i`; not together with `attn_mask`.
    - `scale`: $s$, by default $1 / \sqrt{E}$.
    - `enable_gqa`: heads (dimension -3) of `query` share those of `key` and `value`, of which
      there are fewer.

    Dtypes: `query`, `key` and `value` have the same one, and so has a mask of numbers, or it is
    float32 beside halves. Sums and the softmax of halves are computed in float32.

    >>> q, k = jnp.ones((2, 3), "float32"), jnp.ones((2, 3), "float32")
    >>> v = jnp.asarray([[1.0], [3.0]], "float32")
    >>> functx.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    _check_shapes(query, key, value, enable_gqa)
    if attn_mask is not None and is_causal:
        refuse("`attn_mask` must not be given where `is_causal` is true")
    if scale is None:
        scale = 1 / math.sqrt(max(query.shape[-1], 1))
    scores = _product_by_heads(query, jnp.swapaxes(key, -1, -2)) * scale
    if attn_mask is not None:
        scores = _masked(scores, attn_mask)
    if is_causal:
        rows = lax.broadcasted_iota("int32", scores.shape[-2:], 0)
        scores = _masked(scores, rows >= lax.broadcasted_iota("int32", scores.shape[-2:], 1))
    weights = probabilities_or_zeros(scores)
    if rng_key is not None:
        weights = dropped(weights, dropout_p, rng_key)
    return _product_by_heads(weights.astype(value.dtype), value)


def _check_shapes(query, key, value, enable_gqa):
    arrays = (query, key, value)
    got = f"{describe(query)}, {describe(key)} and {describe(value)}"
    if min(x.ndim for x in arrays) < 2:
        refuse(f"`query`, `key` and `value` must have 2 dimensions or more, got {got}")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        refuse(
            f"`query`, `key` and `value` must be [..., L, E], [..., S, E], [..., S, V], got {got}"
        )
    leading = -2
    if enable_gqa:
        if min(x.ndim for x in arrays) < 3:
            refuse(f"`enable_gqa` needs a dimension of heads before the last two, got {got}")
        heads = query.shape[-3]
        if any(x.shape[-3] == 0 or heads % x.shape[-3] for x in (key, value)):
            refuse(f"the heads of `key` and `value` must divide those of `query`, got {got}")
        leading = -3
    try:
        jnp.broadcast_shapes(*(x.shape[:leading] for x in arrays))
    except ValueError:
        refuse(f"the dimensions before the last {-leading} must broadcast, got {got}")


def _product_by_heads(a: jax.Array, b: jax.Array) -> jax.Array:
    """`a @ b`, where consecutive heads of `a` may share one of `b`; halves summed in float32."""
    wide = accumulator(a.dtype)
    if a.ndim < 3 or b.ndim < 3 or b.shape[-3] in (1, a.shape[-3]) or a.shape[-3] == 1:
        return jnp.matmul(a, b, preferred_element_type=wide)
    *batch, heads, rows, n = a.shape
    shared = a.reshape(*batch, b.shape[-3], heads // b.shape[-3] * rows, n)
    out = jnp.matmul(shared, b, preferred_element_type=wide)
    return out.reshape(*out.shape[:-3], heads, rows, out.shape[-1])


def _masked(scores: jax.Array, mask: jax.Array) -> jax.Array:
    if not broadcasts_to(mask.shape, scores.shape):
        refuse(f"`attn_mask` must broadcast to {list(scores.shape)}, got {describe(mask)}")
    if category(mask.dtype) == 0:
        return jnp.where(mask, scores, -jnp.inf)
    if accumulator(mask.dtype) != scores.dtype:
        refuse(
            f"`attn_mask` must be bool, or have the dtype of `query`, got {describe(mask)}",
            error=TypeError,
        )
    return scores + mask.astype(scores.dtype)
