"""Fisher information matrices: of a model's distribution, and of data."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, Literal

import jax

from functx._core import describe, explain_unknown_keywords, fail
from functx._transforms.arguments import Argnums
from functx._transforms.tangents import LeafType

from .implicit_matrices import (
    checked_damping,
    curvature_matrix,
    CurvatureMatrix,
    OutputProduct,
    require_matrix_options,
)
from .likelihoods import LIKELIHOODS


__all__ = ["empirical_fisher", "fisher"]


@explain_unknown_keywords()
def fisher(
    func: Callable[..., Any],
    likelihood: str | OutputProduct,
    argnums: Argnums = 0,
    *,
    reduction: Literal["mean", "sum"] = "mean",
    damping: Any = 0.0,
) -> Callable[..., CurvatureMatrix]:
    r"""The Fisher information matrix of a model by its parameters, known by its products.

    It is $J^\top F J + \lambda I$, with the Jacobian $J$ of `func` and the Fisher matrix
    $F = \mathrm{E}_y[\nabla \log p(y|z) \, \nabla \log p(y|z)^\top]$ of the distribution of targets
    whose parameters are the outputs $z$. The expectation is exact (type I), over the model's own
    distribution and not over data. It is the matrix of the natural gradient (Amari 1998), and for
    these likelihoods it is the generalised Gauss-Newton matrix (Martens, "New insights and
    perspectives on the natural gradient method", 2020).

    Returns a function of the arguments of `func`, which gives a matrix, as `ggn` does: `matrix @
    v`, `matrix.diagonal()`, `matrix.to_dense()`, `matrix.damped(x)` and `matrix.T`.

    - `func`: a function of trees of real arrays, the model, that returns an array of real numbers.
    - `likelihood`: the loss whose value is the negative logarithm of the likelihood, up to a
      constant: `"cross_entropy"` (logits of classes along dimension 1, or 0 of a single sample),
      `"binary_cross_entropy_with_logits"`, `"mse_loss"` (a normal distribution of variance 1/2), or
      `"poisson_nll_loss"` (logarithms of rates). Or a function `(output, direction)` that returns
      the product of $F$ with `direction`, a tree like the output.
    - `argnums`: the parameters: a position (negative counts from the end), the name of an argument,
      or a tuple of those, of which vectors are tuples, too.
    - `reduction`: `"sum"`, or `"mean"`, which divides by what the loss of that name divides by. A
      function as `likelihood` is not divided.
    - `damping`: $\lambda$, a real number.

    Shapes: vectors and products are trees like the parameters.
    Errors: TypeError for integer and complex parameters and outputs, for vectors of other dtypes,
    and for a damping that is no real number; ValueError for an unknown likelihood or reduction, for
    an output of a named likelihood that is no array, or one without dimensions for
    `"cross_entropy"`, and for vectors of another structure or shape.

    >>> x = jnp.asarray([[1, 0], [2, 1]], "float32")
    >>> model = lambda w, x: x @ w
    >>> matrix = functx.curvature.fisher(model, "mse_loss")(jnp.zeros(2, "float32"), x)
    >>> matrix.to_dense()
    Array([[5., 2.],
           [2., 1.]], dtype=float32)
    """
    require_matrix_options("fisher", func, argnums)
    damping = checked_damping("fisher", damping)
    _require_reduction("fisher", reduction)
    product = likelihood if callable(likelihood) else _named(likelihood, reduction)

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> CurvatureMatrix:
        return curvature_matrix("fisher", func, argnums, damping, product, args, kwargs)

    return function


@explain_unknown_keywords()
def empirical_fisher(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    reduction: Literal["mean", "sum"] = "mean",
    damping: Any = 0.0,
) -> Callable[..., CurvatureMatrix]:
    r"""The empirical Fisher matrix, $\sum_i g_i g_i^\top + \lambda I$ of gradients of each sample.

    It takes the targets from data, and not from the model's distribution: far from a minimum it
    says little of curvature (Kunstner, Balles and Hennig, "Limitations of the empirical Fisher
    approximation for natural gradient descent", 2019). It is cheap, and no likelihood is needed.

    Returns a function of the arguments of `func`, which gives a matrix, as `ggn` does: `matrix @
    v`, `matrix.diagonal()`, `matrix.to_dense()`, `matrix.damped(x)` and `matrix.T`.

    - `func`: a function of trees of real arrays that returns the losses of the samples, one each:
      a tree of real arrays, such as a loss with `reduction="none"`.
    - `argnums`: the parameters: a position (negative counts from the end), the name of an argument,
      or a tuple of those, of which vectors are tuples, too.
    - `reduction`: `"mean"` divides by the number of losses, `"sum"` does not.
    - `damping`: $\lambda$, a real number.

    Shapes: vectors and products are trees like the parameters.
    Errors: TypeError for integer and complex parameters and losses, for vectors of other dtypes,
    and for a damping that is no real number; ValueError for an unknown reduction, and for vectors
    of another structure or shape.

    >>> x = jnp.asarray([[1, 0], [2, 1]], "float32")
    >>> losses = lambda w, x: (x @ w - 1) ** 2
    >>> matrix = functx.curvature.empirical_fisher(losses)(jnp.zeros(2, "float32"), x)
    >>> matrix @ jnp.asarray([1, 0], "float32")
    Array([10.,  4.], dtype=float32)
    """
    require_matrix_options("empirical_fisher", func, argnums)
    damping = checked_damping("empirical_fisher", damping)
    _require_reduction("empirical_fisher", reduction)

    def product(losses: Any, direction: Any) -> Any:
        if reduction == "sum":
            return direction
        count = sum(x.size for x in jax.tree.leaves(losses))
        return jax.tree.map(lambda x: x / count, direction)

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> CurvatureMatrix:
        return curvature_matrix("empirical_fisher", func, argnums, damping, product, args, kwargs)

    return function


def _named(name: Any, reduction: str) -> OutputProduct:
    if name not in LIKELIHOODS:
        fail(
            "fisher",
            f"`likelihood` must be one of {', '.join(map(repr, LIKELIHOODS))} or a function of "
            f"(output, direction), got {describe(name)}",
            error=ValueError,
        )
    likelihood = LIKELIHOODS[name]

    def product(output: Any, direction: Any) -> Any:
        if not isinstance(output, jax.Array):
            fail(
                "fisher",
                f"with likelihood={name!r}, `func` must return one array, "
                f"got a {type(output).__name__}",
                hint="a function as `likelihood` takes any tree",
                error=ValueError,
            )
        if name == "cross_entropy" and output.ndim == 0:
            fail(
                "fisher",
                "with likelihood='cross_entropy', `func` must return logits of classes, got "
                f"{LeafType.of(output)!r}",
                error=ValueError,
            )
        product = likelihood.product(output, direction)
        return product / likelihood.count(output) if reduction == "mean" else product

    return product


def _require_reduction(who: str, reduction: Any) -> None:
    if reduction not in ("mean", "sum"):
        fail(
            who,
            f"`reduction` must be 'mean' or 'sum', got {describe(reduction)}",
            error=ValueError,
        )
