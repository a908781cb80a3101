"""Jacobians by the derivative rules: row by row in reverse mode, column by column in forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from functx import jvp, vjp

from .numerical import along, empty_block, real_parts, units
from .point import ArrayTuple, Point


Pull = Callable[[tuple[Any, ...]], ArrayTuple]


def pullback(point: Point) -> Pull:
    """Cotangents of the outputs in, those of the inputs out."""
    return vjp(point, *point.inputs)[1]


def reverse_blocks(point: Point, pull: Pull, i: int, directions: np.ndarray) -> list[np.ndarray]:
    """Of each input, the rows for output `i` along `directions`."""
    y = point.outputs[i]
    shape = len(directions), len(units(y))
    blocks = [np.zeros((*shape, x.size, len(units(x)))) for x in point.inputs]
    for a, direction in enumerate(directions):
        for b, unit in enumerate(units(y)):
            gradients = pull(point.cotangents({i: along(unit, direction, y)}))
            for block, gradient in zip(blocks, gradients, strict=True):
                parts = real_parts(gradient)[:, : block.shape[-1]]  # its dtype may be wrong
                block[a, b, :, : parts.shape[-1]] = parts
    return blocks


def forward_blocks(
    point: Point, j: int, directions: np.ndarray, which: Sequence[int]
) -> dict[int, np.ndarray]:
    """Of the outputs `which`, the columns for input `j` along `directions`."""
    x = point.inputs[j]
    blocks = {i: empty_block(point.outputs[i], len(directions), x) for i in which}
    for a, direction in enumerate(directions):
        for b, unit in enumerate(units(x)):
            moving = point.tangents({j: along(unit, direction, x)})
            tangents = jvp(point, point.inputs, moving)[1]
            for i in which:
                blocks[i][:, :, a, b] = real_parts(tangents[i])
    return blocks
