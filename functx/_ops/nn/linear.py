"""Affine and bilinear maps of the last dimension."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    Autocast,
    broadcasts_to,
    describe,
    operator,
    Promote,
    refuse,
)

from .affine_maps import mapped


__all__ = ["bilinear", "linear"]


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def linear(input: ArrayOnly, weight: ArrayOnly, bias: ArrayOnly | None = None) -> Array:
    r"""Affine map of the last dimension: $y = x W^\top + b$.

    Here $x$ is the `input`, $W$ the `weight` and $b$ the `bias`, which is 0 if it is None.
    Shapes: `input: [..., n]`, `weight: [m, n]`, and a `bias` that broadcasts to the result
    `[..., m]`. A `weight: [n]` gives `[...]`, and then a `bias: []` is allowed only for
    `input: [n]`.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit, TypeError for unequal dtypes.

    >>> functx.nn.functional.linear(jnp.ones(2, "float32"), jnp.ones((3, 2), "float32"))
    Array([2., 2., 2.], dtype=float32)
    """
    if input.ndim < 1 or weight.ndim not in (1, 2):
        refuse(
            f"`input` must be [..., n] and `weight` [m, n] or [n], got {describe(input)} and "
            f"{describe(weight)}"
        )
    if input.shape[-1] != weight.shape[-1]:
        refuse(
            f"`input` and `weight` must have last dimensions of the same size, got "
            f"{describe(input)} and {describe(weight)}"
        )
    out = mapped(input, weight)
    if bias is None:
        return out
    if weight.ndim == 1 and out.ndim:
        refuse(
            f"`weight` must be [m, n] where there is a bias for {describe(input)}, got "
            f"{describe(weight)}"
        )
    if not broadcasts_to(bias.shape, out.shape):
        refuse(f"`bias` must broadcast to {list(out.shape)}, got {describe(bias)}")
    return out + bias.astype(out.dtype)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.REAL_NUMBER,
    aliases=("bilinear",),
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.KEEP,
)
def bilinear(
    input1: ArrayOnly, input2: ArrayOnly, weight: ArrayOnly, bias: ArrayOnly | None = None
) -> Array:
    r"""Bilinear map of the last dimensions: $y_o = \sum_{ij} w_{oij}\, x_i\, x'_j + b_o$.

    Here $x$ is `input1`, $x'$ is `input2`, $w$ the `weight` and $b$ the `bias`, which is 0 if it is
    None.
    Shapes: `input1: [..., n]`, `input2: [..., k]`, `weight: [m, n, k]`, `bias: [m]` give
    `[..., m]`; both inputs have the same dimensions before the last.
    Dtypes: all arrays have one dtype, and the result has it. float16 and bfloat16 are summed in
    float32.
    Errors: RuntimeError for shapes that do not fit, TypeError for unequal dtypes.

    >>> x, y = jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([3.0], "float32")
    >>> functx.nn.functional.bilinear(x, y, jnp.ones((1, 2, 1), "float32"))
    Array([9.], dtype=float32)
    """
    fits = (
        weight.ndim == 3
        and input1.ndim > 0
        and input1.shape[:-1] == input2.shape[:-1]
        and (*input1.shape[-1:], *input2.shape[-1:]) == weight.shape[1:]
    )
    if not fits:
        refuse(
            f"`input1` must be [..., n], `input2` [..., k] and `weight` [m, n, k], got "
            f"{describe(input1)}, {describe(input2)} and {describe(weight)}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        refuse(f"`bias` must be [{weight.shape[0]}], got {describe(bias)}")
    wide = accumulator(input1.dtype)
    mixed = lax.dot_general(
        input1,
        weight,
        (((input1.ndim - 1,), (1,)), ((), ())),
        preferred_element_type=wide,
    )
    out = jnp.einsum("...ok,...k->...o", mixed, input2.astype(wide), preferred_element_type=wide)
    return out if bias is None else out + bias.astype(wide)
