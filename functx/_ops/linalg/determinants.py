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
from jax.custom_batching import custom_vmap

from functx._core import Accepts, ArrayLike, operator, platform_dependent
from functx._core.rules import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, check_matrices
from .singular_value_rules import decomposed


__all__ = ["det", "logdet", "slogdet"]


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
    factors, swaps, _ = lax.linalg.lu(A)
    diagonal, sign = _pivots(factors, swaps)
    return sign * jnp.prod(diagonal, axis=-1)


def _pivots(factors: Array, swaps: Array) -> tuple[Array, Array]:
    """The pivots, whose product is the determinant up to a sign, and that sign."""
    moved = jnp.sum(swaps != jnp.arange(factors.shape[-1], dtype=swaps.dtype), axis=-1)
    sign = jnp.where(moved % 2 == 1, -1, 1).astype(factors.dtype)
    return jnp.diagonal(factors, axis1=-2, axis2=-1), sign


@custom_vmap
def _adjugate(A: Array) -> Array:
    r"""The cofactors transposed, of all matrices but those of rank $n - 2$ and less by pivots.

    With $P A = L U$ and $U = [[V, u], [0, p]]$,
    $$\operatorname{adj} A = \det P \det V\, [[p V^{-1}, -V^{-1} u], [0, 1]]\, L^{-1} P,$$
    which does not divide by the last pivot $p$.
    """
    if A.size == 0:
        return A
    factors, swaps, permutation = lax.linalg.lu(A)
    V, u, p = factors[..., :-1, :-1], factors[..., :-1, -1:], factors[..., -1:, -1:]
    identity = jnp.broadcast_to(jnp.eye(A.shape[-1] - 1, dtype=A.dtype), V.shape)
    inverse = lax.linalg.triangular_solve(V, identity, left_side=True)
    condition = _largest_row_sum(jnp.triu(V)) * _largest_row_sum(inverse)
    # Row sums are larger than the second norm, of most matrices by the root of their size.
    regular = condition < 0.01 * A.shape[-1] ** 0.5 / float(jnp.finfo(A.dtype).eps)

    pivots, sign = _pivots(factors, swaps)
    minor = sign * jnp.prod(pivots[..., :-1], axis=-1)
    above = jnp.concatenate([p * inverse, -product(inverse, u)], axis=-1)
    below = jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype)[-1:], (*p.shape[:-1], A.shape[-1]))
    rows = jnp.concatenate([above, below], axis=-2)
    rows = lax.linalg.triangular_solve(factors, rows, lower=True, unit_diagonal=True)
    columns = jnp.argsort(permutation, axis=-1)[..., None, :]
    by_pivots = minor[..., None, None] * jnp.take_along_axis(rows, columns, axis=-1)

    def each(A: Array) -> Array:  # CPUs decompose one matrix after the other anyway
        flat = [x.reshape(-1, *A.shape[-2:]) for x in (A, by_pivots)]
        one = lambda r, A, known: lax.cond(r, lambda: known, lambda: _adjugate_of_any(A))
        return lax.map(lambda given: one(*given), (regular.reshape(-1), *flat)).reshape(A.shape)

    return lax.cond(
        jnp.all(regular),
        lambda: by_pivots,
        lambda: platform_dependent(A, cpu=each, default=_adjugate_of_any),
    )


@_adjugate.def_vmap
def _adjugate_in_lanes(size: int, batched: Any, A: Array) -> tuple[Array, bool]:
    return _adjugate(A), True  # a stack of matrices, and one choice for all


def _largest_row_sum(A: Array) -> Array:
    return jnp.max(jnp.sum(jnp.abs(A), axis=-1), axis=-1, initial=0)


def _adjugate_of_any(A: Array) -> Array:
    phase, U, s, Vh = _frame(A)
    return phase * product(adjoint(Vh) * _products_without_one(s)[..., None, :], adjoint(U))


def _adjugate_tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Array:
    phase, U, s, Vh = _frame(*primals)
    E = product(adjoint(U), tangents[0], adjoint(Vh))
    pairs = _products_without_two(s)
    trace = jnp.sum(pairs * jnp.diagonal(E, axis1=-2, axis2=-1)[..., None, :], axis=-1)
    inner = trace[..., None] * jnp.eye(s.shape[-1], dtype=E.dtype) - pairs * E
    return phase * product(adjoint(Vh), inner, adjoint(U))


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
    factors, swaps, _ = lax.linalg.lu(A)
    diagonal, sign = _pivots(factors, swaps)
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
    r"""Logarithm of the determinant of each matrix.

    Shapes: `input: [..., n, n]` gives `[...]`.
    Of real matrices, it is NaN where the determinant is negative, with a gradient of zeros. Of
    complex ones, it is the principal value. Of singular ones, it is minus infinity, of complex
    ones with a phase of NaN, and the gradient infinite or NaN.

    >>> functx.logdet(jnp.asarray([[1.0, 0.0], [0.0, 1.0]], "float32"))
    Array(0., dtype=float32)
    """
    check_matrices(input, square=True, name="input")
    sign, size = _slogdet(input)
    if jnp.iscomplexobj(sign):
        return lax.complex(size, jnp.where(sign == 0, jnp.nan, jnp.angle(sign)))
    return jnp.where(sign < 0, jnp.nan, size)
