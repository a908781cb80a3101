"""Generalised Gauss-Newton matrices."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

from functx._core import explain_unknown_keywords
from functx._transforms.arguments import Argnums, require_callable
from functx._transforms.products import hvp

from .implicit_matrices import (
    checked_damping,
    curvature_matrix,
    CurvatureMatrix,
    require_matrix_options,
)


__all__ = ["ggn"]


@explain_unknown_keywords()
def ggn(
    func: Callable[..., Any],
    loss: Callable[[Any], Any],
    argnums: Argnums = 0,
    *,
    damping: Any = 0.0,
) -> Callable[..., CurvatureMatrix]:
    r"""The generalised Gauss-Newton matrix of `loss(func(params))`, known by its products.

    It is $J^\top H J + \lambda I$, with the Jacobian $J$ of `func` by its parameters and the
    Hessian $H$ of `loss` by the outputs: the Hessian of the whole without the curvature of `func`.
    It is positive semi-definite where `loss` is convex (Schraudolph, "Fast curvature matrix-vector
    products for second-order gradient descent", 2002).

    Returns a function of the arguments of `func`, which gives a matrix: `matrix @ v` is a product,
    by one Jacobian-vector product, one `functx.hvp` of `loss` and one vector-Jacobian product.
    `matrix.diagonal()`, `matrix.to_dense()`, `matrix.damped(x)` and `matrix.T` are there, and
    `jax.scipy.sparse.linalg.cg(matrix, b)` solves with it.

    - `func`: a function of trees of real arrays, the model, that returns a tree of real arrays.
    - `loss`: a function of this output that returns one real number; targets it closes over.
    - `argnums`: the parameters: a position (negative counts from the end), the name of an argument,
      or a tuple of those, of which vectors are tuples, too.
    - `damping`: $\lambda$, a real number.

    Shapes: vectors and products are trees like the parameters.
    Errors: TypeError for integer and complex parameters and outputs, for vectors of other dtypes,
    and for a damping that is no real number; ValueError for vectors of another structure or shape,
    and for a `loss` that returns no scalar.

    >>> x = jnp.asarray([[1, 0], [2, 1]], "float32")
    >>> model = lambda w, x: x @ w
    >>> matrix = functx.curvature.ggn(model, lambda y: (y**2).sum())(jnp.zeros(2, "float32"), x)
    >>> matrix @ jnp.asarray([1, 0], "float32")
    Array([10.,  4.], dtype=float32)
    >>> matrix.diagonal()
    Array([10.,  2.], dtype=float32)
    """
    require_matrix_options("ggn", func, argnums)
    require_callable("ggn", loss)
    damping = checked_damping("ggn", damping)

    def product(output: Any, direction: Any) -> Any:
        return hvp(loss, (output,), (direction,))[1][0]

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> CurvatureMatrix:
        return curvature_matrix("ggn", func, argnums, damping, product, args, kwargs)

    return function
