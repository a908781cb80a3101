"""Arrays with dimensions of size 1 added up to a least rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from jax import Array

from functx._core import ArrayOnly, ArrayOrArrays, operator, Promote

from .least_ranks import at_least


__all__ = ["atleast_1d", "atleast_2d", "atleast_3d"]


def _several_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Rewrites `atleast_1d(x, y)` as `atleast_1d((x, y))`."""
    return ((args,) if len(args) > 1 or not (args or kwargs) else args), kwargs


@overload
def atleast_1d(tensors: ArrayOnly, /) -> Array: ...
@overload
def atleast_1d(tensors: Sequence[ArrayOnly], /) -> tuple[Array, ...]: ...
@overload
def atleast_1d(*tensors: ArrayOnly) -> tuple[Array, ...]: ...
@operator(promote=Promote.NONE, other_signatures=_several_form, takes_storage_dtypes=True)
def atleast_1d(tensors: ArrayOrArrays) -> Array | tuple[Array, ...]:
    """Each array with at least 1 dimension; several arrays give a tuple.

    - `tensors`: one array, or several one after another or in one sequence. Each keeps its dtype.

    Shapes: `[] -> [1]`; other shapes stay.
    Errors: TypeError for a number.

    >>> functx.atleast_1d(jnp.asarray(2.0, "float32"))
    Array([2.], dtype=float32)
    """
    return _each_at_least(tensors, 1)


@overload
def atleast_2d(tensors: ArrayOnly, /) -> Array: ...
@overload
def atleast_2d(tensors: Sequence[ArrayOnly], /) -> tuple[Array, ...]: ...
@overload
def atleast_2d(*tensors: ArrayOnly) -> tuple[Array, ...]: ...
@operator(promote=Promote.NONE, other_signatures=_several_form, takes_storage_dtypes=True)
def atleast_2d(tensors: ArrayOrArrays) -> Array | tuple[Array, ...]:
    """Each array with at least 2 dimensions, the new ones first; several arrays give a tuple.

    - `tensors`: one array, or several one after another or in one sequence. Each keeps its dtype.

    Shapes: `[] -> [1, 1]`, `[n] -> [1, n]`; other shapes stay.
    Errors: TypeError for a number.

    >>> functx.atleast_2d(jnp.asarray([1.0, 2.0], "float32"))
    Array([[1., 2.]], dtype=float32)
    """
    return _each_at_least(tensors, 2)


@overload
def atleast_3d(tensors: ArrayOnly, /) -> Array: ...
@overload
def atleast_3d(tensors: Sequence[ArrayOnly], /) -> tuple[Array, ...]: ...
@overload
def atleast_3d(*tensors: ArrayOnly) -> tuple[Array, ...]: ...
@operator(promote=Promote.NONE, other_signatures=_several_form, takes_storage_dtypes=True)
def atleast_3d(tensors: ArrayOrArrays) -> Array | tuple[Array, ...]:
    """Each array with at least 3 dimensions; several arrays give a tuple.

    - `tensors`: one array, or several one after another or in one sequence. Each keeps its dtype.

    Shapes: `[] -> [1, 1, 1]`, `[n] -> [1, n, 1]`, `[m, n] -> [m, n, 1]`; other shapes stay.
    Errors: TypeError for a number.

    >>> functx.atleast_3d(jnp.asarray([1.0, 2.0], "float32")).shape
    (1, 2, 1)
    """
    return _each_at_least(tensors, 3)


def _each_at_least(tensors: Any, ndim: int) -> Any:
    if isinstance(tensors, (tuple, list)):
        return tuple(at_least(x, ndim) for x in tensors)
    return at_least(tensors, ndim)
