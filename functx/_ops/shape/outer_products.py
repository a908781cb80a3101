"""Every element of one array times every element of another."""

from __future__ import annotations

from jax import Array, lax

from functx._core import ArrayLike, ArrayOrUnroundedNumber, describe, operator, refuse


__all__ = ["kron", "outer"]


@operator(aliases=("ger",))
def outer(input: ArrayLike, vec2: ArrayLike) -> Array:
    """Outer product of two vectors: $y_{ij} = a_i b_j$, without conjugation.

    - `input`: the vector $a$.
    - `vec2`: the vector $b$.

    Shapes: `[m], [n] -> [m, n]`.
    Dtypes: the one to which both vectors promote.
    Errors: RuntimeError unless both are vectors.

    >>> functx.outer(jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([3.0, 4.0], "float32"))
    Array([[3., 4.],
           [6., 8.]], dtype=float32)
    """
    for name, x in (("input", input), ("vec2", vec2)):
        if x.ndim != 1:
            refuse(f"`{name}` must have 1 dimension, got {describe(x)}")
    return input[:, None] * vec2[None, :]


@operator(zero_dim_promotes_alike=True)
def kron(input: ArrayLike, other: ArrayOrUnroundedNumber) -> Array:
    """Kronecker product, in blocks $y_{ij} = a_{ij} B$, for any number of dimensions.

    - `input`: the array $a$.
    - `other`: the array $B$, or a number.

    Shapes: `[a0, a1, ...], [b0, b1, ...] -> [a0 * b0, a1 * b1, ...]`; the array with fewer
    dimensions gets leading ones of size 1.
    Dtypes: the one to which both promote.

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
