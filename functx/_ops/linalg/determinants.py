"""Determinants, with derivatives that hold for singular matrices too."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator
from functx._core.rules.custom_derivatives import derivative_rules

from .adjugates import adjugate, lu_det, pivots_and_sign
from .matrix_arguments import check_matrices


__all__ = ["det", "logdet", "slogdet"]


@operator(accepts=Accepts.LAPACK, aliases=("det",))
def det(A: ArrayLike) -> Array:
    """Determinant of each matrix.

    - `A`: square matrices, float32, float64 or complex. The determinant keeps their dtype.

    Shapes: `[..., n, n] -> [...]`.
    Gradients: derivatives of every order are exact for singular matrices as well; PyTorch's second
    derivative is NaN there.
    Errors: RuntimeError unless matrices are square.

    >>> functx.linalg.det(jnp.asarray([[2.0, 0.0], [0.0, 4.0]], "float32"))
    Array(8., dtype=float32)
    """
    check_matrices(A, square=True)
    return _det(A)


def _det_tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Array:
    return jnp.sum(adjugate(*primals).mT * tangents[0], axis=(-2, -1))


_det = derivative_rules(lu_det, jvp=_det_tangent, name="det")


class SlogdetResult(NamedTuple):
    """The phase of the determinant, and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


@operator(accepts=Accepts.LAPACK, aliases=("slogdet",))
def slogdet(A: ArrayLike) -> SlogdetResult:
    r"""Sign and logarithm of the absolute value of the determinant: $\det A = \sigma\, e^l$.

    - `A`: square matrices, float32, float64 or complex.

    Shapes: `[..., n, n]` gives `sign: [...]` and `logabsdet: [...]`.
    Dtypes: `sign` has that of `A`, `logabsdet` is real.
    Gradients: zero for the sign of a real matrix; infinite or NaN for singular matrices.
    Errors: RuntimeError unless matrices are square. Singular matrices have sign 0 and logarithm
    minus infinity.

    >>> functx.linalg.slogdet(jnp.asarray([[1.0, 0.0], [0.0, -1.0]], "float32"))
    SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    check_matrices(A, square=True)
    return SlogdetResult(*_slogdet(A))


def _lu_slogdet(A: Array) -> tuple[Array, Array]:
    factors, swaps, _ = lax.linalg.lu(A)
    diagonal, sign = pivots_and_sign(factors, swaps)
    return sign * jnp.prod(jnp.sign(diagonal), axis=-1), jnp.sum(jnp.log(jnp.abs(diagonal)), -1)


def _slogdet_tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Any:
    sign, _ = output
    quotient = jnp.trace(jnp.linalg.solve(*primals, *tangents), axis1=-2, axis2=-1)
    if jnp.iscomplexobj(sign):
        return sign * lax.complex(jnp.zeros_like(quotient.imag), quotient.imag), quotient.real
    return jnp.zeros_like(sign), quotient


_slogdet = derivative_rules(_lu_slogdet, jvp=_slogdet_tangent, name="slogdet")


@operator(name="logdet", accepts=Accepts.LAPACK)
def logdet(input: ArrayLike) -> Array:
    """Logarithm of the determinant of each matrix.

    - `input`: square matrices, float32, float64 or complex. The logarithm keeps their dtype.

    Shapes: `[..., n, n] -> [...]`.
    Real matrices give NaN where the determinant is negative, with a gradient of zeros; complex
    matrices give the principal value. Singular matrices give minus infinity, complex ones with a
    phase of NaN, and a gradient that is infinite or NaN.
    Errors: RuntimeError unless matrices are square.

    >>> functx.logdet(jnp.asarray([[1.0, 0.0], [0.0, 1.0]], "float32"))
    Array(0., dtype=float32)
    """
    check_matrices(input, square=True, name="input")
    sign, size = _slogdet(input)
    if jnp.iscomplexobj(sign):
        return lax.complex(size, jnp.where(sign == 0, jnp.nan, jnp.angle(sign)))
    return jnp.where(sign < 0, jnp.nan, size)
