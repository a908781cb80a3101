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

    Sample generators must ask for the same shapes whatever the seed: the lanes of a
    batched check are the same samples under other seeds.
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
        values = (order - (n - 1) / 2 + 0.25) * (3 / max(n, 1)) * 2
        return self.put(values, dtype)

    def index(self, size: int, *shape: int, dtype: Any = "int64") -> jax.Array:
        """Positions in a dimension of `size`."""
        return self.put(self.rng.integers(0, max(size, 1), shape), dtype)

    def mask(self, *shape: int) -> jax.Array:
        """Booleans."""
        return self.put(self.rng.integers(0, 2, shape), np.dtype(bool))

    def matrix(self, *shape: int) -> jax.Array:
        """Well conditioned matrices `[..., m, n]`, singular values between 1 and 2, distinct."""
        *batch, m, n = shape
        k = min(m, n)
        gaussian = self.rng.standard_normal
        a, b = gaussian((*batch, m, m)), gaussian((*batch, n, n))
        if category(self.dtype) == 3:
            a, b = a + 1j * gaussian((*batch, m, m)), b + 1j * gaussian((*batch, n, n))
        u, v = np.linalg.qr(a)[0][..., :k], np.linalg.qr(b)[0][..., :k]
        s = np.linspace(1, 2, k) if k else np.ones(0)
        return self.put((u * s) @ np.swapaxes(v.conj(), -1, -2), self.dtype)

    def positive_definite(self, *shape: int) -> jax.Array:
        """Hermitian positive definite matrices `[..., n, n]` with distinct eigenvalues."""
        u = np.asarray(self.matrix(*shape), np.result_type(self.dtype, np.float32))
        return self.put(u @ np.swapaxes(u.conj(), -1, -2), self.dtype)

    def put(self, values: Any, dtype: Any = None) -> jax.Array:
        """Given values, in this dtype and on this device."""
        array = jnp.asarray(np.asarray(values).astype(dtype or self.dtype))
        return array if self.device is None else jax.device_put(array, self.device)
