r"""The normalized sinc function, $\sin(\pi x) / (\pi x)$, smooth at 0."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._ops.polynomials import horner

from .circular import sine


# $\sin(\pi x) / (\pi x)$ by powers of $x^2$, for $|x| \le 1/2$: as many terms as the value and
# its derivatives need in double precision.
_SERIES = [(-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(14)]


def normalized_sine(x: Array) -> Array:
    r"""$\sin(\pi x) / (\pi x)$ of floating or complex numbers, and 1 at 0.

    >>> normalized_sine(jnp.asarray([0.0, 1.5], "float32")).round(2)
    Array([ 1.  , -0.21], dtype=float32)
    """
    near = lax.abs(x) < 0.5
    series = horner(_SERIES, jnp.where(near, x, 0) ** 2)
    far = jnp.where(near, 1, x)
    # The distance to the nearest integer is exact, so its sine loses no digits.
    whole = lax.round(lax.real(far) if category(x.dtype) == 3 else far)
    whole = lax.stop_gradient(whole)
    odd = lax.floor(0.5 * whole) != 0.5 * whole
    wave = sine(math.pi * (far - whole.astype(x.dtype)))
    return jnp.where(near, series, jnp.where(odd, -wave, wave) / (math.pi * far))
