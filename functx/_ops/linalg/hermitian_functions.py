"""Functions of Hermitian matrices, with derivatives where eigenvalues meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import Array, lax

from functx._core import ArrayLike
from functx._core.errors import Refused

from .matrix_arguments import from_triangle
from .spectral_frames import HERMITIAN
from .spectral_functions import (
    given_function,
    given_matrix,
    given_parameters,
    spectral_derivative,
)


_NAME = "linalg.hermitian_function"


def hermitian_function(
    A: ArrayLike, function: Callable[..., Any], *parameters: ArrayLike, UPLO: str = "L"
) -> Array:
    r"""A function of a Hermitian matrix: $V f(\lambda) V^H$ with $A = V \lambda V^H$.

    Its derivatives, in both modes and to any order, are right where eigenvalues coincide or nearly
    do. Those of `eigh`'s vectors are not: they divide by the gaps between eigenvalues, and what is
    to be multiplied by a gap again is lost by then. Write what does not depend on the choice of
    eigenvectors as a function of the matrix: a power, a logarithm, a density, or the projector on
    the eigenvectors of all eigenvalues below a number, `lambda x: jnp.where(x < number, 1.0, 0.0)`.

    - `function`: takes eigenvalues, an array of any shape, and `parameters`; gives a real or
      complex number for each eigenvalue. JAX must be able to differentiate it, once more than the
      result is differentiated, at and between the eigenvalues.
    - `parameters`: numbers or 0-d arrays in which the result is to be differentiated.
    - `UPLO`: `"L"` reads the lower triangle of `A`, `"U"` the upper.

    Shapes: `A: [..., n, n]` gives `[..., n, n]`.
    Dtypes: float32, float64 and complex; complex if `A` or what `function` gives is.
    Errors: TypeError and ValueError for a `function` that gives no numbers, or other shapes than
    it takes, and for one that closes over an array that is being traced: pass it in `parameters`.

    Functions of singular values are those of `singular_value_function`.

    Source: divided differences (Daleckii and Krein, 1965), taken as integrals of derivatives
    where eigenvalues are close. The derivative of order $n$ takes $O(N^{n + 1})$ operations of
    matrices of size $N$, and memory for $N^2$ numbers.

    >>> def root_sum(A):
    ...     return functx.linalg.hermitian_function(A, jnp.sqrt).sum()
    >>> functx.grad(root_sum)(4 * jnp.eye(2, dtype="float32"))
    Array([[0.25, 0.25],
           [0.25, 0.25]], dtype=float32)
    """
    A = given_matrix(_NAME, A)
    try:
        A = from_triangle(A, UPLO)
    except Refused as refused:
        raise refused.by(_NAME) from None
    vectors, values = lax.linalg.eigh(lax.stop_gradient(A), symmetrize_input=False)
    known = given_parameters(_NAME, parameters, values.dtype)
    of_values = given_function(_NAME, function, values, known, "eigenvalue")
    return spectral_derivative(_NAME, HERMITIAN, of_values, 0)(A, values, vectors, (), known)
