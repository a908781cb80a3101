"""Normalization of each channel over the batch."""

from __future__ import annotations

from typing import Any, NamedTuple, overload

from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    operator,
    Promote,
    Scalar,
    UnpromotedArray,
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
    """The arguments in the order of `torch.nn.functional.batch_norm`, also from all nine in the
    order of `torch.batch_norm`.
    """
    given = dict(zip(_STATISTICS_LAST, args, strict=False)) | kwargs
    whole = len(args) + len(kwargs) == len(given) == len(_STATISTICS_LAST)
    if not whole or given.keys() != {*_STATISTICS_LAST}:
        return args, kwargs
    del given["cudnn_enabled"]
    return (), given


@overload
def batch_norm(
    input: ArrayLike,
    running_mean: UnpromotedArray | None,
    running_var: UnpromotedArray | None,
    weight: UnpromotedArray | None = None,
    bias: UnpromotedArray | None = None,
    training: bool = False,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
) -> Array: ...
@overload
def batch_norm(
    input: ArrayLike,
    weight: UnpromotedArray | None,
    bias: UnpromotedArray | None,
    running_mean: UnpromotedArray | None,
    running_var: UnpromotedArray | None,
    training: bool,
    momentum: Scalar,
    eps: Scalar,
    cudnn_enabled: bool,
) -> Array: ...
@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=eps_is_not_negative,
    other_signatures=_statistics_may_come_last,
    aliases=("batch_norm",),
)
def batch_norm(
    input: ArrayLike,
    running_mean: UnpromotedArray | None,
    running_var: UnpromotedArray | None,
    weight: UnpromotedArray | None = None,
    bias: UnpromotedArray | None = None,
    training: bool = False,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
) -> Array:
    r"""Normalizes each channel, then applies `weight` and `bias`:
    $y = (x - \mu) / \sqrt{\sigma^2 + \epsilon} \cdot w + b$ (Ioffe and Szegedy, 2015).

    Shapes: `input: [N, C, *]`, and the result has its shape; all other arrays are `[C]`.

    - `running_mean`, `running_var`: $\mu$ and $\sigma^2$ unless `training`; then they may be None.
    - `weight`, `bias`: $w$ and $b$; None means 1 and 0.
    - `training`: whether $\mu, \sigma^2$ are the mean and the biased variance of the batch.
    - `momentum` has no effect here. Arrays do not change in place: what PyTorch writes into the
      running statistics is a result of `batch_norm_with_stats`.
    - `eps`: $\epsilon$, which is not negative.

    Nine arguments are taken in the order of `torch.batch_norm`: `weight` and `bias` come before the
    statistics, and `cudnn_enabled`, which is ignored, comes last.
    Dtypes: that of `input`; beside float16 and bfloat16 the other arrays may be float32.
    Errors: ValueError if `training` meets one value per channel, for a negative `eps` and for one
    statistic without the other; RuntimeError for shapes that do not fit and for missing statistics;
    TypeError for dtypes.

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
    running_mean: UnpromotedArray | None,
    running_var: UnpromotedArray | None,
    weight: UnpromotedArray | None = None,
    bias: UnpromotedArray | None = None,
    training: bool = False,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
) -> BatchNormResult:
    r"""`batch_norm`, and the running statistics after it: an operator of functx alone, since arrays
    do not change in place.

    Shapes: `(output, running_mean, running_var)` has the shape of `input: [N, C, *]` and twice
    `[C]`; all other arrays are `[C]`.

    - `running_mean`, `running_var`: the statistics $r$ so far, in their own dtypes. None stays
      None.
    - `weight`, `bias`: a factor and a summand for each channel; None means 1 and 0.
    - `training`: whether the batch's mean and variance are used, and the statistics become
      $(1 - m)\,r + m\,s$, with $s$ the mean and the unbiased variance of the batch. If not, the
      running statistics are used, and stay as they were.
    - `momentum`: $m$, the share of the batch in the new statistics.
    - `eps`: is added to the variance; not negative.

    Under `vmap` each lane is a batch of its own, and returns statistics of its own, `[lanes, C]`,
    also where the lanes share those before. So per-sample gradients of a network with batch norm
    are those of each sample by itself; the mean over the lanes is what one keeps.
    Dtypes: the output has that of `input`; beside float16 and bfloat16 the other arrays may be
    float32.
    Errors: ValueError if `training` meets one value per channel, for a negative `eps` and for one
    statistic without the other; RuntimeError for shapes that do not fit and for missing statistics;
    TypeError for dtypes.

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
