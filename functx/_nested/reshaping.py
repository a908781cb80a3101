"""The rule of `reshape`, in the order of each sequence's own elements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.shapes.symbolic_sizes import known, Size

from .equations import CannotHonour, PaddedEquation, PaddingRule
from .lengths import index_dtype


def reshaped(equation: PaddedEquation) -> Sequence[Array]:
    """By splitting and merging padded dimensions where that keeps the order, else by places."""
    if equation.params.get("dimensions") is not None:
        raise CannotHonour("it permutes dimensions")
    (x,), (shape,), (out,) = equation.operands, equation.shapes, equation.out_shapes
    whole = equation.sizes.padded_shape(out)
    if math.prod(x.shape) == math.prod(whole) and _keeps_order(equation, shape, out):
        return [x.reshape(whole)]
    return equation.gated([_by_places(equation, x, shape, out)])


def _keeps_order(equation: PaddedEquation, shape: Sequence[Size], out: Sequence[Size]) -> bool:
    """Whether in each group of dimensions that become others only the first is ragged.

    What lies behind the end of a sequence then stays behind its end.
    """
    padded = equation.sizes.padded
    return all(
        known(*before[1:], *after[1:])
        and math.prod(map(padded, before)) == math.prod(map(padded, after))
        for before, after in _groups(shape, out)
    )


def _groups(shape: Sequence[Size], out: Sequence[Size]) -> Iterator[tuple[list[Size], list[Size]]]:
    """The shortest runs of dimensions of `shape` and `out` that have equally many elements."""
    i = j = 0
    while i < len(shape) or j < len(out):
        before, after = [*shape[i : i + 1]], [*out[j : j + 1]]
        i, j = i + 1, j + 1
        while math.prod(before) != math.prod(after):
            # of symbolic sizes nobody can say which is less: take the run that has more to give
            if j >= len(out) or (i < len(shape) and _divides(math.prod(before), after)):
                before.append(shape[i])
                i += 1
            else:
                after.append(out[j])
                j += 1
        yield before, after


def _divides(size: Size, sizes: Sequence[Size]) -> bool:
    """Whether `size` is a proper divisor of the product of `sizes`, as far as symbols tell."""
    whole: Any = math.prod(sizes)
    try:
        return bool(whole % size == 0)
    except ZeroDivisionError:
        return False


def _by_places(
    equation: PaddedEquation, x: Array, shape: Sequence[Size], out: Sequence[Size]
) -> Array:
    """Each result from where its element is among those of the sequence, in their order."""
    own, whole = equation.sizes.own, equation.sizes.padded_shape(out)
    place: Any = 0
    for dim, size in enumerate(out):
        place = place * own(size) + lax.broadcasted_iota(index_dtype(), whole, dim)
    stored: Any = 0
    step = 1
    for size, have in zip(reversed(shape), reversed(x.shape), strict=True):
        count = jnp.maximum(own(size), 1)
        stored = stored + place % count * step
        place, step = place // count, step * have
    return jnp.take(x.reshape(-1), stored, mode="clip")


RESHAPING: dict[str, PaddingRule] = {"reshape": reshaped}
