"""The complementary error function, scaled and not, for float64 arrays.

Its tails lose no digits. Source: SunPro's rational approximations (`s_erf.c`, 1993).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array, lax

from functx._ops.polynomials import horner


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    r"""$\sum_k c_k x^{n - k}$ of $n + 1$ coefficients; that of the highest power comes first."""
    return horner(coefficients[::-1], x)


def ratio(numerator: Sequence[float], denominator: Sequence[float], x: Array) -> Array:
    """A quotient of polynomials; coefficients of the highest powers come first."""
    return polynomial(numerator, x) / polynomial(denominator, x)


def chebyshev(coefficients: Sequence[float], x: Array) -> Array:
    r"""$\tfrac12 c_n + \sum_{k < n} c_k T_{n - k}(x)$ for $x$ from -1 to 1, by Clenshaw."""
    twice = x + x
    before, last = jnp.zeros_like(x), jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:-1]:
        before, last = last, twice * last - before + coefficient
    return x * last - before + 0.5 * coefficients[-1]


# $\mathrm{erf}(x) / x - 1$ by $x^2$ for $|x| < 0.84375$, highest powers first.
_NEAR = (
    (
        *(-2.37630166566501626084e-05, -5.77027029648944159157e-03, -2.84817495755985104766e-02),
        *(-3.25042107247001499370e-01, 1.28379167095512558561e-01),
    ),
    (
        *(-3.96022827877536812320e-06, 1.32494738004321644526e-04, 5.08130628187576562776e-03),
        *(6.50222499887672944485e-02, 3.97917223959155352819e-01, 1.0),
    ),
)
# $\mathrm{erf}(1 + s)$ minus a number of few digits, for arguments up to 1.25.
_FIRST = 8.45062911510467529297e-01
_MIDDLE = (
    (
        *(-2.16637559486879084300e-03, 3.54783043256182359371e-02, -1.10894694282396677476e-01),
        *(3.18346619901161753674e-01, -3.72207876035701323847e-01, 4.14856118683748331666e-01),
        -2.36211856075265944077e-03,
    ),
    (
        *(1.19844998467991074170e-02, 1.36370839120290507362e-02, 1.26171219808761642112e-01),
        *(7.18286544141962862668e-02, 5.40397917702171048937e-01, 1.06420880400844228286e-01, 1.0),
    ),
)
# $\ln(x\,\mathrm{erfcx}(x)) + 0.5625$ by $1 / x^2$, to 1 / 0.35 and to 28.
_FAR = (
    (
        *(-9.81432934416914548592e00, -8.12874355063065934246e01, -1.84605092906711035994e02),
        *(-1.62396669462573470355e02, -6.23753324503260060396e01, -1.05586262253232909814e01),
        *(-6.93858572707181764372e-01, -9.86494403484714822705e-03),
    ),
    (
        *(-6.04244152148580987438e-02, 6.57024977031928170135e00, 1.08635005541779435134e02),
        *(4.29008140027567833386e02, 6.45387271733267880336e02, 4.34565877475229228821e02),
        *(1.37657754143519042600e02, 1.96512716674392571292e01, 1.0),
    ),
)
_FARTHER = (
    (
        *(-4.83519191608651397019e02, -1.02509513161107724954e03, -6.37566443368389627722e02),
        *(-1.60636384855821916062e02, -1.77579549177547519889e01, -7.99283237680523006574e-01),
        -9.86494292470009928597e-03,
    ),
    (
        *(-2.24409524465858183362e01, 4.74528541206955367215e02, 2.55305040643316442583e03),
        *(3.19985821950859553908e03, 1.53672958608443695994e03, 3.25792512996573918826e02),
        *(3.03380607434824582924e01, 1.0),
    ),
)
_ASYMPTOTIC = (-135135 / 128, 10395 / 64, -945 / 32, 105 / 16, -15 / 8, 3 / 4, -1 / 2, 1.0)

# $\mathrm{artanh}(z) / z$ by $z^2$, for $z \le 1/3$.
_ATANH = [1 / (2 * k + 1) for k in reversed(range(17))]


def exponential_of_square(x: Array, scale: float) -> Array:
    """$e^{s x^2}$ with all digits, where the `scale` $s$ is 1, -1, 1/2 or -1/2."""
    x = jnp.clip(x, -60, 60)  # beyond it the result is 0 or infinite
    first = lax.reduce_precision(x, 11, 20)  # whose square is exact
    rest = scale * ((x - first) * (x + first))
    power = jnp.exp(scale * (first * first))
    return power * polynomial((1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0), rest)


def error_function(x: Array) -> Array:
    r"""$\mathrm{erf}(x)$ for $|x| < 0.84375$."""
    return x + x * ratio(*_NEAR, x * x)


def complement(x: Array) -> Array:
    r"""$\mathrm{erfc}(x) = 1 - \mathrm{erf}(x)$."""
    size = jnp.abs(x)
    far = jnp.clip(size, 1, 28)
    first = lax.reduce_precision(far, 11, 20)  # whose square is exact
    tail = jnp.exp(_exponent(far) - (far - first) * (far + first)) / far
    tail = jnp.where(size > 28, 0, tail * jnp.exp(-first * first))
    return jnp.where(size < 1.25, _complement_near(x), jnp.where(x < 0, 2 - tail, tail))


def _complement_near(x: Array) -> Array:
    inner = jnp.clip(x, -0.84375, 0.84375)
    rest = inner * ratio(*_NEAR, inner * inner)
    near = jnp.where(inner < 0.25, 1 - (inner + rest), 0.5 - (rest + (inner - 0.5)))
    middle = ratio(*_MIDDLE, jnp.clip(jnp.abs(x), 0.84375, 1.25) - 1)
    middle = jnp.where(x < 0, 1 + (_FIRST + middle), (1 - _FIRST) - middle)
    return jnp.where(jnp.abs(x) < 0.84375, near, middle)


def scaled_complement(x: Array) -> Array:
    r"""$\mathrm{erfcx}(x) = e^{x^2}\,\mathrm{erfc}(x)$."""
    size = jnp.abs(x)
    square = exponential_of_square(x, 1)
    near = square * _complement_near(x)
    far = _scaled_far(jnp.maximum(size, 1))
    return jnp.where(size < 1.25, near, jnp.where(x < 0, 2 * square - far, far))


def _scaled_far(x: Array) -> Array:
    r"""$\mathrm{erfcx}(x)$ for $x > 1$."""
    inverse = 1 / x
    series = polynomial(_ASYMPTOTIC, inverse * inverse) * (1 / math.sqrt(math.pi))
    return jnp.where(x < 28, jnp.exp(_exponent(jnp.minimum(x, 28))), series) / x


def _exponent(x: Array) -> Array:
    r"""$\ln(x\,\mathrm{erfcx}(x))$ for $x$ from 1 to 28."""
    square = 1 / (x * x)
    # These polynomials may vanish beyond their intervals.
    far = ratio(*_FAR, jnp.maximum(square, 0.12))
    farther = ratio(*_FARTHER, jnp.minimum(square, 0.13))
    return jnp.where(x < 1 / 0.35, far, farther) - 0.5625


def normal_distribution(x: Array) -> Array:
    r"""$\Phi(x)$, the distribution function of the standard normal distribution."""
    root = math.sqrt(0.5)
    middle = 0.5 + 0.5 * error_function(jnp.clip(x, -1, 1) * root)
    tail = normal_tail(x)
    return jnp.where(jnp.abs(x) < 1, middle, jnp.where(x < 0, tail, 1 - tail))


def normal_tail(x: Array) -> Array:
    r"""$\Phi(-|x|)$, the tail of the standard normal distribution."""
    size = jnp.abs(x)
    scaled = scaled_complement(size * math.sqrt(0.5))
    return 0.5 * scaled * exponential_of_square(size, -0.5)


def log_normal_distribution(x: Array) -> Array:
    r"""$\ln\Phi(x)$, the logarithm of the standard normal distribution function."""
    size = jnp.abs(x)
    scaled = 0.5 * scaled_complement(size * math.sqrt(0.5))
    tail = scaled * exponential_of_square(size, -0.5)
    below = jnp.where(x < -1, jnp.log(scaled) - 0.5 * x * x, jnp.log(tail))
    # $\ln(1 - t)$; XLA's `log1p` has fewer digits.
    part = tail / (2 - tail)
    above = -2 * part * polynomial(_ATANH, part * part)
    return jnp.where(x < 0, below, above)
