"""A sparse derivative from one product for each colour: its plan, its products, its entries."""

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

from functx._core import describe, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._transforms.arguments import require_bools
from functx._transforms.chunking import over_chunks, require_chunk_size, resolved_chunk_size
from functx._transforms.outputs import signed
from functx._transforms.tangents import leaf_types, LeafType

from .agreement import require_agreement
from .calls import DerivativeCall, DerivativeOf
from .coloring import check_orders, color, Coloring, ColoringKind
from .detection import pattern_of
from .orders import VertexOrder
from .patterns import SparsityPattern
from .recovery import Recovery, recovery, stacked


VertexOrders: TypeAlias = VertexOrder | Literal["auto"] | Sequence[VertexOrder]


@dataclasses.dataclass(frozen=True)
class SparsityPlan:
    """What a sparse derivative of some shapes is computed by.

    - `pattern`: which entries there are.
    - `coloring`: which columns, rows or variables share a product.
    - `recovery`: where the entries are in the products.
    """

    pattern: SparsityPattern
    coloring: Coloring
    recovery: Recovery = dataclasses.field(repr=False)

    @property
    def products(self) -> int:
        """How many products a derivative takes."""
        return self.coloring.count


@dataclasses.dataclass(frozen=True)
class SparsityOptions:
    """What the transforms take by keyword."""

    pattern: SparsityPattern | None
    coloring: Coloring | None
    order: VertexOrders
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
    ) -> SparsityOptions:
        """The options, refused where none of them makes sense."""
        who = f"sparsity.{who}"
        require_bools(who, dense=dense, check=check)
        require_chunk_size(who, chunk_size, max_bytes)
        check_orders(who, order)
        if pattern is not None and not isinstance(pattern, SparsityPattern):
            pattern = SparsityPattern(pattern)
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

    def __init__(self, of: DerivativeOf, kinds: Sequence[ColoringKind], options: SparsityOptions):
        self._of, self._kinds, self._options = of, tuple(kinds), options
        self._plans: dict[Any, SparsityPlan] = {}
        ft.update_wrapper(self, of.func, updated=())

    def plan(self, *args: Any, **kwargs: Any) -> SparsityPlan:
        """The pattern and the colouring for arguments of these shapes, traced once."""
        key = self._of.key(args, kwargs)
        if key is None or key not in self._plans:
            made = self._made(args, kwargs)
            if key is None:
                return made
            self._plans[key] = made
        return self._plans[key]

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SparsityPlan:
        given = self._options
        pattern = given.pattern
        if pattern is None:
            pattern = pattern_of(self._of)(*args, **kwargs)
        if given.coloring is not None:
            colorings = [given.coloring]
        else:
            colorings = [color(pattern, kind, given.order) for kind in self._kinds]
        coloring = min(colorings, key=lambda one: one.count)
        return SparsityPlan(pattern, coloring, recovery(self._of.who, pattern, coloring))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The derivative at the arguments: a tree of sparse arrays."""
        return outside_grad_mode(self._derivative)(args, kwargs)

    def _derivative(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plan, call = self.plan(*args, **kwargs), self._of.at(args, kwargs)
        products = pulled if plan.coloring.kind == "row" else pushed
        made = products(call, plan, self._options)
        entries = plan.recovery.entries(stacked(made.products)) if plan.pattern.nnz else None
        if self._options.check:
            require_agreement(call, plan.pattern, entries, plan.coloring.kind)
        return self._joined(call, plan.pattern, entries, made)

    def _joined(
        self, call: DerivativeCall, pattern: SparsityPattern, entries: Any, made: Products
    ) -> Any:
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


def _require_shape(
    call: DerivativeCall, pattern: SparsityPattern, outputs: Sequence[LeafType]
) -> None:
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


def pushed(call: DerivativeCall, plan: SparsityPlan, options: SparsityOptions) -> Products:
    """Jacobian-vector products, `[colors, *output]`; the columns of a colour are one vector."""
    outputs, structure = leaf_types(jax.eval_shape(call.function, *call.values))
    _require_shape(call, plan.pattern, outputs)
    colors = _split(plan.coloring.colors, call.inputs)

    @signed
    def lane(color: Any) -> list[Any]:
        seeds = [(c == color).astype(x.dtype) for c, x in zip(colors, call.inputs, strict=True)]
        tangents = call.structure.unflatten(seeds)
        return jax.tree.leaves(jax.jvp(call.function, call.values, tangents)[1])

    return Products(_over_colors(lane, plan.products, options), outputs, structure)


def pulled(call: DerivativeCall, plan: SparsityPlan, options: SparsityOptions) -> Products:
    """Vector-Jacobian products, `[colors, *input]`; the rows of a colour are one vector."""
    output, pull = jax.vjp(call.function, *call.values)
    outputs, structure = leaf_types(output)
    _require_shape(call, plan.pattern, outputs)
    colors = _split(plan.coloring.colors, outputs)

    @signed
    def lane(color: Any) -> list[Any]:
        seeds = [(c == color).astype(x.dtype) for c, x in zip(colors, outputs, strict=True)]
        return jax.tree.leaves(pull(structure.unflatten(seeds)))

    return Products(_over_colors(lane, plan.products, options), outputs, structure)


def _over_colors(lane: Callable[..., Any], count: int, options: SparsityOptions) -> list[Any]:
    if not count:
        return []
    like = jax.ShapeDtypeStruct((), np.int32)
    lanes = resolved_chunk_size(options.chunk_size, options.max_bytes, lane, [like])

    def run(colors: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
        results = jax.vmap(lane)(*colors)
        return results, [0] * len(results)

    return over_chunks(run, [jnp.arange(count, dtype=np.int32)], [0], lanes)


def _split(colors: np.ndarray, types: Sequence[LeafType]) -> list[np.ndarray]:
    """The colours of the elements of each leaf."""
    borders = np.cumsum([math.prod(x.shape) for x in types])[:-1]
    pieces = np.split(colors, borders)
    return [piece.reshape(x.shape) for piece, x in zip(pieces, types, strict=True)]
