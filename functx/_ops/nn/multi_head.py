"""Attention with several heads and with projections."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    Autocast,
    category,
    describe,
    Generator,
    is_probability,
    Key,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
    UnpromotedArray,
)

from .affine_maps import mapped
from .dropped import dropped, may_drop
from .normalized_exponentials import probabilities_or_zeros, rounded_product
from .row_blocks import has_rows, in_blocks


__all__ = ["multi_head_attention_forward"]


class MultiHeadAttentionResult(NamedTuple):
    """The result of attention, and its weights, which are None if they were not asked for."""

    output: Array
    weights: Array | None


def _drops(*, dropout_p: Any, training: bool, **_: Any) -> bool:
    return training and may_drop(dropout_p)


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
def multi_head_attention_forward(
    query: ArrayOnly,
    key: ArrayOnly,
    value: ArrayOnly,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: ArrayOnly | None,
    in_proj_bias: ArrayOnly | None,
    bias_k: ArrayOnly | None,
    bias_v: ArrayOnly | None,
    add_zero_attn: bool,
    dropout_p: Scalar,
    out_proj_weight: ArrayOnly,
    out_proj_bias: ArrayOnly | None,
    training: bool = True,
    key_padding_mask: UnpromotedArray | None = None,
    need_weights: bool = True,
    attn_mask: UnpromotedArray | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: ArrayOnly | None = None,
    k_proj_weight: ArrayOnly | None = None,
    v_proj_weight: ArrayOnly | None = None,
    static_k: ArrayOnly | None = None,
    static_v: ArrayOnly | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
    *,
    rng_key: Key = None,
    generator: Generator | None = None,
) -> MultiHeadAttentionResult:
    """Attention of several heads to projections of `query`, `key` and `value`, and a projection of
    the result (Vaswani et al., 2017): what `torch.nn.MultiheadAttention` computes.

    Shapes: `query: [L, N, E]`, `key: [S, N, K]` and `value: [S, N, V]`, or all without `N`, give
    `(output, weights)` with `output: [L, N, E]` and `weights: [N, L, S]`, or `[N, H, L, S]` for
    each of `H` heads.

    - `embed_dim_to_check`: `E`; another width of `query` is refused.
    - `num_heads`: `H`, which divides `E`.
    - `in_proj_weight: [3 E, E]`, `in_proj_bias: [3 E]`: the projections of the three arrays, one
      after the other; without a bias it is None.
    - `bias_k`, `bias_v`, both `[1, 1, E]`: one more key and one more value, or None.
    - `add_zero_attn`: whether to add one more key and value of zeros.
    - `dropout_p`: the probability that a weight becomes 0 in `training`; the others are scaled up.
    - `out_proj_weight: [E, E]`, `out_proj_bias: [E]`: the projection of the result; without a bias
      it is None.
    - `training`: whether there is dropout.
    - `key_padding_mask: [N, S]`, `attn_mask: [L, S]` or `[N H, L, S]`: booleans say which positions
      take *no* part; numbers are added to the scores.
    - `need_weights`: whether the weights are returned, else None. Without them, memory is that of
      `scaled_dot_product_attention`.
    - `use_separate_proj_weight`: whether `q_proj_weight: [E, E]`, `k_proj_weight: [E, K]` and
      `v_proj_weight: [E, V]` are the weights instead of `in_proj_weight`.
    - `static_k`, `static_v: [N H, S, E / H]`: take the place of the projected keys and values.
    - `average_attn_weights`: whether the weights are averaged over heads.
    - `is_causal`: says that `attn_mask`, which it needs, is causal.
    - `rng_key`: the JAX PRNG key of the dropout; if left out, the ambient generator gives one
      (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `rng_key`.

    A row without any position that takes part has weights of 0 and gives 0 before the last
    projection, and its gradient is 0. In PyTorch it is NaN where the weights are asked for, and so
    is the gradient in every weight.
    Dtypes: all arrays but masks have one floating dtype.
    Errors: RuntimeError for shapes and options that do not fit, ValueError for a `dropout_p`
    outside of [0, 1], TypeError for dtypes.

    >>> one, eye = jnp.ones((1, 1), "float32"), jnp.ones((3, 1), "float32")
    >>> x = jnp.asarray([[2.0], [2.0]], "float32")
    >>> functx.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 1, 1, eye, None, None, None, False, 0.0, one, None
    ... ).weights
    Array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    if is_causal and attn_mask is None:
        refuse("`attn_mask` must be given where `is_causal` is true, which only says what it is")
    unbatched = query.ndim == 2
    masks = key_padding_mask, attn_mask
    _check(query, key, value, *masks, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if unbatched:
        query, key, value = (x[:, None] for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
    separate = q_proj_weight, k_proj_weight, v_proj_weight
    weights = separate if use_separate_proj_weight else _in_three(in_proj_weight, "in_proj_weight")
    biases = _in_three(in_proj_bias, "in_proj_bias")
    length, batch, width = query.shape
    q, k, v = (
        _projected(x, weight, bias, name, width)
        for x, weight, bias, name in zip((query, key, value), weights, biases, "qkv", strict=True)
    )
    heads = lambda x: jnp.moveaxis(
        x.reshape(x.shape[0], batch * num_heads, width // num_heads), 0, 1
    )
    if (bias_k is None) != (bias_v is None):
        refuse("`bias_k` and `bias_v` must both be given, or neither")
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            refuse("`bias_k` and `bias_v` do not go with `static_k` and `static_v`")
        k, v = (
            jnp.concatenate([x, jnp.broadcast_to(b, (1, batch, width))])
            for x, b in ((k, bias_k), (v, bias_v))
        )
    # The query is scaled before the product: beside a mask or a shift, scores scaled afterwards
    # may be rounded twice in one place and once in another, so that exponentials exceed 1.
    scale = 1 / math.sqrt(max(width // num_heads, 1))
    q, k, v = heads(q) * scale, heads(k), heads(v)
    k, v = _in_place_of(k, static_k, "static_k"), _in_place_of(v, static_v, "static_v")
    if add_zero_attn:
        k, v = (jnp.pad(x, ((0, 0), (0, 1), (0, 0))) for x in (k, v))
    added = add_zero_attn + (bias_k is not None)
    shape = batch, num_heads, length, k.shape[1] - added
    mask = _joint_mask(key_padding_mask, attn_mask, shape, accumulator(q.dtype))
    mask = jnp.pad(mask, ((0, 0), (0, 0), (0, added)))
    by_row = has_rows(mask)

    def shared(first: Any, q: Array, mask_of_rows: Any) -> Array:
        scores = jnp.matmul(q, k.mT, preferred_element_type=accumulator(q.dtype))
        if width == num_heads:  # a sum of one product is a bare product
            scores = rounded_product(scores)
        scores = scores + (mask_of_rows if by_row else mask)
        shares = probabilities_or_zeros(scores)
        if rng_key is not None:
            shares = dropped(shares, dropout_p, jax.random.fold_in(rng_key, first))
        return shares

    def attended(shares: Array) -> Array:
        return jnp.matmul(shares.astype(v.dtype), v, preferred_element_type=shares.dtype)

    rows, shares = (q, mask if by_row else None), None
    if need_weights:
        shares = shared(0, *rows)
        out = attended(shares)
    else:
        out = in_blocks(lambda *given: attended(shared(*given)), k.shape[1], *rows)
    out = jnp.moveaxis(out.astype(q.dtype), 0, 1).reshape(length, batch, width)
    out = _projected(out, out_proj_weight, out_proj_bias, "out").astype(query.dtype)
    shown = None
    if shares is not None:
        shown = shares.reshape(batch, num_heads, *shares.shape[1:])
        shown = jnp.mean(shown, 1) if average_attn_weights else shown
        shown = (shown[0] if unbatched else shown).astype(query.dtype)
    return MultiHeadAttentionResult(out[:, 0] if unbatched else out, shown)


def _check(
    query: Array,
    key: Array,
    value: Array,
    key_padding_mask: Array | None,
    attn_mask: Array | None,
    width: int,
    heads: int,
    separate: bool,
) -> None:
    got = f"{describe(query)}, {describe(key)} and {describe(value)}"
    if query.ndim not in (2, 3) or {key.ndim, value.ndim} != {query.ndim}:
        refuse(f"`query`, `key` and `value` must all have 3 dimensions, or 2, got {got}")
    if query.shape[-1] != width:
        refuse(f"`query` must be as wide as `embed_dim_to_check`={width}, got {describe(query)}")
    if heads < 1 or width % heads:
        refuse(f"`num_heads` must divide `embed_dim_to_check`={width}, got {heads}")
    fits = key.shape[:-1] == value.shape[:-1] and key.shape[1:-1] == query.shape[1:-1]
    if not fits or (not separate and key.shape != value.shape):
        refuse(f"`query`, `key` and `value` must be [L, N, E], [S, N, K] and [S, N, V], got {got}")
    for name, mask in (("key_padding_mask", key_padding_mask), ("attn_mask", attn_mask)):
        if mask is not None and category(mask.dtype) not in (0, 2):
            refuse(f"`{name}` must hold bools or floats, got {describe(mask)}", error=TypeError)


def _in_three(x: Array | None, name: str) -> list[Array | None]:
    if x is None:
        return [None] * 3
    if not x.ndim or x.shape[0] % 3:
        refuse(f"`{name}` must hold three projections, got {describe(x)}")
    return list(jnp.split(x, 3))


def _projected(
    x: Array, weight: Array | None, bias: Array | None, name: str, width: int | None = None
) -> Array:
    if weight is None:
        refuse(f"the projection `{name}` has no weight")
    if weight.ndim != 2 or weight.shape[1] != x.shape[-1] or width not in (None, weight.shape[0]):
        wanted = f"[{'E' if width is None else width}, {x.shape[-1]}]"
        refuse(f"the weight of the projection `{name}` must be {wanted}, got {describe(weight)}")
    if bias is not None and bias.shape != (weight.shape[0],):
        wanted = f"[{weight.shape[0]}]"
        refuse(f"the bias of the projection `{name}` must be {wanted}, got {describe(bias)}")
    return mapped(x, weight, bias).astype(x.dtype)


def _in_place_of(x: Array, given: Array | None, name: str) -> Array:
    if given is None:
        return x
    if given.ndim != 3 or (given.shape[0], given.shape[2]) != (x.shape[0], x.shape[2]):
        wanted = f"[{x.shape[0]}, S, {x.shape[2]}]"
        refuse(f"`{name}` must be {wanted}, for each head of a batch, got {describe(given)}")
    return given


def _joint_mask(
    key_padding_mask: Array | None,
    attn_mask: Array | None,
    shape: tuple[int, int, int, int],
    dtype: Any,
) -> Array:
    """The numbers that both masks together add to the scores."""
    batch, heads, length, keys = shape
    total = jnp.zeros((batch * heads, 1, keys), dtype)
    if attn_mask is not None:
        if attn_mask.shape not in ((length, keys), (batch * heads, length, keys)):
            refuse(
                f"`attn_mask` must be [{length}, {keys}] or [{batch * heads}, {length}, {keys}], "
                f"got {describe(attn_mask)}"
            )
        total = total + _added(attn_mask, dtype)
    if key_padding_mask is not None:
        if key_padding_mask.shape != (batch, keys):
            wanted = f"[{batch}, {keys}]"
            refuse(f"`key_padding_mask` must be {wanted}, got {describe(key_padding_mask)}")
        total = total + jnp.repeat(_added(key_padding_mask, dtype), heads, 0)[:, None]
    return total


def _added(mask: Array, dtype: Any) -> Array:
    return (
        jnp.where(mask, -jnp.inf, 0).astype(dtype)
        if category(mask.dtype) == 0
        else mask.astype(dtype)
    )
