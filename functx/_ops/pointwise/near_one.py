"""The logarithm of one plus a number."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.rules import derivative_rules

from .logarithms import loses_digits


def logarithm_of_1_plus(x: Array) -> Array:
    r"""$\ln(1 + x)$ of floating or complex numbers."""
    if category(x.dtype) < 3:
        return _real(x)
    return _complex(x) if x.dtype == "complex128" else lax.log1p(x)


def _forward(x: Array) -> Array:
    # In double precision, XLA's is off by 120 ulp there.
    low = x < -0.25
    return jnp.where(low, lax.log(1 + x), lax.log1p(jnp.where(low, 0, x)))


def _forward_complex(z: Array) -> Array:
    out, size = lax.log1p(z), lax.abs(1 + z)
    real = jnp.where(loses_digits(size), lax.log(size), lax.real(out))
    return lax.complex(real, lax.imag(out))


_slope = lambda primals, output, tangents: tangents[0] / (1 + primals[0])
_real = derivative_rules(_forward, jvp=_slope, name="log1p")
_complex = derivative_rules(_forward_complex, jvp=_slope, name="log1p")
