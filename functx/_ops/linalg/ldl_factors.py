r"""$A = P^T L D L^H P$ in LAPACK's packed form, and its derivative at fixed exchanges.

The elimination is Bunch and Kaufman's ("Some stable methods for calculating inertia and solving
symmetric linear systems", 1977) with their diagonal pivoting: blocks of $D$ are of one row or
two. With $F = L^{-1} P\, dA\, P^T L^{-H}$, $dD$ are the blocks of $F$ on the diagonal and
$L^{-1} dL = \Phi$ those below it, times $D^{-1}$.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.manual_axes import equally_varying
from functx._core.rules import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, hermitian
from .triangular_systems import solved


_GROWTH = (1 + math.sqrt(17)) / 8  # from which element on a pivot is large enough


class Blocks(NamedTuple):
    """What packed factors hold, in the order into which all exchanges bring the rows."""

    L: Array  # unit lower triangular, and 0 within blocks
    D: Array
    inverse: Array  # of D
    order: Array  # `A[order][:, order] = L D L^H`
    within: Array  # which elements belong to blocks of D
    rows: Array  # where the rows of each column stand in the packed form


def factored(A: Array, *, of_hermitian: bool) -> tuple[Array, Array, Array]:
    """The packed factors, the exchanges, and the first pivot that is zero, counted from 1, or 0."""
    whole = (hermitian if of_hermitian else symmetric)(A)
    return (_of_hermitian if of_hermitian else _of_symmetric)(whole)


def transposed(x: Array, of_hermitian: bool) -> Array:
    """The adjoint, or of complex matrices that are not Hermitian but symmetric the transpose."""
    return adjoint(x) if of_hermitian else x.mT


def blocks(factors: Array, pivots: Array, *, of_hermitian: bool) -> Blocks:
    """The factors in matrices of their own."""
    rows, order = _positions(pivots)
    first, within = _first_of_two(pivots), _within(pivots)
    below = jnp.tril(factors, -1)
    low = jnp.where(within, below, 0)
    diagonal = jnp.diagonal(factors, axis1=-2, axis2=-1)
    if of_hermitian:
        diagonal = jnp.real(diagonal).astype(factors.dtype)
    one = jnp.eye(factors.shape[-1], dtype=factors.dtype)
    D = low + transposed(low, of_hermitian) + one * diagonal[..., None, :]
    L = one + jnp.where(within, 0, jnp.tril(jnp.take_along_axis(below, rows, -2), -1))
    return Blocks(L, D, _inverse(D, first), order, within, rows)


def _lower_half(A: Array) -> Array:
    return jnp.tril(A) + jnp.tril(A, -1).mT


# As `hermitian`, of complex matrices that are symmetric instead.
symmetric = derivative_rules(
    _lower_half,
    jvp=lambda primals, output, tangents: (tangents[0] + tangents[0].mT) / 2,
    name="symmetric",
)


def _first_of_two(pivots: Array) -> Array:
    """Which rows begin a block of two: pivots of such are negative, in pairs."""
    return (pivots < 0) & (jnp.cumsum(pivots < 0, -1) % 2 == 1)


def _within(pivots: Array) -> Array:
    n = pivots.shape[-1]
    i, j = np.arange(n)[:, None], np.arange(n)
    first = _first_of_two(pivots)
    return (i == j) | ((i == j + 1) & first[..., None, :]) | ((j == i + 1) & first[..., None])


def _positions(pivots: Array) -> tuple[Array, Array]:
    """Where each column has what later exchanges move, and the order that all of them make."""
    n = pivots.shape[-1]
    if not pivots.size:
        none = jnp.zeros((*pivots.shape, n), jnp.int32)
        return none, pivots

    def step(rows: Array, given: tuple[Array, Array, Array]) -> tuple[Array, None]:
        k, pivot, first = given
        columns = jnp.arange(n + 1, dtype=jnp.int32)
        # The first row of two stays: its pivot is that of the second.
        row, other = jnp.where(first, k + 1, k), jnp.abs(pivot) - 1
        other = jnp.clip(jnp.where((pivot < 0) & ~first, row, other), 0, n - 1)
        moved = (columns < k) | (columns == n)
        here, there = rows[row], rows[other]
        rows = rows.at[row].set(jnp.where(moved, there, here))
        return rows.at[other].set(jnp.where(moved, here, rows[other])), None

    def of_one(pivots: Array, first: Array) -> Array:
        steps = jnp.arange(n, dtype=jnp.int32)
        start, _ = equally_varying([jnp.broadcast_to(steps[:, None], (n, n + 1)), pivots])
        return lax.scan(step, start, (steps, pivots.astype(steps.dtype), first))[0]

    batched = of_one
    for _ in pivots.shape[:-1]:
        batched = jax.vmap(batched)
    rows = batched(pivots, _first_of_two(pivots))
    return rows[..., :n], rows[..., n]


def _inverse(D: Array, first: Array) -> Array:
    """The inverse of blocks of one and two: those of two in the scale of what is beside them."""
    d = jnp.diagonal(D, axis1=-2, axis2=-1)
    if D.shape[-1] < 2:
        return 1 / D
    last = [(0, 0)] * (d.ndim - 1) + [(0, 1)]
    beside = jnp.pad(jnp.diagonal(D, -1, axis1=-2, axis2=-1), last)
    above = jnp.pad(jnp.diagonal(D, 1, axis1=-2, axis2=-1), last)
    second = jnp.roll(first, 1, -1)
    low, high = jnp.where(first, beside, 1), jnp.where(first, above, 1)
    a, c = d, jnp.roll(d, -1, -1)
    # The determinant, in units of the product of `low` and `high`.
    off = 1 / jnp.where(first, (a / low) * (c / high) - 1, 1)
    single = 1 / jnp.where(first | second, 1, d)
    upper = jnp.where(first, c / low / high * off, 0)
    lower = jnp.roll(jnp.where(first, a / low / high * off, 0), 1, -1)
    main = jnp.where(first, upper, jnp.where(second, lower, single))
    one, under, over = (jnp.eye(D.shape[-1], k=k, dtype=D.dtype) for k in (0, -1, 1))
    at_low = jnp.where(first, -off / high, 0)[..., None, :]
    at_high = jnp.where(first, -off / low, 0)[..., None]
    return one * main[..., None, :] + under * at_low + over * at_high


class _State(NamedTuple):
    """An elimination that is done up to step `k`."""

    k: Array
    A: Array  # the factors up to there, and what is left
    pivots: Array
    info: Array


def _eliminated(A: Array, of_hermitian: bool) -> tuple[Array, Array, Array]:
    n = A.shape[-1]

    def of_one(A: Array) -> tuple[Array, Array, Array]:
        zero = jnp.int32(0)
        start = _State(*equally_varying([zero, A, jnp.zeros(n, jnp.int32), zero]))
        step = lambda state: _step(state, of_hermitian)
        end = lax.while_loop(lambda state: state.k < n, step, start)
        return jnp.tril(end.A), end.pivots, end.info

    if A.size == 0:
        return A, jnp.zeros(A.shape[:-1], jnp.int32), jnp.zeros(A.shape[:-2], jnp.int32)
    batched = of_one
    for _ in A.shape[:-2]:
        batched = jax.vmap(batched)
    return batched(A)


def _step(state: _State, of_hermitian: bool) -> _State:
    k, A, pivots, info = state
    index = jnp.arange(A.shape[0], dtype=k.dtype)
    other, two, zero = _choice(A, k)
    row = jnp.where(two, k + 1, k)
    exchanged = index.at[row].set(other).at[other].set(row)
    left = index >= k
    A = jnp.where(left[:, None] & left, A[exchanged][:, exchanged], A)
    A = jnp.where(zero, A, _reduced(A, k, two, of_hermitian))
    number = other + 1
    pivots = pivots.at[k].set(jnp.where(two, -number, number))
    pivots = pivots.at[k + 1].set(jnp.where(two, -number, pivots[k + 1]), mode="drop")
    info = jnp.where(zero & (info == 0), k + 1, info)
    return _State(jnp.where(two, k + 2, k + 1), A, pivots, info)


def _choice(A: Array, k: Array) -> tuple[Array, Array, Array]:
    """The row to exchange, whether a block of two begins, and whether there is nothing left."""
    index = jnp.arange(A.shape[0], dtype=k.dtype)
    sizes = jnp.abs(jnp.real(A)) + jnp.abs(jnp.imag(A))  # LAPACK's size of a complex number
    at_pivot = sizes[k, k]
    column = jnp.where(index > k, sizes[:, k], -1)
    greatest = jnp.argmax(column).astype(k.dtype)
    in_column = jnp.maximum(column[greatest], 0)
    in_row = jnp.max(jnp.where((index >= k) & (index != greatest), sizes[greatest], 0))
    keeps = (at_pivot >= _GROWTH * in_column) | (
        at_pivot >= _GROWTH * in_column * (in_column / in_row)
    )
    two = ~keeps & (sizes[greatest, greatest] < _GROWTH * in_row)
    zero = (jnp.maximum(at_pivot, in_column) == 0) | jnp.isnan(at_pivot)
    keeps |= zero
    return jnp.where(keeps, k, greatest), two & ~zero, zero


def _reduced(A: Array, k: Array, two: Array, of_hermitian: bool) -> Array:
    """What is left after a block of one or two, whose columns become those of `L`."""
    n = A.shape[0]
    index = jnp.arange(n, dtype=k.dtype)
    size = jnp.where(two, 2, 1).astype(k.dtype)
    below = (index >= k + size)[:, None]
    pair = lax.dynamic_slice_in_dim(jnp.pad(A, ((0, 1), (0, 1))), k, 2, 1)
    block = lax.dynamic_slice_in_dim(pair, k, 2, 0)
    block = jnp.where(two, block, block * jnp.eye(2, dtype=A.dtype))
    block = block.at[1, 1].set(jnp.where(two, block[1, 1], 1))
    C = jnp.where(below & (jnp.arange(2, dtype=k.dtype) < size), pair[:n], 0)
    W = product(C, _inverse(block, jnp.stack([two, jnp.zeros_like(two)])))
    A = A - product(W, transposed(C, of_hermitian))
    at = (index == k)[None] | (two & (index == k + 1))[None]
    columns = jnp.take(W, jnp.clip(index - k, 0, 1), 1)
    return jnp.where(below & at, columns, A)


def _tangent(output: Any, dA: Array, of_hermitian: bool) -> tuple[Array, None, None]:
    factors, pivots, _ = output
    L, _, inverse, order, within, rows = blocks(factors, pivots, of_hermitian=of_hermitian)
    moved = jnp.take_along_axis(dA, order[..., None], -2)
    moved = jnp.take_along_axis(moved, order[..., None, :], -1)
    half = solved(L, moved, upper=False, unitriangular=True)
    F = solved(
        L,
        half,
        upper=False,
        left=False,
        transpose=True,
        conjugate=of_hermitian,
        unitriangular=True,
    )
    turn = product(jnp.where(within, 0, jnp.tril(F)), inverse)
    dL = jnp.take_along_axis(product(L, turn), jnp.argsort(rows, -2), -2)
    return jnp.where(within, jnp.tril(F), dL), None, None


def _ruled(of_hermitian: bool) -> Callable[[Array], tuple[Array, Array, Array]]:
    return derivative_rules(
        lambda A: _eliminated(A, of_hermitian),
        jvp=lambda primals, output, tangents: _tangent(output, tangents[0], of_hermitian),
        name="linalg.ldl_factor",
    )


_of_hermitian, _of_symmetric = _ruled(True), _ruled(False)
