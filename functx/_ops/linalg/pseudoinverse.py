"""The pseudoinverse of Moore and Penrose."""

from __future__ import annotations

from typing import Any, overload

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, operator, RealScalar, UnpromotedArray

from .matrix_arguments import check_matrices
from .pseudoinverses import pseudoinverse
from .tolerances import tolerance, tolerances


__all__ = ["pinv", "pinverse"]


def _rcond_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """`pinv(A, rcond, hermitian)`, NumPy's, with the relative tolerance by position."""
    if len(args) in (2, 3) and "rtol" not in kwargs:
        args, kwargs = args[:1], dict(zip(("rtol", "hermitian"), args[1:], strict=False)) | kwargs
    return args, kwargs


@overload
def pinv(
    A: ArrayLike,
    *,
    atol: UnpromotedArray | None = None,
    rtol: UnpromotedArray | None = None,
    hermitian: bool = False,
) -> Array: ...
@overload
def pinv(A: ArrayLike, rcond: UnpromotedArray, hermitian: bool = False) -> Array: ...
@operator(
    accepts=Accepts.LAPACK, other_signatures=_rcond_form, synonyms={"input": "A", "rcond": "rtol"}
)
def pinv(
    A: ArrayLike,
    *,
    atol: UnpromotedArray | None = None,
    rtol: UnpromotedArray | None = None,
    hermitian: bool = False,
) -> Array:
    r"""Pseudoinverse: the $P$ with $A P A = A$, $P A P = P$ and Hermitian $A P$ and $P A$.

    - `A`: matrices, float32, float64 or complex. The result keeps their dtype.
    - `atol`, `rtol`: singular values not greater than `max(atol, rtol * largest)` count as zero.
      Numbers, or arrays as long as the batch of `A`, to which they broadcast. By default `atol` is
      0, and `rtol` is `max(m, n) * eps`, or 0 where `atol` is greater than 0.
    - `hermitian`: reads the lower triangle of `A`, and takes eigenvalues instead.

    Shapes: `A: [..., m, n]` gives `[..., n, m]`. `pinv(A, rcond)`, NumPy's form, sets `rtol`.

    The derivative is that at constant rank (Golub and Pereyra, 1973),
    $$dP = -P\, dA\, P + P P^H\, dA^H (1 - A P) + (1 - P A)\, dA^H P^H P,$$
    to any order, finite also where singular values vanish or coincide; what counts as zero is taken
    for zero, as in PyTorch. With `hermitian` too it is the one in all directions, as PyTorch's.

    >>> functx.linalg.pinv(jnp.asarray([[2.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    check_matrices(A, square=hermitian and A.size > 0)
    return pseudoinverse(A, *tolerances(A, atol, rtol), of_hermitian=hermitian)


@operator(name="pinverse", accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def pinverse(input: ArrayLike, rcond: RealScalar = 1e-15) -> Array:
    """Pseudoinverse of Moore and Penrose: the older form of `functx.linalg.pinv`.

    - `input`: matrices, float32, float64 or complex. The result keeps their dtype.
    - `rcond`: singular values not greater than `rcond` times the largest count as zero. In single
      precision the default takes for zero only what vanishes exactly.

    Shapes: `[..., m, n] -> [..., n, m]`.
    Gradients: those at constant rank (Golub and Pereyra, 1973), to any order.
    Errors: RuntimeError if `input` has fewer than 2 dimensions, TypeError for a complex
    `rcond`.

    >>> functx.pinverse(jnp.asarray([[2.0], [0.0]], "float32"))
    Array([[0.5, 0. ]], dtype=float32)
    """
    check_matrices(input, name="input")
    real = jnp.finfo(input.dtype).dtype
    return pseudoinverse(input, jnp.zeros((), real), tolerance(rcond, "rcond", real))
