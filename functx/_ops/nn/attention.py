"""Attention with scaled products."""

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
    as_number,
    Autocast,
    broadcasts_to,
    category,
    describe,
    Generator,
    is_probability,
    Key,
    known,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
    Size,
    UnpromotedArray,
)

from .dropped import dropped, may_drop
from .normalized_exponentials import probabilities_or_zeros, rounded_product
from .row_blocks import has_rows, in_blocks


__all__ = ["scaled_dot_product_attention"]


def _drops(*, dropout_p: Any, **_: Any) -> bool:
    return may_drop(dropout_p)


def _options_fit(*, dropout_p: Any, **_: Any) -> Iterator[Requirement]:
    yield is_probability(dropout_p, "dropout_p", error=ValueError)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    random=True,
    requires=_options_fit,
    needs_key=_drops,
    autocast=Autocast.LOWER,
)
def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    attn_mask: UnpromotedArray | None = None,
    dropout_p: Scalar = 0.0,
    is_causal: bool = False,
    *,
    scale: Scalar | None = None,
    enable_gqa: bool = False,
    rng_key: Key = None,
    generator: Generator | None = None,
) -> Array:
    r"""Attention: $y = \mathrm{softmax}(s\, Q K^\top + M)\, V$ (Vaswani et al., 2017).

    Shapes: `query: [..., L, E]` ($Q$), `key: [..., S, E]` ($K$) and `value: [..., S, V]` give
    `[..., L, V]`; the dimensions before the last two broadcast.

    - `attn_mask`: $M$, which broadcasts to `[..., L, S]`. Booleans say which positions take part;
      numbers are added. A row without any position that takes part gives zeros, and has a gradient
      of zeros.
    - `dropout_p`: the probability that a weight becomes 0; the others are scaled up.
    - `is_causal`: whether position `i` attends to positions `<= i` alone; not together with
      `attn_mask`.
    - `scale`: $s$; None means $1 / \sqrt{E}$.
    - `enable_gqa`: whether heads (dimension -3) of `query` share the heads of `key` and `value`, of
      which there are fewer.
    - `rng_key`: the JAX PRNG key of the dropout, since PyTorch calls an array `key`; if left out,
      the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `rng_key`.

    Dtypes: `query`, `key` and `value` have one dtype. A mask of numbers has it too, or is float32
    beside float16 and bfloat16, whose sums and softmax are computed in float32.
    Memory: where `L S` is more than 2**20, rows are taken in blocks, which are computed again for
    the backward pass, so that memory grows with `L + S` (Rabe and Staats, 2021).
    Errors: RuntimeError for shapes that do not fit and for a mask beside `is_causal`, ValueError
    for a `dropout_p` outside of [0, 1], TypeError for dtypes.

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
        scale = _usual_scale(query.shape[-1], accumulator(query.dtype))
    if attn_mask is not None:
        _check_mask(attn_mask, jax.eval_shape(_scores, query, key))

    # The query is scaled before the product: scores scaled afterwards may be rounded twice in one
    # place and once in another, so that exponentials exceed 1. Halves are scaled in wider numbers.
    factor: Any = scale
    narrow = accumulator(query.dtype) != query.dtype
    if not narrow:
        query = query * factor
    by_row = attn_mask is not None and attn_mask.ndim > 1 and has_rows(attn_mask)
    may_be_one = not known(query.shape[-1]) or query.shape[-1] == 1

    def attend(first: Any, query: jax.Array, mask_of_rows: Any) -> jax.Array:
        scores = _scores(query, key) * factor if narrow else _scores(query, key)
        if narrow or may_be_one:  # a sum of one product is a bare product
            scores = rounded_product(scores)
        if attn_mask is not None:
            scores = _masked(scores, mask_of_rows if by_row else attn_mask)
        if is_causal:
            rows = first + lax.broadcasted_iota("int32", scores.shape[-2:], 0)
            scores = _masked(scores, rows >= lax.broadcasted_iota("int32", scores.shape[-2:], 1))
        weights = probabilities_or_zeros(scores)
        if rng_key is not None:
            weights = dropped(weights, dropout_p, jax.random.fold_in(rng_key, first))
        return _product_by_heads(weights.astype(value.dtype), value)

    return in_blocks(attend, key.shape[-2], query, attn_mask if by_row else None)


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


def _usual_scale(width: Size, dtype: Any) -> Any:
    if known(width):
        return 1 / math.sqrt(max(width, 1))
    return 1 / jnp.sqrt(as_number(width, dtype))


def _scores(query: jax.Array, key: jax.Array) -> jax.Array:
    return _product_by_heads(query, jnp.swapaxes(key, -1, -2))


def _product_by_heads(a: jax.Array, b: jax.Array) -> jax.Array:
    """`a @ b`, where consecutive heads of `a` may share one of `b`. Sums of float16 and bfloat16
    are computed in float32.
    """
    wide = accumulator(a.dtype)
    if a.ndim < 3 or b.ndim < 3 or b.shape[-3] in (1, a.shape[-3]) or a.shape[-3] == 1:
        return jnp.matmul(a, b, preferred_element_type=wide)
    *batch, heads, rows, n = a.shape
    shared = a.reshape(*batch, b.shape[-3], heads // b.shape[-3] * rows, n)
    out = jnp.matmul(shared, b, preferred_element_type=wide)
    return out.reshape(*out.shape[:-3], heads, rows, out.shape[-1])


def _check_mask(mask: jax.Array, scores: jax.ShapeDtypeStruct) -> None:
    if not broadcasts_to(mask.shape, scores.shape):
        refuse(f"`attn_mask` must broadcast to {list(scores.shape)}, got {describe(mask)}")
    if category(mask.dtype) and accumulator(mask.dtype) != scores.dtype:
        refuse(
            f"`attn_mask` must be bool, or have the dtype of `query`, got {describe(mask)}",
            error=TypeError,
        )


def _masked(scores: jax.Array, mask: jax.Array) -> jax.Array:
    if category(mask.dtype) == 0:
        return jnp.where(mask, scores, -jnp.inf)
    return scores + mask.astype(scores.dtype)
