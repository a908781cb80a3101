r"""LU factors in LAPACK's packed form: `U` on and above the diagonal, `L` without its ones below.

With $P^T A = L U$ and $X = L^{-1} P^T dA$,
$$L^{-1} dL = \operatorname{tril}_{-1}(X_{:p}\, V^{-1}) = \Phi, \qquad dU = X - \Phi\, U_{:p},$$
where $V$ are the first $p = \min(m - 1, n)$ rows and columns of $U$: the last pivot of a matrix
that is square or wide divides nothing, so it may be zero. De Hoog, Anderssen and Lukas,
"Differentiation of matrix functionals using triangular factorization" (2011), invert all of $U$.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax.core import min_dim

from functx._core import decided, known, repeat, Size
from functx._core.numbers.bitwise_comparison import nonzero
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint as adjoint_of
from .triangular_systems import solved


def factored(A: Array, *, pivot: bool) -> tuple[Array, Array]:
    """The packed factors, and row exchanges as LAPACK counts them, from 1 on."""
    if A.size == 0:
        steps = min_dim(*A.shape[-2:])
        order = jnp.arange(1, steps + 1, dtype=jnp.int32)
        return A, jnp.broadcast_to(order, (*A.shape[:-2], steps))
    factors, pivots, _ = (_with_exchanges if pivot else _without_exchanges)(A)
    return factors, pivots + 1


def first_zero_pivot(factors: Array) -> Array:
    """The number of the first pivot that is zero, counted from 1, or 0 if none is."""
    m, n = factors.shape[-2:]
    square = factors if known(m, n) else factors[..., : min_dim(m, n), : min_dim(m, n)]
    zero = ~nonzero(jnp.diagonal(square, axis1=-2, axis2=-1))
    if zero.shape[-1] == 0:
        return jnp.zeros(zero.shape[:-1], jnp.int32)
    return jnp.where(zero.any(-1), jnp.argmax(zero, -1) + 1, 0).astype(jnp.int32)


def unpacked(factors: Array) -> tuple[Array, Array]:
    """`L: [..., m, k]` and `U: [..., k, n]`."""
    m, n = factors.shape[-2:]
    k = min_dim(m, n)
    below = jnp.tril(factors[..., :k], -1)
    L = jnp.where(jnp.eye(m, k, dtype=bool), jnp.ones_like(below), below)
    return L, jnp.triu(factors[..., :k, :])


def permutation(pivots: Array, size: int) -> Array:
    """The order into which the exchanges bring rows: `A[permutation] = L U`."""
    if pivots.size == 0:
        return jnp.broadcast_to(jnp.arange(size, dtype=pivots.dtype), (*pivots.shape[:-1], size))
    # Out of range, kernels of GPUs would write beside the array.
    inside = jnp.clip(pivots, 1, size) - 1
    if not decided(lambda: size >= inside.shape[-1], otherwise=False):
        return _exchanged(inside, size)
    return lax.linalg.lu_pivots_to_permutation(inside, size)


def _exchanged(pivots: Array, size: Size) -> Array:
    """The permutation, exchange by exchange: JAX's function compares numbers of rows and pivots."""
    places = jnp.arange(size, dtype=pivots.dtype)

    def exchange(i: Array, order: Array) -> Array:
        other = lax.dynamic_index_in_dim(pivots, i, -1)
        here = lax.dynamic_index_in_dim(order, i, -1)
        there = jnp.take_along_axis(order, other, -1)
        order = jnp.where(places == other, here, order)
        return jnp.where(places == i.astype(places.dtype), there, order)

    start = jnp.broadcast_to(places, (*pivots.shape[:-1], size))
    return repeat(pivots.shape[-1], exchange, start)


def permutation_matrix(pivots: Array, size: int, dtype: Any) -> Array:
    r"""`P` of $A = P L U$."""
    rows = jnp.arange(size, dtype=pivots.dtype)[:, None]
    return (rows == permutation(pivots, size)[..., None, :]).astype(dtype)


def solved_by_factors(
    factors: Array, pivots: Array, B: Array, *, left: bool = True, adjoint: bool = False
) -> Array:
    r"""`X` of $A X = B$, with $A^H$ for $A$ if `adjoint`, or of $X A = B$ if not `left`.

    All have the same leading dimensions.
    """
    if not left:
        by_rows = solved_by_factors(factors, pivots, adjoint_of(B), adjoint=not adjoint)
        return adjoint_of(by_rows)
    order = permutation(pivots, factors.shape[-1])
    options = {"transpose": adjoint, "conjugate": adjoint}
    if adjoint:
        halfway = solved(factors, B, upper=True, **options)
        turned = solved(factors, halfway, upper=False, unitriangular=True, **options)
        return jnp.take_along_axis(turned, jnp.argsort(order, axis=-1)[..., None], axis=-2)
    turned = jnp.take_along_axis(B, order[..., None], axis=-2)
    halfway = solved(factors, turned, upper=False, unitriangular=True)
    return solved(factors, halfway, upper=True)


def _tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Any:
    factors, _, order = output
    m, n = factors.shape[-2:]
    k, p = min_dim(m, n), min_dim(m - 1, n)
    moved = jnp.take_along_axis(tangents[0], order[..., None], axis=-2)
    L, U = unpacked(factors)
    left, upper = _corner(L, columns=p), _corner(U, rows=p)

    top = _corner(moved, rows=k)
    above = solved(_corner(factors, k, k), top, upper=False, unitriangular=True)
    X = jnp.concatenate([above, moved[..., k:, :] - product(L[..., k:, :], above)], axis=-2)
    quotient = solved(_corner(factors, p, p), _corner(X, columns=p), upper=True, left=False)
    phi = jnp.tril(quotient, -1)
    dU = jnp.triu(above - product(_corner(phi, rows=k), upper))

    below = product(left[..., k:, :], _corner(phi, rows=p)) + phi[..., k:, :]
    dL = jnp.concatenate([product(L[..., :k, :], _corner(phi, rows=k)), below], axis=-2)
    return _onto(dL, m, n) + _onto(dU, m, n), None, None


def _corner(x: Array, rows: Size | None = None, columns: Size | None = None) -> Array:
    """The first rows and columns of matrices that have as many; None: all."""
    if known(*x.shape[-2:]):
        return x[..., :rows, :columns]
    # JAX does not see how long a slice to a symbolic size is.
    for dim, n in ((-2, rows), (-1, columns)):
        x = x if n is None else jnp.take(x, jnp.arange(n), dim)
    return x


def _onto(x: Array, m: int, n: int) -> Array:
    pads = [(0, 0)] * (x.ndim - 2) + [(0, m - x.shape[-2]), (0, n - x.shape[-1])]
    return jnp.pad(x, pads)


def eliminated(A: Array) -> tuple[Array, Array, Array]:
    """Gaussian elimination in the order of the rows; a column of zeros needs none."""
    m, n = A.shape[-2:]
    rows, columns = jnp.arange(m), jnp.arange(n)

    def step(j: Any, A: Array) -> Array:
        row = lax.dynamic_index_in_dim(A, j, -2)
        column = lax.dynamic_index_in_dim(A, j, -1)
        pivot = lax.dynamic_index_in_dim(row, j, -1)
        needed = (rows[:, None] > j) & (column != 0)
        factors = jnp.where(needed, column / pivot, 0)
        reduced = A - factors * jnp.where(columns > j, row, 0)
        at_column = (rows[:, None] > j) & (columns == j)
        return jnp.where(at_column, factors, reduced)

    factors = repeat(min_dim(m, n), step, A)
    batch = A.shape[:-2]
    order = jnp.broadcast_to(jnp.arange(m, dtype=jnp.int32), (*batch, m))
    return factors, order[..., : min_dim(m, n)], order


_with_exchanges = derivative_rules(lambda A: tuple(lax.linalg.lu(A)), jvp=_tangent, name="lu")
_without_exchanges = derivative_rules(eliminated, jvp=_tangent, name="lu")
