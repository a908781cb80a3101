"""Jacobians and Hessians from one product for each colour, as sparse arrays."""

from __future__ import annotations

import dataclasses
import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse

from functx._core import describe, explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._transforms.arguments import Argnums, require_bools
from functx._transforms.chunking import over_chunks, require_chunk_size, resolved_chunk_size
from functx._transforms.outputs import signed
from functx._transforms.tangents import leaf_types, LeafType

from .agreement import require_agreement
from .calls import Call, DerivativeOf
from .coloring import check_orders, color, Coloring, ColoringKind
from .detection import pattern_of
from .orders import Order
from .patterns import Pattern
from .recovery import Recovery, recovery, stacked


Orders: TypeAlias = Order | Literal["auto"] | Sequence[Order]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a sparse derivative of some shapes is computed by.

    - `pattern`: which entries there are.
    - `coloring`: which columns, rows or variables share a product.
    """

    pattern: Pattern
    coloring: Coloring
    recovery: Recovery = dataclasses.field(repr=False)

    @property
    def products(self) -> int:
        """How many products a derivative takes."""
        return self.coloring.count


@dataclasses.dataclass(frozen=True)
class Options:
    """What the transforms take by keyword."""

    pattern: Pattern | None
    coloring: Coloring | None
    order: Orders
    chunk_size: int | str | None
    max_bytes: int | None
    dense: bool
    check: bool

    @classmethod
    def checked(
        cls,
        who: str,
        kinds: Sequence[ColoringKind],
        pattern: Any,
        coloring: Any,
        order: Any,
        chunk_size: Any,
        max_bytes: Any,
        dense: Any,
        check: Any,
    ) -> Options:
        """The options, refused where none of them makes sense."""
        who = f"sparsity.{who}"
        require_bools(who, dense=dense, check=check)
        require_chunk_size(who, chunk_size, max_bytes)
        check_orders(who, order)
        if pattern is not None and not isinstance(pattern, Pattern):
            pattern = Pattern(pattern)
        if coloring is not None and not isinstance(coloring, Coloring):
            fail(
                who,
                f"`coloring` must be a functx.sparsity.Coloring, got {describe(coloring)}",
                hint="Coloring(colors, kind)",
                error=TypeError,
            )
        if coloring is not None and coloring.kind not in kinds:
            named = " or ".join(map(repr, kinds))
            fail(who, f"`coloring` must be of kind {named}, got {coloring!r}", error=ValueError)
        return cls(pattern, coloring, order, chunk_size, max_bytes, dense, check)


class SparseDerivative:
    """A function of the arguments to a sparse derivative, which keeps a plan for their shapes."""

    def __init__(self, of: DerivativeOf, kinds: Sequence[ColoringKind], options: Options):
        self._of, self._kinds, self._options = of, tuple(kinds), options
        self._plans: dict[Any, Plan] = {}
        ft.update_wrapper(self, of.func, updated=())

    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """The pattern and the colouring for arguments of these shapes, traced once."""
        key = self._of.key(args, kwargs)
        if key is None or key not in self._plans:
            made = self._made(args, kwargs)
            if key is None:
                return made
            self._plans[key] = made
        return self._plans[key]

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plan:
        given = self._options
        pattern = given.pattern
        if pattern is None:
            pattern = pattern_of(self._of)(*args, **kwargs)
        if given.coloring is not None:
            colorings = [given.coloring]
        else:
            colorings = [color(pattern, kind, given.order) for kind in self._kinds]
        coloring = min(colorings, key=lambda one: one.count)
        return Plan(pattern, coloring, recovery(self._of.who, pattern, coloring))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The derivative at the arguments: a tree of sparse arrays."""
        return outside_grad_mode(self._derivative)(args, kwargs)

    def _derivative(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plan, call = self.plan(*args, **kwargs), self._of.at(args, kwargs)
        _require_shape(call, plan.pattern)
        products = pulled if plan.coloring.kind == "row" else pushed
        made = products(call, plan.coloring, self._options)
        entries = plan.recovery.entries(stacked(made.products)) if plan.pattern.nnz else None
        if self._options.check:
            require_agreement(call, plan.pattern, entries, plan.coloring.kind)
        return self._joined(call, plan.pattern, entries, made)

    def _joined(self, call: Call, pattern: Pattern, entries: Any, made: Products) -> Any:
        """The entries as a tree: outputs, then the tuple of `argnums` if it is one, then inputs."""
        rows, columns = pattern.rows, pattern.columns
        of_row, of_column = _leaf_of(rows, made.outputs), _leaf_of(columns, call.inputs)
        trees = []
        for o, out in enumerate(made.outputs):
            blocks = []
            for i, x in enumerate(call.inputs):
                at = np.flatnonzero((of_row[0] == o) & (of_column[0] == i))
                place = of_row[1][at], of_column[1][at]
                blocks.append(_block(entries, at, place, out, x))
            blocks = [x.todense() if self._options.dense else x for x in blocks]
            tree = call.structure.unflatten(blocks)
            trees.append(tree if self._of.several else tree[0])
        return made.structure.unflatten(trees)


def _require_shape(call: Call, pattern: Pattern) -> None:
    outputs = leaf_types(jax.eval_shape(call.function, *call.values))[0]
    shape = tuple(sum(math.prod(x.shape) for x in types) for types in (outputs, call.inputs))
    if pattern.shape != shape:
        fail(
            call.who,
            f"`pattern` must be of shape {list(shape)}, outputs by inputs, got {pattern!r}",
            error=ValueError,
        )


def _leaf_of(numbers: np.ndarray, types: Sequence[LeafType]) -> tuple[np.ndarray, np.ndarray]:
    """In which leaf each element is, and which of its elements."""
    starts = np.cumsum([0, *(math.prod(x.shape) for x in types)])
    leaf = np.searchsorted(starts, numbers, side="right") - 1
    return leaf, numbers - starts[leaf]


def _block(
    entries: Any,
    at: np.ndarray,
    place: tuple[np.ndarray, np.ndarray],
    out: LeafType,
    x: LeafType,
) -> Any:
    """The entries number `at`, at these places, as a sparse array `[*output, *input]`."""
    shape = (*out.shape, *x.shape)
    coordinates = [*np.unravel_index(place[0], out.shape), *np.unravel_index(place[1], x.shape)]
    indices = np.stack(coordinates, 1) if shape else np.zeros((at.size, 0))
    dtype = jnp.promote_types(out.dtype, x.dtype) if entries is None else entries.dtype
    values = jnp.zeros(0, dtype) if entries is None else entries[at]
    return sparse.BCOO(
        (values, jnp.asarray(indices.astype(np.int32))),
        shape=shape,
        indices_sorted=True,
        unique_indices=True,
    )


@dataclasses.dataclass
class Products:
    """Products with one vector for each colour, by leaf, and what the function returns."""

    products: list[Any]
    outputs: tuple[LeafType, ...]
    structure: Any


def pushed(call: Call, coloring: Coloring, options: Options) -> Products:
    """Jacobian-vector products, `[colors, *output]`; the columns of a colour are one vector."""
    colors = _split(coloring.colors, call.inputs)
    made = Products([], *leaf_types(jax.eval_shape(call.function, *call.values)))

    @signed
    def lane(color: Any) -> list[Any]:
        seeds = [(c == color).astype(x.dtype) for c, x in zip(colors, call.inputs, strict=True)]
        tangents = call.structure.unflatten(seeds)
        return jax.tree.leaves(jax.jvp(call.function, call.values, tangents)[1])

    made.products = _over_colors(lane, coloring, options)
    return made


def pulled(call: Call, coloring: Coloring, options: Options) -> Products:
    """Vector-Jacobian products, `[colors, *input]`; the rows of a colour are one vector."""
    output, pull = jax.vjp(call.function, *call.values)
    outputs, structure = leaf_types(output)
    colors = _split(coloring.colors, outputs)

    @signed
    def lane(color: Any) -> list[Any]:
        seeds = [(c == color).astype(x.dtype) for c, x in zip(colors, outputs, strict=True)]
        return jax.tree.leaves(pull(structure.unflatten(seeds)))

    return Products(_over_colors(lane, coloring, options), outputs, structure)


def _over_colors(lane: Callable[..., Any], coloring: Coloring, options: Options) -> list[Any]:
    if not coloring.count:
        return []
    like = jax.ShapeDtypeStruct((), np.int32)
    lanes = resolved_chunk_size(options.chunk_size, options.max_bytes, lane, [like])

    def run(colors: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
        results = jax.vmap(lane)(*colors)
        return results, [0] * len(results)

    return over_chunks(run, [jnp.arange(coloring.count, dtype=np.int32)], [0], lanes)


def _split(colors: np.ndarray, types: Sequence[LeafType]) -> list[np.ndarray]:
    """The colours of the elements of each leaf."""
    borders = np.cumsum([math.prod(x.shape) for x in types])[:-1]
    pieces = np.split(colors, borders)
    return [piece.reshape(x.shape) for piece, x in zip(pieces, types, strict=True)]


@explain_unknown_keywords()
def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: Orders = "auto",
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
    - `pattern`: a `Pattern` or a matrix that one is made of; by default `jacobian_pattern` traces
      it. An entry that it lacks makes other entries wrong, which `check` finds out.
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
    of = DerivativeOf.checked("jacfwd", func, argnums, "jacobian")
    given = pattern, coloring, order, chunk_size, max_bytes, dense, check
    return SparseDerivative(of, ["column"], Options.checked("jacfwd", ["column"], *given))


@explain_unknown_keywords()
def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: Orders = "auto",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    dense: bool = False,
    check: bool = False,
) -> SparseDerivative:
    """The sparse Jacobian of `func`, by one vector-Jacobian product for each colour of rows.

    Better than `jacfwd` where some rows are full, or where rows outnumber columns' colours.

    - `func`, `argnums`, `pattern`, `order`, `chunk_size`, `max_bytes`, `dense`, `check`: as
      `jacfwd` takes them.
    - `coloring`: a `Coloring` of rows.

    Returns a function of the arguments of `func`, with a method `plan`.
    Shapes: those of `jacfwd`.
    Dtypes: those of the inputs; those of several, promoted.
    Errors: those of `jacfwd`.

    >>> jac = functx.sparsity.jacrev(lambda x: x.sum() * jnp.ones(1))
    >>> jac(jnp.zeros(5)).nse, jac.plan(jnp.zeros(5)).products
    (5, 1)
    """
    of = DerivativeOf.checked("jacrev", func, argnums, "jacobian")
    given = pattern, coloring, order, chunk_size, max_bytes, dense, check
    return SparseDerivative(of, ["row"], Options.checked("jacrev", ["row"], *given))


@explain_unknown_keywords()
def jacobian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: Orders = "auto",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    dense: bool = False,
    check: bool = False,
) -> SparseDerivative:
    """The sparse Jacobian of `func`, by `jacfwd` or `jacrev`, whichever takes fewer products.

    - `func`, `argnums`, `pattern`, `order`, `chunk_size`, `max_bytes`, `dense`, `check`: as
      `jacfwd` takes them.
    - `coloring`: a `Coloring` of columns or of rows.

    Returns a function of the arguments of `func`, with a method `plan`.
    Shapes, dtypes and errors: those of `jacfwd` or `jacrev`.

    >>> jac = functx.sparsity.jacobian(lambda x: jnp.stack([x[0] + x[1], x.sum()]))
    >>> jac.plan(jnp.zeros(100)).coloring
    Coloring('row', 2 colors of 2)
    """
    of = DerivativeOf.checked("jacobian", func, argnums, "jacobian")
    given = pattern, coloring, order, chunk_size, max_bytes, dense, check
    kinds: list[ColoringKind] = ["column", "row"]
    return SparseDerivative(of, kinds, Options.checked("jacobian", kinds, *given))


@explain_unknown_keywords()
def hessian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    recovery: Literal["direct", "substitution"] = "direct",
    pattern: Any = None,
    coloring: Coloring | None = None,
    order: Orders = "auto",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    dense: bool = False,
    check: bool = False,
) -> SparseDerivative:
    """The sparse Hessian of `func`, by one Hessian-vector product for each colour of variables.

    The Hessian is symmetric, so an entry may be read off either of two products, and a star
    colouring takes fewer of them than one of columns. A product is forward over reverse.

    - `func`: a function of trees of real arrays that returns one real scalar.
    - `argnums`: the arguments to differentiate, as `jacfwd` takes them.
    - `recovery`: `"direct"` reads each entry off a product, by a star colouring;
      `"substitution"` solves for the entries along trees, by an acyclic colouring, which takes
      fewer products and loses some digits: rounding errors add up along the trees.
    - `pattern`, `order`, `chunk_size`, `max_bytes`, `dense`, `check`: as `jacfwd` takes them.
    - `coloring`: a `Coloring` of that kind, or one of columns, which needs no symmetry.

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
    return SparseDerivative(of, [own], Options.checked("hessian", [own, "column"], *given))
