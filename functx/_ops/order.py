"""Numbers as integers in the same order: to sort them, to rank them, to pack them with others."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category


def ordered_bits(x: Array) -> Array:
    """Integers that compare as the elements of `x` do; a NaN is the greatest of them.

    Both zeros are one, and so are all NaNs; subnormal numbers are told apart. Real dtypes.
    """
    if category(x.dtype) == 0:
        return x.astype(jnp.int8)
    if category(x.dtype) == 1:
        return x
    bits = lax.bitcast_convert_type(x, np.dtype(f"int{8 * x.dtype.itemsize}"))
    ends = np.iinfo(bits.dtype)
    size = bits & ends.max  # without the sign
    keys = jnp.where(bits < 0, -size, size)
    infinity = np.array(jnp.inf, x.dtype).view(bits.dtype)
    return jnp.where(size > infinity, greatest(bits.dtype), keys)


def greatest(dtype: np.dtype) -> np.integer:
    """The key of NaN."""
    return np.dtype(dtype).type(np.iinfo(dtype).max)
