"""Normalization over groups of channels."""

from __future__ import annotations

import math

from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
    Scalar,
    UnpromotedArray,
)

from .standardization import affine, per_channel, standardized, wide


__all__ = ["group_norm"]


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    aliases=("group_norm",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def group_norm(
    input: ArrayLike,
    num_groups: int,
    weight: UnpromotedArray | None = None,
    bias: UnpromotedArray | None = None,
    eps: Scalar = 1e-5,
) -> Array:
    r"""Normalizes over groups of channels, then applies `weight` and `bias` to each channel:
    $y = (x - \mathrm{E}[x]) / \sqrt{\mathrm{Var}[x] + \epsilon} \cdot w + b$ (Wu and He, 2018).

    Shapes: `input: [N, C, *]`, and the result has its shape.

    - `num_groups`: how many groups of consecutive channels there are; it divides `C`.
    - `weight`, `bias`: $w$ and $b$, `[C]`; None means 1 and 0.
    - `eps`: $\epsilon$, which is added to the variance.

    Dtypes: that of `input`; beside float16 and bfloat16 `weight` and `bias` may be float32.
    Errors: ValueError if there is but one element to normalize over and for `num_groups` below 1,
    RuntimeError for shapes that do not fit, TypeError for dtypes.

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
    groups = wide(input).reshape(batch, num_groups, channels // num_groups, *sizes)
    out = standardized(groups, tuple(range(2, groups.ndim)), eps).reshape(input.shape)
    return affine(out, weight, bias, (channels,), per_channel(input)).astype(input.dtype)
