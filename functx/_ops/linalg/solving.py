"""Solutions of linear systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, operator, Promote, Requirement

from .linear_systems import inverse, nonsingular, solution


__all__ = ["inv", "solve"]


def _nonsingular(*, A: Any, **_: Any) -> Iterator[Requirement]:
    if A.ndim > 1 and A.shape[-1]:
        yield nonsingular(A)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    requires=_nonsingular,
    checked_on_request=True,
    autocast_cpu=Autocast.FLOAT32,
)
def solve(A: ArrayLike, B: ArrayLike, *, left: bool = True) -> Array:
    """Solution $X$ of the linear system $A X = B$, or of $X A = B$.

    - `A`: square matrices, float32, float64 or complex.
    - `B`: matrices or vectors of the same dtype.
    - `left`: whether the system is $A X = B$; else it is $X A = B$.

    Shapes: `A: [..., n, n]`, `B: [..., n, k]` (`[..., k, n]` if not `left`), whose leading
    dimensions broadcast, or vectors: `B: [n]`, or `[..., n]` as long as the batch of `A`. The
    result is like `B`.
    Errors: RuntimeError for shapes that do not fit, TypeError for unequal dtypes. Where `A` is
    singular, the result is infinite or NaN, and a `LinAlgError` under `functx.debug.checked` and in
    `functx.debug.checking()`.

    >>> A = jnp.asarray([[2.0, 0.0], [0.0, 4.0]], "float32")
    >>> functx.linalg.solve(A, jnp.asarray([2.0, 2.0], "float32"))
    Array([1. , 0.5], dtype=float32)
    """
    return solution(A, B, left=left)


@operator(
    accepts=Accepts.LAPACK,
    aliases=("inverse",),
    requires=_nonsingular,
    checked_on_request=True,
    autocast_cpu=Autocast.FLOAT32,
)
def inv(A: ArrayLike) -> Array:
    """Inverse matrix: $A^{-1} A = I$.

    - `A`: square matrices, float32, float64 or complex. The inverse keeps their dtype.

    Shapes: `[..., n, n] -> [..., n, n]`.
    Errors: RuntimeError unless matrices are square. Where `A` is singular, the result is infinite
    or NaN, and a `LinAlgError` under `functx.debug.checked` and in `functx.debug.checking()`.

    >>> functx.linalg.inv(jnp.asarray([[2.0, 0.0], [0.0, 4.0]], "float32"))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return inverse(A)
