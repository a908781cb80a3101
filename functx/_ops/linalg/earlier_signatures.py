"""Decompositions as PyTorch offered them before it had a namespace for linear algebra."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, operator

from .matrix_arguments import adjoint, check_matrices
from .orthogonal_triangular import complete_qr, QRResult, reduced_qr
from .singular_value_rules import completed, decomposed, singular_values


__all__ = ["qr", "svd"]


@operator(name="qr", accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def qr(input: ArrayLike, some: bool = True) -> QRResult:
    r"""QR decomposition, $A = Q R$: the older form of `functx.linalg.qr`.

    - `input`: matrices, float32, float64 or complex. The factors keep their dtype.
    - `some`: False completes the columns of `Q` to a basis.

    Shapes: `input: [..., m, n]` and k = min(m, n) give `[..., m, k]` and `[..., k, n]`; with
    `some=False`, `[..., m, m]` and `[..., m, n]`, which as in PyTorch has no derivative where
    m > n. Elsewhere the first k columns must be linearly independent for a finite one.

    >>> functx.qr(jnp.asarray([[0.0], [2.0]], "float32"), some=False).Q.shape
    (2, 2)
    """
    check_matrices(input, name="input")
    m, n = input.shape[-2:]
    if not some and m > n:
        return QRResult(*complete_qr(input, "qr", "some=False", "some=True"))
    return QRResult(*reduced_qr(input))


class SVDResult(NamedTuple):
    """Singular vectors `U` and `V`, both in columns; singular values `S`, descending."""

    U: Array
    S: Array
    V: Array


@operator(name="svd", accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def svd(input: ArrayLike, some: bool = True, compute_uv: bool = True) -> SVDResult:
    r"""Singular value decomposition: $A = U \operatorname{diag}(S) V^H$. Note `V`, not $V^H$.

    - `input`: matrices, float32, float64 or complex. `U` and `V` keep their dtype.
    - `some`: False completes the columns of `U` and `V` to bases. What is added is arbitrary,
      and counts as constant in derivatives.
    - `compute_uv`: False leaves the vectors out; `U` and `V` are zeros.

    Shapes: `input: [..., m, n]` and k = min(m, n) give `[..., m, k]`, `[..., k]` descending and
    `[..., n, k]`; with `some=False` or `compute_uv=False`, `[..., m, m]`, `[..., k]` and
    `[..., n, n]`. Dtypes: `S` is real.

    Derivatives are those of `functx.linalg.svd`, which is the newer form.

    >>> functx.svd(jnp.asarray([[3.0, 0.0], [0.0, 4.0]], "float32")).S
    Array([4., 3.], dtype=float32)
    """
    check_matrices(input, name="input")
    if not compute_uv:
        *batch, m, n = input.shape
        zeros = [jnp.zeros((*batch, size, size), input.dtype) for size in (m, n)]
        return SVDResult(zeros[0], singular_values(input), zeros[1])
    U, S, Vh = decomposed(input)
    V = adjoint(Vh)
    return SVDResult(U, S, V) if some else SVDResult(completed(U), S, completed(V))
