"""Derivatives of sampled functions, by finite differences."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    as_dtype,
    axes_of,
    category,
    complex_of,
    compute_and_result,
    default_float,
    describe,
    Dims,
    LONG,
    operator,
    Promote,
    refuse,
    result_dtype,
    UnpromotedArrayOrArrays,
)


__all__ = ["gradient"]


# Coordinates promote, distances do not, and integers are subtracted as integers.
@operator(promote=Promote.NONE, accepts=Accepts.NUMBER)
def gradient(
    input: ArrayOnly,
    *,
    spacing: UnpromotedArrayOrArrays | None = 1,
    dim: Dims = None,
    edge_order: int = 1,
) -> tuple[Array, ...]:
    """Partial derivatives of the sampled function `input` along `dim`, by finite differences.

    Between its neighbours, at distances $h$ below and $k$ above, a sample has the derivative
    $(k s + h t) / (h + k)$ of the parabola through the three, where $s$ and $t$ are the slopes to
    either side. Source: Fornberg, Math. Comp. 51, 1988.

    - `spacing`: the distance between samples, along all dimensions or a sequence of one for each;
      or a sequence of vectors, the coordinates of the samples along each. 1 by default.
    - `dim`: one dimension or several; `None` stands for all.
    - `edge_order`: 1 gives the first and the last sample the slope to their neighbour, 2 the
      derivative of the parabola through the nearest three.

    Shapes: each result has the shape of `input`.
    Dtypes: the common dtype of `input` and the coordinates; integers in either give the default
    dtype, a complex distance a complex result. Integers are subtracted in int64 (PyTorch's overflow
    in narrower ones, and it refuses uint8).
    Errors: RuntimeError for fewer than `edge_order + 1` samples along a dimension, and for another
    number of coordinates than of samples (PyTorch may take it, and gives wrong values).

    >>> functx.gradient(jnp.asarray([1.0, 4.0, 9.0], "float32"))
    (Array([3., 4., 5.], dtype=float32),)
    >>> x = jnp.asarray([1.0, 2.0, 4.0], "float32")
    >>> functx.gradient(x**2, spacing=(x,), edge_order=2)
    (Array([2., 4., 8.], dtype=float32),)
    """
    if edge_order not in (1, 2):
        refuse(f"`edge_order` must be 1 or 2, got {edge_order}")
    dims = () if dim == () else axes_of(dim, input.ndim)  # unlike for a sum, () names no dimension
    for d in dims:
        if input.shape[d] <= edge_order:
            refuse(
                f"`input` must have at least {edge_order + 1} samples along dimension {d}, "
                f"got {describe(input)}"
            )
    spacings = _spacings(spacing, len(dims))
    return tuple(
        _derivative(input, d, spacings[i], f"spacing[{i}]", edge_order) for i, d in enumerate(dims)
    )


def _spacings(spacing: Any, count: int) -> list[Array]:
    """One spacing for each dimension: a 0-d distance, or a vector of coordinates."""
    if spacing is None:
        spacing = 1
    if not isinstance(spacing, (tuple, list)):
        if jnp.ndim(spacing):
            refuse(
                f"`spacing` must be a number or a sequence, got {describe(spacing)}",
                hint="coordinates come in a sequence of vectors: spacing=(x,)",
            )
        return [jnp.asarray(spacing)] * count
    if len(spacing) != count:
        refuse(f"`spacing` must have an element for each of {count} dimensions, got {len(spacing)}")
    for i, each in enumerate(spacing):
        if each is None:
            refuse(f"`spacing[{i}]` must be a number or a vector, got None", error=TypeError)
    return [jnp.asarray(each) for each in spacing]


def _derivative(input: Array, dim: int, spacing: Array, name: str, edge_order: int) -> Array:
    compute, result = _dtypes(input, spacing)
    differences = lambda apart: _differences(input, dim, apart, compute)
    if spacing.ndim == 0:
        widths = spacing.astype(compute)
        slopes, inner = differences(1) / widths, differences(2) / (2 * widths)
    else:
        widths = _widths(spacing, input, dim, name, compute)
        slopes = differences(1) / widths
        inner = _between(slopes, widths, dim)
    first = _at_end(slopes, widths, dim, edge_order, 0, 1)
    last = _at_end(slopes, widths, dim, edge_order, -1, -2)
    return jnp.concatenate([first, inner, last], axis=dim).astype(result)


def _between(slopes: Array, widths: Array, dim: int) -> Array:
    below, above = _all_but(widths, -1, dim), _all_but(widths, 0, dim)
    whole = below + above
    shares = below / whole, above / whole  # a width times a slope may leave the range
    return shares[0] * _all_but(slopes, 0, dim) + shares[1] * _all_but(slopes, -1, dim)


def _at_end(
    slopes: Array, widths: Array, dim: int, edge_order: int, place: int, neighbour: int
) -> Array:
    slope = _at(slopes, place, dim)
    if edge_order == 1:
        return slope
    bend = slope - _at(slopes, neighbour, dim)
    if widths.ndim == 0:
        return slope + 0.5 * bend
    width = _at(widths, place, dim)
    return slope + bend * (width / (width + _at(widths, neighbour, dim)))


def _dtypes(input: Array, spacing: Array) -> tuple[Any, Any]:
    if spacing.ndim:
        floating = spacing.astype(default_float()) if category(spacing.dtype) == 1 else spacing
        common = result_dtype([input, floating])
    else:
        common = np.dtype(input.dtype)
        if category(spacing.dtype) == 3:
            common = complex_of(common if category(common) > 1 else default_float())
    return compute_and_result(Promote.INT_TO_FLOAT, common)


def _widths(coordinates: Array, input: Array, dim: int, name: str, compute: Any) -> Array:
    if coordinates.shape != (input.shape[dim],):
        refuse(
            f"`{name}` must be a vector of {input.shape[dim]} coordinates, one for each sample "
            f"along dimension {dim} of {describe(input)}, got {describe(coordinates)}"
        )
    others = [d for d in range(input.ndim) if d != dim]
    return lax.expand_dims(_differences(coordinates, 0, 1, compute), others)


def _differences(x: Array, dim: int, apart: int, compute: Any) -> Array:
    """The differences of elements so far `apart`; integers are subtracted in int64."""
    x = x.astype(as_dtype(LONG) if category(x.dtype) == 1 else compute)
    n = x.shape[dim]
    later = lax.slice_in_dim(x, apart, n, axis=dim)
    return (later - lax.slice_in_dim(x, 0, n - apart, axis=dim)).astype(compute)


def _all_but(x: Array, place: int, dim: int) -> Array:
    """`x` without the first element along `dim` (place 0), or without the last (place -1)."""
    return lax.slice_in_dim(x, 1 + place, x.shape[dim] + place, axis=dim)


def _at(x: Array, place: int, dim: int) -> Array:
    return lax.index_in_dim(x, place, dim)
