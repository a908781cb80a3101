"""Natural logarithms of complex numbers, without the digits that XLA's loses."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules.custom_derivatives import derivative_rules


def logarithm(x: Array) -> Array:
    r"""$\ln x$ of floating or complex numbers."""
    return _complex(x) if x.dtype == "complex128" else lax.log(x)


def _forward(z: Array) -> Array:
    out, size = lax.log(z), lax.abs(z)
    real = jnp.where(loses_digits(size), lax.log(size), lax.real(out))
    return lax.complex(real, lax.imag(out))


def loses_digits(size: Array) -> Array:
    """Whether XLA's logarithm of numbers with the absolute value `size` is off by up to 120 ulp.

    XLA takes the logarithm of one plus a number there, which is below -0.25.
    """
    return (size > 0.45) & (size < 0.88)


_complex = derivative_rules(
    _forward, jvp=lambda primals, output, tangents: tangents[0] / primals[0], name="log"
)
