r"""The share of a standard normal distribution that lies below a number, for `gelu`.

In single precision $\Phi(-s) = e^{-s^2/2} R(s)$: XLA's `erfc` takes longer, and loses digits with
the rounding of the square.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.polynomials import horner


# Coefficients of $R(s) = \tfrac12 \mathrm{erfcx}(s / \sqrt2)$ on [0, 13.5], accurate to 6e-9.
_ABOVE = (0.5, 0.4361541010840517, 0.18165168168636925, 0.04010003709951151, 0.004037289418631699)
_BELOW = (
    *(1.0, 1.670193130713511, 1.1959204329667257, 0.46529066086708426),
    *(0.10052309432840216, 0.010119845021654958),
)
_FARTHEST = 15.0  # where $e^{-s^2/2}$ is 0 in single precision
# $e^r = 1 + r + r^2 p(r)$ for $|r| < 0.4$, and the parts of ln 2: Cephes' `expf` (Moshier, 1992).
_POWER = (0.5, 0.16666665459, 0.041665795894, 0.0083334519073, 0.0013981999507, 0.00019875691500)
_LN2, _REST_OF_LN2 = 0.693359375, -2.12194440e-4


def _share(x: Array) -> Array:
    if x.dtype != jnp.float32:
        return 0.5 * lax.erfc(-x * math.sqrt(0.5))
    size = jnp.minimum(jnp.abs(x), _FARTHEST)
    tail = _bell_in_single(size) * (horner(_ABOVE, size) / horner(_BELOW, size))
    return jnp.where(x < 0, tail, 1 - tail)


def _bell_of(x: Array) -> Array:
    size = jnp.minimum(jnp.abs(x), 40.0)  # beyond 40 the result and its slopes are 0
    if x.dtype != jnp.float32:
        return jnp.exp(-0.5 * size * size)
    return _bell_in_single(jnp.minimum(size, _FARTHEST))


def _bell_in_single(size: Array) -> Array:
    """$e^{-s^2/2}$ for $s$ up to 15. The square is not rounded."""
    bits = lax.bitcast_convert_type(size, np.int32)
    # The first 12 bits, whose square is exact.
    first = lax.bitcast_convert_type((bits + 0x800) & np.int32(-0x1000), np.float32)
    power, rest = -0.5 * first * first, 0.5 * (first - size) * (first + size)
    two = jnp.round(power * math.log2(math.e))
    rest = (power - two * _LN2) - two * _REST_OF_LN2 + rest
    exponent = jnp.maximum(two.astype(np.int32), -127) + 127
    scale = lax.bitcast_convert_type(exponent << 23, np.float32)
    return (rest * rest * horner(_POWER, rest) + rest + 1) * scale


_bell = derivative_rules(
    _bell_of,
    jvp=lambda primals, output, tangents: tangents[0] * (-jnp.clip(primals[0], -40, 40) * output),
    name="bell",
)

# $\Phi(x)$ with the slope $e^{-x^2/2} / \sqrt{2\pi}$.
normal_share = derivative_rules(
    _share,
    jvp=lambda primals, output, tangents: (
        tangents[0] * (_bell(primals[0]) * (1 / math.sqrt(2 * math.pi)))
    ),
    name="normal_share",
)
