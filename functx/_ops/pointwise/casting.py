"""Casts of numbers to integers of 8 bits, as PyTorch's `byte` and `char` do them."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import ArrayLike, as_dtype, category, LONG, operator, Promote


__all__ = ["byte", "char"]


@operator(promote=Promote.NONE, differentiable=False, takes_storage_dtypes=True)
def byte(input: ArrayLike) -> Array:
    """Each element of `input` as uint8: without its fraction, modulo 256.

    Complex numbers give their real parts. Numbers that are not finite, or do not fit into 64 bits,
    become 0.

    >>> functx.byte(jnp.asarray([1.5, -1.0, 300.0], "float32"))
    Array([  1, 255,  44], dtype=uint8)
    """
    return _wrapped(input, np.uint8)


@operator(promote=Promote.NONE, differentiable=False, takes_storage_dtypes=True)
def char(input: ArrayLike) -> Array:
    """Each element of `input` as int8: without its fraction, modulo 256.

    Complex numbers give their real parts. Numbers that are not finite, or do not fit into 64 bits,
    become 0.

    >>> functx.char(jnp.asarray([1.5, -1.0, 300.0], "float32"))
    Array([ 1, -1, 44], dtype=int8)
    """
    return _wrapped(input, np.int8)


def _wrapped(x: Array, dtype: type[np.integer]) -> Array:
    if category(x.dtype) == 3:
        x = lax.real(x)
    if category(x.dtype) == 2:
        wide = as_dtype(LONG)
        x = x if x.dtype.itemsize > 2 else x.astype(np.float32)  # float32 holds the end of `wide`
        within = lax.abs(x) < np.asarray(-float(np.iinfo(wide).min), x.dtype)
        x = jnp.where(within, x, np.zeros((), x.dtype)).astype(wide)
    return lax.convert_element_type(x, dtype)
