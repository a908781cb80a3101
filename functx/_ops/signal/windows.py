"""Windows that are symmetric by default, as SciPy has them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    category,
    Device,
    DType,
    operator,
    Promote,
    refuse,
    Requirement,
    Size,
    UnpromotedArray,
    UnpromotedArrays,
)

from .waves import cosines, hump, number, places, result_dtype_of, triangle


__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _positive(name: str) -> Any:
    def requires(**given: Any) -> Iterator[Requirement]:
        x = given[name]
        if x.ndim == 0 and category(x.dtype) < 3:
            yield Requirement(
                ~(x <= 0), f"`{name}` must be positive, got {{got}}", got=x, error=ValueError
            )

    return requires


@operator(accepts=Accepts.LAPACK_REAL, differentiable=False)
def bartlett(
    M: Size, *, sym: bool = True, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Triangular window: $w_n = 1 - |2 n / N - 1|$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`; one point is 1. Errors: ValueError for a negative `M`, TypeError for another
    `dtype`.

    >>> functx.signal.windows.bartlett(5)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    dtype = result_dtype_of(dtype)
    return triangle(*places(M, sym, "M")).astype(dtype)


@operator(accepts=Accepts.LAPACK_REAL, promote=Promote.NONE)
def general_cosine(
    M: Size,
    *,
    a: UnpromotedArrays,
    sym: bool = True,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Sum of cosines: $w_n = \sum_i (-1)^i a_i \cos(2 \pi i n / N)$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `a`: the coefficients $a_i$, numbers or 0-d arrays, which may be traced and differentiated.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`.
    Errors: ValueError for a negative `M` and for no coefficients, TypeError for another `dtype`.

    >>> functx.signal.windows.general_cosine(5, a=[0.5, 0.5]).round(3)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _cosines(M, a, sym, dtype)


@operator(accepts=Accepts.LAPACK_REAL, promote=Promote.NONE)
def general_hamming(
    M: Size,
    *,
    alpha: UnpromotedArray = 0.54,
    sym: bool = True,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Raised cosine: $w_n = \alpha - (1 - \alpha) \cos(2 \pi n / N)$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `alpha`: $\alpha$, a number or a 0-d array, which may be traced and differentiated.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`; one point is 1. Errors: ValueError for a negative `M`, TypeError for another
    `dtype`.

    >>> functx.signal.windows.general_hamming(5, alpha=0.5).round(3)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    share = number(alpha, "alpha")
    return _cosines(M, [share, 1 - share], sym, dtype)


@operator(accepts=Accepts.LAPACK_REAL, differentiable=False)
def hamming(
    M: Size, *, sym: bool = True, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Hamming's window, a raised cosine: $w_n = 0.54 - 0.46 \cos(2 \pi n / N)$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`; one point is 1. Errors: ValueError for a negative `M`, TypeError for another
    `dtype`.

    >>> functx.signal.windows.hamming(3)
    Array([0.08, 1.  , 0.08], dtype=float32)
    """
    return _cosines(M, [0.54, 0.46], sym, dtype)


@operator(accepts=Accepts.LAPACK_REAL, differentiable=False)
def hann(
    M: Size, *, sym: bool = True, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Hann's window, a raised cosine: $w_n = (1 - \cos(2 \pi n / N)) / 2$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`; one point is 1. Errors: ValueError for a negative `M`, TypeError for another
    `dtype`.

    >>> functx.signal.windows.hann(4, sym=False).round(3)
    Array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _cosines(M, [0.5, 0.5], sym, dtype)


@operator(accepts=Accepts.LAPACK_REAL, differentiable=False)
def blackman(
    M: Size, *, sym: bool = True, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Blackman's window: $w_n = 0.42 - 0.5 \cos(2 \pi n / N) + 0.08 \cos(4 \pi n / N)$.

    $n$ runs from 0 to $M - 1$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`; one point is 1. Errors: ValueError for a negative `M`, TypeError for another
    `dtype`.

    >>> functx.signal.windows.blackman(4, sym=False)[1:].round(2)
    Array([0.34, 1.  , 0.34], dtype=float32)
    """
    return _cosines(M, [0.42, 0.5, 0.08], sym, dtype)


@operator(accepts=Accepts.LAPACK_REAL, differentiable=False)
def nuttall(
    M: Size, *, sym: bool = True, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Nuttall's window, four cosines with low side lobes.

    $w_n = \sum_i (-1)^i a_i \cos(2 \pi i n / N)$ for $0 \le n < M$, where $a$ is (0.3635819,
    0.4891775, 0.1365995, 0.0106411).

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`; one point is 1. Errors: ValueError for a negative `M`, TypeError for another
    `dtype`.
    Source: Nuttall, Some windows with very good sidelobe behavior, 1981.

    >>> functx.signal.windows.nuttall(6, sym=False)[3]
    Array(1., dtype=float32)
    """
    return _cosines(M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym, dtype)


def _cosines(M: Size, a: Sequence[Any], sym: bool, dtype: Any) -> Array:
    dtype = result_dtype_of(dtype)
    if not len(a):
        refuse("`a` must hold a coefficient, got none", error=ValueError)
    coefficients = jnp.stack([number(x, "a") for x in a])
    n, last = places(M, sym, "M")
    return cosines(n, last, coefficients).astype(dtype)


@operator(accepts=Accepts.LAPACK_REAL, differentiable=False)
def cosine(
    M: Size, *, sym: bool = True, dtype: DType | None = None, device: Device | None = None
) -> Array:
    r"""Half a wave: $w_n = \sin(\pi (n + \frac12) / P)$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $P = M$; otherwise it is one period without its last
      point, $P = M + 1$.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`. Errors: ValueError for a negative `M`, TypeError for another `dtype`.

    >>> functx.signal.windows.cosine(3).round(3)
    Array([0.5, 1. , 0.5], dtype=float32)
    """
    dtype = result_dtype_of(dtype)
    n, last = places(M, sym, "M")
    n = jnp.minimum(n, last - n) + 0.5
    return jnp.sin(math.pi / (last + 1) * n).astype(dtype)


@operator(accepts=Accepts.LAPACK_REAL, promote=Promote.NONE, requires=_positive("tau"))
def exponential(
    M: Size,
    *,
    center: UnpromotedArray | None = None,
    tau: UnpromotedArray = 1.0,
    sym: bool = True,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Two exponentials: $w_n = e^{-|n - c| / \tau}$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `center`: $c$, by default $N / 2$; another one needs `sym=False`. At `n = c` the derivative
      with respect to `center` is 0.
    - `tau`: $\tau$, positive, 1 by default.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    `center` and `tau` are numbers or 0-d arrays, which may be traced and differentiated.

    Shapes: `[M]`.
    Errors: ValueError for a negative `M`, for a `tau` that is not positive and for a `center` of a
    symmetric window; TypeError for another `dtype`.

    >>> functx.signal.windows.exponential(3, tau=1 / math.log(2)).round(3)
    Array([0.5, 1. , 0.5], dtype=float32)
    """
    dtype = result_dtype_of(dtype)
    if sym and center is not None:
        refuse("`center` goes with sym=False: a symmetric window has its own", error=ValueError)
    n, last = places(M, sym, "M")
    middle = last / 2 if center is None else number(center, "center")
    off = n - middle
    return jnp.exp(
        -jnp.where(off < 0, -off, jnp.where(off > 0, off, 0)) / number(tau, "tau")
    ).astype(dtype)


@operator(accepts=Accepts.LAPACK_REAL, promote=Promote.NONE, requires=_positive("std"))
def gaussian(
    M: Size,
    *,
    std: UnpromotedArray = 1.0,
    sym: bool = True,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Gaussian window: $w_n = e^{-(n - N / 2)^2 / (2 \sigma^2)}$ for $0 \le n < M$.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `std`: $\sigma$, positive, a number or a 0-d array, which may be traced and differentiated; 1
      by default.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`.
    Errors: ValueError for a negative `M` and for a `std` that is not positive, TypeError for
    another `dtype`.

    >>> functx.signal.windows.gaussian(3, std=0.5 / math.log(2) ** 0.5).round(4)
    Array([0.25, 1.  , 0.25], dtype=float32)
    """
    dtype = result_dtype_of(dtype)
    n, last = places(M, sym, "M")
    return jnp.exp(-0.5 * jnp.square((n - last / 2) / number(std, "std"))).astype(dtype)


def _beta_is_not_negative(*, beta: Any, **_: Any) -> Iterator[Requirement]:
    if beta.ndim == 0 and category(beta.dtype) < 3:
        said = "`beta` must not be negative, got {got}"
        yield Requirement(~(beta < jnp.zeros_like(beta)), said, got=beta, error=ValueError)


@operator(accepts=Accepts.LAPACK_REAL, promote=Promote.NONE, requires=_beta_is_not_negative)
def kaiser(
    M: Size,
    *,
    beta: UnpromotedArray = 12.0,
    sym: bool = True,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    r"""Kaiser's window: $w_n = I_0(\beta \sqrt{1 - (2 n / N - 1)^2}) / I_0(\beta)$.

    $n$ runs from 0 to $M - 1$, and $I_0$ is the modified Bessel function.

    - `M`: the number of points.
    - `sym`: whether the window is symmetric, $N = M - 1$; otherwise it is one period, $N = M$, for
      spectral analysis.
    - `beta`: $\beta$, not negative, a number or a 0-d array, which may be traced and
      differentiated; 12 by default. Large ones do not overflow.
    - `dtype`: float32 or float64; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[M]`.
    Errors: ValueError for a negative `M` or `beta`, TypeError for another `dtype`.

    >>> functx.signal.windows.kaiser(3, beta=2.0).round(3)
    Array([0.439, 1.   , 0.439], dtype=float32)
    """
    dtype = result_dtype_of(dtype)
    n, last = places(M, sym, "M")
    return hump(n, last, number(beta, "beta")).astype(dtype)
