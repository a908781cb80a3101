"""What the symbolic sizes of a recorded program are of one padded sequence."""

from __future__ import annotations

import itertools as it
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import fail
from functx._core.jax_compat import evaluated_size
from functx._core.shapes.symbolic_sizes import known, Size


_MAY_FALL = re.compile(r"mod|floordiv|min|-\s*(\d+\*)?[a-zA-Z_]")  # where a symbol grows
_MOST_TRIED = 100_000


class LaneSizes:
    """Of each symbol the longest size, to which arrays are padded, and the size of one lane.

    An array whose dimension is of a symbolic size has `padded(size)` elements there, of which the
    first `own(size)` are those of the sequence.
    """

    def __init__(self, longest: Mapping[str, int], own: Mapping[str, Array]):
        self._longest, self._own = dict(longest), dict(own)
        self._found: dict[Size, int] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the symbols."""
        return tuple(self._own)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The sizes of the lane, in the order of `names`."""
        return tuple(self._own.values())

    def with_arrays(self, arrays: Sequence[Array]) -> LaneSizes:
        """The same for a lane of other sizes, or for these seen from inside of a transform."""
        return LaneSizes(self._longest, dict(zip(self.names, arrays, strict=True)))

    def padded(self, size: Size) -> int:
        """The most elements that a dimension of this size has in any lane."""
        if known(size):
            return int(size)
        if size not in self._found:
            self._found[size] = max(self._most(size), 0)
        return self._found[size]

    def _most(self, size: Size) -> int:
        if not _MAY_FALL.search(str(size)):
            return int(evaluated_size(size, self._longest))
        used = [name for name in self._longest if re.search(rf"\b{name}\b", str(size))]
        ranges = [range(1, self._longest[name] + 1) for name in used]
        if math.prod(map(len, ranges)) > _MOST_TRIED:
            fail("nested.vmap", f"the largest value of the size {size} is not known")
        tried = (dict(zip(used, values, strict=True)) for values in it.product(*ranges))
        return max(int(evaluated_size(size, values)) for values in tried)

    def padded_shape(self, shape: Sequence[Size]) -> tuple[int, ...]:
        """The shape of the padded array that stands for one of `shape`."""
        return tuple(map(self.padded, shape))

    def number(self, size: Size) -> Any:
        """What a size is in the lane, as a number, which may be negative where it is none."""
        return int(size) if known(size) else jnp.asarray(evaluated_size(size, self._own))

    def own(self, size: Size) -> Any:
        """How many elements a dimension of this size has in the lane."""
        return int(size) if known(size) else jnp.maximum(self.number(size), 0)

    def mask(self, shape: Sequence[Size]) -> Array | None:
        """Where the padded array of an array of `shape` has its elements; None for everywhere."""
        whole, mask = self.padded_shape(shape), None
        for dim in ragged_dims(shape):
            own = self.own(shape[dim])
            inside = lax.broadcasted_iota(own.dtype, whole, dim) < own
            mask = inside if mask is None else mask & inside
        return mask

    def filled(self, x: Array, shape: Sequence[Size], value: Any) -> Array:
        """`x`, which stands for an array of `shape`, with `value` in its padding."""
        mask = self.mask(shape)
        return x if mask is None else lax.select(mask, x, lax.full_like(x, value))

    def gated(self, x: Array, shape: Sequence[Size]) -> Array:
        """`x` with zeros in its padding, so that no cotangent passes there, if it can have one."""
        return self.filled(x, shape, 0) if jnp.issubdtype(x.dtype, jnp.inexact) else x


def ragged_dims(shape: Sequence[Size]) -> list[int]:
    """The dimensions of symbolic size."""
    return [dim for dim, size in enumerate(shape) if not known(size)]


def fitted(x: Array, shape: Sequence[int]) -> Array:
    """`x` cut, or continued with zeros, to `shape`."""
    if x.shape == tuple(shape):
        return x
    x = x[tuple(slice(0, n) for n in shape)]
    return jnp.pad(x, [(0, n - have) for n, have in zip(shape, x.shape, strict=True)])


def taken(x: Array, dim: int, places: Any) -> Array:
    """The slices of `x` at `places` of a dimension, those outside being any."""
    if jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key):
        return x.take(places, axis=dim)
    return jnp.take(x, places, axis=dim, mode="clip")
