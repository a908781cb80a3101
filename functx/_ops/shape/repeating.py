"""Each element of an array several times over, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax

from functx._core import (
    ArrayLike,
    as_dtype,
    describe,
    Dim,
    is_number,
    LONG,
    operator,
    Promote,
    refuse,
    Requirement,
    Size,
    UnpromotedArray,
)


__all__ = ["repeat_interleave"]


def _repeats_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Completes calls: `repeats` alone repeats positions, and an int gives `output_size`."""
    if not args and "input" not in kwargs and "repeats" in kwargs:
        args, kwargs = (kwargs["repeats"],), {k: v for k, v in kwargs.items() if k != "repeats"}
    if len(args) == 1 and "repeats" not in kwargs and hasattr(args[0], "shape"):
        _check_counts(args[0])
        if args[0].ndim != 1:
            refuse(f"`repeats` must have 1 dimension, got {describe(args[0])}")
        return (np.arange(args[0].shape[0], dtype=args[0].dtype), *args), kwargs
    repeats = args[1] if len(args) > 1 else kwargs.get("repeats")
    if isinstance(repeats, (bool, float, complex)):
        refuse(f"`repeats` must be an int or an array of ints, got {repeats}", error=TypeError)
    if type(repeats) is not int:
        return args, kwargs
    if repeats < 0:
        refuse(f"`repeats` must not be negative, got {repeats}")
    input = args[0] if args else kwargs.get("input")
    dim = args[2] if len(args) > 2 else kwargs.get("dim")
    shape = getattr(input, "shape", ())
    if dim is None:
        total = math.prod(shape) * repeats
    elif isinstance(dim, int) and -len(shape) <= dim < len(shape):
        total = shape[dim] * repeats
    else:
        return args, kwargs
    size = kwargs.get("output_size")
    if size is not None and (isinstance(size, bool) or size != total):
        refuse(f"`output_size` must be {total}, got {describe(size)}")
    return args, kwargs | {"output_size": total}


def _check_counts(repeats: Any) -> None:
    """Refuses an array of repeats that are not int32 or int64."""
    if repeats.dtype not in (np.int32, np.int64):
        refuse(f"`repeats` must be int32 or int64, got {describe(repeats)}", error=TypeError)


def _total(*, input: Any, repeats: Any, dim: int | None = None, **_: Any) -> Any:
    """The number of elements that the result has along `dim`."""
    total = jnp.sum(repeats, dtype=as_dtype(LONG))
    return total * _extent(input, dim) if repeats.size == 1 else total


def _extent(input: Any, dim: int | None) -> int:
    """The number of elements along `dim`, or of all elements without it."""
    return input.size if dim is None else input.shape[dim] if input.shape else 1


def _counts_fit(*, repeats: Any, output_size: Any, **others: Any) -> Iterator[Requirement]:
    yield Requirement(repeats >= 0, "`repeats` must not be negative, got {got}", got=repeats)
    if output_size is not None:
        total = _total(repeats=repeats, **others)
        yield Requirement(
            total == output_size, f"`output_size` must be {{got}}, got {output_size}", got=total
        )


@overload
def repeat_interleave(
    input: ArrayLike,
    repeats: int | Array,
    dim: Dim | None = None,
    *,
    output_size: Size | None = None,
) -> Array: ...
@overload
def repeat_interleave(repeats: Array, *, output_size: Size | None = None) -> Array: ...
@operator(
    promote=Promote.NO_OPMATH,
    other_signatures=_repeats_form,
    requires=_counts_fit,
    sizes_from_values={"output_size": _total},
)
def repeat_interleave(
    input: ArrayLike,
    repeats: UnpromotedArray,
    dim: Dim | None = None,
    *,
    output_size: Size | None = None,
) -> Array:
    """Repeats each element along `dim`, the copies of an element side by side.

    - `input`: an array of any dtype, which the result keeps. Without it, as in
      `repeat_interleave(repeats)`, positions 0, 1, ... are repeated.
    - `repeats`: how many times: a number for all elements, or int32 or int64 `[n]` with one for
      each.
    - `dim`: the dimension with `n` elements. None takes all elements in row-major order.
    - `output_size`: the sum of all repeats, which `jit` must be told where `repeats` is an array.
      None sums. Elements beyond the actual sum read NaN; for integers the least value (uint8: the
      greatest), for bools True.

    Shapes: `[..., n, ...] -> [..., sum of repeats, ...]`; without `dim`, `[sum of repeats]`.
    Errors: RuntimeError for negative repeats, another number of them, and an `output_size` that is
    not their sum; TypeError for repeats of other dtypes; IndexError if `input` does not have `dim`.

    This is `numpy.repeat`; `repeat` lays copies of the whole array behind one another.

    >>> functx.repeat_interleave(jnp.asarray([1.0, 2.0], "float32"), 2)
    Array([1., 1., 2., 2.], dtype=float32)
    >>> functx.repeat_interleave(jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([1, 2]))
    Array([1., 2., 2.], dtype=float32)
    """
    if dim is not None and not input.ndim:
        refuse(f"`dim` must be left out for {describe(input)}, got {dim}", error=IndexError)
    repeats = jnp.asarray(repeats)
    line, at = (lax.reshape(input, (input.size,)), 0) if dim is None else (input, dim)
    extent = line.shape[at]
    assert output_size is not None
    if output_size < 0:
        refuse(f"`output_size` must not be negative, got {output_size}")
    if is_number(repeats):
        return _evenly(line, at, output_size // core.max_dim(extent, 1))
    _check_counts(repeats)
    if repeats.ndim > 1 or repeats.size not in (1, extent):
        refuse(f"`repeats` must have shape [{extent}], got {describe(repeats)}")
    if output_size and not extent:
        refuse(f"`output_size` must be 0 for no elements, got {output_size}")
    counts = jnp.broadcast_to(repeats.astype(as_dtype(LONG)), (extent,))
    marks = jnp.zeros(output_size, counts.dtype).at[jnp.cumsum(counts)].add(1, mode="drop")
    return jnp.take(line, jnp.cumsum(marks), at, mode="fill")


def _evenly(line: Array, dim: int, times: int) -> Array:
    """Each element along `dim`, `times` times."""
    shape = line.shape
    wide = lax.broadcast_in_dim(
        line,
        (*shape[: dim + 1], times, *shape[dim + 1 :]),
        tuple(d + (d > dim) for d in range(line.ndim)),
    )
    return lax.reshape(wide, (*shape[:dim], shape[dim] * times, *shape[dim + 1 :]))
