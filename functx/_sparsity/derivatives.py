"""Jacobians and Hessians from one product for each colour, as sparse arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from functx._core import describe, explain_unknown_keywords, fail
from functx._transforms.arguments import Argnums

from .calls import DerivativeOf
from .coloring import Coloring, ColoringKind
from .compressed import SparseDerivative, SparsityOptions, VertexOrders


@explain_unknown_keywords()
def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: VertexOrders = "auto",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    dense: bool = False,
    check: bool = False,
) -> SparseDerivative:
    """The sparse Jacobian of `func`, by one Jacobian-vector product for each colour of columns.

    Columns that have no row in common are one vector, so that a product holds the entries of all of
    them. A tridiagonal Jacobian takes 3 products, of whatever size it is.

    - `func`: a function of trees of real arrays that returns a tree of real arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `pattern`: a `SparsityPattern` or a matrix that one is made of; by default `jacobian_pattern`
      traces it. An entry that it lacks makes other entries wrong, which `check` finds out.
    - `coloring`: a `Coloring` of columns; by default `color` makes it.
    - `order`: the order of vertices that `color` takes.
    - `chunk_size`: how many products are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `dense`: whether the result is dense.
    - `check`: whether each call compares the result times a random vector with the function's own
      product, and refuses a pattern that is too small. It needs values: no transform may trace it.

    Returns a function of the arguments of `func`. It traces and colours at the first call, and
    keeps the plan for later calls of the same shapes, dtypes and other leaves; `plan(*args)` is
    that plan, with its `pattern`, `coloring` and number of `products`. It runs under `jit` and
    `vmap`.
    Shapes: `func: [*n] -> [*m]` gives a `jax.experimental.sparse.BCOO` of shape `[*m, *n]`, all of
    whose dimensions are sparse, in row-major order. A tree of outputs is the outer tree of the
    result, a tuple of `argnums` the next, and the trees of the arguments the inner one.
    Dtypes: those of the outputs; those of several, promoted.
    Errors: those of `jacobian_pattern`; ValueError for a pattern of another shape and a colouring
    that does not tell its entries apart; RuntimeError where `check` finds the pattern too small.

    Source: A. R. Curtis, M. J. D. Powell and J. K. Reid, "On the estimation of sparse Jacobian
    matrices", IMA J. Appl. Math. 13 (1974).

    >>> jac = functx.sparsity.jacfwd(lambda x: x[1:] - x[:-1] ** 2)
    >>> x = jnp.arange(4, dtype="float32")
    >>> jac(x).todense()
    Array([[ 0.,  1.,  0.,  0.],
           [ 0., -2.,  1.,  0.],
           [ 0.,  0., -4.,  1.]], dtype=float32)
    >>> jac.plan(x).products
    2
    """
    given = pattern, coloring, order, chunk_size, max_bytes, dense, check
    return _derivative("jacfwd", func, argnums, ["column"], given)


@explain_unknown_keywords()
def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: VertexOrders = "auto",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    dense: bool = False,
    check: bool = False,
) -> SparseDerivative:
    """The sparse Jacobian of `func`, by one vector-Jacobian product for each colour of rows.

    Better than `jacfwd` where some rows are full, or where rows outnumber columns' colours.

    - `func`: a function of trees of real arrays that returns a tree of real arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `pattern`: a `SparsityPattern` or a matrix that one is made of; by default `jacobian_pattern`
      traces it. An entry that it lacks makes other entries wrong, which `check` finds out.
    - `coloring`: a `Coloring` of rows; by default `color` makes it.
    - `order`: the order of vertices that `color` takes.
    - `chunk_size`: how many products are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `dense`: whether the result is dense.
    - `check`: whether each call compares the result times a random vector with the function's own
      product, and refuses a pattern that is too small. It needs values: no transform may trace it.

    Returns a function of the arguments of `func`, with a method `plan`.
    Shapes: those of `jacfwd`.
    Dtypes: those of the inputs; those of several, promoted.
    Errors: those of `jacfwd`.

    >>> jac = functx.sparsity.jacrev(lambda x: x.sum() * jnp.ones(1))
    >>> jac(jnp.zeros(5)).nse, jac.plan(jnp.zeros(5)).products
    (5, 1)
    """
    given = pattern, coloring, order, chunk_size, max_bytes, dense, check
    return _derivative("jacrev", func, argnums, ["row"], given)


@explain_unknown_keywords()
def jacobian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: VertexOrders = "auto",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    dense: bool = False,
    check: bool = False,
) -> SparseDerivative:
    """The sparse Jacobian of `func`, by `jacfwd` or `jacrev`, whichever takes fewer products.

    - `func`: a function of trees of real arrays that returns a tree of real arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `pattern`: a `SparsityPattern` or a matrix that one is made of; by default `jacobian_pattern`
      traces it. An entry that it lacks makes other entries wrong, which `check` finds out.
    - `coloring`: a `Coloring` of columns or of rows; by default `color` makes it.
    - `order`: the order of vertices that `color` takes.
    - `chunk_size`: how many products are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `dense`: whether the result is dense.
    - `check`: whether each call compares the result times a random vector with the function's own
      product, and refuses a pattern that is too small. It needs values: no transform may trace it.

    Returns a function of the arguments of `func`, with a method `plan`.
    Shapes, dtypes and errors: those of `jacfwd` or `jacrev`.

    >>> jac = functx.sparsity.jacobian(lambda x: jnp.stack([x[0] + x[1], x.sum()]))
    >>> jac.plan(jnp.zeros(100)).coloring
    Coloring('row', 2 colors of 2)
    """
    given = pattern, coloring, order, chunk_size, max_bytes, dense, check
    return _derivative("jacobian", func, argnums, ["column", "row"], given)


@explain_unknown_keywords()
def hessian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    recovery: Literal["direct", "substitution"] = "direct",
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: VertexOrders = "auto",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    dense: bool = False,
    check: bool = False,
) -> SparseDerivative:
    """The sparse Hessian of `func`, by one Hessian-vector product for each colour of variables.

    The Hessian is symmetric, so an entry may be read off either of two products, and a star
    colouring takes fewer of them than one of columns. A product is forward over reverse.

    - `func`: a function of trees of real arrays that returns one real scalar.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `recovery`: `"direct"` reads each entry off a product, by a star colouring;
      `"substitution"` solves for the entries along trees, by an acyclic colouring, which takes
      fewer products and loses some digits: rounding errors add up along the trees.
    - `pattern`: a `SparsityPattern` or a matrix that one is made of; by default `hessian_pattern`
      traces it. An entry that it lacks makes other entries wrong, which `check` finds out.
    - `coloring`: a `Coloring` of that kind, or one of columns, which needs no symmetry; by default
      `color` makes it.
    - `order`: the order of vertices that `color` takes.
    - `chunk_size`: how many products are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `dense`: whether the result is dense.
    - `check`: whether each call compares the result times a random vector with the function's own
      product, and refuses a pattern that is too small. It needs values: no transform may trace it.

    Returns a function of the arguments of `func`, with a method `plan`.
    Shapes: `func: [*n] -> []` gives a BCOO of shape `[*n, *n]`. A tuple of `argnums` and the trees
    of the arguments are in the result twice.
    Errors: those of `jacfwd`, and ValueError for outputs that are no scalars.

    Source: T. F. Coleman and J. J. Moré, "Estimation of sparse Hessian matrices and graph coloring
    problems", Math. Programming 28 (1984).

    >>> hessian = functx.sparsity.hessian(lambda x: (x[1:] * x[:-1] ** 2).sum())
    >>> hessian(jnp.ones(3, "float32")).todense()
    Array([[2., 2., 0.],
           [2., 2., 2.],
           [0., 2., 0.]], dtype=float32)
    """
    if recovery not in ("direct", "substitution"):
        fail(
            "sparsity.hessian",
            f"`recovery` must be 'direct' or 'substitution', got {describe(recovery)}",
            error=ValueError,
        )
    own: ColoringKind = "star" if recovery == "direct" else "acyclic"
    of = DerivativeOf.checked("hessian", func, argnums, "hessian")
    given = pattern, coloring, order, chunk_size, max_bytes, dense, check
    return SparseDerivative(of, [own], SparsityOptions.checked("hessian", [own, "column"], *given))


def _derivative(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    kinds: list[ColoringKind],
    given: tuple[Any, ...],
) -> SparseDerivative:
    """The sparse Jacobian by a colouring of one of these kinds, with options as they were given."""
    of = DerivativeOf.checked(who, func, argnums, "jacobian")
    return SparseDerivative(of, kinds, SparsityOptions.checked(who, kinds, *given))
