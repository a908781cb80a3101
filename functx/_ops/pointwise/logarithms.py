"""Natural logarithms of complex numbers."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules import derivative_rules


def logarithm(x: Array) -> Array:
    r"""$\ln x$ of floating or complex numbers."""
    return _complex(x) if x.dtype == "complex128" else lax.log(x)


def _forward(z: Array) -> Array:
    out, size = lax.log(z), lax.abs(z)
    # XLA takes the logarithm of one plus a number, which is off by 120 ulp below -0.25.
    low = (size > 0.45) & (size < 0.88)
    return lax.complex(jnp.where(low, lax.log(size), lax.real(out)), lax.imag(out))


_complex = derivative_rules(
    _forward, jvp=lambda primals, output, tangents: tangents[0] / primals[0], name="log"
)
