"""Sparse arrays among the arguments of a transform: their stored values are differentiated.

A sparse array of `jax.experimental.sparse` is a pytree of stored values and of their indices. The
indices have no derivative, so a transform sees the values alone; what belongs to a sparse array, a
gradient or a tangent, is a sparse array with the same indices.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from functx._core import describe, fail
from functx._core.operators.concrete_values import peek

from .arguments import outline


def sparse_module() -> Any:
    """`jax.experimental.sparse`, or None where nobody has imported it: there is no such array."""
    return sys.modules.get("jax.experimental.sparse")


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse array of `jax.experimental.sparse`."""
    module = sparse_module()
    return module is not None and isinstance(x, module.JAXSparse)


class StoredValues:
    """A batch of arrays that is a pytree of values, which have derivatives, and of integers.

    Like a sparse array it has `tree_flatten` and `tree_unflatten`, the values first among arrays,
    and a dict of what it holds beside arrays.
    """


def stores_values(x: Any) -> bool:
    """Whether of `x`, a pytree, only the values have derivatives: sparse arrays, and others."""
    return isinstance(x, StoredValues) or is_sparse(x)


def holds_sparse(tree: Any) -> bool:
    """Whether a sparse array, or what is differentiated like one, is in `tree`."""
    if sparse_module() is None and not StoredValues.__subclasses__():
        return False
    return any(map(stores_values, leaves_of(tree)))


def leaves_of(tree: Any) -> list[Any]:
    """The leaves of `tree`, each sparse array being one."""
    return jax.tree.leaves(tree, is_leaf=stores_values)


def with_values(array: Any, values: Any) -> Any:
    """The sparse `array` with other stored values, which may be of another dtype."""
    children, info = array.tree_flatten()
    return type(array).tree_unflatten(info, (values, *children[1:]))


def show(array: Any) -> str:
    """A sparse array in an error: `BCOO[3,4] of 5 stored values`."""
    if isinstance(array, StoredValues):
        return repr(array)
    return f"{type(array).__name__}{list(array.shape)} of {array.nse} stored values"


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SparseLayout:
    """A tree without the values of its leaves: where sparse arrays are in it, and their indices.

    - `indices`: of each leaf, the arrays of a sparse array beside its values; nothing of others.
    - `kinds`: of each leaf, the class of a sparse array and what it holds beside arrays, or None.
    - `structure`: the tree, each sparse array being one leaf.
    """

    indices: tuple[tuple[Any, ...], ...]
    kinds: tuple[Any, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})

    @classmethod
    def of(cls, tree: Any) -> SparseLayout:
        """The layout of `tree`."""
        leaves, structure = jax.tree.flatten(tree, is_leaf=stores_values)
        indices, kinds = [], []
        for x in leaves:
            if not stores_values(x):
                indices.append(())
                kinds.append(None)
                continue
            children, info = x.tree_flatten()
            indices.append(tuple(children[1:]))
            kinds.append((type(x), _SparseInfo.of(info)))
        return cls(tuple(indices), tuple(kinds), structure)

    @property
    def templates(self) -> list[Any]:
        """Of each leaf, the sparse array without values, or None."""
        parts = zip(self.indices, self.kinds, strict=True)
        return [
            None if kind is None else kind[0].tree_unflatten(kind[1].info, (None, *indices))
            for indices, kind in parts
        ]

    def values(self, tree: Any) -> Any:
        """`tree`, which has this layout, with the stored values of each sparse array alone."""
        leaves = self.structure.flatten_up_to(tree)
        return self.structure.unflatten(
            [x.tree_flatten()[0][0] if stores_values(x) else x for x in leaves]
        )

    def joined(self, values: Any) -> Any:
        """The tree of sparse arrays that have `values`; None stays None."""
        leaves = self.structure.flatten_up_to(values)
        return self.structure.unflatten(
            [
                x if kind is None or x is None else kind[0].tree_unflatten(kind[1].info, (x, *rest))
                for x, rest, kind in zip(leaves, self.indices, self.kinds, strict=True)
            ]
        )

    def matched(self, who: str, name: str, given: Any, of: str) -> Any:
        """The values of `given`, whose sparse arrays must have the indices of these.

        Indices are compared where their values are known; under `jit` they are taken to be equal.
        """
        try:
            leaves = self.structure.flatten_up_to(given)
        except ValueError:
            fail(
                who,
                f"`{name}` must have the structure of {of}, {outline(self.structure)}, got "
                f"{outline(jax.tree.structure(given, is_leaf=stores_values))}",
                error=ValueError,
            )
        parts = zip(leaves, self.indices, self.kinds, strict=True)
        return self.structure.unflatten(
            [
                x if kind is None else _values_at(who, name, x, indices, kind, of)
                for x, indices, kind in parts
            ]
        )


@dataclasses.dataclass(frozen=True)
class _SparseInfo:
    """What a sparse array holds beside arrays, made hashable."""

    items: tuple[Any, ...]

    @classmethod
    def of(cls, info: dict[str, Any]) -> _SparseInfo:
        return cls(tuple(info.items()))

    @property
    def info(self) -> dict[str, Any]:
        return dict(self.items)


def _values_at(who: str, name: str, x: Any, indices: Sequence[Any], kind: Any, of: str) -> Any:
    if not isinstance(x, kind[0]):
        fail(
            who,
            f"`{name}` must hold a {kind[0].__name__} where {of} does, got {describe(x)}",
            hint=""
            if issubclass(kind[0], StoredValues)
            else "functx.sparse.sparse_mask(x, like) takes the values of a dense array at the "
            "indices of a sparse one",
            error=TypeError,
        )
    (values, *others), _ = x.tree_flatten()
    for mine, others_of_x in zip(indices, others, strict=True):
        if mine is others_of_x:
            continue
        known, seen = peek(mine), peek(others_of_x)
        same = mine.shape == others_of_x.shape
        if not same or (known is not None and seen is not None and not np.array_equal(known, seen)):
            of_batch = isinstance(x, StoredValues)
            fail(
                who,
                f"`{name}` must have the {'lengths' if of_batch else 'indices'} of {of}, got "
                f"others in a {show(x)}",
                hint=""
                if of_batch
                else "functx.sparse.sparse_mask(x.todense(), like) gives it these indices",
                error=ValueError,
            )
    return values


def of_values(func: Callable[..., Any], layout: SparseLayout) -> Callable[..., Any]:
    """`func` as a function of the values of its arguments, the tuple that `layout` describes."""

    @ft.wraps(func)
    def function(*values: Any) -> Any:
        return func(*layout.joined(values))

    return function


def like_outputs(outputs: Any, tangents: Any) -> Any:
    """`tangents` with the indices of the sparse arrays among `outputs`."""
    if not holds_sparse(outputs):
        return tangents
    return jax.tree.map(
        lambda y, t: with_values(y, t.tree_flatten()[0][0]) if stores_values(y) else t,
        outputs,
        tangents,
        is_leaf=stores_values,
    )
