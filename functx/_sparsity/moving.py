"""Rules of primitives that move elements: each result is one element of an operand, or filled in.

A rule runs on the numbers of the elements instead of the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .equations import DependenceRule, TracedEquation
from .row_sets import mapped, no_rows, numbers, Rows, taken


def moved(equation: TracedEquation, move: Callable[..., np.ndarray]) -> Rows:
    """The sets of the results of `move`, which is given the numbers of the operands' elements."""
    stacked, start, given = [], 0, []
    for rows, shape, size in zip(equation.rows, equation.shapes, equation.sizes, strict=True):
        stacked.append(no_rows(size, equation.inputs) if rows is None else rows)
        given.append(numbers(shape) + start)
        start += size
    rows = stacked[0] if len(stacked) == 1 else sp.vstack(stacked, format="csr")
    return taken(rows, move(*given))


def _moving(move: Callable[..., np.ndarray]) -> DependenceRule:
    return lambda equation: moved(equation, lambda *xs: move(equation, *xs))


def _broadcast(equation: TracedEquation, x: np.ndarray) -> np.ndarray:
    out, dims = equation.out_shapes[0], equation.params["broadcast_dimensions"]
    ones = [1] * len(out)
    for dim, size in zip(dims, x.shape, strict=True):
        ones[dim] = size
    return np.broadcast_to(x.reshape(ones), out)


def _reshaped(equation: TracedEquation, x: np.ndarray) -> np.ndarray:
    if (dims := equation.params.get("dimensions")) is not None:
        x = x.transpose(dims)
    return x.reshape(equation.out_shapes[0])


def _sliced(equation: TracedEquation, x: np.ndarray) -> np.ndarray:
    params = equation.params
    steps = params["strides"] or [1] * x.ndim
    bounds = zip(params["start_indices"], params["limit_indices"], steps, strict=True)
    return x[tuple(slice(*bound) for bound in bounds)]


def _padded(equation: TracedEquation, x: np.ndarray, value: np.ndarray) -> np.ndarray:
    """With the number of the padding value, which may itself depend on an input."""
    for dim, (low, high, interior) in enumerate(equation.params["padding_config"]):
        size = x.shape[dim]
        spread = max(0, size + (size - 1) * interior) if size else 0
        shape = list(x.shape)
        shape[dim] = max(0, low) + spread + max(0, high)
        filled = np.full(shape, value, np.int64)
        within = [slice(None)] * x.ndim
        within[dim] = slice(max(0, low), max(0, low) + spread, interior + 1)
        filled[tuple(within)] = x
        within[dim] = slice(max(0, -low), shape[dim] - max(0, -high))
        x = filled[tuple(within)]
    return x


def _joined(equation: TracedEquation, *xs: np.ndarray) -> np.ndarray:
    return np.concatenate(xs, equation.params["dimension"])


def _split(equation: TracedEquation) -> list[Rows]:
    borders = np.cumsum(equation.params["sizes"])[:-1]
    pieces = np.split(numbers(equation.shapes[0]), borders, equation.params["axis"])
    return [taken(equation.rows[0], piece) for piece in pieces]


def _unstacked(equation: TracedEquation) -> list[Rows]:
    pieces = np.moveaxis(numbers(equation.shapes[0]), equation.params["axis"], 0)
    return [taken(equation.rows[0], piece) for piece in pieces]


def _as_bits(equation: TracedEquation) -> Rows:
    """Of a cast between types of other sizes, the parts of an element depend on the whole."""
    shape, out, rows = equation.shapes[0], equation.out_shapes[0], equation.rows[0]
    if len(shape) < len(out):
        return taken(rows, np.broadcast_to(numbers(shape)[..., None], out))
    if len(shape) > len(out):
        to = np.broadcast_to(numbers(out)[..., None], shape)
        return mapped(rows, to, numbers(shape), equation.out_size)
    return rows


def _plain(function: Callable[[np.ndarray, Any], Any], option: str) -> DependenceRule:
    return _moving(lambda equation, x: function(x, equation.params[option]))


def _with_out_shape(equation: TracedEquation, x: np.ndarray, *_: Any) -> np.ndarray:
    return x.reshape(equation.out_shapes[0])


MOVING: dict[str, DependenceRule] = {
    "broadcast_in_dim": _moving(lambda equation, x, *_: _broadcast(equation, x)),
    "reshape": _moving(lambda equation, x, *_: _reshaped(equation, x)),
    "squeeze": _moving(_with_out_shape),
    "expand_dims": _moving(_with_out_shape),
    "transpose": _plain(np.transpose, "permutation"),
    "rev": _plain(np.flip, "dimensions"),
    "slice": _moving(_sliced),
    "pad": _moving(_padded),
    "concatenate": _moving(_joined),
    "tile": _plain(np.tile, "reps"),
    "stack": _moving(lambda equation, *xs: np.stack(xs, equation.params["axis"])),
    "split": _split,
    "unstack": _unstacked,
    "bitcast_convert_type": _as_bits,
}
