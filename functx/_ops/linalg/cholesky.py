"""Cholesky factors, by PyTorch's older names, and what they solve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, describe, operator, Promote, refuse, Requirement
from functx._core.numbers.bitwise_comparison import nonzero

from .cholesky_factors import cholesky_factor, positive_definite
from .matrix_arguments import check_matrices, each_matrix
from .triangular_systems import solved, with_common_batch


__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve"]


def _positive_definite(*, input: Any, upper: bool, **_: Any) -> Iterator[Requirement]:
    if input.ndim > 1 and input.shape[-1]:
        yield positive_definite(input, upper=upper, name="input")


@operator(name="cholesky", accepts=Accepts.LAPACK, requires=_positive_definite, on_request=True)
def cholesky(input: ArrayLike, upper: bool = False) -> Array:
    r"""Cholesky factor: lower triangular $L$ with $A = L L^H$, or upper $U$ with $A = U^H U$.

    Shapes: `input: [..., n, n]`, Hermitian positive definite, gives `[..., n, n]`.
    Only the triangle that is asked for is read; the gradient is Hermitian, as PyTorch's.
    Where `input` is not positive definite, the result is NaN, and a `LinAlgError` under
    `functx.debug.checked` and in `functx.debug.checking()`.

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
    name="cholesky_inverse", accepts=Accepts.LAPACK, requires=_no_zero_on_diagonal, on_request=True
)
def cholesky_inverse(input: ArrayLike, upper: bool = False) -> Array:
    r"""Inverse of the matrix of which `input` is the Cholesky factor: $(L L^H)^{-1}$.

    - `upper`: `input` is the upper factor, and the result $(U^H U)^{-1}$.

    Shapes: `input: [..., n, n]` gives `[..., n, n]`.
    Only one triangle is read, and the gradient of the other is zero; PyTorch fills both. Nor does
    PyTorch count the imaginary part of the diagonal, which factors have none of.
    Where the diagonal holds a zero, the result is infinite or NaN, and a `LinAlgError` under
    `functx.debug.checked` and in `functx.debug.checking()`.

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
)
def cholesky_solve(input: ArrayLike, input2: ArrayLike, upper: bool = False) -> Array:
    r"""Solution $X$ of $A X = B$ for $B$ = `input` and the Cholesky factor `input2` of $A$.

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
    adjoint = {"transpose": True, "conjugate": True}
    halfway = solved(factor, B, upper=upper, **(adjoint if upper else {}))
    return solved(factor, halfway, upper=upper, **({} if upper else adjoint))
