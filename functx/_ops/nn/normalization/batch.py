"""Normalization of each channel over the batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, overload

import jax
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    describe,
    glanced,
    operator,
    Other,
    Promote,
    refuse,
    Requirement,
    Scalar,
)
from functx._core.order import at_least_zero

from .standardization import affine, moments, per_channel, require_like, wide


__all__ = ["batch_norm", "batch_norm_with_stats"]


class BatchNormResult(NamedTuple):
    """The normalized batch, and the running statistics after it."""

    output: Array
    running_mean: Array | None
    running_var: Array | None


def _eps_at_hand(*args: Any, eps: Any = 1e-5, **_: Any) -> bool:
    return len(args) < 8 and type(eps) in (int, float) and eps >= 0


@glanced(_eps_at_hand)
def eps_is_not_negative(*, eps: Any, **_: Any) -> Iterator[Requirement]:
    allowed = at_least_zero(eps) | (eps != eps)
    yield Requirement(allowed, "`eps` must not be negative, got {got}", eps, error=ValueError)


_STATISTICS_LAST = ("input", "weight", "bias", "running_mean", "running_var", "training")
_STATISTICS_LAST += ("momentum", "eps", "cudnn_enabled")


def _statistics_may_come_last(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """`torch.batch_norm` beside `torch.nn.functional.batch_norm`: it takes all nine arguments."""
    given = dict(zip(_STATISTICS_LAST, args, strict=False)) | kwargs
    whole = len(args) + len(kwargs) == len(given) == len(_STATISTICS_LAST)
    if not whole or given.keys() != {*_STATISTICS_LAST}:
        return args, kwargs
    del given["cudnn_enabled"]
    return (), given


@overload
def batch_norm(
    input: ArrayLike,
    running_mean: Other | None,
    running_var: Other | None,
    weight: Other | None = None,
    bias: Other | None = None,
    training: bool = False,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
) -> Array: ...
@overload
def batch_norm(
    input: ArrayLike,
    weight: Other | None,
    bias: Other | None,
    running_mean: Other | None,
    running_var: Other | None,
    training: bool,
    momentum: Scalar,
    eps: Scalar,
    cudnn_enabled: bool,
) -> Array: ...
@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=eps_is_not_negative,
    form=_statistics_may_come_last,
    aliases=("batch_norm",),
)
def batch_norm(
    input: ArrayLike,
    running_mean: Other | None,
    running_var: Other | None,
    weight: Other | None = None,
    bias: Other | None = None,
    training: bool = False,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
) -> Array:
    r"""Normalizes each channel, then applies `weight` and `bias`:
    $y = (x - \mu) / \sqrt{\sigma^2 + \epsilon} \cdot w + b$.

    $\mu, \sigma^2$ are the mean and variance of the batch if `training`, else `running_mean` and
    `running_var`, which are then required. Arrays do not change in place: what PyTorch writes
    into the running statistics is the result of `batch_norm_with_stats`; `momentum` matters
    there alone.

    With nine arguments the order is that of `torch.batch_norm`: `weight` and `bias` come before the
    statistics, `cudnn_enabled` last.

    Shapes: `input: [N, C, *]`, all others `[C]`.
    Dtypes: that of `input`; halves may have the others in float32.
    Errors: ValueError if `training` on one value per channel.

    >>> x = jnp.asarray([[1.0], [3.0]], "float32")
    >>> functx.nn.functional.batch_norm(x, None, None, training=True, eps=0.0)
    Array([[-1.],
           [ 1.]], dtype=float32)
    """
    return normalized_batch(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )[0]


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING, requires=eps_is_not_negative)
def batch_norm_with_stats(
    input: ArrayLike,
    running_mean: Other | None,
    running_var: Other | None,
    weight: Other | None = None,
    bias: Other | None = None,
    training: bool = False,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
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
    out, mean, var = normalized_batch(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )
    if mean is None or var is None:
        return BatchNormResult(out, None, None)
    dtypes = running_mean.dtype, running_var.dtype  # pyright: ignore[reportOptionalMemberAccess]
    return BatchNormResult(out, mean.astype(dtypes[0]), var.astype(dtypes[1]))


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
    """The result, and the running statistics after it in the dtype of computation."""
    if input.ndim < 2 and input.size:
        refuse(f"`input` must be [N, C, ...], got {describe(input)}")
    channels = input.shape[1] if input.ndim > 1 else 0
    given = {"running_mean": running_mean, "running_var": running_var}
    for name, value in given.items():
        if value is None and not training and input.size:
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
    keep = 1 - momentum
    mean, var = mean.reshape(channels), var.reshape(channels) * (count / (count - 1))
    mean, var = momentum * mean, momentum * var
    return out, keep * wide(running_mean) + mean, keep * wide(running_var) + var


def _require_vector(value: Any, channels: int, name: str, input: jax.Array) -> None:
    if value is None:
        return
    if value.shape != (channels,):
        refuse(f"`{name}` must be [{channels}], one for each channel, got {describe(value)}")
    require_like(value, name, input)
