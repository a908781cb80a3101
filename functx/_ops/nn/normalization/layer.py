"""Normalization over trailing dimensions."""

from __future__ import annotations

from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    operator,
    Other,
    Promote,
    Scalar,
    Shape,
)

from .standardization import affine, refuse_other_shapes, standardized, wide


__all__ = ["layer_norm"]


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
