"""Products of vectors that are vectors again."""

from __future__ import annotations

from jax import Array

from functx._core import Accepts, ArrayOnly, Dim, operator, Promote
from functx._ops.products.crossing import cross_product


__all__ = ["cross"]


@operator(promote=Promote.SAME, accepts=Accepts.NUMBER)
def cross(input: ArrayOnly, other: ArrayOnly, *, dim: Dim = -1) -> Array:
    """Cross product of vectors of length 3: $y_0 = x_1 z_2 - x_2 z_1$, and so on in a circle.

    - `input`: the vectors $x$, of any dtype but bool.
    - `other`: the vectors $z$, of the same dtype and rank.
    - `dim`: the dimension of the vectors, of size 3 in both.

    Shapes: `[..., 3], [..., 3] -> [..., 3]`; the other dimensions broadcast.
    Dtypes: that of both. Complex numbers are not conjugated. Halves are computed in float32.
    Errors: RuntimeError for unequal ranks and another size, TypeError for unequal dtypes,
    IndexError if the arrays do not have `dim`.

    >>> x, y = jnp.eye(3, dtype="float32")[:2]
    >>> functx.linalg.cross(y, x)
    Array([ 0.,  0., -1.], dtype=float32)
    """
    return cross_product(input, other, dim)
