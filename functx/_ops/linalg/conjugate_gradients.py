r"""Eigenpairs of $A x = \lambda B x$ at one end of the spectrum, by steps in small subspaces.

Their derivatives are implicit. With $C = X^H (dA\, X - dB\, X \Lambda)$, $d\lambda$ is its
diagonal, and what of $dX$ lies among the eigenvectors found is $C_{ij} / (\lambda_j - \lambda_i)$.
The rest solves $(A - \lambda_i B)\, dx_i = (\lambda_i\, dB - dA)\, x_i$ beside them, where the
matrix is definite, as no eigenvalue lies further out.
"""

from __future__ import annotations

import functools as ft
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core.devices.manual_axes import equally_varying

from .full_precision import product
from .matrix_arguments import adjoint
from .unused_vectors import divisor, with_vectors


class Search(NamedTuple):
    """How many pairs are looked for, at which end, in at most how many subspaces (-1: any)."""

    k: int
    largest: bool
    steps: int


class _Iterate(NamedTuple):
    step: Array
    vectors: Array  # orthonormal, but for zeros where the subspace is too small
    before: Array  # the step that led to them
    residual: Array
    values: Array
    error: Array  # the largest relative residual of those looked for


def eigenpairs(search: Search, *given: Any) -> tuple[Array, Array]:
    """Eigenvalues from the outermost inwards, and vectors in columns.

    `given` are `A`, `B`, where to start, an approximate inverse and the tolerance. Shapes:
    `[..., m, m]`, Hermitian; the start `[..., m, n]`. `B` and the inverse may be None.
    """
    tangent = ft.partial(_tangent, search)
    return with_vectors(ft.partial(_found, search), tangent, values=0, name="lobpcg")(*given)


def _found(search: Search, *given: Any) -> tuple[Array, Array]:
    *matrices, tol = given
    batch = matrices[0].shape[:-2]
    stacked = [jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in matrices if x is not None]

    def of_each(*present: Array) -> tuple[Array, Array]:
        each = iter(present)
        A, B, start, inverse = (None if x is None else next(each) for x in matrices)
        return _of_one(search, A, B, start, inverse, tol)

    for _ in batch:
        of_each = jax.vmap(of_each)
    return of_each(*stacked)


def _of_one(
    search: Search, A: Any, B: Array | None, start: Any, inverse: Array | None, tol: Array
) -> tuple[Array, Array]:
    """The least eigenvalues of `A`, or of `-A` for the largest: one end is enough."""
    sign = -1 if search.largest else 1
    A = sign * A
    size = _norm(start)
    sizes = _norm(product(A, start)) / size, _norm(_times(B, start)) / size

    def look(step: Array, subspace: Array, n: int) -> _Iterate:
        values, turn = _least(A, B, subspace, n)
        vectors = _made_exact(B, product(subspace, turn))
        moved = jnp.where(jnp.arange(len(turn))[:, None] < n, 0, turn)
        residual = product(A, vectors) - _times(B, vectors) * values.astype(A.dtype)
        error = _norm(residual, 0) / (_norm(vectors, 0) * (sizes[0] + jnp.abs(values) * sizes[1]))
        worst = jnp.max(error[: search.k])
        return _Iterate(step + 1, vectors, product(subspace, moved), residual, values, worst)

    def again(state: _Iterate) -> _Iterate:
        more = jnp.concatenate([_times(inverse, state.residual), state.before], 1)
        more = _orthonormal(B, more, beside=state.vectors)
        subspace = jnp.concatenate([state.vectors, more], 1)
        return look(state.step, subspace, start.shape[1])

    def going(state: _Iterate) -> Array:
        bounded = state.step < search.steps if search.steps >= 0 else True
        return (state.error >= tol) & bounded  # of NaN, no more

    first = look(jnp.zeros((), "int32"), _orthonormal(B, start), start.shape[1])
    end = lax.while_loop(going, again, _Iterate(*equally_varying([*first])))
    return sign * end.values[: search.k], end.vectors[:, : search.k]


def _least(A: Array, B: Array | None, basis: Array, n: int) -> tuple[Array, Array]:
    """The least `n` Ritz values of `A` in the span of an orthonormal basis, and their vectors.

    A column of zeros is none of the basis, so its value is set beyond all others.
    """
    inside = product(adjoint(basis), A, basis)
    lengths = jnp.sum(jnp.real(jnp.conj(basis) * _times(B, basis)), 0)
    beyond = jnp.where(lengths > 0.5, 0, 2 * _norm(inside) + 1)
    vectors, values = lax.linalg.eigh(inside + jnp.diag(beyond).astype(A.dtype))
    return values[:n], vectors[:, :n]


def _orthonormal(B: Array | None, columns: Array, beside: Array | None = None) -> Array:
    """A basis of what columns span, and zeros for what is rounding (Stathopoulos and Wu, 2002).

    With `beside`, one that is orthogonal to those vectors. Twice is enough.
    """
    eps = jnp.finfo(columns.dtype).eps
    for _ in range(2):
        if beside is not None:
            columns -= product(beside, product(adjoint(beside), _times(B, columns)))
        lengths = jnp.sum(jnp.real(jnp.conj(columns) * _times(B, columns)), 0)
        columns = columns * _inverse_root(lengths, 0).astype(columns.dtype)
        turn, sizes = lax.linalg.eigh(product(adjoint(columns), _times(B, columns)))
        scale = _inverse_root(sizes, eps * len(sizes) * jnp.max(sizes, initial=0))
        columns = product(columns, turn * scale.astype(columns.dtype))
    return columns


def _made_exact(B: Array | None, basis: Array) -> Array:
    """A basis that is orthonormal but for rounding, which would add up, with its square left."""
    gram = product(adjoint(basis), _times(B, basis))
    return product(basis, 1.5 * jnp.eye(len(gram), dtype=gram.dtype) - 0.5 * gram)


def _inverse_root(x: Array, least: Any) -> Array:
    """The inverse square root of what is more than `least`, else 0."""
    return jnp.where(x > least, lax.rsqrt(jnp.where(x > least, x, 1)), 0)


def _times(M: Array | None, x: Array) -> Array:
    return x if M is None else product(M, x)


def _norm(x: Array, axis: int | None = None) -> Array:
    return jnp.sqrt(jnp.sum(jnp.real(jnp.conj(x) * x), axis))


def _tangent(
    search: Search, primals: Any, output: Any, tangents: Any, finite: Array
) -> tuple[Array, Array]:
    (A, B, *_), (dA, dB, *_), (values, X) = primals, tangents, output
    spread = values.astype(X.dtype)[..., None, :]
    given, lengths = product(dA, X), 0
    if B is not None:
        given -= product(dB, X) * spread
        lengths = jnp.sum(jnp.conj(X) * product(dB, X), -2)[..., None, :] / 2
    among = product(adjoint(X), given)
    same = jnp.eye(search.k, dtype=bool)
    gaps = divisor(spread - spread.mT, same | finite[..., None, None])
    turn = jnp.where(same, -lengths, among / gaps)
    outside = given - product(_times(B, X), among)
    dX = product(X, turn) + _beside(search, A, B, output, outside)
    return jnp.real(jnp.diagonal(among, axis1=-2, axis2=-1)), dX


def _beside(search: Search, A: Array, B: Array | None, pairs: Any, right: Array) -> Array:
    r"""$y_i$ of $(\lambda_i B - A) y_i = r_i$ that is orthogonal to the eigenvectors found.

    Of these the matrix is filled up with multiples of one sign, so that it is definite.
    """
    values, X = pairs
    sign = 1 if search.largest else -1
    B = jnp.eye(A.shape[-1], dtype=A.dtype) if B is None else B
    sizes = [jnp.sqrt(jnp.sum(jnp.real(jnp.conj(M) * M), (-2, -1))) for M in (A, B)]
    spread = jnp.max(values, -1) - jnp.min(values, -1)
    shift = lax.stop_gradient(sizes[0] / sizes[1] + 2 * spread)
    BX = product(B, X)
    filling = product(BX, adjoint(BX)) * shift[..., None, None].astype(A.dtype)

    def one(column: tuple[Array, Array]) -> Array:
        r, value = column
        definite = sign * (value[..., None, None].astype(A.dtype) * B - A) + filling
        return _solve_definite(definite, sign * r[..., None])[..., 0]

    solved = lax.map(one, (jnp.moveaxis(right, -1, 0), jnp.moveaxis(values, -1, 0)))
    return jnp.moveaxis(solved, 0, -1)


def _solve_definite(A: Array, b: Array) -> Array:
    L = lax.linalg.cholesky(A)
    half = lax.linalg.triangular_solve(L, b, left_side=True, lower=True)
    return lax.linalg.triangular_solve(
        L, half, left_side=True, lower=True, transpose_a=True, conjugate_a=True
    )
