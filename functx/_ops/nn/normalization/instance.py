"""Normalization of each channel of each sample."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    describe,
    operator,
    Promote,
    refuse,
    Scalar,
    UnpromotedArray,
)
from functx._ops.quotients import mean as mean_of

from .standardization import affine, moments, per_channel, require_vector, wide


__all__ = ["instance_norm", "instance_norm_with_stats"]


class InstanceNormResult(NamedTuple):
    """The normalized samples, and the running statistics after them."""

    output: Array
    running_mean: Array | None
    running_var: Array | None


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING)
def instance_norm(
    input: ArrayLike,
    running_mean: UnpromotedArray | None = None,
    running_var: UnpromotedArray | None = None,
    weight: UnpromotedArray | None = None,
    bias: UnpromotedArray | None = None,
    use_input_stats: bool = True,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
) -> Array:
    r"""Normalizes each channel of each sample, then applies `weight` and `bias`:
    $y = (x - \mu) / \sqrt{\sigma^2 + \epsilon} \cdot w + b$ (Ulyanov et al., 2016).

    Shapes: `input: [N, C, *]`, and the result has its shape; all other arrays are `[C]`.

    - `running_mean`, `running_var`: $\mu$ and $\sigma^2$ unless `use_input_stats`; then they may be
      None.
    - `weight`, `bias`: $w$ and $b$; None means 1 and 0.
    - `use_input_stats`: whether $\mu, \sigma^2$ are the mean and the biased variance over the
      dimensions after the channels.
    - `momentum` has no effect here. Arrays do not change in place: what PyTorch writes into the
      running statistics is a result of `instance_norm_with_stats`.
    - `eps`: $\epsilon$, which is added to the variance.

    Dtypes: that of `input`; beside float16 and bfloat16 the other arrays may be float32.
    Errors: ValueError if `use_input_stats` meets one value per channel of a sample and for one
    statistic without the other, RuntimeError for shapes that do not fit and for missing statistics,
    TypeError for dtypes.

    >>> x = jnp.asarray([[[1.0, 3.0]]], "float32")
    >>> functx.nn.functional.instance_norm(x, eps=0.0)
    Array([[[-1.,  1.]]], dtype=float32)
    """
    return _normalized(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    ).output


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING)
def instance_norm_with_stats(
    input: ArrayLike,
    running_mean: UnpromotedArray | None = None,
    running_var: UnpromotedArray | None = None,
    weight: UnpromotedArray | None = None,
    bias: UnpromotedArray | None = None,
    use_input_stats: bool = True,
    momentum: Scalar = 0.1,
    eps: Scalar = 1e-5,
) -> InstanceNormResult:
    r"""`instance_norm`, and the running statistics after it: an operator of functx alone, since
    arrays do not change in place.

    Shapes: `(output, running_mean, running_var)` has the shape of `input: [N, C, *]` and twice
    `[C]`; all other arrays are `[C]`.

    - `running_mean`, `running_var`: the statistics $r$ so far, in their own dtypes. None stays
      None.
    - `weight`, `bias`: a factor and a summand for each channel; None means 1 and 0.
    - `use_input_stats`: whether the samples' means and variances are used, and the statistics
      become $(1 - m)\,r + m\,s$, with $s$ the means and the unbiased variances, averaged over the
      samples. If not, the running statistics are used, and stay as they were.
    - `momentum`: $m$, the share of the samples in the new statistics.
    - `eps`: is added to the variance.

    Dtypes: the output has that of `input`; beside float16 and bfloat16 the other arrays may be
    float32.
    Errors: ValueError if `use_input_stats` meets one value per channel of a sample and for one
    statistic without the other, RuntimeError for shapes that do not fit and for missing statistics,
    TypeError for dtypes.

    >>> x = jnp.asarray([[[1.0, 3.0]]], "float32")
    >>> mean, var = jnp.zeros(1, "float32"), jnp.ones(1, "float32")
    >>> functx.nn.functional.instance_norm_with_stats(x, mean, var, momentum=0.5)[1:]
    (Array([1.], dtype=float32), Array([1.5], dtype=float32))
    """
    return _normalized(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def _normalized(
    input: Array,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    use_input_stats: bool,
    momentum: Any,
    eps: Any,
) -> InstanceNormResult:
    if input.ndim < 2:
        refuse(f"`input` must be [N, C, ...], got {describe(input)}")
    batch, channels, *sizes = input.shape
    require_vector(running_mean, channels, "running_mean", input)
    require_vector(running_var, channels, "running_var", input)
    if (running_mean is None) != (running_var is None):
        refuse("`running_mean` and `running_var` must both be given, or neither", error=ValueError)
    count = math.prod(sizes)
    if use_input_stats and count == 1:
        refuse(
            "`use_input_stats` needs more than one value per channel of a sample, got "
            f"{describe(input)}",
            error=ValueError,
        )
    if not use_input_stats and running_mean is None:
        refuse("`running_mean` must be given where `use_input_stats` is false")
    shape, x = per_channel(input), wide(input)
    if use_input_stats:
        mean, var = moments(x, tuple(range(2, x.ndim)))
    else:
        mean, var = (wide(r).reshape(shape) for r in (running_mean, running_var))
    out = (x - mean) * lax.rsqrt(var + eps)
    out = affine(out, weight, bias, (channels,), shape).astype(input.dtype)
    if not use_input_stats or running_mean is None or not batch * count:
        return InstanceNormResult(out, running_mean, running_var)
    seen = mean, var * (count / (count - 1))
    after = (
        ((1 - momentum) * wide(r) + momentum * mean_of(s.reshape(batch, channels), (0,))).astype(
            r.dtype
        )
        for r, s in zip((running_mean, running_var), seen, strict=True)
    )
    return InstanceNormResult(out, *after)
