"""Every element of one array times every element of another, laid out."""

from __future__ import annotations

from jax import Array, lax

from functx._core import ArrayLike, ArrayOrFactor, describe, operator, refuse


__all__ = ["kron", "outer"]


@operator(aliases=("ger",))
def outer(input: ArrayLike, vec2: ArrayLike) -> Array:
    r"""Outer product of two vectors: $y_{ij} = a_i b_j$, without conjugation.

    Shapes: `[m], [n] -> [m, n]`.

    >>> functx.outer(jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([3.0, 4.0], "float32"))
    Array([[3., 4.],
           [6., 8.]], dtype=float32)
    """
    for name, x in (("input", input), ("vec2", vec2)):
        if x.ndim != 1:
            refuse(f"`{name}` must have 1 dimension, got {describe(x)}")
    return input[:, None] * vec2[None, :]


@operator(ranked=False)
def kron(input: ArrayLike, other: ArrayOrFactor) -> Array:
    r"""Kronecker product: in blocks, $y_{ij} = a_{ij} B$, in any number of dimensions.

    Shapes: `[a0, a1, ...], [b0, b1, ...] -> [a0 * b0, a1 * b1, ...]`; the one with fewer
    dimensions gets leading ones.

    >>> functx.kron(jnp.eye(2, dtype="float32"), jnp.asarray([1.0, 2.0], "float32"))
    Array([[1., 2., 0., 0.],
           [0., 0., 1., 2.]], dtype=float32)
    """
    ndim = max(input.ndim, other.ndim)
    a = (1,) * (ndim - input.ndim) + input.shape
    b = (1,) * (ndim - other.ndim) + other.shape
    outer_first = lax.reshape(input, tuple(n for size in a for n in (size, 1)))
    inner_second = lax.reshape(other, tuple(n for size in b for n in (1, size)))
    blocks = outer_first * inner_second
    return lax.reshape(blocks, tuple(m * n for m, n in zip(a, b, strict=True)))
