"""Functions of singular values, with derivatives where these meet or vanish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import ArrayLike, fail
from functx._core.errors import describe
from functx._core.rules.custom_derivatives import derivative_rules

from .matrix_arguments import adjoint, nan_beside_infinities
from .spectral_frames import BLOCKS, inner, like_primal, OffDiagonalBlocks, RowsAndColumns
from .spectral_functions import (
    by_parameter,
    by_value,
    given_function,
    given_matrix,
    given_parameters,
    spectral_derivative,
    SpectralFunction,
)


_FUNCTION, _SUM = "linalg.singular_value_function", "linalg.singular_value_sum"


def singular_value_function(
    A: ArrayLike, function: Callable[..., Any], *parameters: ArrayLike
) -> Array:
    r"""A function of singular values, in their places: $U f(S) V^H$ with $A = U S V^H$.

    Also known as a generalized matrix function. Its derivatives, in both modes and to any order,
    are right where singular values coincide or nearly do, and for matrices that are not square.
    Those of `svd`'s vectors are not: they divide by differences of singular values.

    - `function`: takes singular values, an array of any shape, and `parameters`; gives a real or
      complex number for each. JAX must be able to differentiate it, once more than the result is
      differentiated, at and between the singular values.
    - `parameters`: numbers or 0-d arrays in which the result is to be differentiated.

    Where a singular value is 0, its vectors are arbitrary, and what does not depend on them is a
    function that is continued to negative numbers by $f(-s) = -f(s)$. So the result has the
    derivatives there that this has: of $\tanh$ all, of $s + s^2$ the first, of 1, which gives the
    polar factor $U V^H$, none. Where $f(0)$ is not 0, 0 is taken in its place, and for the slope.

    Shapes: `A: [..., m, n]` gives `[..., m, n]`.
    Dtypes: float32, float64 and complex; complex if `A` or what `function` gives is.
    Errors: RuntimeError for an `A` that has no matrices; TypeError and ValueError for a `function`
    that gives no numbers, or other shapes than it takes, and for one that closes over an array
    that is being traced: pass it in `parameters`.

    See also `singular_value_sum`, $\sum_i g(s_i)$, and `hermitian_function`.

    >>> def polar_factor(A):
    ...     return functx.linalg.singular_value_function(A, jnp.ones_like)
    >>> E = jnp.asarray([[0.0, 1.0], [0.0, 0.0]], "float32")
    >>> functx.jvp(polar_factor, (2 * jnp.eye(2, dtype="float32"),), (E,))[1].round(3)
    Array([[ 0.  ,  0.25],
           [-0.25,  0.  ]], dtype=float32)
    """
    blocks, values, vectors, known, of_values = _given(_FUNCTION, A, function, parameters)
    derivative = spectral_derivative(_FUNCTION, BLOCKS, _odd(of_values), 0)
    return derivative(blocks, values, vectors, (), known).upper


def singular_value_sum(A: ArrayLike, function: Callable[..., Any], *parameters: ArrayLike) -> Array:
    r"""The sum of a function of singular values: $\sum_i g(s_i)$.

    The nuclear norm, with $g(s) = s$, norms of Schatten, $\log \det$ and smooth ranks are such
    sums. Their derivatives, in both modes and to any order, are right where singular values
    coincide or nearly do, where those of `svdvals` are to the first order. The gradient
    is $U g'(S) V^H$.

    - `function`: takes singular values, an array of any shape, and `parameters`; gives a real or
      complex number for each. JAX must be able to differentiate it, as often as the result is
      differentiated, at and between the singular values.
    - `parameters`: numbers or 0-d arrays in which the result is to be differentiated.

    Where a singular value is 0, the sum has the derivatives that $g(|s|)$ has there: of $s^2$
    all, of $s^3$ two, of $s$ none; what does not exist counts as 0. (The gradient of
    `matrix_norm(A, "nuc")` is PyTorch's: there 1 is taken, and the vectors that come.)

    Shapes: `A: [..., m, n]` gives `[...]`. Dtypes: float32, float64 and complex; complex if what
    `function` gives is. Errors are those of `singular_value_function`.

    >>> def energy(A):  # the logarithm of the determinant of 1 + A^H A
    ...     return functx.linalg.singular_value_sum(A, lambda s: jnp.log1p(s**2))
    >>> functx.grad(energy)(jnp.eye(2, dtype="float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    blocks, values, vectors, known, of_values = _given(_SUM, A, function, parameters)
    return _sum(of_values)(blocks, values, vectors, known)


def _given(
    name: str, A: ArrayLike, function: Callable[..., Any], parameters: Sequence[ArrayLike]
) -> tuple[OffDiagonalBlocks, Array, RowsAndColumns, tuple[Array, ...], SpectralFunction]:
    A = given_matrix(name, A)
    if A.ndim < 2:
        fail(name, f"`A` must be [..., m, n], got {describe(A)}", error=RuntimeError)
    U, S, Vh = lax.linalg.svd(nan_beside_infinities(lax.stop_gradient(A)), full_matrices=False)
    known = given_parameters(name, parameters, S.dtype)
    of_values = given_function(name, function, S, known, "singular value")
    return OffDiagonalBlocks(A, adjoint(A)), S, RowsAndColumns(U, adjoint(Vh)), known, of_values


def _odd(function: SpectralFunction) -> SpectralFunction:
    """`function` of sizes, continued to negative numbers; constant where it would jump."""

    def continued(values: Array, *parameters: Array) -> Array:
        negative = values < 0
        of_size = function(jnp.where(negative, -values, values), *parameters)
        jumps = (values == 0) & ~(of_size == 0)
        return jnp.where(jumps, 0, jnp.where(negative, -of_size, of_size))

    return continued


def _sum(function: SpectralFunction) -> Callable[..., Array]:
    """The sum of `function` of the singular values, under its rules."""
    slopes = spectral_derivative(_SUM, BLOCKS, _odd(by_value(function)), 0)

    def forward(
        A: OffDiagonalBlocks, values: Array, vectors: RowsAndColumns, parameters: Sequence[Array]
    ) -> Array:
        return jnp.sum(function(values, *parameters), -1)

    def gradient(primals: Any) -> OffDiagonalBlocks:
        A, values, vectors, parameters = primals
        upper, lower = slopes(A, values, vectors, (), parameters)
        return OffDiagonalBlocks(lower.mT / 2, upper.mT / 2)

    def in_parameter(primals: Any, number: int) -> Array:
        return _sum(by_parameter(function, number))(*primals)

    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        dA, _, _, dparameters = tangents
        upper, lower = gradient(primals)
        products = upper * dA.upper.astype(upper.dtype), (lower * dA.lower.astype(lower.dtype)).mT
        out = like_primal(output, jnp.sum(products[0] + products[1], (-2, -1)))
        for i, move in enumerate(dparameters):
            out += move.astype(output.dtype) * in_parameter(primals, i)
        return out

    def vjp(primals: Any, output: Array, cotangent: Array) -> tuple[Any, ...]:
        A, _, _, parameters = primals
        slope = gradient(primals)
        each = cotangent[..., None, None].astype(slope.upper.dtype)
        pulled = [like_primal(x, each * g) for x, g in zip(A, slope, strict=True)]
        to_parameters = tuple(
            like_primal(p, inner(cotangent, in_parameter(primals, i)))
            for i, p in enumerate(parameters)
        )
        return OffDiagonalBlocks(*pulled), None, None, to_parameters

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=_SUM)
