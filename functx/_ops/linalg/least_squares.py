"""Least squares: the vectors nearest to a solution of linear equations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    available,
    describe,
    LONG,
    operator,
    Promote,
    refuse,
    Requirement,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import nonzero
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, check_matrices, each_matrix, nan_beside_infinities
from .pseudoinverses import pseudoinverse
from .singular_value_rules import singular_values
from .tolerances import default_relative, not_negligible, tolerance
from .triangular_systems import solved, with_common_batch


__all__ = ["lstsq"]

_DRIVERS = (None, "gels", "gelsy", "gelsd", "gelss")


class LstsqResult(NamedTuple):
    """The solution, its squared residuals, and the rank and the singular values of the matrix."""

    solution: Array
    residuals: Array
    rank: Array
    singular_values: Array


def _full_rank(*, A: Any, driver: Any, **_: Any) -> Iterator[Requirement]:
    if driver == "gels" and A.ndim > 1 and A.size:
        R = jnp.linalg.qr(A if A.shape[-2] >= A.shape[-1] else adjoint(A), mode="r")
        ok = jnp.all(nonzero(jnp.diagonal(R, axis1=-2, axis2=-1)), -1)
        yield each_matrix(ok, "of full rank")


@operator(
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    requires=_full_rank,
    checked_on_request=True,
    synonyms={"input": "A", "b": "B"},
    autocast_cpu=Autocast.FLOAT32,
)
def lstsq(
    A: ArrayLike, B: ArrayLike, rcond: UnpromotedArray | None = None, *, driver: str | None = None
) -> LstsqResult:
    r"""The $X$ that minimizes $\|A X - B\|_F$, of several the one of least norm.

    - `A`: matrices, float32, float64 or complex.
    - `B`: the right-hand sides, by columns, or a vector for each matrix, of the dtype of `A`.
    - `rcond`: singular values not greater than `rcond` times the largest count as zero. By default
      it is `max(m, n) * eps`. `"gels"` does not look at it.
    - `driver`: `"gels"` takes matrices of full rank, by QR. The others take any, by singular
      values, which `"gelsd"` and `"gelss"` return, and the residuals with them; `"gelsy"`, the
      default, does not. All are there on every device.

    Shapes: `A: [..., m, n]`, `B: [..., m, k]` or `[..., m]`, whose leading dimensions broadcast,
    give a solution `[..., n, k]` or `[..., n]`; `residuals: [..., k]`, of vectors `[..., 1]`, the
    squares of the norms of $A X - B$ by columns; `rank: [...]`, int64;
    `singular_values: [..., min(m, n)]`, real. What is not computed is `[0]`: residuals unless
    m > n and by `"gelsy"`, the rank by `"gels"`, the singular values by both. Residuals are there
    whatever the rank, on which shapes cannot depend.
    A matrix that has not full rank is a `LinAlgError` for `"gels"` under `functx.debug.checked` and
    in `functx.debug.checking()`.

    The derivative is that at constant rank (Golub and Pereyra, 1973), with $P$ the pseudoinverse:
    $$dX = P (dB - dA\, X) + P P^H dA^H (B - A X) + (1 - P A)\, dA^H P^H X.$$

    >>> A = jnp.asarray([[1.0], [0.0]], "float32")
    >>> functx.linalg.lstsq(A, jnp.asarray([1.0, 3.0], "float32"), driver="gelsd")[:2]
    (Array([1.], dtype=float32), Array([9.], dtype=float32))
    """
    if driver not in _DRIVERS:
        names = ", ".join(map(repr, _DRIVERS[1:]))
        refuse(f"`driver` must be None or one of {names}, got {driver!r}")
    check_matrices(A)
    vector = B.ndim == A.ndim - 1
    if not B.ndim or B.ndim not in (A.ndim, A.ndim - 1) or B.shape[A.ndim - 2] != A.shape[-2]:
        refuse(
            f"`B` must be [..., m, k] or [..., m] for [..., m, n], got {describe(B)}, {describe(A)}"
        )
    right = B[..., None] if vector else B
    m, n = A.shape[-2:]
    relative = _relative(A, rcond)
    if driver == "gels":
        X, rank = _of_full_rank(*with_common_batch(A, right)), None
    else:
        X, rank = _of_any_rank(A, right, relative)
    residuals = None
    if driver not in (None, "gelsy") and m > n:
        residuals = _squares(product(A, X) - right)
    # Apart, as they have no second derivative where they coincide, and the solution has.
    values = singular_values(A) if driver in ("gelsd", "gelss") else None
    found = X, residuals, rank, values
    if vector:
        found = X[..., 0], *found[1:]
    real = jnp.finfo(A.dtype).dtype
    kinds = A.dtype, real, available(LONG), real
    return LstsqResult(
        *(jnp.zeros(0, dtype) if x is None else x for x, dtype in zip(found, kinds, strict=True))
    )


def _relative(A: Array, rcond: Any) -> Array:
    if rcond is None:
        return default_relative(A)
    given = tolerance(rcond, "rcond", jnp.finfo(A.dtype).dtype)
    if given.ndim:
        refuse(f"`rcond` must be a number, got {describe(given)}")
    return given


def _squares(x: Array) -> Array:
    return jnp.sum(jnp.square(jnp.real(x)) + jnp.square(jnp.imag(x)), -2)


def _by_svd(A: Array, B: Array, rtol: Array) -> tuple[Array, Array]:
    """The solution and the rank."""
    U, S, Vh = lax.linalg.svd(nan_beside_infinities(A), full_matrices=False)
    if not S.shape[-1]:
        nothing = jnp.zeros(A.shape[:-2], available(LONG))
        return product(adjoint(A), B), nothing
    kept = not_negligible(S, jnp.zeros((), S.dtype), rtol)
    inverses = jnp.where(kept, 1 / jnp.where(kept, S, 1), 0)[..., None].astype(A.dtype)
    X = product(adjoint(Vh), inverses * product(adjoint(U), B))
    return X, jnp.sum(kept, -1, dtype=available(LONG))


def _by_qr(A: Array, B: Array) -> Array:
    if A.shape[-2] >= A.shape[-1]:
        Q, R = lax.linalg.qr(A, full_matrices=False)
        return solved(R, product(adjoint(Q), B), upper=True)
    Q, R = lax.linalg.qr(adjoint(A), full_matrices=False)
    return product(Q, solved(R, B, upper=True, transpose=True, conjugate=True))


def _solution_tangent(A: Array, B: Array, X: Array, P: Array, dA: Array, dB: Array) -> Array:
    turned = product(adjoint(dA), adjoint(P))
    beside = product(turned, X)
    return (
        product(P, dB - product(dA, X))
        + product(P, adjoint(P), adjoint(dA), B - product(A, X))
        + (beside - product(P, A, beside))
    )


def _any_tangent(primals: tuple[Any, ...], output: Any, tangents: tuple[Any, ...]) -> Any:
    (A, B, rtol), (dA, dB, _) = primals, tangents
    P = pseudoinverse(A, jnp.zeros((), rtol.dtype), rtol)
    return _solution_tangent(A, B, output[0], P, dA, dB), None


def _full_tangent(primals: tuple[Any, ...], X: Any, tangents: tuple[Any, ...]) -> Array:
    (A, B), (dA, dB) = primals, tangents
    zero = jnp.zeros((), jnp.finfo(X.dtype).dtype)
    return _solution_tangent(A, B, X, pseudoinverse(A, zero, zero), dA, dB)


_of_any_rank = derivative_rules(_by_svd, jvp=_any_tangent, name="linalg.lstsq")
_of_full_rank = derivative_rules(_by_qr, jvp=_full_tangent, name="linalg.lstsq")
