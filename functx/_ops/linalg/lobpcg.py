"""The outermost eigenvalues of Hermitian matrices and their vectors, found in small subspaces."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    broadcasts_to,
    describe,
    Generator,
    Key,
    operator,
    Promote,
    RealScalar,
    refuse,
)

from .conjugate_gradients import eigenpairs, Search
from .matrix_arguments import adjoint, check_matrices


__all__ = ["lobpcg"]

_METHODS = (None, "basic", "ortho")


class LOBPCGResult(NamedTuple):
    """Eigenvalues `[..., k]` from the outermost inwards, eigenvectors `[..., m, k]` in columns."""

    eigenvalues: Array
    eigenvectors: Array


def _starts_anywhere(*, X: Any, **_: Any) -> bool:
    return X is None


@operator(
    name="lobpcg",
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    random=True,
    needs_key=_starts_anywhere,
    synonyms={"input": "A"},
)
def lobpcg(
    A: ArrayLike,
    k: int | None = None,
    B: ArrayOnly | None = None,
    X: ArrayOnly | None = None,
    n: int | None = None,
    iK: ArrayOnly | None = None,
    niter: int | None = None,
    tol: RealScalar | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: None = None,
    ortho_iparams: None = None,
    ortho_fparams: None = None,
    ortho_bparams: None = None,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> LOBPCGResult:
    r"""The k largest or smallest eigenvalues, with vectors: $A x = \lambda B x$, $x^H B x = 1$.

    Each step looks for them in a subspace of 3n dimensions: the vectors so far, their residuals,
    and the step before (Knyazev, 2001), of which a basis is computed that stays orthonormal
    (Duersch, Shao, Yang and Gu, 2018). It takes products with `A`, `B` and `iK` alone.

    - `A`: Hermitian matrices, float32, float64 or complex.
    - `k`: how many, by default as many as `X` has columns, or 1.
    - `B`: positive definite; without it, the identity.
    - `X`: where to start. By default n vectors are drawn; n is `k`, and has no meaning beside `X`.
    - `iK`: a preconditioner, an approximate inverse of `A`.
    - `niter`: at most so many subspaces, the first of which is that of the start; by default 1000,
      and -1 is no bound.
    - `tol`: the relative residual at which an eigenpair is found, by default the square root of
      the dtype's precision.
    - `largest`: False for the smallest eigenvalues.
    - `method`: PyTorch's names, `"ortho"` and `"basic"`; the basis is orthonormal in both.
    - `key`: a PRNG key for the start; None draws one from the ambient generator.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.
    - `tracker`, `ortho_iparams`, `ortho_fparams`, `ortho_bparams`: None.

    Shapes: `A`, `B` and `iK: [..., m, m]`, `X: [..., m, n]` give `[..., k]`, from the outermost
    inwards, and `[..., m, k]`; m is at least 3n. Dtypes: eigenvalues are real.
    Errors: ValueError where m is less than 3n or `k` more than n, and for options.

    `A` and `B` count as Hermitian: of what they are given, the Hermitian part is taken. Derivatives
    are those of exact eigenpairs, by solving with $A - \lambda B$ beside the vectors found; they
    need an eigenvalue $k$ apart from the next one. They are those of functions that do not depend
    on the vectors' phases, and where eigenvalues coincide, vectors have none. PyTorch has none
    with `B`, for complex matrices, or forward. Nothing depends on `X` and `iK`.

    >>> A = jnp.diag(jnp.asarray([1.0, 2.0, 5.0], "float32"))
    >>> functx.lobpcg(A, 1, key=jax.random.key(0)).eigenvalues.round(3)
    Array([5.], dtype=float32)
    """
    check_matrices(A, square=True)
    m = A.shape[-1]
    k, n = _how_many(k, n, X)
    if not 1 <= k <= n or m < 3 * n:
        refuse(
            f"`k` must be between 1 and n, and `A` have 3 n rows or more, got k={k}, n={n} and "
            f"{describe(A)}",
            error=ValueError,
        )
    if method not in _METHODS:
        refuse(f'`method` must be "ortho", "basic" or None, got {method!r}', error=ValueError)
    if niter is not None and not -1 <= niter < 2**31:
        refuse(f"`niter` must lie between -1 and 2**31, got {niter}", error=ValueError)
    start = (*A.shape[:-1], n)
    for name, given, shape in (("B", B, A.shape), ("iK", iK, A.shape), ("X", X, start)):
        if given is not None and (given.ndim < 2 or not _fits(given.shape, shape)):
            refuse(f"`{name}` must fit {list(shape)}, got {describe(given)}")
    if X is None:
        X = jax.random.normal(key, start, A.dtype)
    tol = jnp.finfo(A.dtype).eps ** 0.5 if tol is None else tol
    B = None if B is None else _hermitian_part(B)
    search = Search(k, largest is not False, 1000 if niter is None else niter)
    tol = jnp.asarray(tol, jnp.finfo(A.dtype).dtype)
    pairs = eigenpairs(search, _hermitian_part(A), B, X, iK, tol)
    return LOBPCGResult(*pairs)


def _how_many(k: int | None, n: int | None, X: Array | None) -> tuple[int, int]:
    if X is not None:
        n = X.shape[-1] if X.ndim else 0
    k = (n if X is not None and n is not None else 1) if k is None else k
    return k, k if n is None else n


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return shape[-2:] == wanted[-2:] and broadcasts_to(shape, wanted)


def _hermitian_part(A: Array) -> Array:
    return (A + adjoint(A)) / 2
