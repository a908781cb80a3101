r"""Functions of a spectrum, with derivatives that do not pass through its vectors.

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
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import Tracer

from functx._core import ArrayLike, describe, fail
from functx._core.manual_axes import varying_like
from functx._core.rules import derivative_rules

from .divided_differences import divided_difference
from .full_precision import product


Function: TypeAlias = Callable[..., Array]
Matrix: TypeAlias = Any  # an array, or a tree of the blocks of one
Vectors: TypeAlias = Any
Derivative: TypeAlias = Callable[
    [Matrix, Array, Vectors, Sequence[Matrix], Sequence[Array]], Matrix
]


class Frame(NamedTuple):
    """How matrices of one kind are written in eigenvectors, and how they come back."""

    #: the eigenvalues, the vectors and the directions $V^H E V$; of vectors whose eigenvalues are 0
    #: there need be no more than the directions reach
    inside: Callable[[Array, Vectors, Sequence[Matrix]], tuple[Array, Vectors, Sequence[Array]]]
    outside: Callable[[Vectors, Vectors], Matrix]  #: $V X V^H$, of $V X$ and $V$
    transposed: Callable[[Matrix], Matrix]


def given_function(
    name: str, function: Callable[..., Any], values: Array, known: Any, what: str
) -> Function:
    """`function` of `values` and the parameters `known`, with results of their precision.

    Refuses one whose derivatives would miss what it closes over. `what` is one of the values.
    """
    for x in jax.make_jaxpr(function)(values, *known).consts:
        if isinstance(x, Tracer):
            short = name.rpartition(".")[2]
            fail(
                name,
                f"`function` closes over {describe(x)}, which is being traced",
                hint=f"{short}(A, function, x) hands a number to function(values, x)",
                error=ValueError,
            )

    def elementwise(values: Array, *parameters: Array) -> Array:
        out = function(values, *parameters)
        if jnp.shape(out) != values.shape:
            got = f"{describe(out)} for {describe(values)}"
            wanted = f"must give a number for each {what}"
            fail(name, f"`function` {wanted}, got {got}", error=ValueError)
        number = np.dtype("complex64" if jnp.iscomplexobj(out) else "float32")
        return jnp.asarray(out, np.result_type(values.dtype, number))

    return elementwise


def given_matrix(name: str, A: ArrayLike) -> Array:
    A = jnp.asarray(A)
    if A.dtype not in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128):
        wanted = "float32, float64 or complex"
        fail(name, f"`A` must be {wanted}, got {describe(A)}", error=TypeError)
    return A


def given_parameters(name: str, parameters: Sequence[ArrayLike], dtype: Any) -> tuple[Array, ...]:
    """The parameters as arrays: of the dtype of the eigenvalues, unless they have an own one."""
    known = tuple(map(jnp.asarray, parameters))
    for x in known:
        if x.ndim:
            hint = "functx.vmap maps over one of each matrix"
            fail(name, f"`parameters` must be 0-d, got {describe(x)}", hint=hint, error=ValueError)
    own = [jnp.issubdtype(x.dtype, jnp.inexact) and not x.weak_type for x in known]
    return tuple(x if kept else x.astype(dtype) for x, kept in zip(known, own, strict=True))


def by_value(function: Function) -> Function:
    """The derivative of `function` in the values that it takes."""

    def derivative(values: Array, *parameters: Array) -> Array:
        along = lambda x: function(x, *parameters)
        return jax.jvp(along, (values,), (jnp.ones_like(values),))[1]

    return derivative


def by_parameter(function: Function, number: int) -> Function:
    """The derivative of `function` in one of its parameters."""

    def derivative(values: Array, *parameters: Array) -> Array:
        at = list(parameters)

        def along(parameter: Array) -> Array:
            at[number] = parameter
            return function(values, *at)

        x = parameters[number]
        return jax.jvp(along, (x,), (jnp.ones_like(x),))[1]

    return derivative


def spectral_derivative(name: str, frame: Frame, function: Function, order: int) -> Derivative:
    """$L_n$ of the matrix, its eigenvalues and vectors (constants), directions and parameters."""

    def forward(
        A: Matrix,
        values: Array,
        vectors: Vectors,
        directions: Sequence[Matrix],
        parameters: Sequence[Array],
    ) -> Matrix:
        of_values = lambda x: function(x, *parameters)
        floating = jax.tree.leaves((jax.eval_shape(of_values, values), vectors, directions))
        dtype = np.result_type(*(x.dtype for x in floating))
        vectors, directions = jax.tree.map(lambda x: x.astype(dtype), (vectors, directions))
        values, vectors, moved = frame.inside(values, vectors, directions)
        if not moved:
            weights = of_values(values).astype(dtype)[..., None, :]
            left = jax.tree.map(lambda V: V * weights, vectors)
        else:
            inside = _summed(of_values, values, moved)
            left = jax.tree.map(lambda V: product(V, inside), vectors)
        return frame.outside(left, vectors)

    def in_directions(primals: Any, *directions: Matrix) -> Matrix:
        A, values, vectors, _, parameters = primals
        higher = spectral_derivative(name, frame, function, len(directions))
        return higher(A, values, vectors, directions, parameters)

    def in_parameter(primals: Any, number: int) -> Matrix:
        return spectral_derivative(name, frame, by_parameter(function, number), order)(*primals)

    def jvp(primals: Any, output: Matrix, tangents: Any) -> Matrix:
        directions = primals[3]
        dA, _, _, moves, dparameters = tangents
        terms = [in_directions(primals, *directions, dA)]
        terms += [
            in_directions(primals, *directions[:k], move, *directions[k + 1 :])
            for k, move in enumerate(moves)
        ]
        for i, move in enumerate(dparameters):
            slope = in_parameter(primals, i)
            terms.append(jax.tree.map(lambda x, move=move: move.astype(x.dtype) * x, slope))
        return jax.tree.map(lambda *parts: ft.reduce(jnp.add, parts), *terms)

    def vjp(primals: Any, output: Matrix, cotangent: Matrix) -> tuple[Any, ...]:
        A, _, _, directions, parameters = primals
        turned = frame.transposed(cotangent)

        def pulled(like: Matrix, *others: Matrix) -> Matrix:
            moved = frame.transposed(in_directions(primals, *others))
            return jax.tree.map(like_primal, like, moved)

        moves = tuple(
            pulled(E, *directions[:k], turned, *directions[k + 1 :])
            for k, E in enumerate(directions)
        )
        each = tuple(
            like_primal(p, inner(cotangent, in_parameter(primals, i)))
            for i, p in enumerate(parameters)
        )
        return pulled(A, *directions, turned), None, None, moves, each

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=name)


def inner(first: Matrix, second: Matrix) -> Array:
    """The sum of products of elements, without conjugation."""
    products = jax.tree.map(lambda x, y: jnp.sum(x * y), first, second)
    return ft.reduce(jnp.add, jax.tree.leaves(products))


def like_primal(x: Array, cotangent: Array) -> Array:
    """What of the cotangent meets `x`: the real part, if that is real."""
    real = not jnp.iscomplexobj(x)
    return (jnp.real(cotangent) if real else cotangent).astype(x.dtype)


def _summed(function: Callable[[Array], Array], values: Array, moved: Sequence[Array]) -> Array:
    """The bracket of $L_n$, of at least one direction."""
    dtype = moved[0].dtype

    def term(middle: Sequence[Any]) -> Array:
        """Over all orders of the directions, what passes through these eigenvectors."""
        between = [values[..., k, None, None] for k in middle]
        weights = divided_difference(function, values[..., :, None], *between, values[..., None, :])
        return weights.astype(dtype) * ft.reduce(
            jnp.add, (_chain(order, middle) for order in itertools.permutations(moved))
        )

    n, free = values.shape[-1], len(moved) - 1
    if not free:
        return term(())
    if n == 0:
        return moved[0]

    def add(i: Any, total: Array) -> Array:
        return total + term([i // n**place % n for place in range(free)])

    start = varying_like(jnp.zeros_like(moved[0]), moved[0])
    return lax.fori_loop(0, n**free, add, start)


def _chain(matrices: Sequence[Array], middle: Sequence[Any]) -> Array:
    if not middle:
        return matrices[0]
    out = matrices[0][..., :, middle[0], None]
    for matrix, (i, j) in zip(matrices[1:-1], itertools.pairwise(middle), strict=True):
        out = out * matrix[..., i, j, None, None]
    return out * matrices[-1][..., middle[-1], None, :]
