"""Products of vectors that are vectors."""

from __future__ import annotations

from jax import Array

from functx._core import Accepts, ArrayOnly, Autocast, Dim, operator, Promote
from functx._ops.products.crossing import cross_product


__all__ = ["cross"]


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.WIDEST)
def cross(input: ArrayOnly, other: ArrayOnly, *, dim: Dim = -1) -> Array:
    r"""Cross product along `dim`: $y_0 = x_1 z_2 - x_2 z_1$, and so on in a circle.

    Shapes: both have one rank and length 3 along `dim`; their other dimensions broadcast.
    Complex numbers are not conjugated. Halves are computed in float32.

    >>> x, y = jnp.eye(3, dtype="float32")[:2]
    >>> functx.linalg.cross(y, x)
    Array([ 0.,  0., -1.], dtype=float32)
    """
    return cross_product(input, other, dim)
