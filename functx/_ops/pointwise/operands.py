"""Checks of operands that pointwise operators share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from jax import lax

from functx._core import category, is_number, refuse, Requirement, result_dtype, value_fits


def check_floating(dtype: np.dtype) -> None:
    """Refuses a common dtype that is neither floating nor complex."""
    if category(dtype) < 2:
        refuse(f"expected a floating common dtype, got {dtype.name}", error=TypeError)


def nonzero_divisor(*, input: Any, other: Any, **_: Any) -> Iterator[Requirement]:
    """Requires that an integer divisor is not zero, also after a cast that wraps it to zero."""
    common = result_dtype([input, other])
    if category(common) < 2:
        yield Requirement(
            lax.convert_element_type(other, common) != 0,
            "`other` must not hold zeros where integers are divided, got one",
            hint="floating arrays give inf and nan",
        )


def numbers_fit(**operands: Any) -> Iterator[Requirement]:
    """Requires that Python numbers fit into the dtype that arrays decide."""
    given = {name: x for name, x in operands.items() if x is not None}
    common = result_dtype(given.values())
    for name, x in given.items():
        if is_number(x):
            yield value_fits(x, common, name)
