r"""The regularized incomplete gamma functions of float64 arrays, and their derivatives in $a$.

From $x = 1$ on, the tail on the far side of $x$ is an integral over $t = x e^{\pm v}$,
$\frac{x^a e^{-x}}{\Gamma(a)} \int_0^\infty e^{-|a - x| v - x (e^{\pm v} - 1 \mp v)} dv$, whose
integrand falls from 1, faster and faster: the rule of Gauss and Legendre sums it up to where it
vanishes. Below 1 the power series of the lower function is used. A derivative in $a$ is another sum
at the same nodes, or of the same powers, and meets no difference of large numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._ops.polynomials import horner

from .gamma_powers import over_gamma, Power, power, relative_slopes


# The 52 nodes of Gauss and Legendre in [0, 1]; half of them are the distances of the others to 1.
_NODES = (
    *(0.0005244444480248609, 0.0027612045353919853, 0.006776902174225079, 0.012558057889127748),
    *(0.020084086533456724, 0.02932807317932047, 0.04025693554178773, 0.05283155473275234),
    *(0.06700691857696621, 0.08273228383663274, 0.09995135828476584, 0.11860250240312752),
    *(0.1386189501250084, 0.15992904788641615, 0.18245651115237704, 0.20612069751021048),
    *(0.2308368953570863, 0.25651662715095197, 0.2830679661406192, 0.3103958654419532),
    *(0.3384024982825961, 0.3669876081974991, 0.396048867921817, 0.42548224569652543),
    *(0.4551823776755497, 0.4850429451013306),
)
_WEIGHTS = (
    *(0.0013456584750235557, 0.0031277619814866387, 0.004901317289731376, 0.006657557491170481),
    *(0.008390011698150368, 0.010092445753990396, 0.011758756776992231, 0.013382976873252007),
    *(0.014959290573571973, 0.0164820545448594, 0.017945817417548617, 0.01934533915521199),
    *(0.020675609750280134, 0.021931867129500203, 0.023109614186392395, 0.02420463487203745),
    *(0.02521300928317119, 0.026131127691953495, 0.02695570346637863, 0.027683784834651327),
    *(0.0283127654511843, 0.028840393726263413, 0.029264780885906935, 0.029584407733021484),
    *(0.02979813008562408, 0.02990518287264593),
)
_ALL_NODES = np.array([*_NODES, *(1 - u for u in _NODES)])
_ALL_WEIGHTS = np.array([*_WEIGHTS, *_WEIGHTS])
_LAST_EXPONENT = 46.0  # the exponent at which the integrand ends, for low orders
_LOW_ORDER = 3
_MORE_EACH = 4.0  # for each further order, a further power of $v$
_TERMS = np.arange(1.0, 19)  # terms of the power series, for $x < 1$
_SIGNED = np.array([(-1.0) ** n / math.factorial(n) for n in range(1, 19)])
_SMALL = 10.0
_LARGEST = 1e290


def lower(a: Array, x: Array) -> Array:
    """The regularized lower incomplete gamma function $P(a, x)$."""
    return _at_edges(_regularized(*_inside(a, x))[0], a, x, (0.0, 1.0))


def upper(a: Array, x: Array) -> Array:
    """The regularized upper incomplete gamma function $Q(a, x) = 1 - P(a, x)$."""
    return _at_edges(_regularized(*_inside(a, x))[1], a, x, (1.0, 0.0))


def lower_in_first(order: int, a: Array, x: Array) -> Array:
    """The derivative of $P(a, x)$ in $a$ of `order`, which is above 0."""
    b, y = _inside(a, x)
    scale, slopes = power(b, y), relative_slopes(order, b, y)
    near = y < 1
    series = _series(scale, slopes, b, jnp.where(near, y, 0.5))
    tail = _tail(scale, slopes, b, jnp.where(near, 1, y))
    out = jnp.where(near, series, jnp.where(y < b, tail, -tail))
    return _at_edges(out, a, x, (0.0, 0.0))


def density(order: int, lowered: int, a: Array, x: Array) -> Array:
    r"""The derivative of $x^{a-m-1} e^{-x} / \Gamma(a - m)$ in $a$ of `order`; $m$ is `lowered`.

    At $x = 0$ derivatives of an order above 0 are taken for 0.
    """
    b, y = _inside(a, x)
    half, rest = power(b, y)
    other = half * rest
    for _ in range(lowered // 2 + 1):
        half = half / jnp.minimum(y, 1)
    for _ in range((lowered + 1) // 2):
        other = other / jnp.minimum(y, 1)
    # Derivatives of $\Gamma(1 + a) / \Gamma(a - m) = a (a - 1) ... (a - m)$, divided by a power.
    factors = [jnp.full_like(b, float(j == 0)) for j in range(order + 1)]
    for k in range(lowered + 1):
        products = [(b - k) * f for f in factors]
        added = [jnp.zeros_like(b), *((j + 1) * f for j, f in enumerate(factors[:-1]))]
        each = zip(products, added, strict=True)
        factors = [(product + more) / jnp.maximum(y, 1) for product, more in each]
    slopes = relative_slopes(order, b, y)
    terms = zip(factors, reversed(slopes), strict=True)
    total = sum(math.comb(order, j) * f * s for j, (f, s) in enumerate(terms))
    out = jnp.where(half == 0, 0, half * (other * total))
    if order == 0:
        nothing = (a > lowered + 1) | (factors[0] == 0)
        at_zero = jnp.where(nothing, 0, jnp.copysign(jnp.inf, factors[0]))
        at_zero = jnp.where(a == lowered + 1, 1, at_zero)
    else:
        at_zero = 0
    out = jnp.where(x == 0, at_zero, jnp.where((a < jnp.inf) & (x < jnp.inf), out, 0))
    return jnp.where((a >= 0) & (x >= 0), out, jnp.nan)


def _inside(a: Array, x: Array) -> tuple[Array, Array]:
    """`a` and `x`, with 1 in place of numbers at an edge, and with the largest numbers shrunk."""
    a = jnp.where((a >= 0) & (a < jnp.inf), a, 1)
    x = jnp.where((x > 0) & (x < jnp.inf), x, 1)
    shrunk = _LARGEST / jnp.maximum(jnp.maximum(a, x), _LARGEST)
    return a * shrunk, jnp.where(shrunk < 1, jnp.maximum(x * shrunk, 1), x)


def _at_edges(out: Array, a: Array, x: Array, ends: tuple[float, float]) -> Array:
    """`out` between the edges; `ends` are the values at 0 and infinity."""
    out = jnp.where((x == 0) | (a == jnp.inf), ends[0], jnp.where(x == jnp.inf, ends[1], out))
    out = jnp.where(out == 0, 0, out)  # NaN without a sign
    neither = ((a == 0) & (x == 0)) | ((a == jnp.inf) & (x == jnp.inf))
    return jnp.where((a >= 0) & (x >= 0) & ~neither, out, jnp.nan)


@jax.jit
def _regularized(a: Array, x: Array) -> tuple[Array, Array]:
    """$P$ and $Q$, each of which keeps its digits where it is small."""
    scale, slopes = power(a, x), [jnp.ones_like(a)]
    near = x < 1
    low, high = _by_series(scale, a, jnp.where(near, x, 0.5))
    tail = _tail(scale, slopes, a, jnp.where(near, 1, x))
    below = x < a
    p = jnp.where(near, low, jnp.where(below, tail, 1 - tail))
    q = jnp.where(near, high, jnp.where(below, 1 - tail, tail))
    return p, q


def _by_series(scale: Power, a: Array, x: Array) -> tuple[Array, Array]:
    """$P$ and $Q$ for $0 < x < 1$."""
    total = a * jnp.sum(_signed_powers(x) / (a[..., None] + _TERMS), axis=-1)
    without = _without_exponential(scale, x)
    low = without * (1 + total)
    # $x^a / \Gamma(1 + a) - 1$ keeps the digits of small $a$.
    small = jnp.where(a < _SMALL, a, 1)
    inverse, more = over_gamma(small)
    high = -(jnp.expm1(small * jnp.log(x)) * inverse + more) - without * total
    return low, jnp.where((a < _SMALL) & (low > 0.25), high, 1 - low)


def _series(scale: Power, slopes: Sequence[Array], a: Array, x: Array) -> Array:
    """The derivative of $P$ in $a$ for $0 < x < 1$, from the power and each $a / (a + n)$."""
    order = len(slopes) - 1
    inverse = 1 / (a[..., None] + _TERMS)
    total = (slopes[order] * a)[..., None] * inverse
    for k in range(1, order + 1):
        ways = math.factorial(order) // math.factorial(order - k) * (-1) ** (k + 1)
        total = total + (ways * slopes[order - k])[..., None] * (_TERMS * inverse ** (k + 1))
    total = jnp.sum(_signed_powers(x) * total, axis=-1)
    return _without_exponential(scale, x) * (slopes[order] + total)


def _without_exponential(scale: Power, x: Array) -> Array:
    r"""$x^a / \Gamma(1 + a)$, for the power `scale` that has the factor $e^{-x}$."""
    return scale.half * (scale.half * (scale.rest * jnp.exp(x)))


def _signed_powers(x: Array) -> Array:
    """$(-x)^n / n!$ of the terms of the power series."""
    out, power_of_two = jnp.asarray(_SIGNED), x[..., None]
    for bit in range(5):
        out = out * jnp.where(_TERMS // 2**bit % 2 == 1, power_of_two, 1)
        power_of_two = power_of_two * power_of_two
    return out


def _tail(scale: Power, slopes: Sequence[Array], a: Array, x: Array) -> Array:
    r"""The derivative in $a$ of $P$ where $x < a$, and of $Q$ elsewhere; $x \ge 1$."""
    order = len(slopes) - 1
    side = jnp.where(x < a, -1.0, 1.0)
    # Derivatives of $x^a e^{-x} / \Gamma(a)$ go with the powers of $v$ that the integrand gives.
    coefficients: list[Array] = []
    for k in range(order + 1):
        n = order - k
        slope = a * slopes[n] + n * slopes[n - 1] if n else a
        coefficients.append(math.comb(order, k) * slope * (side if k % 2 else 1))
    return scale.half * (scale.half * (scale.rest * _integral(coefficients, side, a, x)))


def _integral(coefficients: Sequence[Array], side: Array, a: Array, x: Array) -> Array:
    """The integral of the integrand times a polynomial in $v$, given by its coefficients."""
    slope = jnp.abs(a - x) / x
    reach = _reach(len(coefficients) - 1, side, slope, x)
    v = reach[..., None] * _ALL_NODES
    values = jnp.exp(-x[..., None] * (slope[..., None] * v + _excess(side[..., None], v)))
    factor = jnp.zeros_like(v)
    for coefficient in reversed(coefficients):
        factor = factor * v + coefficient[..., None]
    return reach * jnp.sum(_ALL_WEIGHTS * values * factor, axis=-1)


def _reach(order: int, side: Array, slope: Array, x: Array) -> Array:
    r"""The $v$ at which the integrand has vanished, or a little more.

    Below $a$ it follows from $e^{-v} - 1 + v \ge v^2 / (2 + v)$; above $a$ from
    $e^v - 1 - v \ge v^2 / 2$, and a step of $e^v = 1 + v + ...$ from there.
    """
    depth = (_LAST_EXPONENT + _MORE_EACH * max(order - _LOW_ORDER, 0)) / x
    below = side < 0
    linear = 2 * slope - jnp.where(below, depth, 0)
    root = jnp.sqrt(linear * linear + 8 * depth * jnp.where(below, slope + 1, 1))
    v = 4 * depth / (linear + root)
    return jnp.where(below, v, jnp.minimum(v, jnp.log1p(depth + (1 - slope) * v)))


def _excess(side: Array, v: Array) -> Array:
    r"""$e^{\pm v} - 1 \mp v$ for positive $v$."""
    near = v < 0.5
    signed = side * jnp.where(near, v, 0.25)
    series = horner([1 / math.factorial(n) for n in range(2, 16)], signed)
    far = side * v
    return jnp.where(near, signed * signed * series, jnp.expm1(far) - far)
