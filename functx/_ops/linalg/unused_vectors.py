"""Rules of decompositions in which vectors have no derivative where values coincide."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules


_R = TypeVar("_R")
Tangent = Callable[[tuple[Any, ...], Any, tuple[Any, ...], Array], Any]


def with_vectors(
    forward: Callable[..., _R], tangent: Tangent, values: int, name: str
) -> Callable[..., _R]:
    """`forward` under the rule `tangent(primals, output, tangents, finite)`.

    What it returns are vectors, but for output number `values`. In the transpose no infinity meets
    the zeros of vectors that are not used: with `finite`, a bool for each matrix, the rule divides
    by no 0.
    """

    def jvp(primals: tuple[Any, ...], output: Any, tangents: tuple[Any, ...]) -> Any:
        return tangent(primals, output, tangents, jnp.zeros((), bool))

    def vjp(primals: tuple[Any, ...], output: Any, cotangent: Any) -> Any:
        vectors = [c for i, c in enumerate(cotangent) if i != values]
        used = [jnp.any(c != 0, axis=(-2, -1)) for c in vectors]
        unused = ~ft.reduce(jnp.logical_or, used)
        pull = jax.linear_transpose(lambda *dots: tangent(primals, output, dots, unused), *primals)
        return pull(tuple(cotangent))

    return derivative_rules(forward, jvp=jvp, vjp=vjp, name=name)


def divisor(x: Array, finite: Array) -> Array:
    """`x`, but 1 instead of a 0 that `finite` forbids."""
    return jnp.where((x == 0) & finite, 1, x)
