"""Affine maps of the last dimension."""

from __future__ import annotations

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


__all__ = ["linear"]


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER)
def linear(input: ArrayOnly, weight: ArrayOnly, bias: ArrayOnly | None = None) -> Array:
    r"""Affine map of the last dimension: $y = x W^\top + b$.

    Shapes: `input: [..., n]`, `weight: [m, n]`, and `bias` broadcasts to the result
    `[..., m]`. A `weight: [n]` gives `[...]`, and takes a bias, `[]`, for `input: [n]` alone.
    Dtypes: all arrays have the same one. Halves are summed in float32.
    Errors: RuntimeError for shapes, TypeError for mixed dtypes.

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
    last = ((input.ndim - 1,), (weight.ndim - 1,))
    wide = accumulator(input.dtype)
    out = lax.dot_general(input, weight, (last, ((), ())), preferred_element_type=wide)
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
