"""Normalization over trailing dimensions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    operator,
    Promote,
    RealScalar,
    Scalar,
    Shape,
    UnpromotedArray,
)
from functx._ops.quotients import mean as mean_of

from .standardization import affine, refuse_other_shapes, standardized, wide


__all__ = ["layer_norm", "rms_norm"]


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    aliases=("layer_norm",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def layer_norm(
    input: ArrayLike,
    normalized_shape: Shape,
    weight: UnpromotedArray | None = None,
    bias: UnpromotedArray | None = None,
    eps: Scalar = 1e-5,
) -> Array:
    r"""Normalizes over the trailing dimensions, then applies `weight` and `bias`:
    $y = (x - \mathrm{E}[x]) / \sqrt{\mathrm{Var}[x] + \epsilon} \cdot w + b$ (Ba et al., 2016).

    Shapes: `input: [..., *normalized_shape]`, and the result has its shape.

    - `normalized_shape`: the sizes of the dimensions that are normalized together.
    - `weight`, `bias`: $w$ and $b$ in the shape `normalized_shape`; None means 1 and 0.
    - `eps`: $\epsilon$, which is added to the variance.

    Dtypes: that of `input`; beside float16 and bfloat16 `weight` and `bias` may be float32.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> functx.nn.functional.layer_norm(jnp.asarray([1.0, 3.0], "float32"), (2,), eps=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    refuse_other_shapes(input, normalized_shape)
    out = standardized(wide(input), tuple(range(-len(normalized_shape), 0)), eps)
    return affine(out, weight, bias, normalized_shape, normalized_shape).astype(input.dtype)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.INEXACT,
    aliases=("rms_norm",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def rms_norm(
    input: ArrayLike,
    normalized_shape: Shape,
    weight: UnpromotedArray | None = None,
    eps: RealScalar | None = None,
) -> Array:
    r"""Divides by the root of the mean square over the trailing dimensions, then applies `weight`:
    $y = x / \sqrt{\mathrm{E}[x^2] + \epsilon} \cdot w$ (Zhang and Sennrich, 2019).

    Shapes: `input: [..., *normalized_shape]`, and the result has its shape.

    - `normalized_shape`: the sizes of the dimensions that are normalized together.
    - `weight`: $w$ in the shape `normalized_shape`; None means 1.
    - `eps`: $\epsilon$; None is the distance of 1 to the next number in the dtype of `input`, or in
      float32 for float16 and bfloat16.

    Dtypes: that of `input`; beside float16 and bfloat16 `weight` may be float32. Squares of complex
    numbers are squares, not squared absolute values.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> functx.rms_norm(jnp.asarray([1.0, 7.0], "float32"), (2,), eps=0.0)
    Array([0.2, 1.4], dtype=float32)
    """
    refuse_other_shapes(input, normalized_shape)
    x = wide(input)
    square = mean_of(x * x, tuple(range(-len(normalized_shape), 0)), keepdims=True)
    out = x * lax.rsqrt(square + (float(jnp.finfo(x.dtype).eps) if eps is None else eps))
    return affine(out, weight, None, normalized_shape, normalized_shape).astype(input.dtype)
