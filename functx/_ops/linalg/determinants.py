r"""Determinants, with derivatives that hold for singular matrices too.

In the frame $A = U \operatorname{diag}(s) V^H$ of the singular value decomposition, with
$E = U^H\, dA\, V$ and the phase $\varphi = \det U \det V^H$,
$$\det(A + dA) = \varphi \Big(\prod_i s_i + \sum_i E_{ii} \prod_{k \ne i} s_k
+ \sum_{i < j} (E_{ii} E_{jj} - E_{ij} E_{ji}) \prod_{k \ne i, j} s_k + \dots\Big),$$
which divides by nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator
from functx._core.rules import derivative_rules

from .matrix_arguments import adjoint, check_matrices
from .singular_value_rules import decomposed


__all__ = ["det", "slogdet"]


@operator(accepts=Accepts.LAPACK, aliases=("det",))
def det(A: ArrayLike) -> Array:
    r"""Determinant of each matrix.

    Shapes: `A: [..., n, n]` gives `[...]`.
    The first and second derivatives are exact for singular matrices as well; PyTorch's second
    is NaN there. Higher ones need distinct singular values.

    >>> functx.linalg.det(jnp.asarray([[2.0, 0.0], [0.0, 4.0]], "float32"))
    Array(8., dtype=float32)
    """
    check_matrices(A, square=True)
    return _det(A)


def _lu_det(A: Array) -> Array:
    diagonal, sign = _lu_diagonal(A)
    return sign * jnp.prod(diagonal, axis=-1)


def _lu_diagonal(A: Array) -> tuple[Array, Array]:
    """The pivots, whose product is the determinant up to a sign, and that sign."""
    factors, swaps, _ = lax.linalg.lu(A)
    moved = jnp.sum(swaps != jnp.arange(A.shape[-1], dtype=swaps.dtype), axis=-1)
    sign = jnp.where(moved % 2 == 1, -1, 1).astype(A.dtype)
    return jnp.diagonal(factors, axis1=-2, axis2=-1), sign


def _adjugate(A: Array) -> Array:
    phase, U, s, Vh = _frame(A)
    return phase * (adjoint(Vh) * _products_without_one(s)[..., None, :]) @ adjoint(U)


def _adjugate_tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Array:
    phase, U, s, Vh = _frame(*primals)
    E = adjoint(U) @ tangents[0] @ adjoint(Vh)
    pairs = _products_without_two(s)
    trace = jnp.sum(pairs * jnp.diagonal(E, axis1=-2, axis2=-1)[..., None, :], axis=-1)
    inner = trace[..., None] * jnp.eye(s.shape[-1], dtype=E.dtype) - pairs * E
    return phase * (adjoint(Vh) @ inner @ adjoint(U))


def _frame(A: Array) -> tuple[Array, Array, Array, Array]:
    U, s, Vh = decomposed(A)
    return (_det(U) * _det(Vh))[..., None, None], U, s.astype(A.dtype), Vh


def _exclusive(x: Array, *, reverse: bool = False) -> Array:
    """Products of the elements before each one, or after it, in the last dimension."""
    one = jnp.ones_like(x[..., :1])
    if reverse:
        shifted = jnp.concatenate([x[..., 1:], one], axis=-1)
        return jnp.flip(jnp.cumprod(jnp.flip(shifted, -1), axis=-1), -1)
    return jnp.cumprod(jnp.concatenate([one, x[..., :-1]], axis=-1), axis=-1)


def _products_without_one(s: Array) -> Array:
    return _exclusive(s) * _exclusive(s, reverse=True)


def _products_without_two(s: Array) -> Array:
    """`[..., i, j]` holds the product of all but two; zero where they are the same one."""
    upper = jnp.triu(jnp.ones((s.shape[-1],) * 2, bool), 1)
    between = _exclusive(jnp.where(upper, s[..., None, :], 1))
    outside = _exclusive(s)[..., :, None] * _exclusive(s, reverse=True)[..., None, :]
    products = jnp.where(upper, outside * between, 0)
    return products + products.mT


_cofactors = derivative_rules(_adjugate, jvp=_adjugate_tangent, name="adjugate")


def _det_tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Array:
    return jnp.sum(_cofactors(*primals).mT * tangents[0], axis=(-2, -1))


_det = derivative_rules(_lu_det, jvp=_det_tangent, name="det")


class SlogdetResult(NamedTuple):
    """The phase of the determinant, and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


@operator(accepts=Accepts.LAPACK, aliases=("slogdet",))
def slogdet(A: ArrayLike) -> SlogdetResult:
    r"""Sign and logarithm of the absolute value of the determinant: $\det A = \sigma\, e^l$.

    Shapes: `A: [..., n, n]` gives two `[...]`.
    Of singular matrices, the sign is 0, the logarithm minus infinity, and the gradient infinite
    or NaN. The sign of a real matrix has derivative zero.

    >>> functx.linalg.slogdet(jnp.asarray([[1.0, 0.0], [0.0, -1.0]], "float32"))
    SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    check_matrices(A, square=True)
    return SlogdetResult(*_slogdet(A))


def _lu_slogdet(A: Array) -> tuple[Array, Array]:
    diagonal, sign = _lu_diagonal(A)
    return sign * jnp.prod(jnp.sign(diagonal), axis=-1), jnp.sum(jnp.log(jnp.abs(diagonal)), -1)


def _slogdet_tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Any:
    sign, _ = output
    quotient = jnp.trace(jnp.linalg.solve(*primals, *tangents), axis1=-2, axis2=-1)
    if jnp.iscomplexobj(sign):
        return sign * lax.complex(jnp.zeros_like(quotient.imag), quotient.imag), quotient.real
    return jnp.zeros_like(sign), quotient


_slogdet = derivative_rules(_lu_slogdet, jvp=_slogdet_tangent, name="slogdet")
