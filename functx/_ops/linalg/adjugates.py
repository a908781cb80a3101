r"""Adjugates of matrices, and their derivatives, which divide by nothing.

In the frame $A = U \operatorname{diag}(s) V^H$ of the singular value decomposition, with
$E = U^H\, dA\, V$ and the phase $\varphi = \det U \det V^H$,
$$\det(A + dA) = \varphi \Big(\prod_i s_i + \sum_i E_{ii} \prod_{k \ne i} s_k
+ \sum_{i < j} (E_{ii} E_{jj} - E_{ij} E_{ji}) \prod_{k \ne i, j} s_k + \dots\Big).$$
So the derivative in the directions $E^1, \dots, E^n$ is $\varphi$ times
$$D_n = \sum_{i_1 \dots i_n \text{ distinct}} \, \prod_{k \ne i_1 \dots i_n} s_k \,
\sum_\pi \operatorname{sgn} \pi \, E^1_{i_1 i_{\pi 1}} \cdots E^n_{i_n i_{\pi n}},$$
and that of the adjugate in one direction less is what the last one is multiplied by.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax.custom_batching import custom_vmap

from functx._core import as_number, known, platform_dependent, Size
from functx._core.devices.manual_axes import varying_like
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, nan_beside_infinities


def lu_det(A: Array) -> Array:
    """The determinant, as the product of pivots."""
    factors, swaps, _ = lax.linalg.lu(A)
    diagonal, sign = pivots_and_sign(factors, swaps)
    return sign * jnp.prod(diagonal, axis=-1)


def pivots_and_sign(factors: Array, swaps: Array) -> tuple[Array, Array]:
    """The pivots, whose product is the determinant up to a sign, and that sign."""
    in_place = lax.broadcasted_iota(swaps.dtype, swaps.shape, swaps.ndim - 1)
    moved = jnp.sum(swaps != in_place, axis=-1)
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
    regular = condition < 0.01 * _root(A.shape[-1], A.dtype) / float(jnp.finfo(A.dtype).eps)

    pivots, sign = pivots_and_sign(factors, swaps)
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


def _root(size: Size, dtype: Any) -> Any:
    return size**0.5 if known(size) else jnp.sqrt(as_number(size, jnp.finfo(dtype).dtype))


def _largest_row_sum(A: Array) -> Array:
    return jnp.max(jnp.sum(jnp.abs(A), axis=-1), axis=-1, initial=0)


def _adjugate_of_any(A: Array) -> Array:
    phase, U, s, Vh = _frame(A)
    return phase * product(adjoint(Vh) * _products_without_one(s)[..., None, :], adjoint(U))


def _frame(A: Array) -> tuple[Array, Array, Array, Array]:
    U, s, Vh = lax.linalg.svd(nan_beside_infinities(A), full_matrices=False)
    return (lu_det(U) * lu_det(Vh))[..., None, None], U, s.astype(A.dtype), Vh


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


def _moved(order: int) -> Any:
    """The derivative of the adjugate in `order` directions, of the matrix and these."""

    def forward(A: Array, directions: Sequence[Array]) -> Array:
        phase, U, s, Vh = _frame(A)
        inside = [product(adjoint(U), E, adjoint(Vh)) for E in directions]
        return phase * product(adjoint(Vh), _multiplied_by(s, inside).mT, adjoint(U))

    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        (A, directions), (dA, moves) = primals, tangents
        out = _moved(order + 1)(A, (*directions, dA))
        for k, move in enumerate(moves):
            out += _moved(order)(A, (*directions[:k], move, *directions[k + 1 :]))
        return out

    def vjp(primals: Any, output: Array, cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
        (A, directions), turned = primals, cotangent.mT
        each = tuple(
            _moved(order)(A, (*directions[:k], turned, *directions[k + 1 :])).mT
            for k in range(order)
        )
        return _moved(order + 1)(A, (*directions, turned)).mT, each

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name="adjugate")


def _multiplied_by(s: Array, directions: Sequence[Array]) -> Array:
    """What multiplies a further matrix in $D_n$ of the diagonal matrix of `s`, element by element.

    Of the indices, two run through the rows and columns of arrays, the others through a loop.
    """
    n, free = s.shape[-1], len(directions) - 1
    diagonal = jnp.eye(n, dtype=bool)

    def term(others: Sequence[Any]) -> Array:
        left, distinct = jnp.ones(n, bool), jnp.asarray(True)
        for i in others:
            distinct &= left[i]
            left &= jnp.arange(n) != i
        products = _products_without_two(jnp.where(left, s, 1))
        products = jnp.where(left[:, None] & left & distinct, products, 0)
        total = jnp.zeros_like(directions[0])
        # The further matrix comes first, and its index is the rows'.
        for order in itertools.permutations(range(len(directions) + 1)):
            columns = order[0] or 1  # the number of the index that is the columns'
            rest = iter(others)
            index = [
                _ROWS if k == 0 else _COLUMNS if k == columns else next(rest)
                for k in range(len(order))
            ]
            part = products
            for k, E in enumerate(directions, 1):
                part = part * _elements(E, index[k], index[order[k]])
            if order[0] == 0:
                part = jnp.where(diagonal, jnp.sum(part, -1, keepdims=True), 0)
            total += part if _is_even(order) else -part
        return total

    if n == 0:
        return directions[0]
    if not free:
        return term(())

    def add(i: Any, total: Array) -> Array:
        return total + term([i // n**place % n for place in range(free)])

    start = varying_like(jnp.zeros_like(directions[0]), directions[0])
    return lax.fori_loop(0, n**free, add, start)


_ROWS, _COLUMNS = "rows", "columns"


def _elements(E: Array, first: Any, second: Any) -> Array:
    """`E[first, second]`, where an index may run through the rows or columns of the result."""
    if isinstance(first, str) and isinstance(second, str):
        if first == second:
            along = jnp.diagonal(E, axis1=-2, axis2=-1)
            return along[..., :, None] if first == _ROWS else along[..., None, :]
        return E if first == _ROWS else E.mT
    if isinstance(first, str):
        along = E[..., :, second]
        return along[..., :, None] if first == _ROWS else along[..., None, :]
    if isinstance(second, str):
        along = E[..., first, :]
        return along[..., :, None] if second == _ROWS else along[..., None, :]
    return E[..., first, second, None, None]


def _is_even(order: Sequence[int]) -> bool:
    pairs = itertools.combinations(order, 2)
    return sum(first > second for first, second in pairs) % 2 == 0


adjugate = derivative_rules(
    _adjugate,
    jvp=lambda primals, output, tangents: _moved(1)(*primals, tangents),
    vjp=lambda primals, output, cotangent: (_moved(1)(*primals, (cotangent.mT,)).mT,),
    name="adjugate",
)
