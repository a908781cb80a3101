"""Functions of float32 arrays that are computed in double precision and rounded once."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable

import jax
import numpy as np
from jax import Array, lax

from functx._core import platform_dependent


def widened(
    function: Callable[..., Array], single: Callable[..., Array] | None = None
) -> Callable[..., Array]:
    """`function`, which takes float64 arrays, for arrays of one floating dtype, which is returned.

    Results in single precision are then within 0.51 ulp wherever the function has ten digits. On
    CPUs `single` is used for them, where it is given: it takes and gives float64 arrays, too, and
    has no more digits than they need.
    """

    def rounded(function: Callable[..., Array]) -> Callable[..., Array]:
        def in_double(*arrays: Array) -> Array:
            with jax.enable_x64(True):
                out = function(*[lax.convert_element_type(x, np.float64) for x in arrays])
                return lax.convert_element_type(out, arrays[0].dtype)

        return in_double

    @ft.wraps(function)
    def in_double(*arrays: Array) -> Array:
        if arrays[0].dtype == np.float64:
            return function(*arrays)
        if single is None:
            return rounded(function)(*arrays)
        return platform_dependent(*arrays, cpu=rounded(single), default=rounded(function))

    return in_double
