r"""Eigenvalues and eigenvectors of matrices that need not be Hermitian.

With $P = V^{-1} dA\, V$ and $E_{ij} = \lambda_j - \lambda_i$, $d\lambda = \operatorname{diag} P$
and $dV = V (P / E)$ off the diagonal, less what changes lengths (Boeddeker et al., "On the
computation of complex-valued gradients with application to statistically optimum beamforming",
2017).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, operator, Promote, Requirement
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import check_matrices, each_matrix
from .phases import with_free_phase
from .unused_vectors import divisor, with_vectors


__all__ = ["eig", "eigvals"]


class EigResult(NamedTuple):
    """Eigenvalues `[..., n]`, in no order, and eigenvectors `[..., n, n]` in columns."""

    eigenvalues: Array
    eigenvectors: Array


def _finite(*, A: Any, **_: Any) -> Iterator[Requirement]:
    if A.ndim > 1:
        yield each_matrix(jnp.all(jnp.isfinite(A), (-2, -1)), "finite")


@operator(
    promote=Promote.NONE, accepts=Accepts.LAPACK, requires=_finite, autocast_cpu=Autocast.FLOAT32
)
def eig(A: ArrayLike) -> EigResult:
    r"""Eigenvalues and eigenvectors: $A V = V \operatorname{diag}(\lambda)$.

    - `A`: square matrices, float32, float64 or complex, which need not be Hermitian.

    Shapes: `A: [..., n, n]` gives `eigenvalues: [..., n]`, in no order, and
    `eigenvectors: [..., n, n]`, in columns of length 1.
    Dtypes: complex, as precise as `A`.
    Gradients: eigenvectors are determined up to a phase, and derivatives are those of functions
    that do not depend on the phase (Boeddeker et al., 2017). Where eigenvalues coincide, vectors
    have no derivative, and what depends on them gets infinities or NaNs.
    Errors: RuntimeError unless matrices are square, and under `functx.debug.checked` where a
    gradient depends on the phase; `LinAlgError` where `A` holds NaN or infinity. Under `jit` and on
    accelerators the result is NaN there.

    >>> functx.linalg.eig(jnp.asarray([[0.0, 1.0], [-1.0, 0.0]], "float32")).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    check_matrices(A, square=True)
    values, vectors = _decomposed(A)
    return EigResult(values, *with_free_phase("linalg.eig", vectors))


@operator(
    promote=Promote.NONE, accepts=Accepts.LAPACK, requires=_finite, autocast_cpu=Autocast.FLOAT32
)
def eigvals(A: ArrayLike) -> Array:
    """Eigenvalues of matrices that need not be Hermitian, in no order.

    - `A`: matrices, float32, float64 or complex.

    Shapes: `[..., n, n] -> [..., n]`.
    Dtypes: complex, as precise as `A`.
    Gradients: finite where eigenvalues coincide, if there is a basis of eigenvectors: the gradient
    is that of the basis that is computed.
    Errors: RuntimeError unless matrices are square, `LinAlgError` where `A` holds NaN or infinity;
    under `jit` and on accelerators the result is NaN there.

    >>> functx.linalg.eigvals(jnp.asarray([[0.0, 1.0], [-1.0, 0.0]], "float32"))
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    check_matrices(A, square=True)
    return _values(A)


def _computed(A: Array, *, vectors: bool) -> tuple[Array, ...]:
    """The eigenvalues, and if asked the eigenvectors; NaN for matrices that are not finite."""
    finite = jnp.all(jnp.isfinite(A), (-2, -1))
    given = jnp.where(finite[..., None, None], A, 0)
    found = lax.linalg.eig(
        given, compute_left_eigenvectors=False, compute_right_eigenvectors=vectors
    )
    nan = [jnp.expand_dims(~finite, range(finite.ndim, x.ndim)) for x in found]
    return tuple(jnp.where(where, jnp.nan, x) for where, x in zip(nan, found, strict=True))


def _moved(output: Any, dA: Array) -> tuple[Array, Array]:
    """The tangent of `A` among the eigenvectors, and that of the eigenvalues."""
    values, vectors = output
    P = jnp.linalg.solve(vectors, product(dA.astype(values.dtype), vectors))
    return P, jnp.diagonal(P, axis1=-2, axis2=-1)


def _turned(output: Any, turn: Array) -> Array:
    """The tangent of eigenvectors: they turn towards the others, and keep their lengths."""
    values, vectors = output
    same = jnp.eye(values.shape[-1], dtype=bool)
    dvectors = product(vectors, jnp.where(same, 0, turn))
    longer = jnp.sum(jnp.real(jnp.conj(vectors) * dvectors), -2, keepdims=True)
    return dvectors - vectors * longer.astype(vectors.dtype)


def _gaps(values: Array) -> Array:
    """The difference of each eigenvalue and each other, and 1 for an eigenvalue and itself."""
    same = jnp.eye(values.shape[-1], dtype=bool)
    return jnp.where(same, 1, values[..., None, :] - values[..., :, None])


def _tangent(primals: Any, output: Any, tangents: Any, finite: Array) -> tuple[Array, Array]:
    P, dvalues = _moved(output, *tangents)
    turn = P / divisor(_gaps(output[0]), finite[..., None, None])
    return dvalues, _turned(output, turn)


def _resting_tangent(primals: Any, output: Any, tangents: Any) -> tuple[Array, Array]:
    """The tangent with vectors that do not turn to others of equal values, which would be infinite.

    In the second derivative of a value that equals no other value, such turns have no part.
    """
    P, dvalues = _moved(output, *tangents)
    gaps = _gaps(output[0])
    noise = jnp.finfo(gaps.dtype).eps * gaps.shape[-1]
    largest = jnp.max(jnp.abs(output[0]), -1, keepdims=True, initial=0)[..., None]
    equal = jnp.abs(gaps) <= noise * largest
    turn = jnp.where(equal, 0, P / jnp.where(equal, 1, gaps))
    return dvalues, _turned(output, turn)


def _both(A: Array) -> tuple[Array, ...]:
    return _computed(A, vectors=True)


_decomposed = with_vectors(_both, _tangent, values=0, name="linalg.eig")
_bases = derivative_rules(_both, jvp=_resting_tangent, name="linalg.eigvals")
# The vectors are computed under differentiation alone.
_values = derivative_rules(
    lambda A: _computed(A, vectors=False)[0],
    jvp=lambda primals, output, tangents: _moved(_bases(*primals), *tangents)[1],
    name="linalg.eigvals",
)
