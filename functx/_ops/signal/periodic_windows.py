"""Windows that are one period by default, as short-time Fourier transforms want them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, Device, DType, operator, Promote, Size, UnpromotedArray

from .waves import cosines, hump, number, places, result_dtype_of, triangle


__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]

_FLOATING = ("float16", "bfloat16", "float32", "float64")


@operator(name="bartlett_window", accepts=Accepts.FLOATING, differentiable=False)
def bartlett_window(
    window_length: Size,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Triangular window: $w_n = 1 - |2 n / N - 1|$ for $0 \le n < M$.

    - `window_length`: the number of points, $M$.
    - `periodic`: whether the window is one period, $N = M$; otherwise it is symmetric, $N = M - 1$.
    - `dtype`: a floating dtype; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[window_length]`; one point is 1.
    Errors: ValueError for a negative `window_length`, TypeError for another `dtype`.

    >>> functx.bartlett_window(4)
    Array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    n, last = places(window_length, not periodic, "window_length")
    return triangle(n, last).astype(result_dtype_of(dtype, _FLOATING))


@operator(name="hann_window", accepts=Accepts.FLOATING, differentiable=False)
def hann_window(
    window_length: Size,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Hann's window, a raised cosine: $w_n = (1 - \cos(2 \pi n / N)) / 2$ for $0 \le n < M$.

    - `window_length`: the number of points, $M$.
    - `periodic`: whether the window is one period, $N = M$; otherwise it is symmetric, $N = M - 1$.
    - `dtype`: a floating dtype; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[window_length]`; one point is 1.
    Errors: ValueError for a negative `window_length`, TypeError for another `dtype`.

    >>> functx.hann_window(4).round(3)
    Array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _cosines(window_length, periodic, [0.5, 0.5], dtype)


@operator(name="hamming_window", accepts=Accepts.FLOATING, promote=Promote.NONE)
def hamming_window(
    window_length: Size,
    periodic: bool = True,
    alpha: UnpromotedArray = 0.54,
    beta: UnpromotedArray = 0.46,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Hamming's window: $w_n = \alpha - \beta \cos(2 \pi n / N)$ for $0 \le n < M$.

    - `window_length`: the number of points, $M$.
    - `periodic`: whether the window is one period, $N = M$; otherwise it is symmetric, $N = M - 1$.
    - `alpha`, `beta`: $\alpha$ and $\beta$, numbers or 0-d arrays, which may be traced and
      differentiated.
    - `dtype`: a floating dtype; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[window_length]`; one point is 1.
    Errors: ValueError for a negative `window_length`, TypeError for another `dtype`.

    >>> functx.hamming_window(4)[1:].round(3)
    Array([0.54, 1.  , 0.54], dtype=float32)
    """
    shares = [number(alpha, "alpha"), number(beta, "beta")]
    return _cosines(window_length, periodic, shares, dtype)


@operator(name="blackman_window", accepts=Accepts.FLOATING, differentiable=False)
def blackman_window(
    window_length: Size,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Blackman's window: $w_n = 0.42 - 0.5 \cos(2 \pi n / N) + 0.08 \cos(4 \pi n / N)$.

    $n$ runs from 0 to $M - 1$.

    - `window_length`: the number of points, $M$.
    - `periodic`: whether the window is one period, $N = M$; otherwise it is symmetric, $N = M - 1$.
    - `dtype`: a floating dtype; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[window_length]`; one point is 1.
    Errors: ValueError for a negative `window_length`, TypeError for another `dtype`.

    >>> functx.blackman_window(4)[1:].round(2)
    Array([0.34, 1.  , 0.34], dtype=float32)
    """
    return _cosines(window_length, periodic, [0.42, 0.5, 0.08], dtype)


@operator(name="kaiser_window", accepts=Accepts.FLOATING, promote=Promote.NONE)
def kaiser_window(
    window_length: Size,
    periodic: bool = True,
    beta: UnpromotedArray = 12.0,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Kaiser's window: $w_n = I_0(\beta \sqrt{1 - (2 n / N - 1)^2}) / I_0(\beta)$.

    $n$ runs from 0 to $M - 1$, and $I_0$ is the modified Bessel function.

    - `window_length`: the number of points, $M$.
    - `periodic`: whether the window is one period, $N = M$; otherwise it is symmetric, $N = M - 1$.
    - `beta`: $\beta$, a number or a 0-d array, which may be traced and differentiated; 12 by
      default. Large ones do not overflow (PyTorch's give NaN).
    - `dtype`: a floating dtype; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[window_length]`; one point is 1.
    Errors: ValueError for a negative `window_length`, TypeError for another `dtype`.

    >>> functx.kaiser_window(4, True, 2.0)[::2].round(3)
    Array([0.439, 1.   ], dtype=float32)
    """
    n, last = places(window_length, not periodic, "window_length")
    beta = jnp.abs(number(beta, "beta"))  # $I_0$ is even
    return hump(n, last, beta).astype(result_dtype_of(dtype, _FLOATING))


def _cosines(window_length: Size, periodic: bool, a: list[Any], dtype: Any) -> Array:
    n, last = places(window_length, not periodic, "window_length")
    coefficients = jnp.stack([number(x, "a") for x in a])
    return cosines(n, last, coefficients).astype(result_dtype_of(dtype, _FLOATING))
