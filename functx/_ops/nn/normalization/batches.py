"""Normalization of batches, for the operators that return it in different forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jax import Array, lax

from functx._core import as_number, describe, glanced, refuse, Requirement
from functx._core.numbers.bitwise_comparison import at_least_zero

from .standardization import affine, moments, per_channel, require_vector, wide


def _eps_at_hand(*args: Any, eps: Any = 1e-5, **_: Any) -> bool:
    return len(args) < 8 and type(eps) in (int, float) and eps >= 0


@glanced(_eps_at_hand)
def eps_is_not_negative(*, eps: Any, **_: Any) -> Iterator[Requirement]:
    allowed = at_least_zero(eps) | (eps != eps)
    yield Requirement(allowed, "`eps` must not be negative, got {got}", eps, error=ValueError)


def normalized_batch(
    input: Array,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool,
    momentum: Any,
    eps: Any,
) -> tuple[Array, Any, Any]:
    """The normalized batch, and the running statistics after it in the dtype of computation."""
    if input.ndim < 2 and input.size:
        refuse(f"`input` must be [N, C, ...], got {describe(input)}")
    channels = input.shape[1] if input.ndim > 1 else 0
    given = {"running_mean": running_mean, "running_var": running_var}
    for name, value in given.items():
        if value is None and not training and input.size:
            refuse(f"`{name}` must be given where `training` is false")
        require_vector(value, channels, name, input)
    if (running_mean is None) != (running_var is None):
        refuse("`running_mean` and `running_var` must both be given, or neither", error=ValueError)
    count = input.size // channels if channels else 0
    if training and count == 1:
        refuse(
            f"`training` needs more than one value per channel, got {describe(input)}",
            error=ValueError,
        )
    shape, x = per_channel(input), wide(input)
    if training or running_mean is None:
        axes = tuple(i for i in range(input.ndim) if i != 1) if input.ndim > 1 else ()
        mean, var = moments(x, axes)
    else:
        mean = running_mean.astype(x.dtype).reshape(shape)
        var = running_var.astype(x.dtype).reshape(shape)
    out = (x - mean) * lax.rsqrt(var + eps)
    out = affine(out, weight, bias, (channels,), shape).astype(input.dtype)
    if not training or running_mean is None or count == 0:
        return out, running_mean, running_var
    keep, count = 1 - momentum, as_number(count, x.dtype)
    mean, var = mean.reshape(channels), var.reshape(channels) * (count / (count - 1))
    mean, var = momentum * mean, momentum * var
    return out, keep * wide(running_mean) + mean, keep * wide(running_var) + var
