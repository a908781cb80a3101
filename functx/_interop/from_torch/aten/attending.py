"""Attention as PyTorch's backends have it: what they keep for their backward kernels is None."""

from __future__ import annotations

from typing import Any

from jax import Array

from functx._core import OPERATORS


def by_math(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: Array | None = None,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Array, None]:
    """Attention, without the weights."""
    return _attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa), None


def for_cpu(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Array | None = None,
    scale: float | None = None,
) -> tuple[Array, None]:
    """Attention by PyTorch's kernel for CPUs."""
    return _attention(query, key, value, attn_mask, dropout_p, is_causal, scale, False), None


def flash(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """Attention by PyTorch's flash kernel for GPUs."""
    out = _attention(query, key, value, None, dropout_p, is_causal, scale, False)
    return out, None, None, None, query.shape[-2], key.shape[-2], None, None, None


def efficient(
    query: Array,
    key: Array,
    value: Array,
    attn_bias: Array | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """Attention by PyTorch's memory-efficient kernel for GPUs."""
    out = _attention(query, key, value, attn_bias, dropout_p, is_causal, scale, False)
    return out, None, None, None


def overrideable(
    query: Array,
    key: Array,
    value: Array,
    attn_bias: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """Attention by a kernel that another backend gives PyTorch."""
    out = _attention(query, key, value, attn_bias, dropout_p, is_causal, scale, False)
    return out, None, None, None, query.shape[-2], key.shape[-2], None, None, None


def _attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Array:
    return OPERATORS["nn.functional.scaled_dot_product_attention"](
        query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )
