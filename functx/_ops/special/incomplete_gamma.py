r"""The regularized incomplete gamma functions and their derivatives in $a$, of float64 arrays.

From $x = 1$ on, the tail on the far side of $x$ is an integral of $t = x e^{\pm v}$,
$\frac{x^a e^{-x}}{\Gamma(a)} \int_0^\infty e^{-|a - x| v - x (e^{\pm v} - 1 \mp v)} dv$, whose
integrand falls from 1, faster and faster: Gauss and Legendre's rule sums it up to where it is
nothing. Below, the power series of the lower function. Both are analytic in $a$: derivatives are
those of the code, and meet no difference of large numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops.pointwise.log_gamma import log_gamma_of_1_plus, stirling_correction

from .roundoff import product_error, sum_error


# Gauss and Legendre's 48 nodes in [0, 1], of which half are the others' distances to 1.
_NODES = (
    *(0.0006144963737869407, 0.003234913866824621, 0.007937708138586571, 0.014704203726876374),
    *(0.02350614841978457, 0.034306654646722834, 0.04706043164221516, 0.06171398986287606),
    *(0.07820586918780323, 0.09646689798527869, 0.11642048374212983, 0.13798293453809268),
    *(0.16106381018366805, 0.1855663016117432, 0.21138763695801366, 0.23841951263888347),
    *(0.2665485476245208, 0.2956567590046416, 0.32562205685391965, 0.3563187563222722),
    *(0.38761810480265546, 0.41938882196555416, 0.4514976503952686, 0.4838099145185653),
)
_WEIGHTS = (
    *(0.0015766730261529192, 0.0036637769506381312, 0.00573861728961727, 0.007789657861471924),
    *(0.009808080228677764, 0.01178538041966219, 0.013713254854178474, 0.015583613916399045),
    *(0.01738861128238522, 0.019120675532915354, 0.020772541471732374, 0.02233728042834714),
    *(0.02380832924624524, 0.025179517776927236, 0.026445094742596834, 0.027599751849992082),
    *(0.028638646050201607, 0.029557419849197818, 0.03035221958294694, 0.031019711579946332),
    *(0.03155709614312701, 0.03196211929232409, 0.032233082217975044, 0.03236884840634196),
)
_ALL_NODES = np.array([*_NODES, *(1 - u for u in _NODES)])
_ALL_WEIGHTS = np.array([*_WEIGHTS, *_WEIGHTS])
_LAST_EXPONENT = 42.0  # where the integrand ends; a derivative in $a$ multiplies it by $v$
_MORE_EACH = 4.0
_SERIES = 18  # terms of the power series, for $x < 1$
_SMALL = 10.0  # below which $x^a$ is a power, from where on Stirling's series has all digits
_LARGEST = 1e290
_LINEAR = 1e-100

Function = Callable[[Array, Array], Array]


def lower(order: int, a: Array, x: Array) -> Array:
    r"""The derivative of $P(a, x)$ in $a$ of this order."""
    inner = _differentiated(lambda a, x: _regularized(order, a, x)[0], order)
    return _at_edges(inner, order, a, x, (0.0, 1.0))


def upper(order: int, a: Array, x: Array) -> Array:
    r"""The derivative of $Q(a, x) = 1 - P(a, x)$ in $a$ of this order."""
    inner = _differentiated(lambda a, x: _regularized(order, a, x)[1], order)
    return _at_edges(inner, order, a, x, (1.0, 0.0))


def density(order: int, a: Array, x: Array) -> Array:
    r"""The derivative of $x^{a-1} e^{-x} / \Gamma(a)$ in $a$ of this order."""
    inside = (a >= 0) & (x > 0) & (a < jnp.inf) & (x < jnp.inf)
    safe_a, safe_x = jnp.where(inside, a, 1), jnp.where(inside, x, 1)
    out = _differentiated(_density, order)(safe_a, safe_x)
    out = jnp.where(inside, out, 0)
    if order == 0:
        at_zero = jnp.where(a == 1, 1, jnp.where((a > 0) & (a < 1), jnp.inf, 0))
        out = jnp.where(x == 0, at_zero, out)
    return jnp.where((a >= 0) & (x >= 0), out, jnp.nan)


def _differentiated(function: Function, order: int) -> Function:
    if order == 0:
        return function
    inner = _differentiated(function, order - 1)
    return lambda a, x: jax.jvp(lambda a: inner(a, x), (a,), (jnp.ones_like(a),))[1]


def _at_edges(inner: Function, order: int, a: Array, x: Array, ends: tuple[float, float]) -> Array:
    """`inner` between the edges; `ends` are the values at 0 and infinity."""
    inside = (a >= 0) & (x > 0) & (a < jnp.inf) & (x < jnp.inf)
    out = inner(jnp.where(inside, a, 1), jnp.where(inside, x, 1))
    if order:
        out = jnp.where(inside, out, 0)
    else:
        out = jnp.where(inside, out, jnp.where((x == 0) | (a == jnp.inf), *ends))
    out = jnp.where(out == 0, 0, out)  # without a sign
    neither = ((a == 0) & (x == 0)) | ((a == jnp.inf) & (x == jnp.inf))
    return jnp.where((a >= 0) & (x >= 0) & ~neither, out, jnp.nan)


def _regularized(order: int, a: Array, x: Array) -> tuple[Array, Array]:
    """$P$ and $Q$, each with its digits where it is small."""
    near = x < 1
    near_a = jnp.where(near, a, 1)
    # $Q$ is linear in the smallest $a$, where XLA would take $\ln \Gamma(1 + a)$ for 0.
    seen = near_a if order else jnp.maximum(near_a, _LINEAR)
    low, high = _by_series(seen, jnp.where(near, x, 0.5))
    high = high if order else high * (near_a / seen)
    far_a, far_x = jnp.where(near, 1, a), jnp.where(near, 1, x)
    tail = _tail(order, far_a, far_x)
    below = far_x < far_a
    p = jnp.where(near, low, jnp.where(below, tail, 1 - tail))
    q = jnp.where(near, high, jnp.where(below, 1 - tail, tail))
    return p, q


def _by_series(a: Array, x: Array) -> tuple[Array, Array]:
    """Of $0 < x < 1$."""
    # $a \\sum_{n > 0} (-x)^n / (n! (a + n))$.
    total, term = jnp.zeros_like(x), jnp.ones_like(x)
    for n in range(1, _SERIES + 1):
        term = term * (x * (-1 / n))
        total = total + term / (a + n)
    total = a * total
    moderate = a < _SMALL
    # $\\ln(x^a / \\Gamma(1 + a))$.
    small = jnp.where(moderate, a, 1)
    large = jnp.maximum(a, _SMALL)
    scale = _by_stirling(large, x) * jnp.exp(x) / large
    power = jnp.where(moderate, x**small * _over_gamma(small), scale)
    low = power * (1 + total)
    logarithm = small * jnp.log(x) - log_gamma_of_1_plus(small)
    high = -jnp.expm1(logarithm) - power * total
    return low, jnp.where(moderate & (low > 0.25), high, 1 - low)


def _tail(order: int, a: Array, x: Array) -> Array:
    """$P$ where $x < a$, else $Q$; for $x >= 1$."""
    side = jnp.where(x < a, -1.0, 1.0)
    x_there = jnp.clip(x, 1, _LARGEST)
    slope = jnp.abs(a - x) / x_there
    reach = lax.stop_gradient(_reach(order, side, slope, x_there))
    v = reach[..., None] * _ALL_NODES
    fall = slope[..., None] * v + _excess(side[..., None], v)
    values = jnp.exp(-x_there[..., None] * fall)
    integral = reach * jnp.sum(_ALL_WEIGHTS * values, axis=-1)
    return _scale(a, x_there) * integral


def _reach(order: int, side: Array, slope: Array, x: Array) -> Array:
    """Where the integrand is nothing any more: by Newton's steps from a parabola's root."""
    depth = (_LAST_EXPONENT + _MORE_EACH * order) / x
    v = 2 * depth / (slope + jnp.sqrt(slope * slope + 2 * depth))
    for _ in range(4):
        excess = slope * v + _excess(side, v) - depth
        v = v - excess / (slope + jnp.abs(jnp.expm1(side * v)))
    return v


def _excess(side: Array, v: Array) -> Array:
    r"""$e^{\pm v} - 1 \mp v$ of positive $v$."""
    near = v < 0.5
    signed = side * jnp.where(near, v, 0.25)
    series = jnp.zeros_like(v)
    for n in reversed(range(2, 16)):
        series = series * signed + 1 / math.factorial(n)
    far = side * v
    return jnp.where(near, signed * signed * series, jnp.expm1(far) - far)


def _density(a: Array, x: Array) -> Array:
    # Nothing far out, where its power of a small $a$ would be infinite.
    far = jnp.minimum(x, 1e3)
    small = jnp.where(a < _SMALL, a, 1)
    power = small * jnp.exp(-far) * far ** (small - 1) * _over_gamma(small)
    return jnp.where(a < _SMALL, power, _by_stirling(jnp.maximum(a, _SMALL), x) / x)


def _scale(a: Array, x: Array) -> Array:
    r"""$x^a e^{-x} / \Gamma(a)$."""
    far = jnp.minimum(x, 1e3)
    small = jnp.where(a < _SMALL, a, 1)
    power = small * jnp.exp(-far) * far**small * _over_gamma(small)
    return jnp.where(a < _SMALL, power, _by_stirling(jnp.maximum(a, _SMALL), x))


def _over_gamma(a: Array) -> Array:
    r"""$1 / \Gamma(1 + a)$ for $a < 10$."""
    whole = jnp.floor(a)
    part = a - whole
    product = jnp.ones_like(a)
    for n in range(1, int(_SMALL)):
        product = product * jnp.where(n <= whole, part + n, 1)
    return jnp.exp(-log_gamma_of_1_plus(part)) / product


def _by_stirling(a: Array, x: Array) -> Array:
    """The scale for large $a$. Its exponent has digits before the point, and so is not rounded."""
    a = jnp.minimum(a, _LARGEST)
    near = jnp.abs(x - a) < 0.5 * a
    close = _power_near(a, jnp.where(near, x, a))
    away = _power_away(a, jnp.where(near, 3 * a, x))
    root = jnp.sqrt(a * (0.5 / math.pi)) * jnp.exp(-stirling_correction(a))
    return root * jnp.where(near, close, away)


def _power_near(a: Array, x: Array) -> Array:
    r"""$(x / a)^a e^{a - x}$ for $x$ from $a / 2$ to $3 a / 2$."""
    # With $m = x / a - 1$ and $s = m / (2 + m)$, $\ln(1 + m) - m = 2 (s^3 / 3 + ...) - m s$.
    difference, total = x - a, x + a
    part = difference / total
    square = part * part
    series = jnp.zeros_like(part)
    for n in reversed(range(17)):
        series = series * square + 1 / (2 * n + 3)
    most = difference * part
    rest = 2 * a * part * square * series
    exponent = rest - most
    lost = lax.stop_gradient(_lost_near(x, a, difference, total, part, rest, most))
    return jnp.exp(exponent) * (1 + lost)


def _lost_near(
    x: Array, a: Array, difference: Array, total: Array, part: Array, rest: Array, most: Array
) -> Array:
    """What the exponent in `_power_near` lacks."""
    product = part * total
    remainder = (difference - product) - product_error(part, total, product)
    in_part = (remainder - part * sum_error(x, a, total)) / total
    in_most = product_error(difference, part, most) + difference * in_part
    return sum_error(rest, -most, rest - most) - in_most


def _power_away(a: Array, x: Array) -> Array:
    r"""$(x / a)^a e^{a - x}$ for other $x$."""
    seen = a * jnp.log(x / a) + (a - x) > -800
    a, x = jnp.where(seen, a, 10), jnp.where(seen, x, 20)
    ratio, difference = x / a, a - x
    # Powers are exact to the last digit, of an eighth they stay in range.
    root = ratio ** (a / 8) * jnp.exp(difference / 8)
    power = (root * root) ** 2
    product = ratio * a
    in_ratio = ((x - product) - product_error(ratio, a, product)) / ratio
    lost = lax.stop_gradient(in_ratio + sum_error(a, -x, difference))
    return jnp.where(seen, power * power * (1 + lost), 0)
