"""Cholesky factors under PyTorch's older names, inverses and solutions by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
    Requirement,
)
from functx._core.numbers.bitwise_comparison import nonzero

from .cholesky_factors import cholesky_factor, positive_definite
from .matrix_arguments import check_matrices, each_matrix
from .triangular_systems import solved, with_common_batch


__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve"]


def _positive_definite(*, input: Any, upper: bool, **_: Any) -> Iterator[Requirement]:
    if input.ndim > 1 and input.shape[-1]:
        yield positive_definite(input, upper=upper, name="input")


@operator(
    name="cholesky",
    accepts=Accepts.LAPACK,
    requires=_positive_definite,
    checked_on_request=True,
    autocast_cpu=Autocast.FLOAT32,
)
def cholesky(input: ArrayLike, upper: bool = False) -> Array:
    """Cholesky factor: lower triangular $L$ with $A = L L^H$, or upper $U$ with $A = U^H U$.

    - `input`: $A$, Hermitian positive definite, of which one triangle is read. The result keeps its
      dtype.
    - `upper`: whether to read the upper triangle and return $U$; else $L$.

    Shapes: `[..., n, n] -> [..., n, n]`.
    Gradients: Hermitian, as PyTorch's.
    Errors: RuntimeError unless matrices are square. Where `input` is not positive definite, the
    result is NaN, and a `LinAlgError` under `functx.debug.checked` and in
    `functx.debug.checking()`.

    >>> functx.cholesky(jnp.asarray([[4.0, 2.0], [2.0, 10.0]], "float32"))
    Array([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    check_matrices(input, square=True, name="input")
    return cholesky_factor(input, upper=upper)


def _no_zero_on_diagonal(*, input: Any, **_: Any) -> Iterator[Requirement]:
    if input.ndim > 1 and input.shape[-1]:
        diagonal = jnp.diagonal(input, axis1=-2, axis2=-1)
        yield each_matrix(nonzero(diagonal).all(-1), "invertible", "input")


@operator(
    name="cholesky_inverse",
    accepts=Accepts.LAPACK,
    requires=_no_zero_on_diagonal,
    checked_on_request=True,
    autocast_cpu=Autocast.FLOAT32,
)
def cholesky_inverse(input: ArrayLike, upper: bool = False) -> Array:
    """Inverse of the matrix whose Cholesky factor is given: $(L L^H)^{-1}$, or $(U^H U)^{-1}$.

    - `input`: the factor, of which one triangle is read. The result keeps its dtype.
    - `upper`: whether `input` is the upper factor $U$; else it is $L$.

    Shapes: `[..., n, n] -> [..., n, n]`.
    Gradients: zero for the triangle that is not read; PyTorch fills both. Nor does PyTorch count
    the imaginary part of the diagonal, which factors have none of.
    Errors: RuntimeError unless matrices are square. Where the diagonal holds a zero, the result is
    infinite or NaN, and a `LinAlgError` under `functx.debug.checked` and in
    `functx.debug.checking()`.

    >>> functx.cholesky_inverse(jnp.asarray([[2.0, 0.0], [0.0, 1.0]], "float32"))
    Array([[0.25, 0.  ],
           [0.  , 1.  ]], dtype=float32)
    """
    check_matrices(input, square=True, name="input")
    return _solution(input, jnp.broadcast_to(_identity(input), input.shape), upper)


def _identity(A: Array) -> Array:
    return jnp.eye(A.shape[-1], dtype=A.dtype)


@operator(
    name="cholesky_solve",
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    synonyms={"B": "input", "L": "input2"},
    autocast_cpu=Autocast.FLOAT32,
)
def cholesky_solve(input: ArrayLike, input2: ArrayLike, upper: bool = False) -> Array:
    r"""Solution $X$ of $A X = B$ for $B$ = `input` and the Cholesky factor `input2` of $A$.

    - `input`: $B$, float32, float64 or complex.
    - `input2`: the Cholesky factor of $A$ that `functx.cholesky` returns, of the dtype of `input`.
    - `upper`: `input2` is upper triangular, and $A = U^H U$; else $A = L L^H$.

    Shapes: `input: [..., n, k]` and `input2: [..., n, n]`, whose leading dimensions broadcast,
    give `[..., n, k]`.
    Only one triangle of `input2` is read, and the gradient of the other is zero; PyTorch fills
    both. Where its diagonal holds a zero, the result is infinite or NaN.

    >>> L = jnp.asarray([[2.0, 0.0], [0.0, 1.0]], "float32")
    >>> functx.cholesky_solve(jnp.asarray([[4.0], [3.0]], "float32"), L)
    Array([[1.],
           [3.]], dtype=float32)
    """
    check_matrices(input, name="input")
    check_matrices(input2, square=True, name="input2")
    if input.shape[-2] != input2.shape[-1]:
        refuse(
            f"`input` must have as many rows as `input2`, got {describe(input)} and "
            f"{describe(input2)}"
        )
    factor, B = with_common_batch(input2, input, ("input2", "input"))
    return _solution(factor, B, upper)


def _solution(factor: Array, B: Array, upper: bool) -> Array:
    """The solution by a Cholesky factor, in two triangular steps."""
    adjoint = {"transpose": True, "conjugate": True}
    halfway = solved(factor, B, upper=upper, **(adjoint if upper else {}))
    return solved(factor, halfway, upper=upper, **({} if upper else adjoint))
