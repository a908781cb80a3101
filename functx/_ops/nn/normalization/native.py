"""Normalizations that also return the statistics by which they divided."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
    Scalar,
    Shape,
    Size,
    UnpromotedArray,
)

from .batches import eps_is_not_negative, normalized_batch
from .standardization import affine, moments, per_channel, refuse_other_shapes, wide


__all__ = ["native_batch_norm", "native_group_norm", "native_layer_norm"]


class NormResult(NamedTuple):
    """The result of a normalization, with the means and the inverse standard deviations."""

    output: Array
    mean: Array
    rstd: Array


@operator(
    name="native_layer_norm",
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def native_layer_norm(
    input: ArrayLike,
    normalized_shape: Shape,
    weight: UnpromotedArray | None,
    bias: UnpromotedArray | None,
    eps: Scalar,
) -> NormResult:
    r"""`functx.nn.functional.layer_norm` over the trailing dimensions, with its statistics $\mu$
    and $1 / \sqrt{\sigma^2 + \epsilon}$.

    Shapes: `(output, mean, rstd)`: the output has the shape of `input: [..., *normalized_shape]`,
    and the statistics have 1 in place of each of the trailing sizes.

    - `normalized_shape`: the sizes of the dimensions that are normalized together.
    - `weight`, `bias`: a factor and a summand in the shape `normalized_shape`; None means 1 and 0.
    - `eps`: $\epsilon$, which is added to the variance.

    Dtypes: those of `input`; beside float16 and bfloat16 `weight` and `bias` may be float32, and
    then the statistics are.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> x = jnp.asarray([[1.0, 3.0]], "float32")
    >>> functx.native_layer_norm(x, (2,), None, None, 3.0).rstd
    Array([[0.5]], dtype=float32)
    """
    refuse_other_shapes(input, normalized_shape)
    axes = tuple(range(-len(normalized_shape), 0))
    x = wide(input)
    mean, rstd = _statistics(x, axes, eps)
    out = affine((x - mean) * rstd, weight, bias, normalized_shape, normalized_shape)
    return _narrowed(out, mean, rstd, input, weight, bias)


@operator(name="native_group_norm", promote=Promote.NONE, accepts=Accepts.FLOATING)
def native_group_norm(
    input: ArrayLike,
    weight: UnpromotedArray | None,
    bias: UnpromotedArray | None,
    N: Size,
    C: Size,
    HxW: Size,
    group: int,
    eps: Scalar,
) -> NormResult:
    r"""`functx.nn.functional.group_norm` over groups of channels, with its statistics $\mu$ and
    $1 / \sqrt{\sigma^2 + \epsilon}$.

    Shapes: `(output, mean, rstd)`: the output has the shape of `input: [N, C, *]`, and the
    statistics are `[N, group]`.

    - `weight`, `bias`: a factor and a summand for each channel, `[C]`; None means 1 and 0.
    - `N`, `C`, `HxW`: the sizes of the batch and of the channels, and the number of elements in
      each channel, which the input must have.
    - `group`: how many groups of consecutive channels there are; it divides `C`.
    - `eps`: $\epsilon$, which is added to the variance.

    Dtypes: those of `input`; beside float16 and bfloat16 `weight` and `bias` may be float32, and
    then the statistics are.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> x = jnp.asarray([[1.0, 3.0]], "float32")
    >>> functx.native_group_norm(x, None, None, 1, 2, 1, 1, 3.0).mean
    Array([[2.]], dtype=float32)
    """
    sizes = input.shape[:2] if input.ndim > 1 else (0, 0)
    if input.ndim < 2 or (*sizes, math.prod(input.shape[2:])) != (N, C, HxW):
        refuse(f"`input` must be [{N}, {C}, ...] with HxW={HxW}, got {describe(input)}")
    if group < 1 or C % group:
        refuse(f"`group` must divide the channels of {describe(input)}, got {group}")
    groups = wide(input).reshape(N, group, C // group * HxW)
    mean, rstd = _statistics(groups, (2,), eps)
    out = affine(
        ((groups - mean) * rstd).reshape(input.shape), weight, bias, (C,), per_channel(input)
    )
    return _narrowed(out, mean[..., 0], rstd[..., 0], input, weight, bias)


@operator(
    name="native_batch_norm",
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=eps_is_not_negative,
)
def native_batch_norm(
    input: ArrayLike,
    weight: UnpromotedArray | None,
    bias: UnpromotedArray | None,
    running_mean: UnpromotedArray | None,
    running_var: UnpromotedArray | None,
    training: bool,
    momentum: Scalar,
    eps: Scalar,
) -> NormResult:
    r"""`functx.nn.functional.batch_norm` of each channel, with the batch's $\mu$ and
    $1 / \sqrt{\sigma^2 + \epsilon}$.

    Shapes: `(output, mean, rstd)`: the output has the shape of `input: [N, C, *]`, and all other
    arrays are `[C]`. Without `training` there are no statistics, and `mean` and `rstd` are `[0]`.

    - `weight`, `bias`: a factor and a summand for each channel; None means 1 and 0.
    - `running_mean`, `running_var`: the mean and the variance unless `training`; then they may be
      None.
    - `training`: whether the batch's own mean and biased variance are used.
    - `momentum` has no effect: running statistics do not change in place.
      `functx.nn.functional.batch_norm_with_stats` returns them.
    - `eps`: $\epsilon$, which is not negative.

    Dtypes: those of `input`; beside float16 and bfloat16 the other arrays may be float32, and the
    statistics are if `weight` or `bias` is.
    Errors: ValueError if `training` meets one value per channel, for a negative `eps` and for one
    statistic without the other; RuntimeError for shapes that do not fit and for missing statistics;
    TypeError for dtypes.

    >>> x = jnp.asarray([[1.0], [3.0]], "float32")
    >>> functx.native_batch_norm(x, None, None, None, None, True, 0.1, 3.0).rstd
    Array([0.5], dtype=float32)
    """
    out = normalized_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)[
        0
    ]
    if not training:
        mean = rstd = jnp.zeros(0, out.dtype)
    else:
        axes = tuple(i for i in range(input.ndim) if i != 1) if input.ndim > 1 else ()
        mean, rstd = (x.reshape(-1) for x in _statistics(wide(input), axes, eps))
    return _narrowed(out, mean, rstd, input, weight, bias)


def _statistics(x: Array, axes: tuple[int, ...], eps: Any) -> tuple[Array, Array]:
    mean, var = moments(x, axes)
    return mean, lax.rsqrt(var + eps)


def _narrowed(
    out: Array, mean: Array, rstd: Array, input: Array, weight: Any, bias: Any
) -> NormResult:
    """The results in PyTorch's dtypes: statistics have that of the parameters."""
    parameters = [x.dtype for x in (weight, bias) if x is not None]
    dtype = parameters[0] if parameters else input.dtype
    return NormResult(out.astype(input.dtype), mean.astype(dtype), rstd.astype(dtype))
