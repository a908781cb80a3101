"""Sums and products over dimensions, and refusals of dtypes that have none."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import category, describe, Dims, known, refuse
from functx._core.rules.custom_derivatives import derivative_rules


def refuse_integers(input: Array) -> None:
    """Refuses integers, which have no mean in their own dtype."""
    if category(input.dtype) < 2:
        refuse(
            f"expected a floating or complex dtype, got {describe(input)}",
            hint="pass `dtype=functx.float32`",
            error=TypeError,
        )


def refuse_bools(input: Array) -> None:
    """Refuses bools, which have no running sums and products in their own dtype."""
    if category(input.dtype) == 0:
        refuse("`dtype` must be a dtype of numbers, got bool", error=TypeError)


def total(x: Array, dim: Dims, keepdim: bool) -> Array:
    """The sum over `dim`, or over all, in the dtype of `x`; for bools, whether any is True."""
    if category(x.dtype) == 0:
        return jnp.any(x, axis=dim or None, keepdims=keepdim)
    return jnp.sum(x, axis=dim or None, keepdims=keepdim, promote_integers=False)


def product(x: Array, axis: int) -> Array:
    """The product along `axis`, which is dropped. Derivatives divide by no element."""
    if category(x.dtype) < 2 or axis == 0:
        return _in_a_tree(x, axis)
    # Derivatives join what the tree split, which is fast along the first dimension only.
    moved = lambda x: _in_a_tree(jnp.moveaxis(x, axis, 0), 0)
    return derivative_rules(
        lambda x: _in_a_tree(x, axis),
        jvp=lambda primals, output, tangents: jax.jvp(moved, primals, tangents)[1],
        vjp=lambda primals, output, cotangent: jax.vjp(moved, *primals)[1](cotangent),
        name="product",
    )(x)


def _in_a_tree(x: Array, axis: int) -> Array:
    """The product along `axis`: eighths of `x` are multiplied elementwise, and so on.

    XLA vectorises this, and derivatives cost a few times as much, not a pass for each element. A
    symbolic size does not say how many eighths there are; its elements are multiplied one after the
    other.
    """
    if not known(x.shape[axis]):
        one = jnp.ones_like(x[(slice(None),) * axis + (0,)])
        return lax.scan(lambda so_far, y: (so_far * y, None), one, jnp.moveaxis(x, axis, 0))[0]
    if x.shape[axis] == 0:
        return jnp.ones((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype)
    while (n := x.shape[axis]) > 1:
        parts = min(n, 8)
        *pieces, rest = lax.split(x, [n // parts] * parts + [n % parts], axis)
        while len(pieces) > 1:
            odd = pieces[2 * (len(pieces) // 2) :]
            pieces = [a * b for a, b in zip(pieces[::2], pieces[1::2], strict=False)] + odd
        x = lax.concatenate([pieces[0], rest], axis) if n % parts else pieces[0]
    return jnp.squeeze(x, axis)
