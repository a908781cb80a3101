r"""The matrix exponential, by scaling and squaring.

The Padé approximant of Higham, "The scaling and squaring method for the matrix exponential
revisited" (2005), is taken of $2^{-s} A$ and squared $s$ times, where $s$ depends on powers of $A$
as in Al-Mohy and Higham, "A new scaling and squaring algorithm for the matrix exponential" (2009):
the norm of $A$ itself is too large by far for matrices that are not normal.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import check_matrices


__all__ = ["matrix_exp"]


@operator(
    name="matrix_exp",
    accepts=Accepts.INEXACT,
    aliases=("linalg.matrix_exp",),
    synonyms={"input": "A"},
)
def matrix_exp(A: ArrayLike) -> Array:
    r"""Matrix exponential: $\sum_k A^k / k!$.

    - `A`: square matrices of any floating or complex dtype, which the result keeps.

    Shapes: `A: [..., n, n]` gives `[..., n, n]`.
    Dtypes: halves are computed in float32 and rounded once.

    By scaling and squaring (Al-Mohy and Higham, 2009). The derivative in the direction $E$ is the
    upper right block of $\exp [[A, E], [0, A]]$, to any order. Of a matrix that holds an infinity
    or NaN the result is NaN, unless it is diagonal.

    >>> functx.matrix_exp(jnp.asarray([[0.0, 3.0], [0.0, 0.0]], "float32"))
    Array([[1., 3.],
           [0., 1.]], dtype=float32)
    """
    check_matrices(A, square=True)
    if A.size == 0:
        return A
    return jnp.exp(A) if A.shape[-1] == 1 else _exponential(A)


def _tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Array:
    return _derivative(*primals, *tangents)


def _cotangent(primals: tuple[Any], output: Any, cotangent: Any) -> tuple[Array]:
    return (_derivative(primals[0].mT, cotangent),)


def _derivative(A: Array, E: Array) -> Array:
    """The derivative of the exponential at `A` in the direction `E`, which is linear in `E`."""
    n = A.shape[-1]
    # Brought to the size of 1, so that `E` neither is lost beside `A` nor decides the scaling; to
    # a larger one beside the largest `A`, with which it is scaled down.
    half = int(jnp.finfo(A.dtype).maxexp) // 2
    exponent = lax.stop_gradient(_exponent(E) - jnp.maximum(_exponent(A) - half, 0))
    E = _scaled(E, -exponent)
    rows = [jnp.concatenate([A, E], -1), jnp.concatenate([jnp.zeros_like(A), A], -1)]
    block = _exponential(jnp.concatenate(rows, -2))
    return _scaled(block[..., :n, n:], exponent)


def _exponent(A: Array) -> Array:
    """The exponent of the power of 2 next to a matrix's largest element; 0 if none is finite."""
    largest = jnp.max(jnp.abs(A), (-2, -1))
    limits = jnp.finfo(largest.dtype)
    ordinary = jnp.isfinite(largest) & (largest > 0)
    exponent = jnp.floor(jnp.log2(jnp.where(ordinary, largest, 1))).astype(np.int32)
    return jnp.clip(exponent, int(limits.minexp) + 8, int(limits.maxexp) - 8)


def _scaled(A: Array, exponent: Array) -> Array:
    r"""$2^e A$, in two steps, as $2^e$ may be out of range."""
    for step in (exponent // 2, exponent - exponent // 2):
        factor = jnp.ldexp(jnp.ones((), jnp.finfo(A.dtype).dtype), step)
        A = A * factor[..., None, None].astype(A.dtype)
    return A


def _by_squaring(A: Array) -> Array:
    single = jnp.finfo(A.dtype).bits == 32
    degree, theta = (7, 3.925724783138660) if single else (13, 4.25)
    finite = jnp.all(jnp.isfinite(A), (-2, -1))
    scale = jnp.where(finite, _squarings(A, theta), 0)
    X = _scaled(A, -scale)
    more = jnp.where(finite, _squarings_more(X, degree), 0)
    X, squarings = _scaled(X, -more), scale + more

    def square(i: Array, X: Array) -> Array:
        return jnp.where((i < squarings)[..., None, None], product(X, X), X)

    out = lax.fori_loop(0, jnp.max(squarings), square, _approximant(X, degree))
    out = jnp.where(finite[..., None, None], out, jnp.nan)
    # Squares of infinities would make NaN of what is zero.
    same = jnp.eye(A.shape[-1], dtype=bool)
    diagonal = jnp.all(same | (A == 0), (-2, -1), keepdims=True)
    return jnp.where(diagonal, jnp.where(same, jnp.exp(jnp.where(same, A, 0)), 0), out)


def _norm(A: Array) -> Array:
    """The largest sum of a column's magnitudes."""
    return jnp.max(jnp.sum(jnp.abs(A), -2), -1)


def _squarings(A: Array, theta: float) -> Array:
    r"""The least $s$ for which $\max(\|A^4\|^{1/4}, \|A^6\|^{1/6}) \le 2^s \theta$."""
    exponent = _exponent(A)
    A = _scaled(A, -exponent)
    A2 = product(A, A)
    A4 = product(A2, A2)
    sizes = jnp.log2(_norm(A4)) / 4, jnp.log2(_norm(product(A4, A2))) / 6
    size = jnp.maximum(*sizes) - math.log2(theta) + exponent.astype(sizes[0].dtype)
    return jnp.maximum(jnp.ceil(size), 0).astype(np.int32)


def _squarings_more(A: Array, degree: int) -> Array:
    """Further squarings that keep rounding errors small: the function ℓ of Al-Mohy and Higham."""
    magnitudes = jnp.abs(A)
    powers = 2 * degree + 1

    def step(i: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
        sums, log = at
        sums = jnp.einsum("...ij,...i->...j", magnitudes, sums, precision=lax.Precision.HIGHEST)
        largest = jnp.max(sums, -1)
        divisor = jnp.where(largest > 0, largest, 1)
        return sums / divisor[..., None], log + jnp.log2(largest)

    start = jnp.ones_like(magnitudes[..., 0]), jnp.zeros_like(magnitudes[..., 0, 0])
    _, log = lax.fori_loop(0, powers, step, start)
    norm = _norm(A)
    coefficient = math.comb(2 * degree, degree) * math.factorial(powers)
    log = log - jnp.log2(jnp.where(norm > 0, norm, 1)) - math.log2(coefficient)
    log = log + 1 - math.log2(jnp.finfo(A.dtype).eps)
    return jnp.maximum(jnp.ceil(log / (2 * degree)), 0).astype(np.int32)


@ft.cache
def _coefficients(degree: int) -> tuple[float, ...]:
    """The coefficients of the numerator of the Padé approximant, beginning with 1."""
    choose = math.comb
    return tuple(
        choose(degree, j) / (choose(2 * degree, j) * math.factorial(j)) for j in range(degree + 1)
    )


def _combined(numbers: Sequence[float], powers: Sequence[Array]) -> Array:
    return ft.reduce(jnp.add, [c * X for c, X in zip(numbers, powers, strict=True)])


def _approximant(A: Array, degree: int) -> Array:
    r"""$1 + 2 (V - U)^{-1} U$ with the odd part $U$ of the numerator, and the even part $V$."""
    b = _coefficients(degree)
    identity = jnp.eye(A.shape[-1], dtype=A.dtype)
    A2 = product(A, A)
    A4 = product(A2, A2)
    A6 = product(A4, A2)
    powers = [identity, A2, A4, A6]
    odd, even = _combined(b[1:8:2], powers), _combined(b[0:8:2], powers)
    if degree == 13:
        odd += product(A6, _combined(b[9::2], powers[1:]))
        even += product(A6, _combined(b[8::2], powers[1:]))
    odd = product(A, odd)
    return identity + 2 * jnp.linalg.solve(even - odd, odd)


_exponential = derivative_rules(_by_squaring, jvp=_tangent, vjp=_cotangent, name="matrix_exp")
