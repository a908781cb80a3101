"""Functions of float32 arrays that are computed in double precision and rounded once."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable

import jax
import numpy as np
from jax import Array, lax


def widened(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function`, which takes float64 arrays, for arrays of one floating dtype, which is returned.

    Results in single precision are then within 0.51 ulp wherever the function has ten digits.
    """

    @ft.wraps(function)
    def in_double(*arrays: Array) -> Array:
        dtype = arrays[0].dtype
        if dtype == np.float64:
            return function(*arrays)
        with jax.enable_x64(True):
            out = function(*[lax.convert_element_type(x, np.float64) for x in arrays])
            return lax.convert_element_type(out, dtype)

    return in_double
