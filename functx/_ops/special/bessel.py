"""Bessel functions of the first and the second kind, and the spherical one of order 0."""

from __future__ import annotations

import functools as ft
import math

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator, Promote
from functx._ops.polynomials import horner

from .cylinder_functions import first_kind, second_kind
from .orders import combination, differentiable


__all__ = ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0"]


def spherical_first_kind(k: int, x: Array) -> Array:
    """The `k`-th derivative of $j_0$."""
    size = jnp.abs(x)
    inner = jnp.where(size == jnp.inf, 1, jnp.maximum(size, 1e-300))
    sine, cosine = jnp.sin(inner), jnp.cos(inner)
    values = [sine / inner]
    for m in range(1, k + 1):
        above = values[-1] / inner - cosine / inner
        if m > 1:
            above = ((2 * m - 1) / inner) * values[-1] - values[-2]
        values.append(jnp.where(size < m, _spherical_series(m, jnp.minimum(size, m)), above))
    out = combination(_spherical_weights(k), values)
    out = out if k % 2 == 0 else out * jnp.copysign(1, x)
    return jnp.where(size == jnp.inf, 0, out)


def _spherical_weights(k: int) -> dict[int, float]:
    """Weights of $j_m$ in the derivative, by $(2n + 1) j_n' = n j_{n-1} - (n + 1) j_{n+1}$."""
    weights = {0: 1.0}
    for _ in range(k):
        below: dict[int, float] = {}
        for m, weight in weights.items():
            if m:
                below[m - 1] = below.get(m - 1, 0) + weight * m / (2 * m + 1)
            below[m + 1] = below.get(m + 1, 0) - weight * (m + 1) / (2 * m + 1)
        weights = below
    return weights


def _spherical_series(n: int, x: Array) -> Array:
    r"""$j_n$ where $0 \le x < n$, by its power series."""
    terms = [1 / math.prod(range(1, 2 * n + 2, 2))]
    for j in range(1, n + 12):
        terms.append(-terms[-1] / (2 * j * (2 * n + 2 * j + 1)))
    return lax.integer_pow(x, n) * horner(terms, x * x)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def bessel_j0(input: ArrayLike) -> Array:
    r"""Bessel function of the first kind and order 0 of each element of `input`.

    This is $J_0(x_i) = \tfrac1\pi \int_0^\pi \cos(x_i \sin t)\,dt$, and 0 at both infinities, where
    PyTorch has NaN. Errors are less than 5 ulps, near zeros of the amplitude
    $\sqrt{J_0^2 + Y_0^2}$, at the greatest arguments too; PyTorch's are up to 4e-7 near 5. The
    function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.bessel_j0(jnp.asarray([0.0, 1.0], "float32"))
    Array([1.       , 0.7651977], dtype=float32)
    """
    return _j0(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def bessel_j1(input: ArrayLike) -> Array:
    r"""Bessel function of the first kind and order 1 of each element of `input`.

    This is $J_1(x_i) = \tfrac1\pi \int_0^\pi \cos(t - x_i \sin t)\,dt$, and 0 at both infinities,
    where PyTorch has NaN. Errors are less than 5 ulps, near zeros of the amplitude
    $\sqrt{J_1^2 + Y_1^2}$, at the greatest arguments too; PyTorch's are up to 5e-7 near 5. The
    function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.bessel_j1(jnp.asarray([0.0, 1.0], "float32"))
    Array([0.        , 0.44005057], dtype=float32)
    """
    return _j1(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def bessel_y0(input: ArrayLike) -> Array:
    r"""Bessel function of the second kind and order 0, $Y_0$, of each element of `input`.

    It solves $x^2 y'' + x y' + x^2 y = 0$. It is minus infinity at 0, NaN below, and 0 at infinity,
    where PyTorch has NaN. Errors are less than 5 ulps, near zeros of the amplitude
    $\sqrt{J_0^2 + Y_0^2}$, at the greatest arguments too; PyTorch's are up to 2e-7 near 5. The
    function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.bessel_y0(jnp.asarray([0.0, 1.0], "float32"))
    Array([      -inf, 0.08825696], dtype=float32)
    """
    return _y0(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def bessel_y1(input: ArrayLike) -> Array:
    r"""Bessel function of the second kind and order 1, $Y_1$, of each element of `input`.

    It is $-Y_0'$, minus infinity at 0, NaN below, and 0 at infinity, where PyTorch has NaN. Errors
    are less than 5 ulps, near zeros of the amplitude $\sqrt{J_1^2 + Y_1^2}$, at the greatest
    arguments too; PyTorch's are up to 9e-7 near 5. The function has derivatives, of which PyTorch
    has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.bessel_y1(jnp.asarray([0.0, 1.0], "float32"))
    Array([      -inf, -0.7812128], dtype=float32)
    """
    return _y1(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def spherical_bessel_j0(input: ArrayLike) -> Array:
    r"""Spherical Bessel function of order 0 of each element $x_i$ of `input`: $\sin(x_i) / x_i$.

    It is 1 at 0. The function has derivatives, of which PyTorch has none.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.spherical_bessel_j0(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([1.   , 0.841], dtype=float32)
    """
    return _spherical(input)


_j0 = differentiable("bessel_j0", ft.partial(first_kind, 0))
_j1 = differentiable("bessel_j1", ft.partial(first_kind, 1))
_y0 = differentiable("bessel_y0", ft.partial(second_kind, 0))
_y1 = differentiable("bessel_y1", ft.partial(second_kind, 1))
_spherical = differentiable("spherical_bessel_j0", spherical_first_kind)
