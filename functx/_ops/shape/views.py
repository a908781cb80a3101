"""The same elements under another shape, or the same bytes under another dtype."""

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
    Other,
    Promote,
    real_of,
    refuse,
    Shape,
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
    """The elements in row-major order, arranged in `shape`; one size may be -1: what is left.

    Raises `RuntimeError` if the number of elements differs.

    >>> functx.reshape(jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32"), (2, -1))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return lax.reshape(input, _filled_in(shape, input.size))


def _dtype_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """`view(x, dtype)`. A dtype is what is neither an int nor a sequence of them."""
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
@operator(promote=Promote.NONE, form=_dtype_form, aliases=("view_copy",), takes_storage=True)
def view(input: ArrayLike, size: Shape | None = None, *, dtype: DType | None = None) -> Array:
    """`reshape(input, size)`, or with a dtype instead of `size`, the bytes read as that dtype.

    Shapes: with `dtype`, `[..., n] -> [..., n * old bytes / new bytes]`.
    Results do not share memory: arrays are immutable. Reading bytes as another dtype has no
    derivative, but for a complex array read as its real and imaginary parts, and back.

    Raises `RuntimeError` if the number of elements, or of bytes, does not fit.

    >>> functx.view(jnp.asarray([1.0, -2.0], "float32"), functx.int32)
    Array([ 1065353216, -1073741824], dtype=int32)
    """
    if size is not None and dtype is None:
        return lax.reshape(input, _filled_in(size, input.size))
    if size is None and dtype is not None:
        return _reinterpreted(input, as_dtype(dtype))
    refuse("exactly one of `size` and `dtype` must be given", error=TypeError)


def _filled_in(shape: tuple[int, ...], count: int, name: str = "shape") -> tuple[int, ...]:
    """`shape` with its -1 replaced, if there is one way to do that."""
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
    """`lax.bitcast_convert_type` by shifts: while a size is a symbol, XLA reads no other width."""
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

    Shapes: `[a, b, c, d] -> [a, b * c, d]` from 1 to 2; `[] -> [1]`.
    Raises `IndexError` for dimensions that do not exist.

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
def reshape_as(input: ArrayLike, other: Other) -> Array:
    """The elements in row-major order, arranged in the shape of `other`.

    Raises `RuntimeError` if the number of elements differs.

    >>> functx.reshape_as(jnp.zeros((2, 3), "float32"), jnp.zeros((3, 2), "float32")).shape
    (3, 2)
    """
    return _shaped_as(input, other)


@operator(promote=Promote.NO_OPMATH)
def view_as(input: ArrayLike, other: Other) -> Array:
    """The same as `reshape_as`: arrays have no views.

    >>> functx.view_as(jnp.zeros((2, 3), "float32"), jnp.zeros(6, "float32")).shape
    (6,)
    """
    return _shaped_as(input, other)


def _shaped_as(input: Array, other: Any) -> Array:
    check_is_array(other, "other")
    return lax.reshape(input, _filled_in(other.shape, input.size, "other"))


@operator(promote=Promote.NO_OPMATH)
def unflatten(input: ArrayLike, dim: Dim, sizes: Shape) -> Array:
    """Splits a dimension into several, in row-major order; one of `sizes` may be -1.

    Shapes: `[a, b * c, d] -> [a, b, c, d]` for `dim=1` and `(b, c)`.
    Raises `RuntimeError` if the number of elements differs.

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

    >>> functx.ravel(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([1., 2., 3., 4.], dtype=float32)
    """
    return lax.reshape(input, (input.size,))


@operator(promote=Promote.NO_OPMATH, aliases=("squeeze_copy",))
def squeeze(input: ArrayLike, dim: Dims = None) -> Array:
    """Drops the dimensions of size 1, or those of size 1 among `dim`.

    A symbolic size that may be 1 is refused: it would decide the rank.

    >>> functx.squeeze(jnp.zeros((1, 2, 1), "float32"), -1).shape
    (1, 2)
    """
    dims = canonical_dims(dim, input.ndim)
    among = range(input.ndim) if dims is None else dims
    return lax.squeeze(input, [d for d in among if not differ(input.shape[d], 1)])


@operator(promote=Promote.NO_OPMATH, aliases=("unsqueeze_copy",))
def unsqueeze(input: ArrayLike, dim: int) -> Array:
    """Inserts a dimension of size 1, which will be number `dim` of the result.

    >>> functx.unsqueeze(jnp.zeros((2, 3), "float32"), -1).shape
    (2, 3, 1)
    """
    return lax.expand_dims(input, [canonical_dim(dim, input.ndim + 1)])
