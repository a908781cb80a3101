"""Powers of matrices by repeated squaring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, operator, Requirement

from .full_precision import product
from .linear_systems import inverse, nonsingular
from .matrix_arguments import check_matrices


__all__ = ["matrix_power"]


def _invertible(*, A: Any, n: int, **_: Any) -> Iterator[Requirement]:
    if n < 0 and A.ndim > 1 and A.shape[-1]:
        yield nonsingular(A)


@operator(
    accepts=Accepts.LAPACK,
    requires=_invertible,
    checked_on_request=True,
    synonyms={"input": "A"},
    aliases=("matrix_power",),
)
def matrix_power(A: ArrayLike, n: int) -> Array:
    r"""Power of each matrix, $A^n$, in $O(\log n)$ products.

    - `A`: square matrices, float32, float64 or complex. The power keeps their dtype.
    - `n`: the exponent, an int. 0 gives the identity, a negative one powers of the inverse.

    Shapes: `[..., m, m] -> [..., m, m]`.
    Errors: RuntimeError unless matrices are square. Where `A` is singular and `n` negative, the
    result is infinite or NaN, and a `LinAlgError` under `functx.debug.checked` and in
    `functx.debug.checking()`.

    >>> functx.linalg.matrix_power(jnp.asarray([[1.0, 1.0], [0.0, 1.0]], "float32"), 3)
    Array([[1., 3.],
           [0., 1.]], dtype=float32)
    """
    check_matrices(A, square=True)
    if n == 0:
        return jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)
    square, exponent, power = inverse(A) if n < 0 else A, abs(n), None
    while True:
        if exponent % 2:
            power = square if power is None else product(power, square)
        exponent //= 2
        if not exponent:
            break
        square = product(square, square)
    assert power is not None  # the highest bit is set
    return power
