"""Numbers in other dtypes, where XLA's own conversion is not what PyTorch does."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .bitwise_comparison import nonzero
from .dtypes import accumulator, category


def converted(x: jax.Array, dtype: Any) -> jax.Array:
    """`x` in another dtype; a real dtype takes the real part of complex numbers.

    A bool says whether the number is not zero.

    XLA makes a choice of a product with what it knows for a bool, and then 0 times NaN is 0. So
    bools come as numbers of which it does not know.
    """
    if category(dtype) == 0:
        return nonzero(x)
    if category(x.dtype) == 3 and category(dtype) < 3:
        x = lax.real(x)
    out = lax.convert_element_type(x, dtype)
    if category(x.dtype) > 0 or category(dtype) < 2:
        return out
    part = lax.real(out) if category(dtype) == 3 else out
    return lax.select(part < part, -out, out)  # never, which code generation drops


def promoted(
    x: jax.Array, common: np.dtype, compute: np.dtype, *, unrounded: bool = False
) -> jax.Array:
    """`x` in the dtype of computation, with the value that it has in the common dtype.

    PyTorch casts to the common dtype first: beside halves, numbers and integers are rounded. With
    `unrounded` a 0-d array keeps its value, as the second factor of PyTorch's products does.
    """
    out = converted(x, compute)
    if x.dtype == common or (unrounded and x.ndim == 0):
        return out
    return rounded_first(out, common)


def rounded_first(x: jax.Array, dtype: Any) -> jax.Array:
    """`x`, computed in a wider dtype than the halves `dtype`, rounded to values of these halves."""
    if dtype is None or accumulator(dtype) == dtype:
        return x
    half = jnp.finfo(dtype)
    # XLA leaves out a conversion to halves and back.
    return lax.reduce_precision(x, exponent_bits=half.nexp, mantissa_bits=half.nmant)
