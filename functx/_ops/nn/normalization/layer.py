"""Normalization over trailing dimensions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    operator,
    Other,
    Promote,
    Real,
    Scalar,
    Shape,
)
from functx._ops.quotients import mean as mean_of

from .standardization import affine, refuse_other_shapes, standardized, wide


__all__ = ["layer_norm", "rms_norm"]


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
    eps: Scalar = 1e-5,
) -> Array:
    r"""Normalizes over the trailing dimensions, then applies `weight` and `bias`:
    $y = (x - \mathrm{E}[x]) / \sqrt{\mathrm{Var}[x] + \epsilon} \cdot w + b$.

    Shapes: `input` is `[..., *normalized_shape]`; `weight` and `bias` are
    `normalized_shape`; the result has the shape of `input`.
    Dtypes: that of `input`; halves may have `weight` and `bias` in float32.

    >>> functx.nn.functional.layer_norm(jnp.asarray([1.0, 3.0], "float32"), (2,), eps=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    refuse_other_shapes(input, normalized_shape)
    out = standardized(wide(input), tuple(range(-len(normalized_shape), 0)), eps)
    return affine(out, weight, bias, normalized_shape, normalized_shape).astype(input.dtype)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.INEXACT,
    autocast=Autocast.FLOAT32,
    aliases=("rms_norm",),
)
def rms_norm(
    input: ArrayLike,
    normalized_shape: Shape,
    weight: Other | None = None,
    eps: Real | None = None,
) -> Array:
    r"""Divides by the root of the mean square over the trailing dimensions, then applies `weight`:
    $y = x / \sqrt{\mathrm{E}[x^2] + \epsilon} \cdot w$ (Zhang and Sennrich, 2019).

    Shapes, dtypes: as for `layer_norm`; of complex numbers, squares are squares, not sizes.

    - `eps`: where it is not given, the distance of 1 to the next number, of float32 for halves.

    >>> functx.rms_norm(jnp.asarray([1.0, 7.0], "float32"), (2,), eps=0.0)
    Array([0.2, 1.4], dtype=float32)
    """
    refuse_other_shapes(input, normalized_shape)
    x = wide(input)
    square = mean_of(x * x, tuple(range(-len(normalized_shape), 0)), keepdims=True)
    out = x * lax.rsqrt(square + (float(jnp.finfo(x.dtype).eps) if eps is None else eps))
    return affine(out, weight, None, normalized_shape, normalized_shape).astype(input.dtype)
