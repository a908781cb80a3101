"""Bessel's and Airy's functions by their series, in decimal arithmetic."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np


_DIGITS = 160
_EULER = Decimal("0.5772156649015328606065120900824024310421593359399235988057672348848677267777")
_FAR = 40.0  # from where on asymptotic series have all digits


def elementwise(function: Callable[[float], Decimal]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of finite numbers, of arrays."""

    @ft.wraps(function)
    def of_array(x: np.ndarray) -> np.ndarray:
        out = [_rounded(function, float(v)) for v in x.ravel()]
        return np.array(out, x.dtype).reshape(x.shape)

    return of_array


def _rounded(function: Callable[[float], Any], x: float) -> float:
    with localcontext() as context:
        context.prec = _DIGITS
        return float(function(x))


@ft.cache
def pi() -> Decimal:
    """With digits enough to reduce the largest numbers: by Machin's formula."""
    with localcontext() as context:
        context.prec = 800
        return 4 * (4 * _inverse_tangent(5) - _inverse_tangent(239))


def _inverse_tangent(n: int) -> Decimal:
    """Of 1 / `n`."""
    power = total = Decimal(1) / n
    k = 1
    while abs(power) > Decimal("1e-790"):
        power = -power / (n * n)
        k += 2
        total += power / k
    return total


def cosine_and_sine(x: Decimal) -> tuple[Decimal, Decimal]:
    with localcontext() as context:
        context.prec = 800
        x = x % (2 * pi())
    cosine, sine, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while k < 2 or abs(term) > Decimal("1e-150"):
        if k % 2 == 0:
            cosine += term * (-1) ** (k // 2)
        else:
            sine += term * (-1) ** (k // 2)
        k += 1
        term = term * x / k
    return cosine, sine


def bessel(kind: str, n: int, x: float) -> Decimal | float:
    """`kind` is "j" or "y", `n` 0 or 1."""
    if np.isnan(x) or (kind == "y" and x < 0):
        return np.nan
    if kind == "y" and x == 0:
        return -np.inf
    if x == 0:
        return 1.0 if n == 0 else x
    if np.isinf(x):
        return 0.0
    sign = -1 if x < 0 and n else 1
    z = Decimal(abs(x))
    if abs(x) >= _FAR:
        return sign * _far(kind, n, z)
    first, rest = _near(n, z)
    if kind == "j":
        return sign * first
    return (2 * ((z / 2).ln() + _EULER) * first - rest - (2 / z if n else 0)) / pi()


def _near(n: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """Abramowitz and Stegun 9.1.10, and the last sum of 9.1.11 and 9.1.13."""
    square, term = x * x / 4, (x / 2) ** n
    first = rest = harmonic = Decimal(0)
    for k in range(200):
        following = harmonic + (Decimal(1) / (k + 1) if n else 0)
        first += term
        rest += term * (harmonic + following)
        harmonic += Decimal(1) / (k + 1)
        term = -term * square / ((k + 1) * (n + k + 1))
    return first, rest


def _far(kind: str, n: int, x: Decimal) -> Decimal:
    """Hankel's expansions (Abramowitz and Stegun 9.2.5 to 9.2.10)."""
    even, odd, term = Decimal(0), Decimal(0), Decimal(1)
    for k in range(60):
        if k % 2 == 0:
            even += term * (-1) ** (k // 2)
        else:
            odd += term * (-1) ** (k // 2)
        term = term * (4 * n * n - (2 * k + 1) ** 2) / (8 * (k + 1) * x)
    with localcontext() as context:
        context.prec = 800
        phase = x - (2 * n + 1) * pi() / 4
    cosine, sine = cosine_and_sine(phase)
    scale = (2 / (pi() * x)).sqrt()
    return scale * (even * cosine - odd * sine if kind == "j" else even * sine + odd * cosine)


def spherical(x: float) -> Decimal | float:
    if x == 0 or np.isinf(x) or np.isnan(x):
        return 1.0 if x == 0 else 0.0 if np.isinf(x) else np.nan
    return cosine_and_sine(Decimal(abs(x)))[1] / Decimal(abs(x))


def airy(x: float) -> Decimal | float:
    """Abramowitz and Stegun 10.4.2, 10.4.59 and 10.4.60; 0 where the operator says so."""
    if np.isnan(x):
        return np.nan
    if x > 1e3 or x < -(2.0**52):
        return 0.0
    z = Decimal(x)
    if abs(x) < 25:
        first, second = Decimal(1), z
        one, other = first, second
        for k in range(1, 250):
            first = first * z**3 / ((3 * k - 1) * (3 * k))
            second = second * z**3 / ((3 * k) * (3 * k + 1))
            one, other = one + first, other + second
        return _AIRY[0] * one - _AIRY[1] * other
    with localcontext() as context:
        context.prec = 800
        size = abs(z)
        zeta = 2 * size * size.sqrt() / 3
    even, odd, term = Decimal(0), Decimal(0), Decimal(1)
    for k in range(40):
        sign = 1 if x > 0 else (-1) ** (k // 2)
        if k % 2 == 0:
            even += sign * term
        else:
            odd += sign * term
        term = term * (6 * k + 1) * (6 * k + 5) / (72 * (k + 1) * zeta)
    root = pi().sqrt() * size.sqrt().sqrt()
    if x > 0:
        return (even - odd) * (-zeta).exp() / (2 * root)
    with localcontext() as context:
        context.prec = 800
        phase = zeta - pi() / 4
    cosine, sine = cosine_and_sine(phase)
    return (even * cosine + odd * sine) / root


_AIRY = (  # its value at 0, and its slope with the other sign
    Decimal(
        "0.3550280538878172392600631860041831763979791741991772405833"
        "2651030081004245012671295717424605404027168842044873"
    ),
    Decimal(
        "0.2588194037928067984051835601892039634790911383549345822100"
        "0181385610277267679028065419640582727538431337119321"
    ),
)
