"""Dimensions and sizes in canonical form."""

from __future__ import annotations

import operator
from typing import Any

from .errors import describe, refuse
from .roles import Dims


def canonical_dim(dim: Any, ndim: int, name: str = "dim") -> int:
    """Non-negative and in range. A 0-d array has a dimension 0 to name."""
    try:
        dim = operator.index(dim)
    except TypeError:
        refuse(f"`{name}` must be an int, got {describe(dim)}", error=TypeError)
    low, high = -max(ndim, 1), max(ndim, 1) - 1
    if not low <= dim <= high:
        refuse(f"`{name}` must lie in [{low}, {high}], got {dim}", error=IndexError)
    return dim % max(ndim, 1)


def canonical_dims(dims: Any, ndim: int, name: str = "dim") -> tuple[int, ...] | None:
    """Non-negative, in range, without repeats; of a 0-d array none are left."""
    if dims is None:
        return None
    several = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    out = tuple(canonical_dim(dim, ndim, name) for dim in several)
    if len(set(out)) < len(out):
        refuse(f"`{name}` names a dimension twice: {dims}")
    return out if ndim else ()


def canonical_ints(value: Any, name: str, *, several: bool) -> int | tuple[int, ...]:
    """An int, or where `several` may be given a sequence of them as a tuple."""
    try:
        if several and isinstance(value, (tuple, list)):
            return tuple(operator.index(n) for n in value)
        return operator.index(value)
    except TypeError:
        wanted = "an int or a sequence of ints" if several else "an int"
        refuse(f"`{name}` must be {wanted}, got {describe(value)}", error=TypeError)


def axes_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The axes that canonical `Dims` stand for: all of them if there is none."""
    assert not isinstance(dim, int)
    return tuple(dim or range(ndim))


def canonical_shape(shape: Any, name: str = "size") -> tuple[int, ...]:
    """A tuple of ints, from one int or any sequence of them."""
    several = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        return tuple(operator.index(n) for n in several)
    except TypeError:
        refuse(f"`{name}` must be an int or a sequence of ints, got {shape!r}", error=TypeError)
