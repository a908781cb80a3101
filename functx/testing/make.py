"""`Make`: arrays for samples. The same operator, dtype and seed always get the same values."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category, Device


@dataclasses.dataclass(frozen=True)
class Make:
    """Makes arrays of one dtype on one device.

    - `dtype`: the dtype of the arrays, where none is given.
    - `rng`: the NumPy generator that values are drawn from.
    - `device`: where arrays are put; None is JAX's default device.

    Sample generators must ask for the same shapes whatever the seed: the lanes of a batched check
    are the same samples under other seeds.
    """

    dtype: np.dtype
    rng: np.random.Generator
    device: Device | None = None

    def __call__(
        self, *shape: int, low: float = -3, high: float = 3, dtype: Any = None
    ) -> jax.Array:
        """Uniform values between `low` and `high`; a complex one's parts each."""
        dtype = np.dtype(dtype or self.dtype)
        kind = category(dtype)
        if kind == 0:
            return self.put(self.rng.integers(0, 2, shape), dtype)
        if kind == 1:
            low = max(np.ceil(low), np.iinfo(dtype).min)
            return self.put(self.rng.integers(int(low), int(high) + 1, shape), dtype)
        values = self.rng.uniform(low, high, shape)
        if kind == 3:
            values = values + 1j * self.rng.uniform(low, high, shape)
        return self.put(values, dtype)

    def edges(self, *points: float) -> jax.Array:
        """A row of values at which functions break, in any order.

        Small ones down to the smallest normal number (less is flushed), large ones, infinities,
        NaN, both zeros, and of `points` (1 and -1 by default) both neighbours; of integers the
        extremes, and where a float of single precision ends. Complex numbers are finite.
        """
        kind = category(self.dtype)
        if kind == 0:
            return self.put(self.rng.permutation([0, 1]))
        if kind == 1:
            limits = np.iinfo(self.dtype)
            values = [limits.min, limits.min + 1, 0, 1, 2, limits.max - 1, limits.max]
            values += [-1, -2] if limits.min else []
            values += [v for v in (2**24 + 1, 2**53 + 1) if v < limits.max]
            return self.put(self.rng.permutation(np.array(values, self.dtype)))
        if kind == 3:
            small = self.rng.uniform(1, 2, (3, 2)) * [[1e-2], [1e-4], [1e-6]]
            values = np.concatenate([small[:, 0] + 1j * small[:, 1], [0, 1, -1, 1j, -1j]])
            return self.put(self.rng.permutation(values))
        limits = jnp.finfo(self.dtype)
        small = [9e-1, 9e-2, 9e-3, 9e-4, 3e-4, 3e-5, 3e-6, 1e-7, float(limits.tiny)]
        large = [20, 200, 2000, 2e4, float(limits.max) ** 0.5]
        large += [float(limits.max) / 16]  # XLA may multiply by its reciprocal, not to be flushed
        sizes = self.rng.uniform(1, 1.1, len(small + large)) * (small + large)
        near = [np.asarray(p, self.dtype) for p in points or (1, -1)]
        near += [np.nextafter(p, np.asarray(s, self.dtype)) for p in near for s in (-9, 9)]
        special = [0.0, -0.0, np.inf, -np.inf, np.nan]
        values = np.concatenate([sizes, -sizes, np.array(near, np.float64), special])
        return self.put(self.rng.permutation(values))

    def edge_pairs(self) -> tuple[jax.Array, jax.Array]:
        """Each of the edges, numbers of ordinary size too, against each other, in any order."""
        row = np.asarray(self.edges())
        first, second = np.repeat(row, len(row)), np.tile(row, len(row))
        order = self.rng.permutation(len(first))
        return self.put(first[order]), self.put(second[order])

    def nonzero(self, *shape: int, dtype: Any = None) -> jax.Array:
        """Values of either sign, at least 0.5 in absolute value (1 if integer)."""
        dtype = np.dtype(dtype or self.dtype)
        if category(dtype) == 0:
            return self.put(np.ones(shape), dtype)
        size = self.rng.integers(1, 4, shape)
        if category(dtype) > 1:
            size = self.rng.uniform(0.5, 3, shape)
        sign = 1 if dtype == np.uint8 else self.rng.choice([-1, 1], shape)
        turn = np.exp(1j * self.rng.uniform(-3, 3, shape)) if category(dtype) == 3 else 1
        return self.put(size * sign * turn, dtype)

    def distinct(self, *shape: int, dtype: Any = None) -> jax.Array:
        """No two values alike, and far enough apart for finite differences: no ties, no kinks."""
        dtype = np.dtype(dtype or self.dtype)
        n = int(np.prod(shape))
        order = self.rng.permutation(n).reshape(shape)
        if category(dtype) < 2:
            return self.put(order % 2 if category(dtype) == 0 else order % 120, dtype)
        shift = self.rng.uniform(0.2, 0.3)  # the extremes of lanes are not the same
        values = (order - (n - 1) / 2 + shift) * (3 / max(n, 1)) * 2
        return self.put(values, dtype)

    def small(self, *shape: int) -> jax.Array:
        """Values below 0.001 in absolute value; integers are 0."""
        return self(*shape, low=-9e-4, high=9e-4)

    def delicate(self, *shape: int) -> jax.Array:
        """Values that a detour through another dtype or a sum would change, in any order.

        NaN, infinities, -0.0, small and large ones, all of them in each 8 elements; of integers
        the extremes. Complex numbers are finite. One value alone is NaN, or the greatest.
        """
        kind = category(self.dtype)
        if kind == 0:
            values = np.array([True, False])
        elif kind == 1:
            limits = np.iinfo(self.dtype)
            ends = [limits.max, limits.max - 1, limits.min, limits.min + 1]
            values = np.array(ends, self.dtype)
        elif kind == 2:
            values = np.array([np.nan, np.inf, -np.inf, -0.0, 3e-4, -3e-4, 3e4, -3e4])
        else:
            values = np.array([3e-4 + 3e4j, 3e4, 3e-4j, -1])
        order = self.rng.permutation(len(values)) if shape else [0]
        return self.put(np.resize(values[order], shape))

    def index(self, size: int, *shape: int, dtype: Any = "int64") -> jax.Array:
        """Positions in a dimension of `size`."""
        return self.put(self.rng.integers(0, max(size, 1), shape), dtype)

    def mask(self, *shape: int) -> jax.Array:
        """Booleans."""
        return self.put(self.rng.integers(0, 2, shape), np.dtype(bool))

    def matrix(self, *shape: int) -> jax.Array:
        """Well conditioned matrices `[..., m, n]`, singular values evenly from about 1 to about 2.

        These are drawn, too: what depends on them alone differs from lane to lane.
        """
        *batch, m, n = shape
        k = min(m, n)
        gaussian = self.rng.standard_normal
        a, b = gaussian((*batch, m, m)), gaussian((*batch, n, n))
        if category(self.dtype) == 3:
            a, b = a + 1j * gaussian((*batch, m, m)), b + 1j * gaussian((*batch, n, n))
        u, v = np.linalg.qr(a)[0][..., :k], np.linalg.qr(b)[0][..., :k]
        s = np.linspace(1, 2, k) + self.rng.uniform(-0.1, 0.1, (*batch, 1, k)) / max(k, 1)
        return self.put((u * s) @ np.swapaxes(v.conj(), -1, -2), self.dtype)

    def positive_definite(self, *shape: int) -> jax.Array:
        """Hermitian positive definite matrices `[..., n, n]` with distinct eigenvalues."""
        u = np.asarray(self.matrix(*shape), np.result_type(self.dtype, np.float32))
        return self.put(u @ np.swapaxes(u.conj(), -1, -2), self.dtype)

    def put(self, values: Any, dtype: Any = None) -> jax.Array:
        """Given values, in this dtype and on this device."""
        # `jnp.asarray` would compile a copy for each shape.
        return jax.device_put(np.asarray(values).astype(dtype or self.dtype), self.device)
