r"""Eigenvalues and singular values, differentiated to any order.

A weighted sum of them has the gradient $V \operatorname{diag}(c) V^H$, where $c$ are the weights: a
function of the matrix that is constant near each eigenvalue. Where some coincide they have no
second derivative, but their mean has. It counts as that of each: so derivatives of their sum are
right, and those of all other values.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .spectral_frames import Frame, like_primal, Matrix, summed, Vectors


Decomposition = tuple[Array, Vectors]  # values and their vectors, constants


class _Points(NamedTuple):
    """Some of a spectrum, with the weights of means over values that coincide."""

    values: Array
    weights: Array
    groups: Array  # numbers, equal where values coincide


def ruled_values(
    name: str,
    frame: Frame,
    forward: Callable[[Matrix, Any], Array],
    decomposed: Callable[[Matrix, Any], Decomposition],
) -> Callable[[Matrix, Any], Array]:
    """`forward(A, known)`, the values of a matrix, under rules.

    `known` is what both functions compute from, constants; `decomposed` may compute from `A` too.
    """

    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        A, known = primals
        return _moved(name, frame, 1)(A, *_still(decomposed, A, known), (tangents[0],))

    def vjp(primals: Any, output: Array, cotangent: Array) -> tuple[Any, None]:
        A, known = primals
        pulled = _weighted(name, frame, 0)(A, *_still(decomposed, A, known), (), cotangent)
        return jax.tree.map(like_primal, A, frame.transposed(pulled)), None

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=name)


def _still(decomposed: Any, A: Matrix, known: Any) -> Decomposition:
    return lax.stop_gradient(decomposed(lax.stop_gradient(A), known))


def _groups(values: Array, frame: Frame) -> Array:
    """Numbers of values, equal where these differ by rounding errors alone; 0 where they are 0.

    Eigenvalues of a frame in which they have both signs are counted from 0, others from anywhere.
    """
    k = values.shape[-1]
    largest = jnp.max(jnp.abs(values), -1, keepdims=True, initial=0)
    noise = jnp.finfo(values.dtype).eps * k * largest
    two_signed = frame.share < 1
    ascending = values[..., ::-1] if two_signed else values
    before = jnp.pad(ascending[..., :-1], [(0, 0)] * (values.ndim - 1) + [(1, 0)])
    apart = ascending - before > noise
    if not two_signed:
        apart = apart.at[..., :1].set(True)
    numbers = jnp.cumsum(apart, -1, dtype="int32")
    return numbers[..., ::-1] if two_signed else numbers


def _means(weights: Array, groups: Array) -> Array:
    """The mean of the weights of each group, 0 for that of 0."""
    same = (groups[..., :, None] == groups[..., None, :]).astype(weights.dtype)
    means = jnp.sum(same * weights[..., None, :], -1) / jnp.sum(same, -1)
    return jnp.where(groups == 0, 0, means)


def _step_difference(*points: _Points) -> Array:
    """The divided difference of a function that is constant near each group."""
    stacked = [jnp.stack(jnp.broadcast_arrays(*some)) for some in zip(*points, strict=True)]
    order = jnp.argsort(stacked[0], axis=0)
    x, table, groups = (jnp.take_along_axis(some, order, 0) for some in stacked)
    for order in range(1, len(points)):
        last = len(points) - order
        same = groups[order:] == groups[:last]
        width = jnp.where(same, 1, x[order:] - x[:last])
        table = jnp.where(same, 0, (table[1:] - table[:-1]) / width)
    return table[0]


def _weighted(name: str, frame: Frame, order: int) -> Callable[..., Matrix]:
    """The derivative in some directions of the gradient of a weighted sum.

    A function of the matrix, its decomposition, the directions and the weights.
    """

    def forward(
        A: Matrix, values: Array, vectors: Vectors, directions: Sequence[Matrix], weights: Array
    ) -> Matrix:
        if not directions:
            dtype = jax.tree.leaves(vectors)[0].dtype
            left = jax.tree.map(lambda V: V * weights[..., None, :].astype(dtype), vectors)
        else:
            vectors, moved, whole = frame.inside(vectors, directions)
            groups = _groups(values, frame)
            points = _Points(*map(whole, (values, _means(weights, groups), groups)))
            inside = summed(_step_difference, points, moved)
            left = jax.tree.map(lambda V: product(V, inside), vectors)
        return jax.tree.map(lambda x: frame.share * x, frame.outside(left, vectors))

    def again(primals: Any, directions: Sequence[Matrix], weights: Array) -> Matrix:
        A, values, vectors, _, _ = primals
        higher = _weighted(name, frame, len(directions))
        return higher(A, values, vectors, tuple(directions), weights)

    def jvp(primals: Any, output: Matrix, tangents: Any) -> Matrix:
        directions, weights = primals[3:]
        dA, _, _, moves, dweights = tangents
        terms = [again(primals, (*directions, dA), weights), again(primals, directions, dweights)]
        for k, move in enumerate(moves):
            others = (*directions[:k], move, *directions[k + 1 :])
            terms.append(again(primals, others, weights))
        return jax.tree.map(lambda *parts: ft.reduce(jnp.add, parts), *terms)

    def vjp(primals: Any, output: Matrix, cotangent: Matrix) -> tuple[Any, ...]:
        A, values, vectors, directions, weights = primals
        turned = frame.transposed(cotangent)

        def pulled(like: Matrix, *others: Matrix) -> Matrix:
            moved = frame.transposed(again(primals, others, weights))
            return jax.tree.map(like_primal, like, moved)

        each = tuple(
            pulled(E, *directions[:k], turned, *directions[k + 1 :])
            for k, E in enumerate(directions)
        )
        moved = _moved(name, frame, order + 1)(A, values, vectors, (*directions, turned))
        return pulled(A, *directions, turned), None, None, each, moved

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=name)


def _moved(name: str, frame: Frame, order: int) -> Callable[..., Array]:
    """The derivatives of all values in some directions."""

    def forward(A: Matrix, values: Array, vectors: Vectors, directions: Sequence[Matrix]) -> Array:
        k = values.shape[-1]
        vectors, moved, whole = frame.inside(vectors, directions)
        if len(directions) == 1:
            return jnp.real(jnp.diagonal(moved[0], axis1=-2, axis2=-1)[..., :k])
        groups = _groups(values, frame)

        def of_one(number: Array) -> Array:
            weights = _means((jnp.arange(k) == number).astype(values.dtype), groups)
            points = _Points(*map(whole, (values, weights, groups)))
            inside = summed(_step_difference, points, moved[:-1])
            return frame.share * jnp.real(jnp.sum(inside * moved[-1].mT, (-2, -1)))

        if k == 0:
            return values
        return jnp.moveaxis(lax.map(of_one, jnp.arange(k)), 0, -1)

    def again(primals: Any, directions: Sequence[Matrix]) -> Array:
        return _moved(name, frame, len(directions))(*primals[:3], tuple(directions))

    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        directions = primals[3]
        dA, _, _, moves = tangents
        out = again(primals, (*directions, dA))
        for k, move in enumerate(moves):
            out += again(primals, (*directions[:k], move, *directions[k + 1 :]))
        return out

    def vjp(primals: Any, output: Array, cotangent: Array) -> tuple[Any, ...]:
        A, values, vectors, directions = primals

        def pulled(like: Matrix, others: Sequence[Matrix]) -> Matrix:
            weighted = _weighted(name, frame, len(others))
            moved = weighted(A, values, vectors, tuple(others), cotangent)
            return jax.tree.map(like_primal, like, frame.transposed(moved))

        each = tuple(
            pulled(E, (*directions[:k], *directions[k + 1 :])) for k, E in enumerate(directions)
        )
        return pulled(A, directions), None, None, each

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=name)
