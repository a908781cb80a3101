"""Jacobians by central differences, one evaluation of the function after the other.

A block is the part of a Jacobian that belongs to one output and one input, over real numbers:
`[rows, 1 or 2, columns, 1 or 2]`, where a complex output has two real parts for each row and a
complex input two for each column. Slow mode has a row and a column for each element, fast mode
one for all: a projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from functx._core import describe, fail
from functx._transforms.arguments import kind_of

from .point import ArrayTuple, Point


def basis(x: Any) -> np.ndarray:
    """Directions along each element of `x`, stacked."""
    return np.eye(x.size).reshape(x.size, *x.shape)


def projection(x: Any, random: np.random.Generator) -> np.ndarray:
    """One direction through all elements of `x`, of length 1."""
    direction = random.random((1, *x.shape))
    return direction / np.linalg.norm(direction.ravel()) if direction.size else direction


def units(x: Any) -> tuple[complex, ...]:
    """The directions in which one element moves: both of the complex plane, or the real one."""
    return (1, 1j) if kind_of(x) == "complex" else (1,)


def along(unit: complex, direction: np.ndarray, like: Any) -> np.ndarray:
    """`direction` times `unit`, in the dtype of `like`."""
    return np.asarray(unit * direction, like.dtype)


def real_parts(x: Any) -> np.ndarray:
    """`x` in a row, with its real parts in a last dimension, in double precision."""
    x = np.asarray(x).reshape(-1)
    parts = [x.real, x.imag] if np.iscomplexobj(x) else [x]
    return np.stack([part.astype(np.float64) for part in parts], -1)


def numerical_blocks(
    point: Point, j: int, directions: np.ndarray, eps: float, which: Sequence[int]
) -> dict[int, np.ndarray]:
    """Of the outputs `which`, the columns for input `j` along `directions`."""
    x = point.inputs[j]
    blocks = {i: empty_block(point.outputs[i], len(directions), x) for i in which}
    for a, direction in enumerate(directions):
        for b, unit in enumerate(units(x)):
            above, below = (_moved(point, j, along(s * eps * unit, direction, x)) for s in (1, -1))
            for i in which:
                _require_alike(point, j, eps, i, (above[i], below[i]))
                with np.errstate(invalid="ignore"):
                    slope = (real_parts(above[i]) - real_parts(below[i])) / (2 * eps)
                blocks[i][:, :, a, b] = slope
    return blocks


def empty_block(output: Any, columns: int, x: Any) -> np.ndarray:
    """A block of zeros, to be filled column by column."""
    return np.zeros((output.size, len(units(output)), columns, len(units(x))))


def _moved(point: Point, j: int, step: np.ndarray) -> ArrayTuple:
    inputs = list(point.inputs)
    inputs[j] = inputs[j] + step
    outputs, structure = point.moved(inputs)
    if structure != point.structure:
        fail(
            point.who,
            "`func` must return outputs with the same structure when inputs are perturbed, got "
            f"{point.structure} and {structure}",
            error=AssertionError,
        )
    return outputs


def _require_alike(point: Point, j: int, eps: float, i: int, moved: tuple[Any, Any]) -> None:
    here = point.outputs[i]
    for what in ("shape", "dtype"):
        for there in moved:
            if getattr(there, what) != getattr(here, what):
                fail(
                    point.who,
                    f"`func` must return outputs with the same {what} when inputs are perturbed, "
                    f"got {describe(here)}, and {describe(there)} where `{point.names[j]}` moves "
                    f"by {eps}",
                    error=AssertionError,
                )
