r"""The decrease of $\mathrm{erfcx}(x) = e^{x^2}\,\mathrm{erfc}(x)$, and its derivatives.

$F_n = (-1)^n \mathrm{erfcx}^{(n)}(x)$ is
$\tfrac{2}{\sqrt\pi} \int_0^\infty (2t)^n e^{-t^2 - 2xt}\, dt$. The difference of $2x F_{n - 1}$ and
$2 (n - 1) F_{n - 2}$ would give it too, but nearly cancels. Gauss's rules give all digits of the
integral.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules

from . import single_tails
from .gaussian_tails import scaled_complement
from .wide import widened


# Rules of 20 points: for the weight $e^{-t^2}$ up to $x = 3.5$, and beyond for $e^{-u}$, $u = 2xt$.
# The nodes of the first rule are given as $2t$.
_NEAREST = 3.5
_NEAR_AT = (
    *(0.028559019399833498, 0.14926260078438275, 0.36172312611607654, 0.6588667121285766),
    *(1.0321010861230606, 1.4725109151617817, 1.9717471500750543, 2.5225780322055322),
    *(3.11915929041932, 3.7571238386059607, 4.433588330775291, 5.1471556416525575),
    *(5.897979493574466, 6.687962759723279, 7.521199865821549, 8.404885200842276),
    *(9.351217695588954, 10.381803373950001, 11.539970331135512, 12.941116774129153),
)
_NEAR = (
    *(0.04126248095353957, 0.09401377007261671, 0.1398673127403191, 0.17041750331594238),
    *(0.17649482600028368, 0.15457918397722747, 0.1123067291104615, 0.06604828742706317),
    *(0.030619449258661696, 0.010882916533243536, 0.0028793021496894664, 0.0005488989148150556),
    *(7.261283758335394e-05, 6.366757009378259e-06, 3.4876355406925265e-07, 1.1008930978300542e-08),
    *(
        1.7784234174418992e-10,
        1.2140747655433195e-12,
        2.4484288210576554e-15,
        5.993073454593954e-19,
    ),
)
_FAR_AT = (
    *(0.07053988969198875, 0.37212681800161146, 0.9165821024832735, 1.707306531028344),
    *(2.749199255309432, 4.048925313850887, 5.6151749708616165, 7.459017453671064),
    *(9.594392869581096, 12.038802546964316, 14.81429344263074, 17.948895520519375),
    *(21.47878824028501, 25.451702793186904, 29.93255463170061, 35.013434240479),
    *(40.83305705672857, 47.6199940473465, 55.810795750063896, 66.52441652561575),
)
_FAR = (
    *(0.09520518786139567, 0.16432267720667112, 0.15046152131450755, 0.09365685497802893),
    *(0.04221608626400345, 0.014084664205236899, 0.003499414577932994, 0.000645975852004252),
    *(8.786788606555042e-05, 8.68933250778664e-06, 6.129842906560954e-07, 3.007198696221991e-08),
    *(
        9.918346692933415e-10,
        2.1018896489795918e-11,
        2.6897903429996454e-13,
        1.9029235890341013e-15,
    ),
    *(6.516470591944168e-18, 8.685823553577027e-21, 2.982555919787929e-24, 9.345555663707511e-29),
)


def scaled_complement_function(x: Array) -> Array:
    r"""$\mathrm{erfcx}(x)$ of floating arrays."""
    return _moment(0)(x)


def relative_fall(x: Array) -> Array:
    r"""$F_1 / F_0$ of floating arrays."""
    return _ratio(1)(x)


def _moment(n: int) -> Callable[[Array], Array]:
    """$F_n$ with derivatives of all orders."""
    forward = scaled_complement if n == 0 else lambda x: scaled_complement(x) * _share(0, n, x)
    single = {0: single_tails.scaled_complement, 1: single_tails.fall}.get(n)
    return derivative_rules(
        widened(forward, single),
        jvp=lambda primals, output, tangents: -tangents[0] * _moment(n + 1)(primals[0]),
        name="special.erfcx",
        of="primals",
    )


def _ratio(n: int) -> Callable[[Array], Array]:
    """$F_n / F_{n - 1}$ with derivatives of all orders."""
    return derivative_rules(
        widened(lambda x: _share(n - 1, n, x), single_tails.relative_fall if n == 1 else None),
        jvp=lambda primals, output, tangents: (
            tangents[0] * (output * (output - _ratio(n + 1)(primals[0])))
        ),
        name="special.erfcx",
    )


def _share(before: int, n: int, x: Array) -> Array:
    """$F_n / F_m$, where `before` is $m$, of float64 arrays."""
    return jnp.where(x < 0, _by_recurrence(before, n, x), _by_rules(before, n, x))


def _by_recurrence(before: int, n: int, x: Array) -> Array:
    """$F_n / F_m$ for numbers below 0, where no terms cancel; $m$ is `before`."""
    below = jnp.minimum(x, 0)
    ratio = 2 / math.sqrt(math.pi) / scaled_complement(below) - 2 * below
    out = ratio if before == 0 else jnp.ones_like(x)
    for k in range(1, n):
        ratio = 2 * k / ratio - 2 * below
        out = out * ratio if k >= before else out
    return out


def _by_rules(before: int, n: int, x: Array) -> Array:
    """$F_n / F_m$ for numbers from 0 on; $m$ is `before`."""
    near = x < _NEAREST
    close, inverse = jnp.where(near, jnp.maximum(x, 0), 0), 1 / jnp.where(near, 1, x)
    half, lower, upper = 0.5 * inverse, jnp.zeros_like(x), jnp.zeros_like(x)
    for t, w, u, v in zip(_NEAR_AT, _NEAR, _FAR_AT, _FAR, strict=True):
        power = jnp.exp(jnp.where(near, -t * close, -((u * half) * (u * half))))
        lower = lower + jnp.where(near, w * t**before, v * u**before) * power
        upper = upper + jnp.where(near, w * t**n, v * u**n) * power
    return upper / lower * jnp.where(near, 1, inverse) ** (n - before)
