"""The cross entropy of an affine classifier, without all logits in memory at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    category,
    describe,
    Index,
    is_probability,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
    UnpromotedArray,
)

from .affine_maps import mapped
from .class_entropies import check_class_number, classes_exist, entropies, reduced_losses
from .reduction import reduction_of
from .row_blocks import in_blocks


__all__ = ["linear_cross_entropy"]

_IGNORED = -100


def _targets_and_options_fit(
    *, linear_weight: Any, target: Any, ignore_index: Any, label_smoothing: Any, **_: Any
) -> Iterator[Requirement]:
    yield is_probability(label_smoothing, "label_smoothing")
    if category(target.dtype) < 2 and linear_weight.ndim:
        ignored = _IGNORED if ignore_index is None else ignore_index
        yield classes_exist(target, linear_weight.shape[0], ignored)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    requires=_targets_and_options_fit,
    autocast=Autocast.FLOAT32,
)
def linear_cross_entropy(
    input: ArrayOnly,
    linear_weight: ArrayOnly,
    target: Index,
    *,
    linear_bias: ArrayOnly | None = None,
    weight: ArrayOnly | None = None,
    reduction: str = "mean",
    ignore_index: UnpromotedArray | None = None,
    label_smoothing: Scalar = 0.0,
    options: None = None,
) -> Array:
    r"""`cross_entropy` of `linear`: $\ell_i = -w_{t_i} \log \mathrm{softmax}(W x_i + b)_{t_i}$.

    Shapes: `input` ($x$) is `[n]` or `[N, n]`, `linear_weight` ($W$) is `[C, n]` and `linear_bias`
    ($b$) is `[C]` or None. With `linear_weight: [C, *d, n]` and `linear_bias: [C, *d]`, each input
    has a loss for each element of `d`.

    - `target`: class numbers $t$, `[]`, `[N]` or `[N, *d]`, or the probabilities of the classes,
      `[C]`, `[N, C]` or `[N, C, *d]`.
    - `weight`: a factor $w$ for each class, `[C]`; None means 1.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them. The mean of class numbers is divided by the sum of their weights.
    - `ignore_index`: a class number whose loss is 0 and does not count in the mean; None, which it
      must be beside probabilities, means -100.
    - `label_smoothing`: a share from [0, 1] of each target that is spread evenly over all classes.
    - `options`: must be None. In PyTorch it chooses how memory is spared, at the price of
      transforms.

    Memory: where `N C` is more than 2**20, rows are taken in blocks, which are computed again for
    the backward pass, so that memory grows with `N + C` (but not where there is `d`).
    Dtypes: all arrays but class numbers have one dtype; float16 and bfloat16 are computed in
    float32.
    Errors: RuntimeError for shapes that do not fit, ValueError for another `reduction`, IndexError
    for classes that do not exist, in eager calls on the CPU, TypeError for dtypes and `options`.

    >>> x, W = jnp.ones((1, 2), "float32"), jnp.zeros((3, 2), "float32")
    >>> functx.nn.functional.linear_cross_entropy(x, W, jnp.asarray([1]))
    Array(1.0986123, dtype=float32)
    """
    reduction = reduction_of(None, None, reduction)
    target = jnp.asarray(target)
    _check_shapes(input, linear_weight, linear_bias)
    if category(target.dtype) == 2 and ignore_index is not None:
        refuse("`ignore_index` goes with class numbers, got it beside probabilities")
    ignored = _IGNORED if ignore_index is None else ignore_index
    check_class_number(ignored)

    def losses(input: jax.Array, target: jax.Array) -> tuple[Array, Array]:
        logits = _logits(input, linear_weight, linear_bias)
        return entropies(logits, target, weight, ignored, label_smoothing)

    numbers = category(target.dtype) < 2
    whole = (input.shape[0],) if numbers else (input.shape[0], linear_weight.shape[0])
    if input.ndim == 1 or linear_weight.ndim > 2 or target.shape != whole:
        return reduced_losses(*losses(input, target), reduction).astype(input.dtype)

    def of_rows(first: Any, input: jax.Array, target: jax.Array) -> Array:
        return jnp.stack(losses(input, target[:, 0] if numbers else target), -1)

    columns = target[:, None] if numbers else target
    both = in_blocks(of_rows, linear_weight.shape[0], input, columns)
    return reduced_losses(both[:, 0], both[:, 1], reduction).astype(input.dtype)


def _logits(input: Array, weight: Array, bias: Array | None) -> Array:
    """Logits `[N, C, *d]` of an input `[N, n]` and a weight `[C, *d, n]`."""
    flat = mapped(input, weight.reshape(math.prod(weight.shape[:-1]), weight.shape[-1]))
    out = flat.reshape(*input.shape[:-1], *weight.shape[:-1])
    return out if bias is None else out + bias.astype(out.dtype)


def _check_shapes(input: Array, weight: Array, bias: Array | None) -> None:
    got = f"got {describe(input)} and {describe(weight)}"
    if input.ndim not in (1, 2) or weight.ndim < 2 or input.shape[-1] != weight.shape[-1]:
        refuse(f"`input` must be [N, n] or [n] and `linear_weight` [C, *d, n], {got}")
    if input.ndim == 1 and weight.ndim > 2:
        refuse(f"`input` must be [N, n] where `linear_weight` is [C, *d, n], {got}")
    if bias is not None and bias.shape != weight.shape[:-1]:
        refuse(f"`linear_bias` must be {list(weight.shape[:-1])}, got {describe(bias)}")
