"""Trees beside trees: what a rule returns, matched with the leaves it belongs to."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from functx._transforms.arguments import kind_of


def flat(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree, `None` among them, and its structure."""
    return jax.tree.flatten(tree, is_leaf=lambda x: x is None)


def is_array(x: Any) -> bool:
    """Whether `x` is an array. Python's and NumPy's scalars among arguments are not."""
    return isinstance(x, jax.Array) or (isinstance(x, np.ndarray) and kind_of(x) != "other")


def is_made_array(x: Any) -> bool:
    """Whether `x`, computed by a method, is an array: NumPy's functions make scalars too."""
    return is_array(x) or (isinstance(x, np.generic) and kind_of(x) != "other")


def spread(structure: Any, given: Any) -> list[Any]:
    """An entry of `given` for each leaf; `None` or an int stands for a whole subtree.

    Raises `ValueError` where `given` has another structure.
    """
    if given is None or isinstance(given, int):
        return [given] * structure.num_leaves
    if jax.tree_util.treedef_is_leaf(structure):
        return [given]
    whole = jax.tree.unflatten(structure, [0] * structure.num_leaves)
    layer = jax.tree.structure(whole, is_leaf=lambda x: x is not whole)
    children = zip(structure.children(), layer.flatten_up_to(given), strict=True)
    return [x for child, part in children for x in spread(child, part)]
