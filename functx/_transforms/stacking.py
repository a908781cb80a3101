"""Trees of arrays stacked into one, for ensembles under `vmap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, fail, foreign_hint
from functx._core.numbers.weak_types import strong

from .arguments import kind_of, outline, registration_of
from .generics import X
from .numbers import as_arrays
from .outputs import is_key
from .tangents import LeafType


__all__ = ["stack_trees", "unstack_tree"]


def stack_trees(trees: Sequence[X]) -> X:
    """One tree from many alike: each leaf stacked along a new first dimension.

    - `trees`: a sequence of trees of arrays.

    PyTorch's `stack_module_state`, for parameters in a pytree: `vmap` over the result runs an
    ensemble.

    Shapes: `n` leaves `[...]` give `[n, ...]`; dtypes stay.
    Errors: ValueError for trees of unequal structure or shapes and for none, TypeError for unequal
    dtypes.

    >>> functx.stack_trees([{"w": jnp.float32(1)}, {"w": jnp.float32(2)}])
    {'w': Array([1., 2.], dtype=float32)}
    """
    if not isinstance(trees, Sequence) or isinstance(trees, str):
        fail(
            "stack_trees",
            f"`trees` must be a list or tuple of trees, got {describe(trees)}",
            error=TypeError,
        )
    if not trees:
        fail("stack_trees", "`trees` must not be empty", error=ValueError)
    trees = [as_arrays(tree) for tree in trees]
    first, structure = jax.tree.flatten(trees[0])
    rows = [first]
    for i, tree in enumerate(trees[1:], 1):
        leaves, other = jax.tree.flatten(tree)
        if other != structure:
            fail(
                "stack_trees",
                f"`trees[{i}]` must have the structure of `trees[0]`, "
                f"{outline(structure)}, got {outline(other)}",
                error=ValueError,
            )
        rows.append(leaves)
    for i, tree in enumerate(trees):
        _require_like_first(trees[0], tree, i)
    return structure.unflatten([jnp.stack(column) for column in zip(*rows, strict=True)])


def _require_like_first(first: Any, tree: Any, i: int) -> None:
    firsts = jax.tree.leaves(first)
    for (path, x), like in zip(jax.tree_util.tree_leaves_with_path(tree), firsts, strict=True):
        at = f"trees[{i}]{jax.tree_util.keystr(path)}"
        if kind_of(x) == "other" and not is_key(x):
            foreign, own = foreign_hint(x), registration_of(x)
            hint = foreign or own
            kind = "an array or a pytree of arrays" if own and not foreign else "an array"
            got = f"`{at}` must be {kind}, got {describe(x)}"
            fail("stack_trees", got, hint=hint, error=TypeError)
        if LeafType.of(x) != LeafType.of(like):
            fail(
                "stack_trees",
                f"`{at}` must be like that of `trees[0]`, {LeafType.of(like)!r}, "
                f"got {LeafType.of(x)!r}",
                error=TypeError if np.shape(x) == np.shape(like) else ValueError,
            )


def unstack_tree(tree: X) -> list[X]:
    """The trees that `stack_trees` stacked.

    - `tree`: a tree of arrays with one first size `n`.

    Shapes: leaves `[n, ...]` give `n` trees of leaves `[...]`; dtypes stay.
    Errors: ValueError for leaves of unequal first sizes or without dimensions.

    >>> functx.unstack_tree({"w": jnp.asarray([1, 2], "float32")})
    [{'w': Array(1., dtype=float32)}, {'w': Array(2., dtype=float32)}]
    """
    leaves, structure = jax.tree.flatten(tree)
    if not leaves:
        fail("unstack_tree", "`tree` must hold at least one array", error=ValueError)
    size, first = None, ""
    for path, x in jax.tree_util.tree_leaves_with_path(tree):
        at = f"tree{jax.tree_util.keystr(path)}"
        if kind_of(x) == "other" and not is_key(x):
            fail("unstack_tree", f"`{at}` must be an array, got {describe(x)}", error=TypeError)
        if np.ndim(x) == 0:
            fail(
                "unstack_tree",
                f"`{at}` must have a first dimension, got {describe(x)}",
                error=ValueError,
            )
        if size is None:
            size, first = np.shape(x)[0], at
        elif np.shape(x)[0] != size:
            fail(
                "unstack_tree",
                f"first dimensions must have one size, but `{first}` has {size} and `{at}`, "
                f"{describe(x)}, has {np.shape(x)[0]}",
                error=ValueError,
            )
    columns = [list(jnp.unstack(strong(x))) for x in leaves]
    return [structure.unflatten(row) for row in zip(*columns, strict=True)]
