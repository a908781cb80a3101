"""Dimensions, sizes and shapes in canonical form."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from functx._core.errors import describe, refuse

from .symbolic_sizes import known, Size


def canonical_dim(dim: Any, ndim: int, name: str = "dim") -> int:
    """`dim` as a non-negative int in range. A 0-d array has a dimension 0 to name."""
    low, high = -max(ndim, 1), max(ndim, 1) - 1
    try:
        place = as_int(dim)
    except TypeError:
        refuse(f"`{name}` must be an int, got {describe(dim)}", error=TypeError)
    except OverflowError:
        place = high + 1
    if not low <= place <= high:
        refuse(f"`{name}` must lie in [{low}, {high}], got {describe(dim)}", error=IndexError)
    return place % max(ndim, 1)


def canonical_dims(dims: Any, ndim: int, name: str = "dim") -> tuple[int, ...] | None:
    """`dims` as non-negative ints in range without repeats; none for a 0-d array."""
    if dims is None:
        return None
    several = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    out = tuple(canonical_dim(dim, ndim, name) for dim in several)
    if len(set(out)) < len(out):
        refuse(f"`{name}` names a dimension twice: {dims}")
    return out if ndim else ()


def axes_of(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The axes that canonical `Dims` stand for: all of them if there is none."""
    assert not isinstance(dim, int)
    return tuple(dim or range(ndim))


def canonical_shape(shape: Any, name: str = "size") -> tuple[Size, ...]:
    """A tuple of sizes, from one size or any sequence of them."""
    several = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        return tuple(map(as_size, several))
    except TypeError:
        wanted = "an int or a sequence of ints"
        refuse(f"`{name}` must be {wanted}, got {describe(shape)}", error=TypeError)
    except OverflowError as error:
        refuse(f"`{name}` must fit 64 bits, got {error}", error=OverflowError)


def as_int(value: Any) -> int:
    """`x` as a Python int; raises TypeError or, beyond 64 bits, OverflowError."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError(describe(number))
    return number


def as_size(value: Any) -> Size:
    """`x` as a Python int, as `as_int` has it; a symbolic size as it is."""
    return as_int(value) if known(value) else value


def broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of `shape` fits `target` without enlarging it."""
    ends = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(n in (1, m) for n, m in ends)
