"""The same elements in another shape, and the same bytes read as another dtype."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    ArrayLike,
    as_dtype,
    canonical_dim,
    canonical_dims,
    category,
    describe,
    differ,
    Dim,
    Dims,
    DType,
    known,
    known_sizes,
    operator,
    Promote,
    real_of,
    refuse,
    Shape,
    UnpromotedArray,
)

from .models import check_is_array


__all__ = [
    "flatten",
    "ravel",
    "reshape",
    "reshape_as",
    "squeeze",
    "unflatten",
    "unsqueeze",
    "view",
    "view_as",
]


@operator(promote=Promote.NO_OPMATH)
def reshape(input: ArrayLike, shape: Shape) -> Array:
    """The elements in row-major order, arranged in another shape.

    - `input`: an array of any dtype, which the result keeps.
    - `shape`: the shape of the result. One size may be -1: the number that the other sizes leave.

    Errors: RuntimeError if the number of elements differs.

    >>> functx.reshape(jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32"), (2, -1))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return lax.reshape(input, _filled_in(shape, input.size))


def _dtype_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Rewrites `view(x, dtype)` as `view(x, dtype=dtype)`. What cannot be a size is a dtype."""
    sizes = (int, np.integer, np.ndarray, tuple, list, Array, type(None))
    if len(args) == 2 and not isinstance(args[1], sizes):
        args, kwargs = args[:1], kwargs | {"dtype": args[1]}
    dtype = kwargs.get("dtype")
    if dtype is not None and as_dtype(dtype) != jnp.dtype(dtype):
        refuse(
            f"`dtype` must be one of at most 32 bits, got {jnp.dtype(dtype).name}",
            hint="functx.enable_x64() gives 64 bits",
        )
    return args, kwargs


@overload
def view(input: ArrayLike, size: int | Sequence[int]) -> Array: ...
@overload
def view(input: ArrayLike, dtype: DType) -> Array: ...
@operator(
    promote=Promote.NONE,
    other_signatures=_dtype_form,
    aliases=("view_copy",),
    takes_storage_dtypes=True,
)
def view(input: ArrayLike, size: Shape | None = None, *, dtype: DType | None = None) -> Array:
    """The elements in another shape, or the bytes of an array read as another dtype.

    - `input`: an array of any dtype.
    - `size`: the shape of the result; one size may be -1: the number that the other sizes leave.
    - `dtype`: the dtype of the result, instead of `size`: the bytes stay, the numbers change.

    Shapes: with `dtype`, `[..., n] -> [..., n * old bytes / new bytes]`.
    Gradients: none where bytes are read as another dtype, except for a complex array read as its
    real and imaginary parts, and for those read as complex numbers.
    Errors: RuntimeError if the number of elements, or of bytes, does not fit; TypeError unless
    exactly one of `size` and `dtype` is given.

    Results do not share memory with `input`: arrays are immutable.

    >>> functx.view(jnp.asarray([1.0, -2.0], "float32"), functx.int32)
    Array([ 1065353216, -1073741824], dtype=int32)
    """
    if size is not None and dtype is None:
        return lax.reshape(input, _filled_in(size, input.size))
    if size is None and dtype is not None:
        return _reinterpreted(input, as_dtype(dtype))
    refuse("exactly one of `size` and `dtype` must be given", error=TypeError)


def _filled_in(shape: tuple[int, ...], count: int, name: str = "shape") -> tuple[int, ...]:
    """`shape` with its -1 replaced by the only size that fits; errors call the shape `name`."""
    known = math.prod(n for n in shape if n != -1)
    if min(known_sizes(shape), default=0) < -1 or shape.count(-1) > 1:
        refuse(f"`{name}` must hold non-negative ints and at most one -1, got {list(shape)}")
    if -1 not in shape:
        if known != count:
            refuse(f"`{name}` must hold {count} elements, got {list(shape)}")
        return shape
    if known == 0 or count % known:
        refuse(
            f"`{name}` must hold {count} elements, and {list(shape)} cannot",
            hint="" if known else "beside a size of 0, -1 could be anything",
        )
    return tuple(count // known if n == -1 else n for n in shape)


def _reinterpreted(input: Array, dtype: np.dtype) -> Array:
    """The bytes of `input` read as numbers of `dtype`."""
    old, new = input.dtype.itemsize, dtype.itemsize
    shape = input.shape
    if old != new:
        if not input.ndim:
            refuse(f"`input` must have a dimension to read as {dtype.name}, got {describe(input)}")
        *lead, last = shape
        if last * old % new:
            refuse(
                f"`input` must end in a multiple of {new // old} to read as {dtype.name}, "
                f"got {describe(input)}"
            )
        shape = (*lead, last * old // new)
    # XLA reinterprets neither bools nor complex numbers.
    x = input.astype("uint8") if category(input.dtype) == 0 else input
    if category(x.dtype) == 3:
        x = jnp.stack([lax.real(x), lax.imag(x)], axis=-1)
    base = np.dtype("uint8") if category(dtype) == 0 else real_of(dtype)
    x = x.ravel()
    if x.dtype != base:
        widening = base.itemsize // x.dtype.itemsize
        x = x.reshape(-1, widening) if widening > 1 else x
        x = (lax.bitcast_convert_type if known(*shape) else _bits_moved)(x, base).ravel()
    if category(dtype) == 0:
        x = x != 0
    if category(dtype) == 3:
        x = x.reshape(-1, 2)
        x = lax.complex(x[:, 0], x[:, 1])
    return x.reshape(shape)


def _bits_moved(x: Array, dtype: np.dtype) -> Array:
    """`lax.bitcast_convert_type` by shifts: XLA reads no other width while a size is a symbol."""
    old, new = 8 * x.dtype.itemsize, 8 * dtype.itemsize
    whole, part = f"uint{max(old, new)}", f"uint{min(old, new)}"
    places = np.arange(0, max(old, new), min(old, new), dtype=whole)
    bits = lax.bitcast_convert_type(x, f"uint{old}")
    if old > new:
        bits = (bits[..., None] >> places).astype(part)
    elif old < new:
        bits = jnp.sum(bits.astype(whole) << places, -1, dtype=whole)
    return lax.bitcast_convert_type(bits, dtype)


@operator(promote=Promote.NO_OPMATH)
def flatten(input: ArrayLike, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Joins the dimensions from `start_dim` to `end_dim`, inclusive, into one.

    - `input`: an array of any dtype, which the result keeps. A 0-d array gives `[1]`.
    - `start_dim`: the first dimension that is joined.
    - `end_dim`: the last dimension that is joined.

    Shapes: `[a, b, c, d] -> [a, b * c, d]` for dimensions 1 to 2.
    Errors: IndexError for dimensions that `input` does not have, RuntimeError if `start_dim` comes
    after `end_dim`.

    >>> functx.flatten(jnp.zeros((2, 3, 4), "float32"), 1).shape
    (2, 12)
    """
    start = canonical_dim(start_dim, input.ndim, "start_dim")
    end = canonical_dim(end_dim, input.ndim, "end_dim")
    if start > end:
        refuse(f"`start_dim` must not come after `end_dim`, got {start_dim} and {end_dim}")
    shape = input.shape
    return lax.reshape(
        input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])
    )


@operator(promote=Promote.NO_OPMATH)
def reshape_as(input: ArrayLike, other: UnpromotedArray) -> Array:
    """The elements in row-major order, arranged in the shape of `other`.

    - `input`: an array of any dtype, which the result keeps.
    - `other`: an array whose shape alone counts.

    Errors: RuntimeError if the number of elements differs, TypeError if `other` is a number.

    >>> functx.reshape_as(jnp.zeros((2, 3), "float32"), jnp.zeros((3, 2), "float32")).shape
    (3, 2)
    """
    return _shaped_as(input, other)


@operator(promote=Promote.NO_OPMATH)
def view_as(input: ArrayLike, other: UnpromotedArray) -> Array:
    """The elements in row-major order, arranged in the shape of `other`: the same as `reshape_as`.

    - `input`: an array of any dtype, which the result keeps.
    - `other`: an array whose shape alone counts.

    Errors: RuntimeError if the number of elements differs, TypeError if `other` is a number.

    >>> functx.view_as(jnp.zeros((2, 3), "float32"), jnp.zeros(6, "float32")).shape
    (6,)
    """
    return _shaped_as(input, other)


def _shaped_as(input: Array, other: Any) -> Array:
    """`input` arranged in the shape of `other`, which must be an array."""
    check_is_array(other, "other")
    return lax.reshape(input, _filled_in(other.shape, input.size, "other"))


@operator(promote=Promote.NO_OPMATH)
def unflatten(input: ArrayLike, dim: Dim, sizes: Shape) -> Array:
    """Splits a dimension into several, in row-major order.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension that is split.
    - `sizes`: the sizes of the new dimensions. One may be -1: the number that the others leave.

    Shapes: `[a, b * c, d] -> [a, b, c, d]` for `dim=1` and `sizes=(b, c)`.
    Errors: RuntimeError if the number of elements differs, if `sizes` is empty and for 0-d arrays;
    IndexError if `input` does not have `dim`.

    >>> functx.unflatten(jnp.zeros((2, 12), "float32"), 1, (3, -1)).shape
    (2, 3, 4)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}")
    if not sizes:
        refuse("`sizes` must not be empty")
    shape = input.shape
    split = _filled_in(sizes, shape[dim], "sizes")
    return lax.reshape(input, (*shape[:dim], *split, *shape[dim + 1 :]))


@operator(promote=Promote.NO_OPMATH)
def ravel(input: ArrayLike) -> Array:
    """All elements in one dimension, in row-major order.

    - `input`: an array of any dtype and shape. The result keeps the dtype.

    Shapes: `[a, b, ...] -> [a * b * ...]`.

    >>> functx.ravel(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([1., 2., 3., 4.], dtype=float32)
    """
    return lax.reshape(input, (input.size,))


@operator(promote=Promote.NO_OPMATH, aliases=("squeeze_copy",))
def squeeze(input: ArrayLike, dim: Dims = None) -> Array:
    """Drops dimensions of size 1.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimensions to drop, one or several; those of another size stay. None drops all of
      size 1.

    Shapes: `[1, n, 1] -> [n]`; `[1, n]` for `dim=-1`.
    Errors: IndexError for dimensions that `input` does not have, RuntimeError for repeated ones and
    for a symbolic size that may be 1, since it would decide the rank.

    >>> functx.squeeze(jnp.zeros((1, 2, 1), "float32"), -1).shape
    (1, 2)
    """
    dims = canonical_dims(dim, input.ndim)
    among = range(input.ndim) if dims is None else dims
    return lax.squeeze(input, [d for d in among if not differ(input.shape[d], 1)])


@operator(promote=Promote.NO_OPMATH, aliases=("unsqueeze_copy",))
def unsqueeze(input: ArrayLike, dim: int) -> Array:
    """Inserts a dimension of size 1.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the number that the new dimension has in the result.

    Shapes: `[m, n] -> [m, n, 1]` for `dim=-1`.
    Errors: IndexError if the result does not have `dim`.

    >>> functx.unsqueeze(jnp.zeros((2, 3), "float32"), -1).shape
    (2, 3, 1)
    """
    return lax.expand_dims(input, [canonical_dim(dim, input.ndim + 1)])
