"""Modified Bessel functions of the second kind, $K_n$, scaled by $e^x$ or not, in float64.

They are NaN below 0 and infinite at 0.
"""

from __future__ import annotations

import math
from collections import Counter

import jax.numpy as jnp
from jax import Array, lax

from functx._ops.polynomials import horner
from functx._ops.quotients import quotient

from .exponential import times_exponential
from .orders import combination


# $x (\sqrt{x} e^x K_n - \sqrt{\pi / 2})$ by $1/x$, for $x \ge 1$ and $n = 0$ and 1: numerator and
# denominator, the lowest powers first. They interpolate at Chebyshev's points, in 60 digits; the
# errors are 5e-17 of $\sqrt{x} e^x K_n$.
_KP0 = (
    *(-0.15666426716443746, -3.279379379167871, -26.771331741154533, -110.3577616822791),
    *(-248.936158083886, -311.972704928092, -211.35295083587962, -71.9648446294339),
    *(-10.623466059728553, -0.48455917323787057, -0.0010526402681046198),
)
_KQ0 = (
    *(1.0, 21.49502940522625, 182.3884746876967, 795.3180237001023),
    *(1946.9455163617633, 2749.664298310101, 2221.8032652363145, 986.6681812571377),
    *(221.79631071312494, 21.509093338081474, 0.6189549463723983),
)
_KP1 = (
    *(0.4699928014933125, 9.641558168736907, 77.09769049230155, 311.3742188621251),
    *(689.0784593635813, 849.9481390105187, 570.3397375616017, 194.7600495512045),
    *(29.642641729034967, 1.5202131673554142, 0.011048688861595211),
)
_KQ1 = (
    *(1.0, 20.826767746447622, 170.27507920043578, 710.409149392321),
    *(1648.8582401923177, 2181.306308298038, 1623.6958556348673, 648.3746762314471),
    *(126.20524861535516, 9.920908690797797, 0.2007954839754061),
)
_TERMS = 12  # terms of the power series, which is used up to 1
_CONSTANT = 0.5772156649015328606 - math.log(2)
_STEP = 0.2  # step of the trapezoidal rule, whose error is 1e-19 for $x \ge 1$


def second_kind(n: int, k: int, x: Array) -> Array:
    """The `k`-th derivative of $K_n$."""
    weights = _weights(n, k)
    near, far = _near(max(weights), x), _far(max(weights), x)
    total = times_exponential(combination(weights, far), -x)
    return _on_its_domain(x, combination(weights, near), total)


def scaled_second_kind(n: int, k: int, x: Array) -> Array:
    """The `k`-th derivative of $e^x K_n$, for $n$ 0 or 1."""
    weights = Counter[int]()
    for j in range(k + 1):
        for m, weight in _weights(n, j).items():
            weights[m] += math.comb(k, j) * weight
    near = _near(n + k, x)
    total = combination(weights, near)
    # Where the term of the greatest order is infinite, others may be too.
    total = jnp.where(jnp.isinf(near[-1]), (-1) ** k * jnp.inf, total)
    total = times_exponential(total, jnp.minimum(x, 1))
    if k == 0:
        return _on_its_domain(x, total, _far(n, x)[n])
    far = _moment(k, x) + (_moment(k + 1, x) if n else 0)
    return _on_its_domain(x, total, (-1) ** k * far)


def _on_its_domain(x: Array, near: Array, far: Array) -> Array:
    out = jnp.where(x < 1, near, far)
    return jnp.where(x < 0, jnp.nan, out)


def _weights(n: int, k: int) -> Counter[int]:
    """The weights of $K_m$ in the `k`-th derivative of $K_n$, by $-2 K_n' = K_{n-1} + K_{n+1}$."""
    weights = Counter[int]()
    for i in range(k + 1):
        weights[abs(n - k + 2 * i)] += math.comb(k, i) / (-2) ** k
    return weights


def _near(last: int, x: Array) -> list[Array]:
    """$K_m$ for $m \\le$ `last`, by power series, where $x < 1$."""
    x = jnp.clip(x, 0, 1)
    square = 0.25 * x * x
    factorials = [math.factorial(j) for j in range(_TERMS + 1)]
    harmonic = [math.fsum(1 / i for i in range(1, j + 1)) for j in range(_TERMS + 1)]
    i0 = horner([1 / f**2 for f in factorials], square)
    i1 = horner([1 / (f * g) for f, g in zip(factorials, factorials[1:], strict=False)], square)
    rest = horner([h / f**2 for h, f in zip(harmonic, factorials, strict=True)], square)
    rest1 = horner(
        [
            (harmonic[j] + harmonic[j + 1]) / (factorials[j] * factorials[j + 1])
            for j in range(_TERMS)
        ],
        square,
    )
    k0 = rest - (jnp.log(x) + _CONSTANT) * i0
    slow = jnp.log(jnp.maximum(x, 1e-300)) + _CONSTANT
    k1 = 1 / x + 0.5 * x * (slow * i1 - 0.5 * rest1)
    return _upwards(last, x, k0, k1)


def _far(last: int, x: Array) -> list[Array]:
    """$e^x K_m$ for $m \\le$ `last`, where $x \\ge 1$."""
    x = jnp.maximum(x, 1)
    inverse = 1 / x
    limit, root = math.sqrt(math.pi / 2), jnp.sqrt(x)
    k0 = quotient(limit + inverse * (horner(_KP0, inverse) / horner(_KQ0, inverse)), root)
    k1 = quotient(limit + inverse * (horner(_KP1, inverse) / horner(_KQ1, inverse)), root)
    return _upwards(last, x, k0, k1)


def _upwards(last: int, x: Array, k0: Array, k1: Array) -> list[Array]:
    values = [k0, k1]
    for m in range(1, last):
        values.append(values[m - 1] + (2 * m / x) * values[m])
    return values[: last + 1]


def _moment(k: int, x: Array) -> Array:
    r"""$\int_0^\infty (\cosh t - 1)^k e^{-x (\cosh t - 1)}\,dt$ where $x \ge 1$.

    With $s^2 = x (\cosh t - 1)$ it is $(2k-1)!! \int e^{-s^2} (2x + s^2)^{-k - 1/2}\,ds$.
    """
    x = jnp.maximum(x, 1)
    total = jnp.zeros_like(x)
    for j in reversed(range(int(6.6 / _STEP) + 1)):
        weight = (2 if j else 1) * _STEP * math.exp(-((j * _STEP) ** 2))
        root = lax.rsqrt(2 * x + (j * _STEP) ** 2)
        total = total + weight * lax.integer_pow(root, 2 * k + 1)
    return math.prod(range(1, 2 * k, 2)) * total
