"""Arrays repeated to a larger shape, and summed back to a smaller one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    accumulator,
    ArrayLike,
    ArraysOnly,
    as_dtype,
    Autocast,
    category,
    describe,
    LONG,
    operator,
    Promote,
    refuse,
    Shape,
    UnpromotedArray,
)
from functx._ops.creation.sizes import size_after_array

from .listing import listed_form
from .models import check_is_array


__all__ = [
    "broadcast_tensors",
    "broadcast_to",
    "expand",
    "expand_as",
    "repeat",
    "sum_to_size",
    "tile",
]


@operator(promote=Promote.NO_OPMATH, aliases=("expand_copy",))
def expand(input: ArrayLike, size: Shape) -> Array:
    """Repeats dimensions of size 1, and adds leading ones, until the shape is `size`.

    - `input`: an array of any dtype, which the result keeps.
    - `size`: the shape of the result. -1 keeps the size of a dimension that `input` has.

    Shapes: `[m, 1] -> [k, m, n]` for `size=(k, m, n)`.
    Gradients: the sum over all copies of an element.
    Errors: RuntimeError if `input` does not broadcast to `size`.

    >>> functx.expand(jnp.asarray([[1.0], [2.0]], "float32"), (-1, 3))
    Array([[1., 1., 1.],
           [2., 2., 2.]], dtype=float32)
    """
    return _expanded(input, size)


@operator(promote=Promote.NO_OPMATH)
def broadcast_to(input: ArrayLike, size: Shape) -> Array:
    """Repeats dimensions of size 1, and adds leading ones, up to the shape `size`, like `expand`.

    - `input`: an array of any dtype, which the result keeps.
    - `size`: the shape of the result. -1 keeps the size of a dimension that `input` has.

    Shapes: `[m, 1] -> [k, m, n]` for `size=(k, m, n)`.
    Gradients: the sum over all copies of an element.
    Errors: RuntimeError if `input` does not broadcast to `size`.

    >>> functx.broadcast_to(jnp.asarray([1.0, 2.0], "float32"), (2, 2))
    Array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    return _expanded(input, size)


@operator(promote=Promote.NO_OPMATH)
def expand_as(input: ArrayLike, other: UnpromotedArray) -> Array:
    """Repeats dimensions of size 1, and adds leading ones, until the shape is that of `other`.

    - `input`: an array of any dtype, which the result keeps.
    - `other`: an array whose shape alone counts.

    Gradients: the sum over all copies of an element of `input`; none for `other`.
    Errors: RuntimeError if `input` does not broadcast to the shape of `other`, TypeError if `other`
    is a number.

    >>> functx.expand_as(jnp.asarray([1.0, 2.0], "float32"), jnp.zeros((2, 2), "float32"))
    Array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    check_is_array(other, "other")
    return _expanded(input, other.shape, "other")


def _expanded(input: Array, size: tuple[int, ...], name: str = "size") -> Array:
    """`input` repeated to the shape `size`; errors call that shape `name`."""
    new = len(size) - input.ndim
    if new < 0:
        refuse(f"`{name}` must have at least {input.ndim} entries, got {list(size)}")
    if -1 in size[:new]:
        refuse(f"`{name}` may be -1 only where {describe(input)} has a dimension, got {list(size)}")
    before = (1,) * new + input.shape
    for m, n in zip(size, before, strict=True):
        if m < -1 or (m != -1 and n not in (1, m)):
            refuse(f"{describe(input)} does not broadcast to {list(size)}")
    wanted = tuple(n if m == -1 else m for m, n in zip(size, before, strict=True))
    return jnp.broadcast_to(input, wanted)


@overload
def broadcast_tensors(*tensors: ArrayLike) -> tuple[Array, ...]: ...
@overload
def broadcast_tensors(tensors: Sequence[ArrayLike]) -> tuple[Array, ...]: ...
@operator(promote=Promote.NONE, other_signatures=listed_form, takes_storage_dtypes=True)
def broadcast_tensors(tensors: ArraysOnly) -> tuple[Array, ...]:
    """Each array repeated until all have one shape: a tuple of arrays.

    - `tensors`: arrays of any dtypes, one after another or in one list. Each keeps its own dtype.

    Shapes: `[m, 1], [n] -> [m, n], [m, n]`.
    Gradients: the sum over all copies of an element.
    Errors: RuntimeError if the shapes do not broadcast, TypeError for a number.

    >>> x, y = functx.broadcast_tensors(jnp.zeros((2, 1), "float32"), jnp.zeros(3, "float32"))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    try:
        shape = jnp.broadcast_shapes(*(x.shape for x in tensors))
    except ValueError:
        refuse(f"`tensors` must broadcast, got {', '.join(map(describe, tensors))}")
    return tuple(jnp.broadcast_to(x, shape) for x in tensors)


@overload
def sum_to_size(input: ArrayLike, size: int | Sequence[int]) -> Array: ...
@overload
def sum_to_size(input: ArrayLike, size: int, /, *sizes: int) -> Array: ...
@operator(
    promote=Promote.NONE,
    other_signatures=size_after_array,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def sum_to_size(input: ArrayLike, size: Shape) -> Array:
    """Sums over leading dimensions, and over those of size 1 in `size`, which undoes `expand`.

    - `input`: an array of any dtype.
    - `size`: the shape of the result, as one sequence or as several ints.

    Shapes: `[k, m, n] -> [m, 1]` for `size=(m, 1)`.
    Dtypes: sums of bools and integers are int64, and so is any result of `size=()`. The dtype stays
    where nothing is summed.
    Errors: RuntimeError unless `size` broadcasts to the shape of `input`.

    >>> functx.sum_to_size(jnp.ones((2, 3), "float32"), (2, 1))
    Array([[3.],
           [3.]], dtype=float32)
    """
    new = input.ndim - len(size)
    there = (1,) * new + size
    if new < 0 or any(m not in (1, n) for m, n in zip(there, input.shape, strict=True)):
        refuse(f"`size` must broadcast to {list(input.shape)}, got {list(size)}")
    over = [d for d, n in enumerate(input.shape) if d < new or there[d] != n]
    if not over and size:
        return input
    dtype = as_dtype(LONG) if category(input.dtype) < 2 else input.dtype
    total = jnp.sum(input, over, dtype=accumulator(dtype)).astype(dtype)
    return lax.reshape(total, size)


@operator(promote=Promote.NO_OPMATH)
def repeat(input: ArrayLike, repeats: Shape) -> Array:
    """Lays `repeats[i]` copies of `input` behind one another along dimension `i`.

    - `input`: an array of any dtype, which the result keeps.
    - `repeats`: how many copies, for each dimension. More entries than dimensions add leading
      dimensions.

    Shapes: `[3] -> [2, 6]` for `repeats=(2, 2)`.
    Errors: RuntimeError for fewer entries than dimensions, and for negative ones.

    This is `torch.Tensor.repeat`; NumPy's `repeat` is called `repeat_interleave` here.

    >>> functx.repeat(jnp.asarray([1.0, 2.0], "float32"), (2, 2))
    Array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    if len(repeats) < input.ndim:
        refuse(f"`repeats` must have at least {input.ndim} entries, got {list(repeats)}")
    return _copies(input, repeats, "repeats")


@operator(promote=Promote.NO_OPMATH)
def tile(input: ArrayLike, dims: Shape) -> Array:
    """Lays `dims[i]` copies of `input` behind one another along dimension `i`.

    - `input`: an array of any dtype, which the result keeps.
    - `dims`: how many copies, for each dimension. Fewer entries than dimensions belong to the last
      dimensions; more entries add leading dimensions.

    Shapes: `[2, 3] -> [2, 6]` for `dims=(2,)`, `[3] -> [2, 6]` for `dims=(2, 2)`.
    Errors: RuntimeError for negative entries.

    >>> functx.tile(jnp.asarray([[1.0, 2.0]], "float32"), (2,))
    Array([[1., 2., 1., 2.]], dtype=float32)
    """
    return _copies(input, (1,) * (input.ndim - len(dims)) + dims, "dims")


def _copies(input: Array, counts: tuple[int, ...], name: str) -> Array:
    """`counts[i]` copies of `input` along each dimension `i`; errors call the counts `name`."""
    before = (1,) * (len(counts) - input.ndim) + input.shape
    if any(n > 0 > count for n, count in zip(before, counts, strict=True)):
        refuse(f"`{name}` must not be negative, got {list(counts)}")
    return jnp.tile(input, [max(count, 0) for count in counts])
