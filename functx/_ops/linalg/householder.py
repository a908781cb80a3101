r"""Products of Householder reflections $H_i = 1 - \tau_i v_i v_i^H$.

They are multiplied in the compact form of Schreiber and Van Loan (1989),
$H_1 \cdots H_k = 1 - V T V^H$ with an upper triangular $T$, for any $\tau$.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.core import min_dim

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    decided,
    describe,
    equally_varying,
    known,
    operator,
    platform_dependent,
    Promote,
    refuse,
    repeat,
)
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, check_matrices
from .triangular_systems import solved_by_triangle


__all__ = ["geqrf", "householder_product", "ormqr"]


class GeqrfResult(NamedTuple):
    """`a`, with R in its upper triangle and the reflections' vectors below, and their `tau`."""

    a: Array
    tau: Array


@operator(name="geqrf", accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def geqrf(input: ArrayLike) -> GeqrfResult:
    r"""QR decomposition as LAPACK's `geqrf` leaves it: $R$, and reflections whose product is $Q$.

    - `input`: matrices, float32, float64 or complex. The result keeps their dtype.

    Shapes: `input: [..., m, n]` gives `a: [..., m, n]` and `tau: [..., min(m, n)]`. On and above
    the diagonal, `a` holds $R$; the i-th column below holds the end of $v_i$, whose i-th element is
    1 and those before are 0. `functx.linalg.householder_product(a, tau)` gives $Q$.

    Unlike in PyTorch there are derivatives, to any order. Where the rest of a column is zero
    already, nothing is reflected, and the reflection counts as constant.

    >>> functx.geqrf(jnp.asarray([[3.0], [4.0]], "float32"))
    GeqrfResult(a=Array([[-5. ],
           [ 0.5]], dtype=float32), tau=Array([1.6], dtype=float32))
    """
    check_matrices(input, name="input")
    *batch, m, n = input.shape
    if input.size == 0:
        return GeqrfResult(input, jnp.zeros((*batch, min_dim(m, n)), input.dtype))
    return GeqrfResult(*_geqrf(input))


def _by_lapack(A: Array) -> tuple[Array, Array]:
    transposed, tau = jnp.linalg.qr(A, mode="raw")
    return transposed.mT, tau


def _by_definition(A: Array) -> tuple[Array, Array]:
    """The steps of LAPACK's unblocked routine, whose derivatives are taken."""
    m, n = A.shape[-2:]
    rows, columns = jnp.arange(m), jnp.arange(n)

    def reflect(i: Any, at: tuple[Array, Array]) -> tuple[Array, Array]:
        A, tau = at
        x = lax.dynamic_index_in_dim(A, i, -1, keepdims=False)
        alpha = lax.dynamic_index_in_dim(x, i, -1, keepdims=False)
        rest = jnp.where(rows > i, x, 0)
        done = jnp.all(rest == 0, -1) & (jnp.imag(alpha) == 0)
        beta = jnp.where(done, 1, -_norm(alpha, rest, done)).astype(A.dtype)
        share = jnp.where(done, 0, (beta - alpha) / beta)
        pivot = jnp.where(done, 1, alpha - beta)
        rest = jnp.where(done[..., None], 0, rest / pivot[..., None])
        v = jnp.where(rows == i, 1, rest)
        reflected = _reflected(A, v, jnp.conj(share))
        A = jnp.where(columns > i, reflected, A)
        top = jnp.where(done, alpha, beta)[..., None]
        x = jnp.where(rows < i, x, jnp.where(rows == i, top, v))
        A = jnp.where(columns == i, x[..., None], A)
        return A, jnp.where(jnp.arange(tau.shape[-1]) == i, share[..., None], tau)

    start = tuple(equally_varying([A, jnp.zeros((*A.shape[:-2], min_dim(m, n)), A.dtype)]))
    return repeat(min_dim(m, n), reflect, start)


def _norm(alpha: Array, rest: Array, done: Array) -> Array:
    """The norm of a column, with the sign of the real part of its first element."""
    column = jnp.concatenate([alpha[..., None], rest], -1)
    size = lax.stop_gradient(jnp.max(jnp.abs(column), -1))
    size = jnp.where(done, 1, size)
    column = jnp.where(done[..., None], 1, column / size[..., None].astype(column.dtype))
    squares = jnp.real(column) ** 2 + jnp.imag(column) ** 2
    sign = jnp.where(jnp.signbit(jnp.real(alpha)), -1, 1).astype(size.dtype)
    return sign * size * jnp.sqrt(jnp.sum(squares, -1))


def _reflected(A: Array, v: Array, tau: Array) -> Array:
    along = product(jnp.conj(v)[..., None, :], A)
    return A - (tau[..., None] * v)[..., None] * along


def _geqrf_tangent(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Any:
    return jax.jvp(_by_definition, primals, tangents)[1]


_geqrf = derivative_rules(_by_lapack, jvp=_geqrf_tangent, name="geqrf")


@operator(
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    aliases=("orgqr",),
    synonyms={"input": "A", "input2": "tau"},
    autocast_cpu=Autocast.FLOAT32,
)
def householder_product(A: ArrayLike, tau: ArrayLike) -> Array:
    r"""The first columns of a product of Householder reflections, $H_1 \cdots H_k$.

    - `A`: the vectors $v_i$ of the reflections by columns, float32, float64 or complex.
    - `tau`: the factors $\tau_i$ of the reflections, of the dtype of `A`.

    Shapes: `A: [..., m, n]` with m >= n and `tau: [..., k]` with k <= n give `[..., m, n]`; the
    leading dimensions must be equal. The end of $v_i$ stands in the i-th column of `A`, below the
    diagonal, which is not read: see `functx.geqrf`. The derivative exists for any `tau`.

    >>> a, tau = functx.geqrf(jnp.asarray([[3.0], [4.0]], "float32"))
    >>> functx.linalg.householder_product(a, tau)
    Array([[-0.6],
           [-0.8]], dtype=float32)
    """
    check_matrices(A)
    m, n = A.shape[-2:]
    if decided(lambda: m < n, otherwise=False):
        refuse(f"`A` must have at least as many rows as columns, got {describe(A)}")
    _check_tau(A, tau, "A", n, "at most")
    if tau.size == 0 or A.size == 0 or not known(*A.shape, *tau.shape):
        return _columns(A, tau)
    return _columns_on_each_device(A, tau)


def _columns(A: Array, tau: Array) -> Array:
    """The first columns of a product of reflections, from its compact form."""
    identity = jnp.broadcast_to(jnp.eye(*A.shape[-2:], dtype=A.dtype), A.shape)
    return _multiplied(_vectors(A, tau), tau, identity)


# LAPACK takes two thirds of the time of the compact form, of which derivatives are.
_columns_on_each_device = derivative_rules(
    lambda A, tau: platform_dependent(A, tau, cpu=lax.linalg.householder_product, default=_columns),
    jvp=lambda primals, output, tangents: jax.jvp(_columns, primals, tangents)[1],
    name="linalg.householder_product",
)


@operator(
    name="ormqr",
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    synonyms={"input2": "tau", "input3": "other"},
    autocast_cpu=Autocast.FLOAT32,
)
def ormqr(
    input: ArrayLike, tau: ArrayLike, other: ArrayLike, left: bool = True, transpose: bool = False
) -> Array:
    r"""The product of a matrix and the unitary $Q = H_1 \cdots H_k$ that `functx.geqrf` describes.

    - `input`: the vectors $v_i$ of the reflections by columns, float32, float64 or complex.
    - `tau`: the factors $\tau_i$ of the reflections, of the dtype of `input`.
    - `other`: the matrices $C$, of the dtype of `input`.
    - `left`: gives $Q C$, with $C$ for `other`; False gives $C Q$.
    - `transpose`: takes $Q^H$ instead of $Q$.

    Shapes: `other: [..., m, n]`, `input: [..., r, c]` with r = m if `left`, else r = n, and
    `tau: [..., min(r, c)]` give `[..., m, n]`; the leading dimensions must be equal.

    >>> a, tau = functx.geqrf(jnp.asarray([[3.0], [4.0]], "float32"))
    >>> functx.ormqr(a, tau, jnp.asarray([[1.0], [0.0]], "float32"))
    Array([[-0.6],
           [-0.8]], dtype=float32)
    """
    check_matrices(input, name="input")
    check_matrices(other, name="other")
    rows = other.shape[-2 if left else -1]
    if input.shape[-2] != rows or input.shape[:-2] != other.shape[:-2]:
        wanted = [*other.shape[:-2], rows]
        refuse(
            f"`input` must have the shape [{', '.join(map(str, wanted))}, k] beside `other` "
            f"{describe(other)} with left={left}, got {describe(input)}"
        )
    _check_tau(input, tau, "input", min_dim(*input.shape[-2:]), "exactly")
    vectors = _vectors(input, tau)
    if left:
        return _multiplied(vectors, tau, other, transpose)
    return adjoint(_multiplied(vectors, tau, adjoint(other), not transpose))


def _check_tau(A: Array, tau: Array, name: str, size: int, bound: str) -> None:
    fits = tau.ndim == A.ndim - 1 and tau.shape[:-1] == A.shape[:-2]
    count = tau.shape[-1] if fits else 0
    fits &= not decided(lambda: count > size, otherwise=False)
    if not fits or (bound == "exactly" and decided(lambda: count < size, otherwise=False)):
        wanted = ", ".join(map(str, [*A.shape[:-2], "k"]))
        refuse(
            f"`tau` must have the shape [{wanted}] with {bound} {size} elements in a row, "
            f"beside `{name}` {describe(A)}, got {describe(tau)}"
        )


def _vectors(A: Array, tau: Array) -> Array:
    """The vectors of the reflections, in columns."""
    n, k = A.shape[-1], tau.shape[-1]
    if not decided(lambda: k <= n, otherwise=False):
        # Sizes show that `A` has k columns, but symbols of sizes do not.
        A = jnp.pad(A, [(0, 0)] * (A.ndim - 1) + [(0, k)])
    A = A[..., :k]
    return jnp.tril(A, -1) + jnp.eye(*A.shape[-2:], dtype=A.dtype)


def _multiplied(V: Array, tau: Array, C: Array, transpose: bool = False) -> Array:
    """The product of the reflections, or its adjoint, and `C`."""
    if tau.size == 0 or C.size == 0:
        return C
    above = jnp.triu(product(adjoint(V), V), 1)
    along = product(adjoint(V), C)
    share = tau[..., None]
    if transpose:  # T^H = D^H (1 + S^H D^H)^{-1}, with D of the taus and S above
        lower = adjoint(above) * jnp.conj(tau)[..., None, :]
        along = solved_by_triangle(lower, along, upper=False, unitriangular=True)
        along = jnp.conj(share) * along
    else:  # T = (1 + D S)^{-1} D
        along = solved_by_triangle(share * above, share * along, upper=True, unitriangular=True)
    return C - product(V, along)
