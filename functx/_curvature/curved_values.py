"""A value with its Jacobian, of which only some rows are kept, and its Laplacian."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class RowIndex:
    """By which inputs the rows of a Jacobian are derivatives, of each element.

    - `numbers`: int32 `[rows, *shape]`: the number of an input, no two of one element alike, or -1
      where a row is zero.
    """

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowIndex) and np.array_equal(self.numbers, other.numbers)

    def __hash__(self) -> int:
        return hash((self.numbers.shape, self.numbers.tobytes()))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Curved:
    """A value, its derivatives along directions, and the sum of its second ones.

    - `value`: an array `[*shape]`.
    - `rows`: `[rows, *shape]`, the derivatives that may not be zero.
    - `bend`: `[*shape]`, the sum of the second derivatives along the directions.
    - `index`: of each row of each element, by which input it is. With None there is a row for each
      direction, in their order.
    """

    value: Any
    rows: Any
    bend: Any
    index: RowIndex | None = dataclasses.field(default=None, metadata={"static": True})

    def over(self, index: RowIndex) -> Curved:
        """The same with other rows, among which those of each element are."""
        assert self.index is not None
        if self.index == index:
            return self
        same = self.index.numbers[None] == index.numbers[:, None]
        same &= self.index.numbers[None] >= 0
        return self._chosen(same, index)

    def dense(self, count: int) -> Curved:
        """The same with a row for each of `count` inputs."""
        if self.index is None:
            return self
        shape = (count, *(1,) * self.rows.ndim)
        inputs = lax.broadcasted_iota(np.int32, shape, 0)
        return self._chosen(inputs == self.index.numbers[None], None)

    def _chosen(self, same: Any, index: RowIndex | None) -> Curved:
        zero = jnp.zeros((), self.rows.dtype)
        rows = jnp.sum(jnp.where(same, self.rows[None], zero), 1, dtype=self.rows.dtype)
        return Curved(self.value, rows, self.bend, index)


def of_inputs(leaves: Sequence[Any]) -> list[Curved]:
    """Inputs, each element of which depends on itself."""
    inputs, start = [], 0
    for x in leaves:
        numbers = np.arange(start, start + x.size, dtype=np.int32).reshape(1, *x.shape)
        inputs.append(Curved(x, jnp.ones_like(x)[None], jnp.zeros_like(x), RowIndex(numbers)))
        start += x.size
    return inputs
