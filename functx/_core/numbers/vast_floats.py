"""Python's floats beyond float32: where JAX's 64 bit is off, JAX makes infinities of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from functx._core.errors import refuse


_GREATEST = float(np.finfo(np.float32).max)


def refuse_vast(name: str, value: Any) -> None:
    """Refuses a finite number that float32 cannot hold, the widest float of now.

    Inside a program it can no longer be told from an infinity, which arguments may be.
    """
    if not isinstance(value, (float, complex)):
        return
    for part in (value.real, value.imag):
        if math.isfinite(part) and abs(part) > _GREATEST:
            refuse(
                f"`{name}` must fit float32, the widest float, got {value}",
                hint="functx.enable_x64() gives 64-bit floats",
            )
