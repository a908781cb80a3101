"""Rules of primitives that read or write elements at indices, which may be known or not.

Where an index is not known, a result depends on whatever it may stand for. Rules are not asked
where an index depends on the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .equations import DependenceRule, TracedEquation
from .row_sets import along, mapped, numbers, Rows, taken, united, where


def _gathered(equation: TracedEquation) -> Rows:
    params, shape = equation.params, equation.shapes[0]
    dimensions, sizes = params["dimension_numbers"], params["slice_sizes"]
    rows, indices = equation.rows[0], equation.known(1)
    if indices is None:
        rows = along(rows, shape, _open(dimensions.start_index_map, sizes, shape))
        indices = np.zeros(equation.shapes[1], np.int32)
    return taken(rows, _elements_read(equation, indices))


def _elements_read(equation: TracedEquation, indices: np.ndarray) -> np.ndarray:
    """The number of the element that each result is, or -1."""
    params = equation.params | {"fill_value": -1, "unique_indices": False}
    return _read(equation.shapes[0], indices, params)


def _read(shape: Sequence[int], indices: np.ndarray, params: dict[str, Any]) -> np.ndarray:
    operand = jnp.asarray(numbers(shape).astype(np.int32))
    return np.asarray(lax.gather_p.bind(operand, jnp.asarray(indices), **params))


def _open(dims: Sequence[int], sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """Of the dimensions that indices are for, those where a slice is not all there is."""
    return [d for d in dims if sizes[d] != shape[d]]


def _scattered(equation: TracedEquation) -> Rows:
    """Updates beside what was there; a plain `scatter` puts them in its place."""
    params, shape = equation.params, equation.shapes[0]
    numbers_ = params["dimension_numbers"]
    sizes = _window_sizes(shape, equation.shapes[2], numbers_)
    dual = {
        "dimension_numbers": lax.GatherDimensionNumbers(
            offset_dims=numbers_.update_window_dims,
            collapsed_slice_dims=numbers_.inserted_window_dims,
            start_index_map=numbers_.scatter_dims_to_operand_dims,
            operand_batching_dims=numbers_.operand_batching_dims,
            start_indices_batching_dims=numbers_.scatter_indices_batching_dims,
        ),
        "slice_sizes": sizes,
        "indices_are_sorted": False,
        "unique_indices": False,
        "mode": params["mode"],
        "fill_value": -1,
    }
    known = equation.known(1)
    indices = np.zeros(equation.shapes[1], np.int32) if known is None else known
    to = _read(shape, indices, dual).ravel()
    written, free = to >= 0, _open(numbers_.scatter_dims_to_operand_dims, sizes, shape)
    parts = []
    if (rows := equation.rows[0]) is not None:
        if known is not None and equation.eqn.primitive.name == "scatter":
            replaced = np.zeros(rows.shape[0], bool)
            replaced[to[written]] = True
            rows = where(rows, ~replaced)
        parts.append(rows)
    if (rows := equation.rows[2]) is not None:
        put = mapped(rows, to[written], np.flatnonzero(written), equation.out_size)
        parts.append(put if known is not None else along(put, shape, free))
    return united(parts)


def _window_sizes(shape: Sequence[int], updates: Sequence[int], dimensions: Any) -> tuple[int, ...]:
    """The slices that a gather would read where a scatter writes."""
    one = {*dimensions.inserted_window_dims, *dimensions.operand_batching_dims}
    windows = iter([updates[d] for d in dimensions.update_window_dims])
    return tuple(1 if d in one else next(windows) for d in range(len(shape)))


def _starts(
    equation: TracedEquation, first: int, sizes: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Where a slice begins, as far as that is known, and the dimensions where it is not."""
    starts, unknown = [], []
    for dim, (n, size) in enumerate(zip(equation.shapes[0], sizes, strict=True)):
        start = 0 if n == size else equation.known(first + dim)
        if start is None:
            unknown.append(dim)
        starts.append(0 if start is None else int(np.clip(start, 0, n - size)))
    return starts, unknown


def _slice_read(equation: TracedEquation) -> Rows:
    shape, sizes = equation.shapes[0], equation.params["slice_sizes"]
    starts, unknown = _starts(equation, 1, sizes)
    cut = tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))
    return taken(along(equation.rows[0], shape, unknown), numbers(shape)[cut])


def _slice_written(equation: TracedEquation) -> Rows:
    shape, sizes = equation.shapes[0], equation.shapes[1]
    starts, unknown = _starts(equation, 2, sizes)
    cut = tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))
    to = numbers(shape)[cut].ravel()
    parts = []
    if (rows := equation.rows[0]) is not None:
        if not unknown:
            replaced = np.zeros(equation.out_size, bool)
            replaced[to] = True
            rows = where(rows, ~replaced)
        parts.append(rows)
    if equation.rows[1] is not None:
        put = mapped(equation.rows[1], to, np.arange(to.size), equation.out_size)
        parts.append(along(put, shape, unknown))
    return united(parts)


_SCATTERS = ("add", "sub", "mul", "min", "max")

INDEXING: dict[str, DependenceRule] = {
    "gather": _gathered,
    "scatter": _scattered,
    **{f"scatter{sep}{how}": _scattered for how in _SCATTERS for sep in "-_"},  # releases differ
    "dynamic_slice": _slice_read,
    "dynamic_update_slice": _slice_written,
}
