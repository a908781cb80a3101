"""Dimensions in another order, elements in another order along them."""

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

    >>> functx.transpose(jnp.zeros((2, 3, 4), "float32"), 0, -1).shape
    (4, 3, 2)
    """
    return jnp.swapaxes(input, dim0, dim1) if input.ndim else input


@operator(promote=Promote.NO_OPMATH, aliases=("permute_copy",))
def permute(input: ArrayLike, dims: Shape) -> Array:
    """Dimension `i` of the result is dimension `dims[i]` of `input`.

    Raises `RuntimeError` unless `dims` names every dimension once.

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

    >>> functx.flip(jnp.asarray([1.0, 2.0, 3.0], "float32"), (0,))
    Array([3., 2., 1.], dtype=float32)
    """
    if dims is None:
        refuse("`dims` must be an int or a sequence of ints, got None", error=TypeError)
    return lax.rev(input, canonical_dims(dims, input.ndim) or ())


@operator(promote=Promote.NO_OPMATH)
def fliplr(input: ArrayLike) -> Array:
    """Reverses the order of columns: of the elements along dimension 1.

    >>> functx.fliplr(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[2., 1.],
           [4., 3.]], dtype=float32)
    """
    if input.ndim < 2:
        refuse(f"`input` must have at least 2 dimensions, got {describe(input)}")
    return lax.rev(input, [1])


@operator(promote=Promote.NO_OPMATH)
def flipud(input: ArrayLike) -> Array:
    """Reverses the order of rows: of the elements along dimension 0.

    >>> functx.flipud(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[3., 4.],
           [1., 2.]], dtype=float32)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}")
    return lax.rev(input, [0])


@operator(promote=Promote.NO_OPMATH)
def rot90(input: ArrayLike, k: int = 1, dims: Shape = (0, 1)) -> Array:
    """Turns by `k` times 90 degrees in the plane of two dimensions, from `dims[0]` to `dims[1]`.

    Negative `k` turn the other way.

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
    turned = lax.rev(input, [(), (second,), plane, (first,)][turns])
    return jnp.swapaxes(turned, first, second) if turns % 2 else turned


@operator(promote=Promote.NO_OPMATH)
def roll(input: ArrayLike, shifts: Shape, dims: int | Sequence[int] | None = None) -> Array:
    """Shifts elements along `dims`, those that fall off the end coming back at the start.

    Without `dims`, rolls the elements in row-major order. A dimension named twice is shifted
    twice.

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
