r"""$A = P^T L D L^H P$ in LAPACK's packed form, and its derivative at fixed exchanges.

The elimination is Bunch and Kaufman's ("Some stable methods for calculating inertia and solving
symmetric linear systems", 1977) with their diagonal pivoting: blocks of $D$ are of one row or
two. With $F = L^{-1} P\, dA\, P^T L^{-H}$, $dD$ are the blocks of $F$ on the diagonal and
$L^{-1} dL = \Phi$ those below it, times $D^{-1}$.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import min_dim

from functx._core import as_number, decided, known
from functx._core.devices.manual_axes import equally_varying
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, hermitian
from .triangular_systems import solved


_GROWTH = (1 + math.sqrt(17)) / 8  # from which element on a pivot is large enough
_PANEL = 16  # columns that are eliminated before the others are touched


class UnpackedFactors(NamedTuple):
    """The contents of packed factors, in the order into which all exchanges bring the rows."""

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


def blocks(factors: Array, pivots: Array, *, of_hermitian: bool) -> UnpackedFactors:
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
    return UnpackedFactors(L, D, _inverse(D, first), order, within, rows)


def _lower_half(A: Array) -> Array:
    return jnp.tril(A) + jnp.tril(A, -1).mT


# Like `hermitian`, for complex matrices that are symmetric instead.
symmetric = derivative_rules(
    _lower_half,
    jvp=lambda primals, output, tangents: (tangents[0] + tangents[0].mT) / 2,
    name="symmetric",
)


def _first_of_two(pivots: Array) -> Array:
    """A mask of the rows that begin a block of two, whose pivots are negative in pairs."""
    return (pivots < 0) & (jnp.cumsum(pivots < 0, -1) % 2 == 1)


def _within(pivots: Array) -> Array:
    n = pivots.shape[-1]
    each = np.arange(n) if known(n) else jnp.arange(n)
    i, j = each[:, None], each
    first = _first_of_two(pivots)
    return (i == j) | ((i == j + 1) & first[..., None, :]) | ((j == i + 1) & first[..., None])


def _positions(pivots: Array) -> tuple[Array, Array]:
    """Where each column has what later exchanges move, and the order that all of them make."""
    n = pivots.shape[-1]
    if not pivots.size:
        none = jnp.zeros((*pivots.shape, n), jnp.int32)
        return none, pivots
    size = as_number(n, jnp.int32)

    def step(rows: Array, given: tuple[Array, Array, Array]) -> tuple[Array, None]:
        k, pivot, first = given
        columns = jnp.arange(n + 1, dtype=jnp.int32)
        # The first row of two stays: its pivot is that of the second.
        row, other = jnp.where(first, k + 1, k), jnp.abs(pivot) - 1
        other = jnp.clip(jnp.where((pivot < 0) & ~first, row, other), 0, size - 1)
        moved = (columns < k) | (columns == size)
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
    return rows[..., :-1], rows[..., -1]


def _inverse(D: Array, first: Array) -> Array:
    """The inverse of blocks of one and two rows, scaled by the elements beside the diagonal."""
    d = jnp.diagonal(D, axis1=-2, axis2=-1)
    if decided(lambda: D.shape[-1] < 2, otherwise=False):
        return 1 / D
    if not known(D.shape[-1]):
        first &= as_number(D.shape[-1], jnp.int32) > 1  # whatever the pivots say
    beside, above = _beside_diagonal(D), _beside_diagonal(D.mT)
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


def _beside_diagonal(D: Array) -> Array:
    """The elements below the diagonal, and a last zero."""
    if known(D.shape[-1]):
        last = [(0, 0)] * (D.ndim - 2) + [(0, 1)]
        return jnp.pad(jnp.diagonal(D, -1, axis1=-2, axis2=-1), last)
    return jnp.diagonal(jnp.roll(jnp.tril(D, -1), -1, -2), axis1=-2, axis2=-1)


class _Elimination(NamedTuple):
    """An elimination that is done up to step `k`, in a panel of columns that began at `begin`.

    What is left is `A - L.T @ C`, with `C` conjugated where matrices are Hermitian: the panel's
    columns are rows here. Rows and columns stay where they are, and exchanges change `order` alone,
    and `place`, its inverse. `columns` are those of the packed form.
    """

    k: Array
    begin: Array
    order: Array
    place: Array
    L: Array
    C: Array
    columns: Array
    pivots: Array
    info: Array


def _eliminated(A: Array, of_hermitian: bool) -> tuple[Array, Array, Array]:
    if A.size == 0:
        return A, jnp.zeros(A.shape[:-1], jnp.int32), jnp.zeros(A.shape[:-2], jnp.int32)
    batched = ft.partial(_eliminated_one, of_hermitian=of_hermitian)
    for _ in A.shape[:-2]:
        batched = jax.vmap(batched)
    return batched(A)


def _eliminated_one(A: Array, of_hermitian: bool) -> tuple[Array, Array, Array]:
    n, width = A.shape[0], min_dim(A.shape[0], _PANEL)
    index, zero = jnp.arange(n, dtype=jnp.int32), jnp.int32(0)
    none = jnp.zeros((width + 1, n), A.dtype)  # a block of two may begin in the last column
    packed = jnp.zeros((n + width + 1, n), A.dtype)
    start = _Elimination(zero, zero, index, index, none, none, none, jnp.zeros_like(index), zero)
    state, A, packed = jax.tree.unflatten(
        jax.tree.structure((start, A, packed)),
        equally_varying(jax.tree.leaves((start, A, packed))),
    )
    none, size, columns = state.L, as_number(n, zero.dtype), as_number(width, zero.dtype)

    def panel(given: tuple[_Elimination, Array, Array]) -> tuple[_Elimination, Array, Array]:
        state, A, packed = given
        state = lax.while_loop(
            lambda state: (state.k < size) & (state.k < state.begin + columns),
            lambda state: _step(state, A, of_hermitian),
            state._replace(begin=state.k, L=none, C=none),
        )
        packed = lax.dynamic_update_slice_in_dim(packed, state.columns, given[0].k, 0)
        return state, A - product(state.L.T, _conjugated(state.C, of_hermitian)), packed

    state, _, packed = lax.while_loop(lambda given: given[0].k < size, panel, (state, A, packed))
    return jnp.tril(packed[:n].T), state.pivots, state.info


def _conjugated(x: Array, of_hermitian: bool) -> Array:
    return jnp.conj(x) if of_hermitian else x


def _step(state: _Elimination, A: Array, of_hermitian: bool) -> _Elimination:
    k, order, place = state.k, state.order, state.place
    index = jnp.arange(A.shape[0], dtype=k.dtype)
    pair, other, two, zero = _choice(state, A, of_hermitian)
    row = jnp.where(two, k + 1, k)
    here, there = order[row], order[other]
    order = jnp.where(index == row, there, jnp.where(index == other, here, order))
    place = jnp.where(index == here, other, jnp.where(index == there, row, place))
    new, lower = _divided(pair, order[jnp.stack([k, row])], place > row, two, zero)
    columns = jnp.where((place > row) & ~zero, lower, pair)[:, order]
    put = lambda x, rows: lax.dynamic_update_slice_in_dim(x, rows, k - state.begin, 0)
    number = jnp.where(two, -other - 1, other + 1)
    return state._replace(
        k=row + 1,
        order=order,
        place=place,
        L=put(state.L, lower),
        C=put(state.C, new),
        columns=put(state.columns, columns),
        pivots=jnp.where((index == k) | (index == row), number, state.pivots),
        info=jnp.where(zero & (state.info == 0), k + 1, state.info),
    )


def _choice(state: _Elimination, A: Array, of_hermitian: bool) -> tuple[Array, Array, Array, Array]:
    """Two columns, the row to exchange, whether they are a block, and whether nothing is left."""
    k, order = state.k, state.order
    index = jnp.arange(A.shape[0], dtype=k.dtype)

    def left(at: Array) -> tuple[Array, Array]:
        """A column of what is left, and its elements' sizes in order."""
        done = product(_conjugated(state.C[:, order[at]], of_hermitian), state.L)
        column = _conjugated(A[order[at]], of_hermitian) - done
        if of_hermitian:  # as LAPACK has it, diagonals are real
            real = lax.convert_element_type(jnp.real(column), column.dtype)
            column = jnp.where(index == order[at], real, column)
        sizes = jnp.abs(jnp.real(column)) + jnp.abs(jnp.imag(column))  # LAPACK's
        return column, sizes[order]

    first, sizes = left(k)
    at_pivot, column = sizes[k], jnp.where(index > k, sizes, -1)
    greatest = jnp.argmax(column).astype(k.dtype)
    in_column = jnp.maximum(column[greatest], 0)
    second, sizes = left(greatest)
    in_row = jnp.max(jnp.where((index >= k) & (index != greatest), sizes, 0))
    keeps = (at_pivot >= _GROWTH * in_column) | (
        at_pivot >= _GROWTH * in_column * (in_column / in_row)
    )
    two = ~keeps & (sizes[greatest] < _GROWTH * in_row)
    zero = (jnp.maximum(at_pivot, in_column) == 0) | jnp.isnan(at_pivot)
    keeps |= zero
    two &= ~zero
    pair = jnp.stack([jnp.where(keeps | two, first, second), second])
    return pair, jnp.where(keeps, k, greatest), two, zero


def _divided(
    pair: Array, rows: Array, below: Array, two: Array, zero: Array
) -> tuple[Array, Array]:
    """The parts of one column or two below the block in `rows`, and the same times its inverse."""
    taken = below & ~zero & jnp.stack([jnp.ones_like(two), two])[:, None]
    new = jnp.where(taken, pair, 0)
    block = jnp.where(two, pair[:, rows].T, pair[0, rows[0]] * jnp.eye(2, dtype=pair.dtype))
    block = block.at[1, 1].set(jnp.where(two, block[1, 1], 1))
    inverse = _inverse(block, jnp.stack([two, jnp.zeros_like(two)]))[..., None]
    return new, jnp.where(taken, inverse[0] * new[0] + inverse[1] * new[1], 0)


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
    return jnp.where(within, jnp.tril(F), jnp.tril(dL, -1)), None, None


def _ruled(of_hermitian: bool) -> Callable[[Array], tuple[Array, Array, Array]]:
    return derivative_rules(
        lambda A: _eliminated(A, of_hermitian),
        jvp=lambda primals, output, tangents: _tangent(output, tangents[0], of_hermitian),
        name="linalg.ldl_factor",
    )


_of_hermitian, _of_symmetric = _ruled(True), _ruled(False)
