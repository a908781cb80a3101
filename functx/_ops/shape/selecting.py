"""A part of a dimension: one position, or a run of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    ArrayLike,
    available,
    category,
    describe,
    Dim,
    highest,
    Index,
    index_in_range,
    LONG,
    lowest,
    operator,
    Promote,
    refuse,
    Requirement,
)


__all__ = ["narrow", "select"]


def _select_in_range(*, input: Any, dim: int, index: Any, **_: Any) -> Iterator[Requirement]:
    yield index_in_range(index, input.shape[dim], negative=True)


@operator(promote=Promote.NO_OPMATH, requires=_select_in_range)
def select(input: ArrayLike, dim: Dim, index: Index) -> Array:
    """The slice at one position of `dim`, without that dimension.

    `index` may be traced. One that is out of range is refused where its value is known;
    elsewhere it reads NaN, or what `jax.numpy` fills with if `input` is not floating.

    >>> functx.select(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), 1, -1)
    Array([2., 4.], dtype=float32)
    """
    if not input.ndim or not input.shape[dim]:
        refuse(f"`input` must have an element along `dim`, got {describe(input)}", error=IndexError)
    return lax.squeeze(_run(input, dim, _position(index, "index"), 1), [dim])


def _run_in_range(
    *, input: Any, dim: int, start: Any, length: int, **_: Any
) -> Iterator[Requirement]:
    size = input.shape[dim]
    yield Requirement(
        (start >= -size) & (start <= size),
        f"`start` must lie in [{-size}, {size}], got {{got}}",
        got=start,
        error=IndexError,
    )
    yield Requirement(
        jnp.where(start < 0, start + size, start) + length <= size,
        f"`start` + `length` must not exceed {size}, got {{got}} + {length}",
        got=start,
    )


@operator(promote=Promote.NO_OPMATH, requires=_run_in_range)
def narrow(input: ArrayLike, dim: Dim, start: Index, length: int) -> Array:
    """The `length` positions of `dim` from `start` on.

    `start` may be traced; a negative one counts from the end. A run that is not inside
    `input` is refused where the value is known; elsewhere it reads as `select` does.

    >>> functx.narrow(jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32"), 0, 1, 2)
    Array([2., 3.], dtype=float32)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}")
    if not 0 <= length <= input.shape[dim]:
        refuse(f"`length` must lie in [0, {input.shape[dim]}], got {length}")
    if np.ndim(start):
        refuse(f"`start` must be 0-d, got {describe(start)}")
    return _run(input, dim, _position(start, "start"), length)


def _position(index: Any, name: str) -> Array:
    index = jnp.asarray(index)
    if category(index.dtype) != 1:
        refuse(f"`{name}` must be an integer, got {describe(index)}", error=TypeError)
    if index.size != 1:
        refuse(f"`{name}` must be one integer, got {describe(index)}")
    return lax.convert_element_type(index, available(LONG)).reshape(())


def _run(input: Array, dim: int, start: Array, length: int) -> Array:
    size = input.shape[dim]
    start = jnp.where(start < 0, start + size, start)
    inside = (start >= 0) & (start + length <= size)
    run = lax.dynamic_slice_in_dim(input, start, length, dim)
    return jnp.where(inside, run, _fill(input.dtype))


def _fill(dtype: np.dtype) -> np.ndarray:
    """What `jax.numpy` reads out of bounds: NaN, or the value least likely to be meant."""
    if category(dtype) >= 2:
        return np.asarray(np.nan, dtype)
    signed = jnp.issubdtype(dtype, np.signedinteger)
    return np.asarray(lowest(dtype) if signed else highest(dtype), dtype)
