r"""Bessel functions $J_n$ and $Y_n$ of float64 arrays, precise near zeros too.

Near 0 they are polynomials times factors that vanish at zeros, which are known to twice the digits;
from 8 on they go by modulus and phase (Abramowitz and Stegun 9.2.17): $J_n = M_n \cos\theta_n$ and
$Y_n = M_n \sin\theta_n$.
"""

from __future__ import annotations

import math
from collections import Counter

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops.polynomials import horner

from .orders import combination
from .phases import polar


# Zeros of $J_0$ and $J_1$, and of $Y_0$ and $Y_1$, in two parts.
_J_ZEROS = (
    (
        (2.404825557695773, -1.176691651530894e-16),
        (5.520078110286311, 8.088597146146722e-17),
        (8.653727912911013, -2.92812607320779e-16),
    ),
    (
        (3.8317059702075125, -1.5269184090088067e-16),
        (7.015586669815619, -9.414165653410389e-17),
        (10.173468135062722, 4.482162274768888e-16),
    ),
)
_Y_ZEROS = (
    (
        (0.8935769662791675, 2.6596231539720385e-17),
        (3.957678419314858, -1.0764340697562706e-16),
        (7.086051060301773, -8.835285723085408e-17),
    ),
    (
        (2.197141326031017, -4.8259835876454966e-17),
        (5.429681040794135, 4.162514026670377e-16),
        (8.596005868331169, 2.8415838340063664e-16),
    ),
)
# Polynomials of the lowest powers first, that interpolate at Chebyshev's points, in 45 digits.
# $J_0$ and $J_1 / x$ without their factors $x^2 - z^2$, by $x^2 / 32 - 1$, to 8: 6e-17 and 5e-16.
_J0 = (
    *(
        -2.6662941994458524e-05,
        2.9532957425506736e-05,
        -1.4423681512582505e-05,
        4.19663832256583e-06,
    ),
    *(
        -8.272804159783979e-07,
        1.1892767699589824e-07,
        -1.308663632073924e-08,
        1.1411484161669107e-09,
    ),
    *(
        -8.094862397450822e-11,
        4.768506930525606e-12,
        -2.3719542183893426e-13,
        1.0101622048375492e-14,
    ),
    *(-3.738448394461538e-16, 1.2057079666435851e-17),
)
_J1 = (
    *(
        -2.7271448834411237e-06,
        2.552238212464633e-06,
        -1.0759319268040335e-06,
        2.7483022124820187e-07,
    ),
    *(
        -4.8218642035079725e-08,
        6.239166126302301e-09,
        -6.237657436959935e-10,
        4.981043285900776e-11,
    ),
    *(
        -3.2576601297647673e-12,
        1.779622088144263e-13,
        -8.250970757118876e-15,
        3.289854436144979e-16,
    ),
    *(-1.1439948287848613e-17, 3.4804303515938663e-19),
)
# $h$ of $Y_n = \tfrac2\pi \ln(x / z) J_n + (x^2 - z^2) h / x^n$ with the first zero $z$, where both
# terms have one sign, by $x^2 / 4.5 - 1$, to 3: 8e-17 and 1e-16.
_Y0 = (
    *(0.11731068956802439, -0.05513371545494011, 0.008922347276267912, -0.0007388940376109343),
    *(3.734246189749268e-05, -1.274447204283888e-06, 3.138276670152549e-08, -5.843095106211755e-10),
    *(8.520514594988554e-12, -9.99164350429056e-14),
)
_Y1 = (
    *(0.1781636471945536, 0.023747381788995436, -0.019470039763120166, 0.0028552875570444537),
    *(
        -0.00020602882234585252,
        9.121654899417709e-06,
        -2.7591530896830744e-07,
        6.091335337728883e-09,
    ),
    *(-1.0271204529932059e-10, 1.3682290104774452e-12, -1.47663632139134e-14),
)
# $Y_0$ and $Y_1$ without the other factors $x^2 - z^2$, by $(x - 5.5) / 2.5$, from 3 to 8: 1e-16.
_YM0 = (
    *(0.001165866489696784, -0.0007958432183241613, -0.0002995250853800326, 0.00030373424922450757),
    *(
        -1.47855259496786e-05,
        -2.8408087303385132e-05,
        2.7452010604150673e-06,
        2.024224909205723e-06,
    ),
    *(
        -4.2094700405132147e-07,
        3.802932462767845e-09,
        -1.476516828265965e-08,
        1.2692022994153715e-08,
    ),
    *(
        -5.119640805879874e-09,
        2.005039917041276e-09,
        -8.604761518338521e-10,
        3.7824819209882337e-10,
    ),
    *(
        -1.6246397776686169e-10,
        6.096987119155957e-11,
        -2.625158307118033e-11,
        2.011116189874351e-11,
    ),
    *(-8.756493214354483e-12, -1.700570281232264e-12, 7.556801939090451e-13, 1.671285267124467e-12),
    -7.321468730430508e-13,
)
_YM1 = (
    *(
        0.0007083313713441457,
        8.285625430969182e-05,
        -0.00041844671447722033,
        3.5032300056625616e-05,
    ),
    *(
        6.941906450393123e-05,
        -9.744728096596357e-06,
        -5.8361700429184815e-06,
        1.1830956479542545e-06,
    ),
    *(
        1.7119321357301739e-07,
        -1.712538041261255e-08,
        -2.4896255990005063e-08,
        9.947897618638445e-09,
    ),
    *(
        -3.5611919797062565e-09,
        1.670894659355689e-09,
        -7.931155048675076e-10,
        3.6138899460679577e-10,
    ),
    *(
        -1.651397249167696e-10,
        7.984371131639587e-11,
        -3.6498179308836223e-11,
        1.1173347270813256e-11,
    ),
    *(
        -5.10629005270852e-12,
        7.145845038362223e-12,
        -3.2548246965766875e-12,
        -1.2578038541870895e-12,
    ),
    *(5.720235776684984e-13, 6.531850720441214e-13, -2.9730923394271274e-13),
)
# $\sqrt{x} M_n$, and $x^3$ times what $\theta_n - x + (2n + 1) \pi / 4$ is more than
# $(4n^2 - 1) / 8x$, by $128 / x^2 - 1$, from 8 on: 4e-17 and 5e-16.
_M0 = (
    *(0.797499818629752, -0.00038006989744906674, 4.506774607901084e-06, -1.5463414938686863e-07),
    *(9.787887520504891e-09, -9.346367274199032e-10, 1.201730255404058e-10, -1.938367108739232e-11),
    *(
        3.731636592397142e-12,
        -7.940511294595836e-13,
        1.9461991386646159e-13,
        -8.032064853653186e-14,
    ),
    2.533981397176533e-14,
)
_M1 = (
    *(0.7990442065634052, 0.001150783021443345, -8.61141358992924e-06, 2.365360118492984e-07),
    *(
        -1.3406877911060055e-08,
        1.204377532650878e-09,
        -1.490970952973669e-10,
        2.3436982692255685e-11,
    ),
    *(-4.428580861431432e-12, 9.306226639291377e-13, -2.256465747724035e-13, 9.166073069327924e-14),
    -2.8703430557604533e-14,
)
_S0 = (
    *(0.0635572900623914, -0.0014647652324893377, 7.490862218817466e-05, -6.306690816298805e-06),
    *(
        7.518801363174562e-07,
        -1.1593121639125749e-07,
        2.178350398500607e-08,
        -4.787370805390778e-09,
    ),
    *(
        1.1946038969900523e-09,
        -3.298487426108357e-10,
        9.965700032458577e-11,
        -3.4875155979699335e-11,
    ),
    *(
        1.2434869367040062e-11,
        -2.0936222305751123e-12,
        6.231955939898227e-13,
        -1.6645195909853877e-12,
    ),
    7.52947834391603e-13,
)
_S1 = (
    *(-0.16129686025489523, 0.0026446148227301835, -0.00011139961273207812, 8.491627940155782e-06),
    *(
        -9.573950241456548e-07,
        1.4254325898563604e-07,
        -2.615131727201229e-08,
        5.648124010794622e-09,
    ),
    *(-1.39079479439776e-09, 3.800755885798701e-10, -1.138627994380882e-10, 3.947848791681842e-11),
    *(
        -1.3986105526918739e-11,
        2.3955192031579743e-12,
        -7.163570649728082e-13,
        1.839123197486447e-12,
    ),
    -8.291536230314664e-13,
)
_J, _Y_LOW, _Y_MIDDLE = (_J0, _J1), (_Y0, _Y1), (_YM0, _YM1)
_MODULUS, _PHASE = (_M0, _M1), (_S0, _S1)
_FIRST_SHIFT = (-0.125, 0.375)


def first_kind(n: int, k: int, x: Array) -> Array:
    """The `k`-th derivative of $J_n$, for $n$ 0 or 1."""
    size = jnp.abs(x)
    weights = _weights(n, k)
    last = max(weights)
    values = [_first(m, size) if m in weights or last > 1 else size for m in range(2)]
    for m in range(2, last + 1):
        upwards = (2 * (m - 1) / size) * values[m - 1] - values[m - 2]
        values.append(jnp.where(size < m, _series(m, jnp.minimum(size, m)), upwards))
    out = combination(weights, values)
    out = out if (n + k) % 2 == 0 else out * jnp.copysign(1, x)
    return jnp.where(size == jnp.inf, 0, out)


def second_kind(n: int, k: int, x: Array) -> Array:
    """The `k`-th derivative of $Y_n$, for $n$ 0 or 1: NaN below 0, infinite at 0."""
    weights = _weights(n, k)
    last = max(weights)
    values = [_second(m, x) if m in weights or last > 1 else x for m in range(2)]
    for m in range(2, last + 1):
        upwards = (2 * (m - 1) / x) * values[m - 1] - values[m - 2]
        values.append(jnp.where(jnp.isinf(values[m - 1]), -jnp.inf, upwards))
    out = combination(weights, values)
    # Where the term of the greatest order is infinite, others may be too.
    out = jnp.where(jnp.isinf(values[last]), math.copysign(math.inf, -weights[last]), out)
    return jnp.where(x < 0, jnp.nan, jnp.where(x == jnp.inf, 0, out))


def _weights(n: int, k: int) -> Counter[int]:
    """The weights of $J_m$ in the `k`-th derivative of $J_n$, by $2 J_n' = J_{n-1} - J_{n+1}$."""
    weights = Counter[int]()
    for i in range(k + 1):
        m = n - k + 2 * i
        reflected = (-1) ** m if m < 0 else 1
        weights[abs(m)] += (-1) ** i * reflected * math.comb(k, i) / 2**k
    return weights


def _first(n: int, x: Array) -> Array:
    """$J_0$ or $J_1$ where $x \\ge 0$."""
    modulus, cosine, _ = _polar(n, x)
    return jnp.where(x < 8, _first_near(n, jnp.minimum(x, 8)), modulus * cosine)


def _first_near(n: int, x: Array) -> Array:
    out = horner(_J[n], x * x * 0.03125 - 1)
    for zero in _J_ZEROS[n]:
        out = out * _difference_of_squares(x, zero)
    return out * x if n else out


def _second(n: int, x: Array) -> Array:
    """$Y_0$ or $Y_1$ where $x \\ge 0$."""
    near = jnp.clip(x, 0, 3)
    zero, *zeros = _Y_ZEROS[n]
    squares = _difference_of_squares(near, zero)
    excess = squares / (near + zero[0])
    logarithm = jnp.where(
        jnp.abs(excess) < 0.1,
        _log1p(excess / zero[0]),
        jnp.log(jnp.maximum(near, np.finfo(np.float64).tiny)) - math.log(zero[0]),
    )
    rest = squares * horner(_Y_LOW[n], near * near / 4.5 - 1)
    out = (2 / math.pi) * logarithm * _first_near(n, near) + (rest / near if n else rest)
    middle = jnp.clip(x, 3, 8)
    between = horner(_Y_MIDDLE[n], (middle - 5.5) * 0.4)
    for zero in zeros:
        between = between * _difference_of_squares(middle, zero)
    modulus, _, sine = _polar(n, x)
    out = jnp.where(x < 3, out, jnp.where(x < 8, between, modulus * sine))
    return jnp.where(x == 0, -jnp.inf, out)


def _difference_of_squares(x: Array, zero: tuple[float, float]) -> Array:
    """$x^2 - z^2$ with all digits; XLA would turn $(x - a) - b$ into $x - (a + b)$."""
    high, low = zero
    return (x - high) * (x + high) - 2 * high * low


def _log1p(x: Array) -> Array:
    r"""$\ln(1 + x)$ for $|x| < 0.12$, with more digits than XLA's."""
    part = x / (2 + x)
    terms = [2 / (2 * k + 1) for k in range(8)]
    return part * horner(terms, part * part)


def _polar(n: int, x: Array) -> tuple[Array, Array, Array]:
    r"""The modulus, and the cosine and sine of the phase, where $x \ge 8$."""
    x = jnp.maximum(x, 8)
    inverse = 1 / x
    place = 128 * (inverse * inverse) - 1
    modulus = horner(_MODULUS[n], place) / jnp.sqrt(x)
    return modulus, *polar(x, 2 * n + 1, (_FIRST_SHIFT[n], 0.0), horner(_PHASE[n], place))


def _series(n: int, x: Array) -> Array:
    r"""$J_n$ where $0 \le x < n$, by its power series."""
    terms = [
        (-1) ** j / (math.factorial(j) * math.factorial(n + j)) for j in range(int(1.5 * n) + 12)
    ]
    half = 0.5 * x
    return lax.integer_pow(half, n) * horner(terms, half * half)
