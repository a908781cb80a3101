"""What pointwise operators require of their operands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from jax import lax

from functx._core import category, is_number, refuse, Requirement, result_dtype, value_fits


def check_floating(dtype: np.dtype) -> None:
    """The common dtype of operands that are not taken for floating ones."""
    if category(dtype) < 2:
        refuse(f"expected a floating common dtype, got {dtype.name}", error=TypeError)


def nonzero_divisor(*, input: Any, other: Any, **_: Any) -> Iterator[Requirement]:
    """Integers have no infinity: a divisor of zero is refused, also one that wraps to zero."""
    common = result_dtype([input, other])
    if category(common) < 2:
        yield Requirement(
            lax.convert_element_type(other, common) != 0,
            "`other` must not hold zeros where integers are divided, got one",
            hint="floating arrays give inf and nan",
        )


def numbers_fit(**operands: Any) -> Iterator[Requirement]:
    """Python numbers, of which arrays decide the dtype, do not overflow it."""
    given = {name: x for name, x in operands.items() if x is not None}
    common = result_dtype(given.values())
    for name, x in given.items():
        if is_number(x):
            yield value_fits(x, common, name)
