"""The logarithm of one plus a number, and the exponential less one."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules

from . import compensated, rounded_once
from .logarithms import loses_digits


def logarithm_of_1_plus(x: Array) -> Array:
    r"""$\ln(1 + x)$ of floating or complex numbers."""
    if category(x.dtype) < 3:
        return _real(x)
    return _complex(x) if x.dtype == "complex128" else lax.log1p(x)


def exponential_less_1(x: Array) -> Array:
    r"""$e^x - 1$ of floating or complex numbers."""
    return _exponential(x) if category(x.dtype) < 3 else lax.expm1(x)


def _forward(x: Array) -> Array:
    if x.dtype == np.float32:
        return platform_dependent(x, cpu=rounded_once.logarithm_of_1_plus, default=lax.log1p)
    return platform_dependent(
        x, tpu=_logarithm_by_branches, default=compensated.logarithm_of_1_plus
    )


def _logarithm_by_branches(x: Array) -> Array:
    # In double precision, XLA's `log1p` is off by up to 120 ulp below -0.25.
    low = x < -0.25
    return jnp.where(low, lax.log(1 + x), lax.log1p(jnp.where(low, 0, x)))


def _exponential_forward(x: Array) -> Array:
    if x.dtype == np.float32:
        return platform_dependent(x, cpu=rounded_once.exponential_less_1, default=lax.expm1)
    return platform_dependent(x, tpu=lax.expm1, default=compensated.exponential_less_1)


def _forward_complex(z: Array) -> Array:
    out, size = lax.log1p(z), lax.abs(1 + z)
    real = jnp.where(loses_digits(size), lax.log(size), lax.real(out))
    return lax.complex(real, lax.imag(out))


_slope = lambda primals, output, tangents: tangents[0] / (1 + primals[0])
_real = derivative_rules(_forward, jvp=_slope, name="log1p")
_complex = derivative_rules(_forward_complex, jvp=_slope, name="log1p")
_exponential = derivative_rules(
    _exponential_forward,
    jvp=lambda primals, output, tangents: tangents[0] * lax.exp(primals[0]),
    name="expm1",
    of="primals",
)
