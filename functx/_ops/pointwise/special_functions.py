"""The error function, the logarithm of the gamma function, and its derivative."""

from __future__ import annotations

from jax import Array

from functx._core import Accepts, ArrayLike, operator, Promote
from functx._ops.error_functions import error_function

from .gamma_slopes import digamma_function, log_gamma_function


__all__ = ["digamma", "erf", "lgamma"]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL, aliases=("special.erf",))
def erf(input: ArrayLike) -> Array:
    r"""Error function of each element of `input`: $\tfrac{2}{\sqrt\pi} \int_0^{x_i} e^{-t^2} dt$.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.erf(jnp.asarray([0.0, jnp.inf], "float32"))
    Array([0., 1.], dtype=float32)
    """
    return error_function(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL, aliases=("special.gammaln",))
def lgamma(input: ArrayLike) -> Array:
    r"""Logarithm of the absolute value of the gamma function of each element of `input`.

    This is $\ln |\Gamma(x_i)|$, infinite at 0, at negative integers and at infinities.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.lgamma(jnp.asarray([1.0, 4.0], "float32")).round(3)
    Array([0.   , 1.792], dtype=float32)
    """
    return log_gamma_function(input)


@operator(
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    aliases=("special.digamma", "special.psi"),
)
def digamma(input: ArrayLike) -> Array:
    r"""Digamma of each element of `input`, $\psi(x_i) = \Gamma'(x_i) / \Gamma(x_i)$.

    It is the derivative of `functx.lgamma`. At zero it is $-\infty$ ($+\infty$ at -0.0), and at
    negative integers NaN.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.digamma(jnp.asarray([1.0, 2.0], "float32")).round(3)
    Array([-0.577,  0.423], dtype=float32)
    """
    return digamma_function(input)
