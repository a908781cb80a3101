"""What a function returns for one lane, as padded arrays and the sizes of the lane."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import fail
from functx._core.shapes.symbolic_sizes import decided, Size
from functx._transforms.numbers import array_of_program
from functx._transforms.programs.partition import Partition

from .arrays import Nested
from .lengths import index_dtype
from .sizes import fitted, LaneSizes, ragged_dims


@dataclasses.dataclass(frozen=True)
class PaddedOutput:
    """The padded arrays of one lane's output.

    - `outputs`: the output without the arrays.
    - `arrays`, `shapes`: padded, and with symbolic sizes.
    - `sizes`: of each array and ragged dimension, what it is in the lane.
    - `filled`: whether sizes that are symbols are never 0.
    """

    outputs: Partition
    arrays: list[Array]
    shapes: list[tuple[Size, ...]]
    sizes: list[dict[int, Array]]
    filled: bool = True

    @classmethod
    def of(
        cls, outputs: Partition, arrays: list[Array], shapes: Any, sizes: LaneSizes
    ) -> PaddedOutput:
        """The output of a program that ran at some sizes."""
        own = [{d: jnp.asarray(sizes.own(s[d])) for d in ragged_dims(s)} for s in shapes]
        return cls(outputs, arrays, shapes, own)

    def replaced_where(self, which: Array, other: PaddedOutput) -> PaddedOutput:
        """This output, but `other`, of a program at sizes some of which are 0, where `which`."""
        if len(other.arrays) != len(self.arrays):
            self._refuse("outputs of another structure")
        arrays, sizes = [], []
        parts = zip(self.arrays, self.sizes, other.arrays, other.sizes, strict=True)
        for x, own, y, own_of_other in parts:
            ragged = {*own, *own_of_other}
            fixed = [d for d in range(x.ndim) if d not in ragged]
            alike = x.ndim == y.ndim and x.dtype == y.dtype
            if not alike or any(x.shape[d] != y.shape[d] for d in fixed):
                self._refuse("outputs of other shapes or dtypes")
            whole = [*map(max, x.shape, y.shape)]
            arrays.append(lax.select(which, fitted(y, whole), fitted(x, whole)))
            sizes.append(
                {
                    d: jnp.where(which, own_of_other.get(d, y.shape[d]), own.get(d, x.shape[d]))
                    for d in sorted(ragged)
                }
            )
        return dataclasses.replace(self, arrays=arrays, sizes=sizes, filled=False)

    def _refuse(self, what: str) -> None:
        fail("nested.vmap", f"for an empty sequence the function returns {what}")

    def tree(self, names: Mapping[str, str | None]) -> Any:
        """The output, with a lane of a batch for each array that is ragged.

        - `names`: what users call symbols.
        """
        parts = zip(self.arrays, self.shapes, self.sizes, strict=True)
        arrays: list[Any] = []
        for x, shape, own in parts:
            plain = array_of_program(x)
            arrays.append(plain if not own else self._nested(plain, shape, own, names))
        return self.outputs.whole(arrays)

    def _nested(
        self,
        x: Array,
        shape: Sequence[Size],
        own: dict[int, Array],
        names: Mapping[str, str | None],
    ) -> Nested:
        called = tuple(names.get(str(shape[d])) for d in own)
        filled = tuple(self.filled and _is_filled(shape[d]) for d in own)
        lengths = [n.astype(index_dtype()) for n in own.values()]
        return Nested(x, lengths, tuple(own), called, filled)


def _is_filled(size: Size) -> bool:
    return decided(lambda: size >= 1, otherwise=False)
