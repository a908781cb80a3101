"""Normalization of each channel over the batch."""

from __future__ import annotations

from typing import Any, NamedTuple, overload

from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    operator,
    Other,
    Promote,
    Scalar,
)

from .batches import eps_is_not_negative, normalized_batch


__all__ = ["batch_norm", "batch_norm_with_stats"]


class BatchNormResult(NamedTuple):
    """The normalized batch, and the running statistics after it."""

    output: Array
    running_mean: Array | None
    running_var: Array | None


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
    Under `vmap` each lane is a batch of its own: of statistics that the lanes share, each lane
    returns its own, `[lanes, C]`. So per-sample gradients of a network with batch norm are those
    of each sample by itself; the mean over the lanes is what one keeps.

    >>> x = jnp.asarray([[1.0], [3.0]], "float32")
    >>> mean, var = jnp.zeros(1, "float32"), jnp.ones(1, "float32")
    >>> functx.nn.functional.batch_norm_with_stats(x, mean, var, training=True, momentum=0.5)[1:]
    (Array([1.], dtype=float32), Array([1.5], dtype=float32))

    >>> def normed(x):
    ...     return functx.nn.functional.batch_norm_with_stats(x, mean, var, training=True)
    >>> functx.vmap(normed)(jnp.stack([x, 3 * x])).running_mean
    Array([[0.2],
           [0.6]], dtype=float32)
    """
    out, mean, var = normalized_batch(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )
    if mean is None or var is None:
        return BatchNormResult(out, None, None)
    dtypes = running_mean.dtype, running_var.dtype  # pyright: ignore[reportOptionalMemberAccess]
    return BatchNormResult(out, mean.astype(dtypes[0]), var.astype(dtypes[1]))
