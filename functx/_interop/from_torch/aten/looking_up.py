"""Tables and losses under ATen's signatures."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import OPERATORS


_REDUCTIONS = ("none", "mean", "sum")


def reduction_name(number: Any) -> Any:
    """PyTorch's Python name of a number that says how a loss is reduced."""
    return _REDUCTIONS[number] if isinstance(number, int) else number


def embedding(
    weight: Array,
    indices: Array,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """Rows of a table; -1 is no padding."""
    padding = None if padding_idx < 0 else padding_idx
    return OPERATORS["nn.functional.embedding"](
        indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq
    )


def embedding_renorm(input: Array, indices: Array, max_norm: float, norm_type: float) -> Array:
    """A table whose rows at these indices have at most a norm.

    Its derivative is that of the table as it was: PyTorch writes the rows unseen.
    """
    norm = OPERATORS["linalg.vector_norm"](input, norm_type, 1, True)
    long = OPERATORS["gt"](norm, max_norm)
    shorter = OPERATORS["mul"](input, max_norm / OPERATORS["add"](norm, 1e-7))
    used = jnp.zeros(input.shape[0], bool).at[indices.reshape(-1)].set(True)
    chosen = OPERATORS["logical_and"](long, used[:, None])
    new = OPERATORS["where"](chosen, shorter, input)
    return input + lax.stop_gradient(new - input)


def embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Array, None, None, None]:
    """Sums, means or maxima of rows of a table."""
    out = OPERATORS["nn.functional.embedding_bag"](
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=("sum", "mean", "max")[mode],
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=None if padding_idx == -1 else padding_idx,
    )
    return out, None, None, None


def segment_reduce(data: Array, reduce: str, **named: Any) -> Array:
    """A reduction of segments, which lengths or offsets say."""
    return OPERATORS["segment_reduce"](
        data, reduce, **{k: v for k, v in named.items() if k != "indices"}
    )


def nll_loss(
    input: Array,
    target: Array,
    weight: Array | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
) -> Array:
    """The negative log-likelihood."""
    return OPERATORS["nn.functional.nll_loss"](
        input, target, weight, ignore_index=ignore_index, reduction=reduction_name(reduction)
    )


def nll_loss_and_weight(
    input: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, None]:
    """The negative log-likelihood."""
    return nll_loss(input, target, weight, reduction, ignore_index), None


def multilabel_margin_loss(input: Array, target: Array, reduction: int) -> tuple[Array, None]:
    """A margin loss of several classes."""
    return OPERATORS["nn.functional.multilabel_margin_loss"](
        input, target, reduction=reduction_name(reduction)
    ), None


def binary_cross_entropy_of_logits(
    input: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    reduction: int = 1,
) -> Array:
    """The cross entropy of a sigmoid."""
    return OPERATORS["nn.functional.binary_cross_entropy_with_logits"](
        input, target, weight, reduction=reduction_name(reduction), pos_weight=pos_weight
    )


def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Array, None]:
    """The loss of each sequence."""
    loss = OPERATORS["nn.functional.ctc_loss"](
        log_probs, targets, input_lengths, target_lengths, blank, "none", zero_infinity
    )
    return loss, None
