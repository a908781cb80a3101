"""The frequencies to which the elements of a Fourier transform belong."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    as_dtype,
    as_scalar,
    category,
    decided,
    default_float,
    describe,
    Device,
    DType,
    known,
    operator,
    Promote,
    refuse,
    Size,
    UnpromotedArray,
)


__all__ = ["fftfreq", "rfftfreq"]


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING)
def fftfreq(
    n: Size, d: UnpromotedArray = 1.0, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Frequencies of `fft`, in cycles per unit of `d`: $0, 1, \dots, -2, -1$ over $n d$.

    - `n`: the length of the signal, an int of at least 0.
    - `d`: the distance of two samples, a real number or a 0-d array.
    - `dtype`: a floating dtype. None is the default dtype.
    - `device`: where the result lives: `"cpu"`, `"gpu"`, `"cuda:0"`, a `jax.Device` or a
      `Sharding`. None is JAX's default device.

    Shapes: `[n]`.
    Errors: TypeError for a complex `d` and another dtype, RuntimeError for a negative `n`.

    >>> functx.fft.fftfreq(4, 0.5)
    Array([ 0. ,  0.5, -1. , -0.5], dtype=float32)
    """
    return _frequencies(n, n, n - n // 2, d, dtype)


@operator(promote=Promote.NONE, accepts=Accepts.FLOATING)
def rfftfreq(
    n: Size, d: UnpromotedArray = 1.0, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Frequencies of `rfft`, in cycles per unit of `d`.

    $0, 1, \dots, \lfloor n / 2 \rfloor$ over $n d$.

    - `n`: the length of the signal, an int of at least 0.
    - `d`: the distance of two samples, a real number or a 0-d array.
    - `dtype`: a floating dtype. None is the default dtype.
    - `device`: where the result lives: `"cpu"`, `"gpu"`, `"cuda:0"`, a `jax.Device` or a
      `Sharding`. None is JAX's default device.

    Shapes: `[n // 2 + 1]`.
    Errors: TypeError for a complex `d` and another dtype, RuntimeError for a negative `n`.

    >>> functx.fft.rfftfreq(4, 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return _frequencies(n, n // 2 + 1, n // 2 + 1, d, dtype)


def _frequencies(n: Size, count: Size, positive: Size, d: Any, dtype: Any) -> Array:
    """`count` frequencies: cycles from 0 on, n less from the place `positive` on, over n d."""
    d = jnp.asarray(d)
    if known(n) and not isinstance(n, int):
        refuse(f"`n` must be an int, got {describe(n)}", error=TypeError)
    if decided(lambda: n < 0, otherwise=False):
        refuse(f"`n` must not be negative, got {n}")
    if d.ndim or category(d.dtype) == 3:
        refuse(f"`d` must be a real number or 0-d, got {describe(d)}", error=TypeError)
    dtype = as_dtype(dtype or default_float())
    if category(dtype) != 2:
        refuse(f"`dtype` must be floating, got {dtype.name}", error=TypeError)
    compute = accumulator(dtype)
    whole = as_scalar(n, compute) * lax.convert_element_type(d, compute)
    cycles = _cycles(n, count, positive)
    return lax.convert_element_type(cycles.astype(compute) / whole, dtype)


def _cycles(n: Size, count: Size, positive: Size) -> Any:
    """The cycles of `count` frequencies."""
    if known(n):
        places = np.arange(count)
        return np.where(places < positive, places, places - n)
    places = jnp.arange(count)
    return jnp.where(places < jnp.asarray(positive), places, places - jnp.asarray(n))
