r"""The tails of the normal distribution for results in single precision, on CPUs.

All functions take and give float64 arrays of numbers that single precision has, and are accurate to
nine digits. They are made of one quotient of polynomials, where those with all digits compute one
for each part of the domain.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array

from functx._ops.polynomials import by_halves
from functx._ops.ten_digits import exponential, logarithm, logarithm_of_sum


# Quotients of polynomials with the least maximal relative error. $\mathrm{erfcx}(x)$ for all
# $x \ge 0$, to 1.1e-10:
_SCALED = (
    *(0.9999999998923251, 1.6754424341019836, 1.3656859724807016, 0.6685309746808153),
    *(0.20511802763320516, 0.03741744875557452, 0.0031897714821128333),
)
_SCALED_BELOW = (
    *(1.0, 2.80382158825798, 3.529460087490776, 2.5995295855514096),
    *(1.218102551521665, 0.36638905318200604, 0.06632070156213854, 0.005653722746368588),
)
# minus its derivative, to 4.4e-10:
_FALL = (
    *(1.1283791666083836, 1.4810943713832336, 0.9883088283386827, 0.40643676757589525),
    *(0.10683001407008683, 0.01692513799826609, 0.0012622073771089632),
)
_FALL_BELOW = (
    *(1.0, 3.0850395178556327, 4.343956784209211, 3.662028473719365, 2.0323099713160024),
    *(0.7653929966664793, 0.19270698687262694, 0.0299990267672343, 0.0022372043252285494),
)
# $\mathrm{erf}^{-1}(x) / x$ by $w = -\ln(1 - x^2)$ up to 16, to 3.2e-10, and by $\sqrt w$ for $w$
# from 12.1 to 104, to 1.3e-10.
_INVERSE = (
    *(0.8862269257348997, 0.2873600487010293, 0.053630885492426505, 0.00668985227533935),
    *(0.0005131744895086197, 1.5714257156463752e-05, -5.893902135510558e-07),
)
_INVERSE_BELOW = (
    *(1.0, 0.062451715875785865, 0.031134052812632214, 0.0012189510551729595),
    *(0.00016310471173279847, -2.3382067414214054e-06, -3.48716318945412e-08),
)
_FARTHER = (
    *(-0.925893033042583, 2.4138040528000935, -2.940894772939597),
    *(0.6540994315153232, 0.2477826718700388, -0.08104822126537704),
)
_FARTHER_BELOW = (
    *(1.0, -2.3189636273382006, 0.5744764949058232),
    *(0.24439776158693674, -0.0809739431473182, -9.332590735945121e-07),
)
_FARTHEST = 15.0
_ROOT = math.sqrt(0.5)


def complement(x: Array) -> Array:
    r"""$\mathrm{erfc}(x)$."""
    size = jnp.minimum(jnp.abs(x), 11)  # where the result is 0 or 2
    tail = exponential(-size * size) * _scaled(size)
    return jnp.where(x < 0, 2 - tail, tail)


def scaled_complement(x: Array) -> Array:
    r"""$\mathrm{erfcx}(x)$."""
    size = jnp.abs(x)
    scaled = jnp.where(size == jnp.inf, 0, _scaled(jnp.minimum(size, 1e40)))
    near = jnp.minimum(size, 26)  # beyond it is infinite on the left
    return jnp.where(x < 0, 2 * exponential(near * near) - scaled, scaled)


def fall(x: Array) -> Array:
    r"""$-\mathrm{erfcx}'(x) = \tfrac{2}{\sqrt\pi} - 2x\,\mathrm{erfcx}(x)$; above 0 it cancels."""
    size = jnp.clip(x, 0, 1e36)
    below = 2 / math.sqrt(math.pi) - 2 * x * scaled_complement(jnp.minimum(x, 0))
    return jnp.where(x < 0, below, by_halves(_FALL, size) / by_halves(_FALL_BELOW, size))


def relative_fall(x: Array) -> Array:
    r"""$-\mathrm{erfcx}'(x) / \mathrm{erfcx}(x)$."""
    size, below = jnp.clip(x, 0, 1e36), jnp.minimum(x, 0)
    above = by_halves(_FALL, size) / (by_halves(_FALL_BELOW, size) * _scaled(size))
    left = 2 / math.sqrt(math.pi) / scaled_complement(below) - 2 * below
    return jnp.where(x < 0, left, above)


def normal_distribution(x: Array) -> Array:
    r"""$\Phi(x)$."""
    tail = _tail(jnp.minimum(jnp.abs(x), _FARTHEST))
    return jnp.where(x < 0, tail, 1 - tail)


def log_normal_distribution(x: Array) -> Array:
    r"""$\ln\Phi(x)$."""
    size = jnp.minimum(jnp.abs(x), 1e40)
    scaled = 0.5 * _scaled(size * _ROOT)
    tail = scaled * exponential(-0.5 * jnp.square(jnp.minimum(size, 30)))
    below = x < 0
    part, whole = jnp.where(below, scaled, -tail), jnp.where(below, 0.0, 1.0)
    out = logarithm_of_sum(part, whole, part + whole)
    return out - jnp.where(below, 0.5 * x * x, 0)


def slope_of_log(x: Array) -> Array:
    r"""The derivative of $\ln\Phi(x)$."""
    return math.sqrt(2 / math.pi) / scaled_complement(-_ROOT * x)


def error_function_inverse(x: Array) -> Array:
    r"""The $y$ with $\mathrm{erf}(y) = x$."""
    size = jnp.abs(x)
    w = -logarithm(jnp.maximum(1 - x * x, 1e-8))  # the square is exact
    out = x * (by_halves(_INVERSE, w) / by_halves(_INVERSE_BELOW, w))
    beyond = jnp.where(size == 1, jnp.copysign(jnp.inf, x), jnp.nan)
    return jnp.where(size < 1, out, beyond)


def normal_quantile(p: Array) -> Array:
    r"""The $x$ with $\Phi(x) = p$."""
    small = jnp.maximum(jnp.minimum(p, 1 - p), 1e-45)
    w = -logarithm(4 * small * (1 - small))
    near, close, root = w < 14, jnp.minimum(w, 16), jnp.sqrt(jnp.maximum(w, 12.5))
    above = jnp.where(near, by_halves(_INVERSE, close), by_halves(_FARTHER, root))
    below = jnp.where(near, by_halves(_INVERSE_BELOW, close), by_halves(_FARTHER_BELOW, root))
    out = (math.sqrt(2) * (2 * p - 1)) * (above / below)
    out = jnp.where(p == 0, -jnp.inf, jnp.where(p == 1, jnp.inf, out))
    return jnp.where((p >= 0) & (p <= 1), out, jnp.nan)


def slope_of_quantile(p: Array, x: Array) -> Array:
    r"""$1 / \varphi(x)$, computed from the tail beyond $x$, which has more digits than $x$."""
    scaled = _scaled(jnp.minimum(jnp.abs(x), 1e36) * _ROOT)
    out = scaled * math.sqrt(math.pi / 2) / jnp.minimum(p, 1 - p)
    return jnp.where(jnp.isinf(x), jnp.inf, out)


def _scaled(x: Array) -> Array:
    r"""$\mathrm{erfcx}(x)$ for $x \ge 0$."""
    return by_halves(_SCALED, x) / by_halves(_SCALED_BELOW, x)


def _tail(size: Array) -> Array:
    r"""$\Phi(-s)$ for $s \ge 0$ that are not great."""
    return 0.5 * exponential(-0.5 * size * size) * _scaled(size * _ROOT)
