"""Dimensions in another order, elements in another order along them."""

from __future__ import annotations

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


__all__ = ["flip", "movedim", "permute", "roll", "transpose"]


@overload
def transpose(input: ArrayLike, dim0: Dim, dim1: Dim) -> Array: ...
@overload
def transpose(input: ArrayLike, *, axis0: Dim, axis1: Dim) -> Array: ...
@operator(
    promote=Promote.NO_OPMATH,
    synonyms={"axis0": "dim0", "axis1": "dim1"},
    aliases=("swapaxes", "swapdims"),
)
def transpose(input: ArrayLike, dim0: Dim, dim1: Dim) -> Array:
    """Exchanges two dimensions.

    >>> functx.transpose(jnp.zeros((2, 3, 4), "float32"), 0, -1).shape
    (4, 3, 2)
    """
    return jnp.swapaxes(input, dim0, dim1) if input.ndim else input


@operator(promote=Promote.NO_OPMATH)
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
def movedim(input: ArrayLike, source: Shape, destination: Shape) -> Array:
    """Moves the dimensions `source` to the places `destination`; the others keep their order.

    >>> functx.movedim(jnp.zeros((2, 3, 4), "float32"), 0, 2).shape
    (3, 4, 2)
    """
    if len(source) != len(destination):
        refuse(
            "`source` and `destination` must name equally many dimensions, "
            f"got {list(source)} and {list(destination)}"
        )
    here = canonical_dims(source, input.ndim, "source")
    there = canonical_dims(destination, input.ndim, "destination")
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
def roll(input: ArrayLike, shifts: Shape, dims: Shape | None = None) -> Array:
    """Shifts elements along `dims`, those that fall off the end coming back at the start.

    Without `dims`, rolls the elements in row-major order. A dimension named twice is shifted
    twice.

    >>> functx.roll(jnp.asarray([1.0, 2.0, 3.0], "float32"), 1)
    Array([3., 1., 2.], dtype=float32)
    """
    if not shifts:
        refuse("`shifts` must not be empty")
    if not dims and len(shifts) == 1:
        return jnp.roll(input.ravel(), shifts[0]).reshape(input.shape) if input.size else input
    if len(shifts) != len(dims or ()):
        refuse(
            "`shifts` and `dims` must have the same length, "
            f"got {list(shifts)} and {list(dims or ())}"
        )
    if not input.ndim:
        refuse(f"`dims` must be left out for {describe(input)}, got {dims}", error=IndexError)
    axes = [canonical_dim(dim, input.ndim, "dims") for dim in dims or ()]
    return jnp.roll(input, shifts, axes) if input.size else input
