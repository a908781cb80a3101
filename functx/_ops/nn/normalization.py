"""Normalization layers, as functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    describe,
    operator,
    Other,
    Promote,
    refuse,
    Shape,
)

from .accumulation import accumulator


__all__ = ["batch_norm", "batch_norm_with_stats", "group_norm", "layer_norm"]


class BatchNormResult(NamedTuple):
    """The normalized batch, and the running statistics after it."""

    output: Array
    running_mean: Array | None
    running_var: Array | None


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    autocast=Autocast.FLOAT32,
    aliases=("layer_norm",),
)
def layer_norm(
    input: ArrayLike,
    normalized_shape: Shape,
    weight: Other | None = None,
    bias: Other | None = None,
    eps: float = 1e-5,
) -> Array:
    r"""Normalizes over the trailing dimensions, then applies `weight` and `bias`:
    $y = (x - \mathrm{E}[x]) / \sqrt{\mathrm{Var}[x] + \epsilon} \cdot w + b$.

    Shapes: `input` is `[..., *normalized_shape]`; `weight` and `bias` are
    `normalized_shape`; the result has the shape of `input`.
    Dtypes: that of `input`; halves may have `weight` and `bias` in float32.

    >>> functx.nn.functional.layer_norm(jnp.asarray([1.0, 3.0], "float32"), (2,), eps=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    if not normalized_shape or input.shape[input.ndim - len(normalized_shape) :] != (
        normalized_shape
    ):
        refuse(
            f"`input` must end in normalized_shape={list(normalized_shape)}, got {describe(input)}",
            hint="normalized_shape counts trailing dimensions; the batch is not part of it",
        )
    out = _standardized(_wide(input), tuple(range(-len(normalized_shape), 0)), eps)
    return _affine(out, weight, bias, normalized_shape, normalized_shape).astype(input.dtype)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    autocast=Autocast.FLOAT32,
    aliases=("group_norm",),
)
def group_norm(
    input: ArrayLike,
    num_groups: int,
    weight: Other | None = None,
    bias: Other | None = None,
    eps: float = 1e-5,
) -> Array:
    r"""Normalizes over groups of channels, then applies `weight` and `bias` to each channel:
    $y = (x - \mathrm{E}[x]) / \sqrt{\mathrm{Var}[x] + \epsilon} \cdot w + b$.

    Shapes: `input: [N, C, *]`, `weight` and `bias: [C]`; `num_groups` divides `C`.
    Dtypes: that of `input`; halves may have `weight` and `bias` in float32.
    Errors: ValueError if there is but one element to normalize over.

    >>> functx.nn.functional.group_norm(jnp.asarray([[1.0, 3.0, 2.0, 2.0]], "float32"), 2, eps=0.1)
    Array([[-0.95346254,  0.95346254,  0.        ,  0.        ]], dtype=float32)
    """
    if input.ndim < 2:
        refuse(f"`input` must be [N, C, ...], got {describe(input)}")
    if num_groups < 1:
        refuse(f"`num_groups` must be at least 1, got {num_groups}", error=ValueError)
    batch, channels, *sizes = input.shape
    if channels % num_groups:
        refuse(f"`num_groups` must divide the channels of {describe(input)}, got {num_groups}")
    if batch * (channels // num_groups) * math.prod(sizes) == 1:
        refuse(
            f"each of {num_groups} groups must have more than one value, got {describe(input)}",
            error=ValueError,
        )
    groups = _wide(input).reshape(batch, num_groups, channels // num_groups, *sizes)
    out = _standardized(groups, tuple(range(2, groups.ndim)), eps).reshape(input.shape)
    return _affine(out, weight, bias, (channels,), _per_channel(input)).astype(input.dtype)


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING)
def batch_norm(
    input: ArrayLike,
    running_mean: Other | None,
    running_var: Other | None,
    weight: Other | None = None,
    bias: Other | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array:
    r"""Normalizes each channel, then applies `weight` and `bias`:
    $y = (x - \mu) / \sqrt{\sigma^2 + \epsilon} \cdot w + b$.

    $\mu, \sigma^2$ are the mean and variance of the batch if `training`, else `running_mean` and
    `running_var`, which are then required. Arrays do not change in place: what PyTorch writes
    into the running statistics is the result of `batch_norm_with_stats`; `momentum` matters
    there alone.

    Shapes: `input: [N, C, *]`, all others `[C]`.
    Dtypes: that of `input`; halves may have the others in float32.
    Errors: ValueError if `training` on one value per channel.

    >>> x = jnp.asarray([[1.0], [3.0]], "float32")
    >>> functx.nn.functional.batch_norm(x, None, None, training=True, eps=0.0)
    Array([[-1.],
           [ 1.]], dtype=float32)
    """
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)[0]


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING)
def batch_norm_with_stats(
    input: ArrayLike,
    running_mean: Other | None,
    running_var: Other | None,
    weight: Other | None = None,
    bias: Other | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> BatchNormResult:
    r"""`batch_norm`, and the running statistics after it: functx's own, for want of mutation.

    If `training`, they are $(1 - m)\,r + m\,s$ with $m$ the `momentum` and $s$ the mean and
    the unbiased variance of the batch, else what they were; None stays None.

    Shapes: `output` as `input: [N, C, *]`, the statistics `[C]`, in their own dtype.

    >>> x = jnp.asarray([[1.0], [3.0]], "float32")
    >>> mean, var = jnp.zeros(1, "float32"), jnp.ones(1, "float32")
    >>> functx.nn.functional.batch_norm_with_stats(x, mean, var, training=True, momentum=0.5)[1:]
    (Array([1.], dtype=float32), Array([1.5], dtype=float32))
    """
    out, mean, var = _batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )
    if mean is None or var is None:
        return BatchNormResult(out, None, None)
    dtypes = running_mean.dtype, running_var.dtype  # pyright: ignore[reportOptionalMemberAccess]
    return BatchNormResult(out, mean.astype(dtypes[0]), var.astype(dtypes[1]))


def _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps):
    if input.ndim < 2 and input.size:
        refuse(f"`input` must be [N, C, ...], got {describe(input)}")
    channels = input.shape[1] if input.ndim > 1 else 0
    given = {"running_mean": running_mean, "running_var": running_var}
    for name, value in given.items():
        if value is None and not training:
            refuse(f"`{name}` must be given where `training` is false")
        _require_vector(value, channels, name, input)
    if (running_mean is None) != (running_var is None):
        refuse("`running_mean` and `running_var` must both be given, or neither", error=ValueError)
    count = input.size // channels if channels else 0
    if training and count == 1:
        refuse(
            f"`training` needs more than one value per channel, got {describe(input)}",
            error=ValueError,
        )
    shape, x = _per_channel(input), _wide(input)
    if training:
        axes = tuple(i for i in range(input.ndim) if i != 1) if input.ndim > 1 else ()
        mean, var = _moments(x, axes)
    else:
        mean = running_mean.astype(x.dtype).reshape(shape)
        var = running_var.astype(x.dtype).reshape(shape)
    out = (x - mean) * lax.rsqrt(var + eps)
    out = _affine(out, weight, bias, (channels,), shape).astype(input.dtype)
    if not training or running_mean is None or count == 0:
        return out, running_mean, running_var
    keep = 1 - momentum
    wide = running_mean.astype(x.dtype), running_var.astype(x.dtype)
    mean, var = mean.reshape(channels), var.reshape(channels) * (count / (count - 1))
    return out, keep * wide[0] + momentum * mean, keep * wide[1] + momentum * var


def _per_channel(input: jax.Array) -> tuple[int, ...]:
    """The shape of one number per channel, to broadcast against `input`."""
    return (-1, *[1] * (input.ndim - 2))


def _wide(x: jax.Array) -> jax.Array:
    """In the dtype in which it is normalized. The rules see to dtypes themselves: the parameters
    of halves may be wider, and statistics keep their own dtype."""
    return x.astype(accumulator(x.dtype))


def _moments(x: jax.Array, axes: Sequence[int]) -> tuple[jax.Array, jax.Array]:
    """Mean and biased variance, with dimensions of size 1 left in place of `axes`."""
    mean = jnp.mean(x, axes, keepdims=True)
    centred = x - mean
    return mean, jnp.mean(centred * centred, axes, keepdims=True)


def _standardized(x: jax.Array, axes: Sequence[int], eps: float) -> jax.Array:
    mean, var = _moments(x, axes)
    return (x - mean) * lax.rsqrt(var + eps)


def _affine(
    x: jax.Array, weight: Any, bias: Any, shape: tuple[int, ...], broadcast: tuple[int, ...]
) -> jax.Array:
    """`x * weight + bias`, either of which may be None and must have `shape`."""
    for name, value in (("weight", weight), ("bias", bias)):
        if value is None:
            continue
        if value.shape != shape:
            refuse(f"`{name}` must be of shape {list(shape)}, got {describe(value)}")
        _require_like(value, name, x)
    if weight is not None:
        x = x * weight.astype(x.dtype).reshape(broadcast)
    return x if bias is None else x + bias.astype(x.dtype).reshape(broadcast)


def _require_vector(value: Any, channels: int, name: str, input: jax.Array) -> None:
    if value is None:
        return
    if value.shape != (channels,):
        refuse(f"`{name}` must be [{channels}], one for each channel, got {describe(value)}")
    _require_like(value, name, input)


def _require_like(value: Any, name: str, x: jax.Array) -> None:
    if accumulator(value.dtype) != accumulator(x.dtype):
        refuse(
            f"`{name}` must have the dtype of `input`, or be float32 beside halves, got "
            f"{describe(value)}",
            error=TypeError,
        )
