"""The dtype in which the elements along a dimension are counted."""

from __future__ import annotations

import numpy as np

from functx._core.errors import refuse
from functx._core.shapes.symbolic_sizes import decided, Size

from .dtypes import available, LONG


_SHORT = np.dtype("int32")


def position_dtype(size: Size) -> np.dtype:
    """int32 if it counts to `size`, else int64, which is refused where JAX's 64 bit is off.

    A symbolic size takes the widest integers that there are.

    >>> from functx._core.numbers.positions import position_dtype
    >>> position_dtype(3)
    dtype('int32')
    """
    if decided(lambda: size <= np.iinfo(_SHORT).max, otherwise=False):
        return _SHORT
    widest = available(LONG)
    if decided(lambda: size > np.iinfo(widest).max, otherwise=False):
        refuse(
            f"{size} elements along a dimension are more than {widest.name} counts, the widest "
            "integer",
            hint="functx.enable_x64() gives 64-bit integers",
            error=OverflowError,
        )
    return widest
