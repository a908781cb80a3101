"""Dimensions and sizes in canonical form."""

from __future__ import annotations

from typing import Any

from functx._core.errors import describe, refuse
from functx._core.operators.roles import Dims
from functx._core.operators.static_options import as_int, as_size

from .symbolic_sizes import Size


def canonical_dim(dim: Any, ndim: int, name: str = "dim") -> int:
    """Non-negative and in range. A 0-d array has a dimension 0 to name."""
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
    """Non-negative, in range, without repeats; of a 0-d array none are left."""
    if dims is None:
        return None
    several = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    out = tuple(canonical_dim(dim, ndim, name) for dim in several)
    if len(set(out)) < len(out):
        refuse(f"`{name}` names a dimension twice: {dims}")
    return out if ndim else ()


def axes_of(dim: Dims, ndim: int) -> tuple[int, ...]:
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
