"""`Resized`: makes a sample's arrays with other sizes in the place of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from functx._core import category
from functx.testing.make import Make


@dataclasses.dataclass(frozen=True)
class Resized(Make):
    """Arrays in whose shapes `sizes` stand for others, with multiples of `step` between bounds.

    What lies between bounds, is positive definite or points into a dimension does so in other
    sizes too: the arrays come as a sample asks for them.
    """

    sizes: Mapping[int, int] = dataclasses.field(default_factory=dict)
    step: float | None = None  # None: values as they come

    def __call__(
        self, *shape: int, low: float = -3, high: float = 3, dtype: Any = None
    ) -> jax.Array:
        made = super().__call__(*self._resized(shape), low=low, high=high, dtype=dtype)
        return self._rounded(made, low, high)

    def nonzero(self, *shape: int, dtype: Any = None) -> jax.Array:
        return self._rounded(super().nonzero(*self._resized(shape), dtype=dtype))

    def distinct(self, *shape: int, dtype: Any = None) -> jax.Array:
        return super().distinct(*self._resized(shape), dtype=dtype)

    def delicate(self, *shape: int) -> jax.Array:
        return super().delicate(*self._resized(shape))

    def index(self, size: int, *shape: int, dtype: Any = "int64") -> jax.Array:
        return super().index(self.sizes.get(size, size), *self._resized(shape), dtype=dtype)

    def mask(self, *shape: int) -> jax.Array:
        return super().mask(*self._resized(shape))

    def matrix(self, *shape: int) -> jax.Array:
        return super().matrix(*self._resized(shape))

    def _resized(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.sizes.get(n, n) for n in shape)

    def _rounded(self, x: jax.Array, low: float = -np.inf, high: float = np.inf) -> jax.Array:
        kind = category(x.dtype)
        if self.step is None or kind < 2:
            return x
        values = np.round(np.asarray(x).astype(np.complex128) / self.step) * self.step
        real = np.clip(values.real, low, high)
        return self.put(real if kind == 2 else real + 1j * np.clip(values.imag, low, high), x.dtype)
