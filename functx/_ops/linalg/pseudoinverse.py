"""The pseudoinverse of Moore and Penrose."""

from __future__ import annotations

from typing import Any, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, category, describe, operator, Other, Real, refuse
from functx._core.rules import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, check_matrices, hermitian, nan_beside_infinities


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
    atol: Other | None = None,
    rtol: Other | None = None,
    hermitian: bool = False,
) -> Array: ...
@overload
def pinv(A: ArrayLike, rcond: Other, hermitian: bool = False) -> Array: ...
@operator(accepts=Accepts.LAPACK, form=_rcond_form, synonyms={"input": "A", "rcond": "rtol"})
def pinv(
    A: ArrayLike,
    *,
    atol: Other | None = None,
    rtol: Other | None = None,
    hermitian: bool = False,
) -> Array:
    r"""Pseudoinverse: the $P$ with $A P A = A$, $P A P = P$ and Hermitian $A P$ and $P A$.

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
    real = jnp.finfo(A.dtype).dtype
    default = max(A.shape[-2:]) * float(jnp.finfo(real).eps)
    atol_ = _tolerance(atol, "atol", real)
    if rtol is None:
        rtol_ = jnp.where(atol_ > 0, 0, jnp.asarray(default, real))
    else:
        rtol_ = _tolerance(rtol, "rtol", real)
    return _pinv(A, atol_, rtol_, hermitian)


@operator(name="pinverse", accepts=Accepts.LAPACK)
def pinverse(input: ArrayLike, rcond: Real = 1e-15) -> Array:
    """Pseudoinverse: the older form of `functx.linalg.pinv`, `rcond` being its `rtol`.

    Shapes: `input: [..., m, n]` gives `[..., n, m]`.
    In single precision the default takes for zero only what vanishes exactly.

    >>> functx.pinverse(jnp.asarray([[2.0], [0.0]], "float32"))
    Array([[0.5, 0. ]], dtype=float32)
    """
    check_matrices(input, name="input")
    real = jnp.finfo(input.dtype).dtype
    return _pinv(input, jnp.zeros((), real), _tolerance(rcond, "rcond", real), False)


def _tolerance(x: Any, name: str, dtype: Any) -> Array:
    x = jnp.asarray(0.0 if x is None else x)
    if category(x.dtype) == 3:
        refuse(f"`{name}` must be real, got {describe(x)}")
    return lax.convert_element_type(lax.stop_gradient(x), dtype)


def _pinv(A: Array, atol: Array, rtol: Array, of_hermitian: bool) -> Array:
    if A.size == 0:
        return A.mT
    *batch, m, n = A.shape
    shape = jnp.broadcast_shapes(tuple(batch), atol.shape, rtol.shape)
    if of_hermitian:
        A = _whole(A)
    A = jnp.broadcast_to(A, (*shape, m, n))
    atol, rtol = jnp.broadcast_to(atol, shape), jnp.broadcast_to(rtol, shape)
    if m < n:  # the rule below multiplies matrices as large as the second dimension
        return adjoint(_of_svd(adjoint(A), atol, rtol))
    return (_of_eigh if of_hermitian else _of_svd)(A, atol, rtol)


def _by_svd(A: Array, atol: Array, rtol: Array) -> Array:
    U, S, Vh = lax.linalg.svd(nan_beside_infinities(A), full_matrices=False)
    return product(adjoint(Vh) * _inverses(S, S, atol, rtol, A.dtype), adjoint(U))


def _by_eigh(A: Array, atol: Array, rtol: Array) -> Array:
    vectors, values = lax.linalg.eigh(nan_beside_infinities(A), symmetrize_input=False)
    inverses = _inverses(values, jnp.abs(values), atol, rtol, A.dtype)
    return product(vectors * inverses, adjoint(vectors))


def _inverses(values: Array, sizes: Array, atol: Array, rtol: Array, dtype: Any) -> Array:
    """The inverses of what is large enough, as a row; 0 for the others."""
    largest = jnp.max(sizes, -1, keepdims=True)
    kept = sizes > jnp.maximum(atol[..., None], rtol[..., None] * largest)
    inverses = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0)
    return inverses[..., None, :].astype(dtype)


def _tangent(primals: tuple[Any, ...], P: Any, tangents: tuple[Any, ...]) -> Array:
    """The formula of Golub and Pereyra, for matrices that are not wide."""
    A, dA = primals[0], adjoint(tangents[0])
    left = product(product(P, adjoint(P)), dA)
    right = product(dA, adjoint(P), P)
    return (
        -product(P, tangents[0], P)
        + (left - product(left, A, P))
        + (right - product(product(P, A), right))
    )


# PyTorch differentiates as if all of the matrix were read.
_whole = derivative_rules(hermitian, jvp=lambda primals, output, tangents: tangents[0])
_of_svd = derivative_rules(_by_svd, jvp=_tangent, name="linalg.pinv")
_of_eigh = derivative_rules(_by_eigh, jvp=_tangent, name="linalg.pinv")
