r"""Functions of Hermitian matrices, with derivatives that do not pass through the eigenvectors.

Of $F(A) = V f(\lambda) V^H$ the derivative in the directions $E_1, \dots, E_n$ is, with
$M = V^H E V$,

$$L_n(A; E_1, \dots, E_n) = V \Big[ \sum_\pi \sum_{k_1 \dots k_{n-1}}
f[\lambda_i, \lambda_{k_1}, \dots, \lambda_j] \, M^{\pi_1}_{i k_1} M^{\pi_2}_{k_1 k_2} \cdots
M^{\pi_n}_{k_{n-1} j} \Big]_{ij} V^H$$

over all orders $\pi$ of the directions (Daleckii and Krein, 1965; Higham, "Functions of Matrices",
2008, section 3). Divided differences stay finite where eigenvalues meet. $L_n$ is symmetric in its
directions, and $\operatorname{tr}(C L_n(A; E, \dots)) = \operatorname{tr}(E L_n(A; C, \dots))$.
"""

from __future__ import annotations

import functools as ft
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import Tracer

from functx._core import ArrayLike, describe, fail
from functx._core.errors import Refused
from functx._core.manual_axes import varying_like
from functx._core.rules import derivative_rules

from .divided_differences import divided_difference
from .full_precision import product
from .matrix_arguments import adjoint, from_triangle


_NAME = "linalg.hermitian_function"
Function = Callable[..., Array]
Derivative = Callable[[Array, Array, Array, Sequence[Array], Sequence[Array]], Array]


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

    Functions of singular values, such as the polar factor's $U V^H$: for an odd $f$, the upper
    right block of $f$ of $[[0, A], [A^H, 0]]$ is $U f(S) V^H$.

    Source: divided differences (Daleckii and Krein, 1965), taken as integrals of derivatives
    where eigenvalues are close. The derivative of order $n$ takes $O(N^{n + 1})$ operations of
    matrices of size $N$, and memory for $N^2$ numbers.

    >>> def root_sum(A):
    ...     return functx.linalg.hermitian_function(A, jnp.sqrt).sum()
    >>> functx.grad(root_sum)(4 * jnp.eye(2, dtype="float32"))
    Array([[0.25, 0.25],
           [0.25, 0.25]], dtype=float32)
    """
    A = jnp.asarray(A)
    if A.dtype not in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128):
        wanted = "float32, float64 or complex"
        fail(_NAME, f"`A` must be {wanted}, got {describe(A)}", error=TypeError)
    try:
        A = from_triangle(A, UPLO)
    except Refused as refused:
        raise refused.by(_NAME) from None
    vectors, values = lax.linalg.eigh(lax.stop_gradient(A), symmetrize_input=False)
    known = tuple(_parameter(p, values.dtype) for p in parameters)
    _check_traced(function, values, known)
    return _derivative(_numbers(function), 0)(A, values, vectors, (), known)


def _parameter(parameter: ArrayLike, dtype: Any) -> Array:
    x = jnp.asarray(parameter)
    if x.ndim:
        hint = "functx.vmap maps over one of each matrix"
        fail(_NAME, f"`parameters` must be 0-d, got {describe(x)}", hint=hint, error=ValueError)
    return x if jnp.issubdtype(x.dtype, jnp.inexact) and not x.weak_type else x.astype(dtype)


def _check_traced(function: Function, values: Array, parameters: Sequence[Array]) -> None:
    for x in jax.make_jaxpr(function)(values, *parameters).consts:
        if isinstance(x, Tracer):
            fail(
                _NAME,
                f"`function` closes over {describe(x)}, which is being traced",
                hint="hermitian_function(A, function, x) hands a number to function(values, x)",
                error=ValueError,
            )


def _numbers(function: Callable[..., Any]) -> Function:
    """`function`, with results in the precision of the eigenvalues."""

    def elementwise(values: Array, *parameters: Array) -> Array:
        out = function(values, *parameters)
        if jnp.shape(out) != values.shape:
            got = f"{describe(out)} for {describe(values)}"
            wanted = "must give a number for each eigenvalue"
            fail(_NAME, f"`function` {wanted}, got {got}", error=ValueError)
        number = np.dtype("complex64" if jnp.iscomplexobj(out) else "float32")
        return jnp.asarray(out, np.result_type(values.dtype, number))

    return elementwise


def _by_parameter(function: Function, number: int) -> Function:
    """The derivative of `function` in one of its parameters."""

    def derivative(values: Array, *parameters: Array) -> Array:
        at = list(parameters)

        def along(parameter: Array) -> Array:
            at[number] = parameter
            return function(values, *at)

        x = parameters[number]
        return jax.jvp(along, (x,), (jnp.ones_like(x),))[1]

    return derivative


def _derivative(function: Function, order: int) -> Derivative:
    """$L_n$ of the matrix, its eigenvalues and vectors (constants), directions and parameters."""

    def forward(
        A: Array,
        values: Array,
        vectors: Array,
        directions: Sequence[Array],
        parameters: Sequence[Array],
    ) -> Array:
        return _summed(lambda x: function(x, *parameters), values, vectors, directions)

    def in_directions(primals: Any, *directions: Array) -> Array:
        A, values, vectors, _, parameters = primals
        return _derivative(function, len(directions))(A, values, vectors, directions, parameters)

    def in_parameter(primals: Any, number: int) -> Array:
        return _derivative(_by_parameter(function, number), order)(*primals)

    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        directions = primals[3]
        dA, _, _, moves, dparameters = tangents
        terms = [in_directions(primals, *directions, dA)]
        terms += [
            in_directions(primals, *directions[:k], move, *directions[k + 1 :])
            for k, move in enumerate(moves)
        ]
        for i, move in enumerate(dparameters):
            terms.append(move.astype(output.dtype) * in_parameter(primals, i))
        return ft.reduce(jnp.add, terms)

    def vjp(primals: Any, output: Array, cotangent: Array) -> tuple[Any, ...]:
        A, _, _, directions, parameters = primals
        turned = cotangent.mT
        moves = tuple(
            _like(E, in_directions(primals, *directions[:k], turned, *directions[k + 1 :]).mT)
            for k, E in enumerate(directions)
        )
        each = tuple(
            _like(p, jnp.sum(cotangent * in_parameter(primals, i)))
            for i, p in enumerate(parameters)
        )
        return _like(A, in_directions(primals, *directions, turned).mT), None, None, moves, each

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=_NAME)


def _like(x: Array, cotangent: Array) -> Array:
    """What of the cotangent meets `x`: the real part, if that is real."""
    real = not jnp.iscomplexobj(x)
    return (jnp.real(cotangent) if real else cotangent).astype(x.dtype)


def _summed(
    function: Callable[[Array], Array], values: Array, vectors: Array, directions: Sequence[Array]
) -> Array:
    found = jax.eval_shape(function, values)
    dtype = np.result_type(found.dtype, vectors.dtype, *(E.dtype for E in directions))
    vectors = vectors.astype(dtype)
    back = adjoint(vectors)
    if not directions:
        return product(vectors * function(values)[..., None, :].astype(dtype), back)
    moved = [product(back, E.astype(dtype), vectors) for E in directions]

    def term(middle: Sequence[Any]) -> Array:
        """Over all orders of the directions, what passes through these eigenvectors."""
        between = [values[..., k, None, None] for k in middle]
        weights = divided_difference(function, values[..., :, None], *between, values[..., None, :])
        return weights.astype(dtype) * ft.reduce(
            jnp.add, (_chain(order, middle) for order in itertools.permutations(moved))
        )

    n, free = values.shape[-1], len(moved) - 1
    if not free:
        return product(vectors, term(()), back)

    def add(i: Any, total: Array) -> Array:
        return total + term([i // n**place % n for place in range(free)])

    if n == 0:
        return ft.reduce(product, moved)
    total = lax.fori_loop(0, n**free, add, varying_like(jnp.zeros_like(moved[0]), moved[0]))
    return product(vectors, total, back)


def _chain(matrices: Sequence[Array], middle: Sequence[Any]) -> Array:
    if not middle:
        return matrices[0]
    out = matrices[0][..., :, middle[0], None]
    for matrix, (i, j) in zip(matrices[1:-1], itertools.pairwise(middle), strict=True):
        out = out * matrix[..., i, j, None, None]
    return out * matrices[-1][..., middle[-1], None, :]
