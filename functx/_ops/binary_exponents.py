"""Powers of 2 in float64 arrays, by their bits."""

from __future__ import annotations

import numpy as np
from jax import Array, lax


def nearest_exponent(x: Array) -> Array:
    r"""The int64 $k$ with $x = 2^k m$ and $\sqrt{1/2} \le m < \sqrt 2$, of positive normal $x$."""
    root = np.sqrt(np.float64(0.5)).view(np.int64)
    return (lax.bitcast_convert_type(x, np.int64) - root) >> np.int64(52)


def as_number(k: Array) -> Array:
    """An exponent as float64; by way of int32, from which processors convert faster."""
    return lax.convert_element_type(lax.convert_element_type(k, np.int32), np.float64)


def power_of_two(k: Array) -> Array:
    """$2^k$ of int64 from -1022 to 1023."""
    return lax.bitcast_convert_type((k + np.int64(1023)) << np.int64(52), np.float64)
