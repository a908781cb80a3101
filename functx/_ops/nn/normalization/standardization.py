"""Steps that normalizations share: a mean of 0 and a variance of 1, then a weight and a bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax

from functx._core import accumulator, describe, refuse
from functx._ops.quotients import mean as mean_of


def per_channel(input: jax.Array) -> tuple[int, ...]:
    """The shape of one number per channel that broadcasts against `input`."""
    return (-1, *[1] * (input.ndim - 2))


def wide(x: jax.Array) -> jax.Array:
    """`x` in the dtype in which it is normalized.

    The operators see to dtypes themselves: parameters beside float16 and bfloat16 may be wider, and
    statistics keep their own dtype.
    """
    return x.astype(accumulator(x.dtype))


def moments(x: jax.Array, axes: Sequence[int]) -> tuple[jax.Array, jax.Array]:
    """The mean and the biased variance, with dimensions of size 1 in place of `axes`."""
    mean = mean_of(x, axes, keepdims=True)
    centred = x - mean
    return mean, mean_of(centred * centred, axes, keepdims=True)


def standardized(x: jax.Array, axes: Sequence[int], eps: Any) -> jax.Array:
    mean, var = moments(x, axes)
    return (x - mean) * lax.rsqrt(var + eps)


def affine(
    x: jax.Array, weight: Any, bias: Any, shape: tuple[int, ...], broadcast: tuple[int, ...]
) -> jax.Array:
    """`x * weight + bias`. The two may be None, else they must have `shape`."""
    for name, value in (("weight", weight), ("bias", bias)):
        if value is None:
            continue
        if value.shape != shape:
            refuse(f"`{name}` must be of shape {list(shape)}, got {describe(value)}")
        require_like(value, name, x)
    if weight is not None:
        x = x * weight.astype(x.dtype).reshape(broadcast)
    return x if bias is None else x + bias.astype(x.dtype).reshape(broadcast)


def require_like(value: Any, name: str, x: jax.Array) -> None:
    if accumulator(value.dtype) != accumulator(x.dtype):
        refuse(
            f"`{name}` must have the dtype of `input`, or be float32 beside halves, got "
            f"{describe(value)}",
            error=TypeError,
        )


def require_vector(value: Any, channels: int, name: str, input: jax.Array) -> None:
    """Refuses a statistic that is given and has not one number for each channel."""
    if value is None:
        return
    if value.shape != (channels,):
        refuse(f"`{name}` must be [{channels}], one for each channel, got {describe(value)}")
    require_like(value, name, input)


def refuse_other_shapes(input: jax.Array, normalized_shape: tuple[int, ...]) -> None:
    """Refuses an input whose trailing sizes are others."""
    if not normalized_shape or input.shape[input.ndim - len(normalized_shape) :] != (
        normalized_shape
    ):
        refuse(
            f"`input` must end in normalized_shape={list(normalized_shape)}, got {describe(input)}",
            hint="normalized_shape counts trailing dimensions; the batch is not part of it",
        )
