"""Dimensions in another order, and elements in another order along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    ArrayLike,
    canonical_dim,
    canonical_dims,
    describe,
    Dim,
    Dims,
    operator,
    Promote,
    refuse,
    Shape,
)


__all__ = ["flip", "fliplr", "flipud", "movedim", "permute", "roll", "rot90", "transpose"]


@overload
def transpose(input: ArrayLike, dim0: Dim, dim1: Dim) -> Array: ...
@overload
def transpose(input: ArrayLike, *, axis0: Dim, axis1: Dim) -> Array: ...
@operator(
    promote=Promote.NO_OPMATH,
    synonyms={"axis0": "dim0", "axis1": "dim1"},
    aliases=("swapaxes", "swapdims", "transpose_copy"),
)
def transpose(input: ArrayLike, dim0: Dim, dim1: Dim) -> Array:
    """Exchanges two dimensions.

    - `input`: an array of any dtype, which the result keeps. A 0-d array stays as it is.
    - `dim0`, `dim1`: the two dimensions.

    Shapes: `[a, b, c] -> [c, b, a]` for dimensions 0 and 2.
    Errors: IndexError for dimensions that `input` does not have.

    >>> functx.transpose(jnp.zeros((2, 3, 4), "float32"), 0, -1).shape
    (4, 3, 2)
    """
    return jnp.swapaxes(input, dim0, dim1) if input.ndim else input


@operator(promote=Promote.NO_OPMATH, aliases=("permute_copy",))
def permute(input: ArrayLike, dims: Shape) -> Array:
    """Puts the dimensions into another order: dimension `i` of the result is dimension `dims[i]`.

    - `input`: an array of any dtype, which the result keeps.
    - `dims`: every dimension of `input`, once.

    Shapes: `[a, b, c] -> [c, a, b]` for `dims=(2, 0, 1)`.
    Errors: RuntimeError unless `dims` names every dimension once, IndexError for dimensions that
    `input` does not have.

    >>> functx.permute(jnp.zeros((2, 3, 4), "float32"), (2, 0, 1)).shape
    (4, 2, 3)
    """
    if len(dims) != input.ndim:
        refuse(f"`dims` must name {input.ndim} dimensions for {describe(input)}, got {list(dims)}")
    order = canonical_dims(dims, input.ndim, "dims")
    assert order is not None
    return lax.transpose(input, order)


@operator(promote=Promote.NO_OPMATH, aliases=("moveaxis",))
def movedim(
    input: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Array:
    """Moves the dimensions `source` to the places `destination`; the others keep their order.

    - `input`: an array of any dtype, which the result keeps.
    - `source`: one dimension or several, as `input` has them.
    - `destination`: the places of the same dimensions in the result, equally many.

    Shapes: `[a, b, c] -> [b, c, a]` for `source=0`, `destination=2`.
    Errors: RuntimeError for unequal numbers of dimensions and repeated ones, IndexError for
    dimensions that `input` does not have.

    >>> functx.movedim(jnp.zeros((2, 3, 4), "float32"), 0, 2).shape
    (3, 4, 2)
    """
    here, there = (
        tuple(dims) if isinstance(dims, Sequence) else (dims,) for dims in (source, destination)
    )
    if len(here) != len(there):
        refuse(
            "`source` and `destination` must name equally many dimensions, "
            f"got {list(here)} and {list(there)}"
        )
    here = canonical_dims(here, input.ndim, "source")
    there = canonical_dims(there, input.ndim, "destination")
    assert here is not None and there is not None
    return jnp.moveaxis(input, here, there)


@operator(promote=Promote.NO_OPMATH)
def flip(input: ArrayLike, dims: Dims) -> Array:
    """Reverses the order of the elements along `dims`.

    - `input`: an array of any dtype and shape, which the result keeps.
    - `dims`: one dimension or several.

    Errors: IndexError for dimensions that `input` does not have, RuntimeError for repeated ones,
    TypeError for None.

    >>> functx.flip(jnp.asarray([1.0, 2.0, 3.0], "float32"), (0,))
    Array([3., 2., 1.], dtype=float32)
    """
    if dims is None:
        refuse("`dims` must be an int or a sequence of ints, got None", error=TypeError)
    return lax.rev(input, canonical_dims(dims, input.ndim) or ())


@operator(promote=Promote.NO_OPMATH)
def fliplr(input: ArrayLike) -> Array:
    """Reverses the order of columns, which is that of the elements along dimension 1.

    - `input`: an array of at least 2 dimensions. The result keeps its dtype and shape.

    Errors: RuntimeError if `input` has fewer than 2 dimensions.

    >>> functx.fliplr(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[2., 1.],
           [4., 3.]], dtype=float32)
    """
    if input.ndim < 2:
        refuse(f"`input` must have at least 2 dimensions, got {describe(input)}")
    return lax.rev(input, [1])


@operator(promote=Promote.NO_OPMATH)
def flipud(input: ArrayLike) -> Array:
    """Reverses the order of rows, which is that of the elements along dimension 0.

    - `input`: an array of at least 1 dimension. The result keeps its dtype and shape.

    Errors: RuntimeError if `input` has no dimension.

    >>> functx.flipud(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[3., 4.],
           [1., 2.]], dtype=float32)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}")
    return lax.rev(input, [0])


@operator(promote=Promote.NO_OPMATH)
def rot90(input: ArrayLike, k: int = 1, dims: Shape = (0, 1)) -> Array:
    """Turns an array by multiples of 90 degrees in the plane of two dimensions.

    - `input`: an array of at least 2 dimensions. The result keeps its dtype.
    - `k`: how many times 90 degrees, from `dims[0]` to `dims[1]`; negative `k` turn the other way.
    - `dims`: the two dimensions of the plane.

    Shapes: odd `k` exchange the sizes of the two dimensions: `[m, n] -> [n, m]`.
    Errors: RuntimeError unless `dims` names two different dimensions and `input` has 2, IndexError
    for dimensions that `input` does not have.

    >>> functx.rot90(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[2., 4.],
           [1., 3.]], dtype=float32)
    """
    if len(dims) != 2:
        refuse(f"`dims` must name 2 dimensions, got {list(dims)}")
    if input.ndim < 2:
        refuse(f"`input` must have at least 2 dimensions, got {describe(input)}")
    plane = canonical_dims(dims, input.ndim, "dims")
    assert plane is not None
    first, second = plane
    turns = k % 4
    # XLA for CPUs takes longer for a transpose of what is reversed.
    x = jnp.swapaxes(input, first, second) if turns % 2 else input
    return lax.rev(x, [(), (first,), plane, (second,)][turns])


@operator(promote=Promote.NO_OPMATH)
def roll(input: ArrayLike, shifts: Shape, dims: int | Sequence[int] | None = None) -> Array:
    """Shifts elements along `dims`. Elements that fall off the end come back at the start.

    - `input`: an array of any dtype and shape, which the result keeps.
    - `shifts`: by how many places, one number for each of `dims`. Negative ones shift towards the
      start.
    - `dims`: the dimensions. A dimension named twice is shifted twice. None shifts all elements in
      row-major order, by one number.

    Errors: RuntimeError unless `shifts` and `dims` are equally many, IndexError for dimensions that
    `input` does not have.

    >>> functx.roll(jnp.asarray([1.0, 2.0, 3.0], "float32"), 1)
    Array([3., 1., 2.], dtype=float32)
    """
    if not shifts:
        refuse("`shifts` must not be empty")
    dims = (dims,) if isinstance(dims, int) else tuple(dims or ())
    if not dims and len(shifts) == 1:
        return jnp.roll(input.ravel(), shifts[0]).reshape(input.shape) if input.size else input
    if len(shifts) != len(dims):
        refuse(
            f"`shifts` and `dims` must have the same length, got {list(shifts)} and {list(dims)}"
        )
    if not input.ndim:
        refuse(f"`dims` must be left out for {describe(input)}, got {dims}", error=IndexError)
    axes = [canonical_dim(dim, input.ndim, "dims") for dim in dims]
    return jnp.roll(input, shifts, axes) if input.size else input
