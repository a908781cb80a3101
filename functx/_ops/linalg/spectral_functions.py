"""Functions of a spectrum, with derivatives that do not pass through its vectors."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.core import Tracer

from functx._core import ArrayLike, describe, fail
from functx._core.numbers.weak_types import strong
from functx._core.rules.custom_derivatives import derivative_rules

from .divided_differences import divided_difference
from .full_precision import product
from .spectral_frames import Frame, inner, like_primal, Matrix, summed, Vectors


SpectralFunction: TypeAlias = Callable[..., Array]
SpectralDerivative: TypeAlias = Callable[
    [Matrix, Array, Vectors, Sequence[Matrix], Sequence[Array]], Matrix
]


def given_function(
    name: str, function: Callable[..., Any], values: Array, known: Any, what: str
) -> SpectralFunction:
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
    # A weakly typed array was a Python number from here on.
    known = tuple([jnp.asarray(strong(x)) for x in parameters])
    for x in known:
        if x.ndim:
            hint = "functx.vmap maps over one of each matrix"
            fail(name, f"`parameters` must be 0-d, got {describe(x)}", hint=hint, error=ValueError)
    own = [jnp.issubdtype(x.dtype, jnp.inexact) and not x.weak_type for x in known]
    return tuple(x if kept else x.astype(dtype) for x, kept in zip(known, own, strict=True))


def by_value(function: SpectralFunction) -> SpectralFunction:
    """The derivative of `function` in the values that it takes."""

    def derivative(values: Array, *parameters: Array) -> Array:
        along = lambda x: function(x, *parameters)
        return jax.jvp(along, (values,), (jnp.ones_like(values),))[1]

    return derivative


def by_parameter(function: SpectralFunction, number: int) -> SpectralFunction:
    """The derivative of `function` in one of its parameters."""

    def derivative(values: Array, *parameters: Array) -> Array:
        at = list(parameters)

        def along(parameter: Array) -> Array:
            at[number] = parameter
            return function(values, *at)

        x = parameters[number]
        return jax.jvp(along, (x,), (jnp.ones_like(x),))[1]

    return derivative


def spectral_derivative(
    name: str, frame: Frame, function: SpectralFunction, order: int
) -> SpectralDerivative:
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
        if not directions:
            weights = of_values(values).astype(dtype)[..., None, :]
            return frame.outside(jax.tree.map(lambda V: V * weights, vectors), vectors)
        vectors, moved, whole = frame.inside(vectors, directions)
        inside = summed(ft.partial(divided_difference, of_values), whole(values), moved)
        return frame.outside(jax.tree.map(lambda V: product(V, inside), vectors), vectors)

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
