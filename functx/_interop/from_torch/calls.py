"""The arguments of a call: what is an array in them, and what is a fixed part."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from functx._core import describe, fail, foreign_hint
from functx._core.shapes.symbolic_sizes import known


_ARRAYS = (jax.Array, np.ndarray, np.generic)


def is_array(x: Any) -> bool:
    """Whether an argument is an array, of which the program reads values when it runs."""
    return isinstance(x, _ARRAYS)


def combination(leaves: list[Any], structure: Any) -> tuple[Any, ...]:
    """What a module is exported for: shapes and dtypes of arrays, all else as it is."""
    return structure, tuple(
        (x.shape, x.dtype) if isinstance(x, _ARRAYS) else (type(x), x) for x in leaves
    )


def check_leaves(leaves: list[Any]) -> None:
    """Refuses arguments that are neither arrays nor fixed values."""
    for x in leaves:
        if is_array(x):
            if not known(*np.shape(x)):
                hint = (
                    "torch.export.export(module, args, dynamic_shapes=...) gives a program for it"
                )
                message = f"a module is exported for sizes that are numbers, got {describe(x)}"
                fail("from_torch", message, hint=hint, error=ValueError)
            continue
        if foreign_hint(x):
            message = f"arguments must be arrays, got {describe(x)}"
            fail("from_torch", message, hint=foreign_hint(x), error=TypeError)
        try:
            hash(x)
        except TypeError:
            message = f"arguments must be arrays or hashable values, got {describe(x)}"
            fail("from_torch", message, error=TypeError)
