"""The arrays of a tree apart from its other leaves, which no program can take or give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from functx._core import is_numeric


class Apart(NamedTuple):
    """A tree: its arrays, and what is needed to put others in their place."""

    arrays: list[Any]
    rest: list[Any]  # the other leaves, and a mark in the place of each array
    structure: Any

    def whole(self, arrays: Sequence[Any]) -> Any:
        """The tree with `arrays` in the place of its own."""
        given = iter(arrays)
        leaves = [next(given) if x is _ARRAY else x for x in self.rest]
        return self.structure.unflatten(leaves)


_ARRAY = object()


def apart(tree: Any, *also: type) -> Apart:
    """The arrays of `tree` apart from Python's numbers, strings, functions and other objects.

    `also` are types that count as arrays.
    """
    leaves, structure = jax.tree.flatten(tree)
    marks = [_is_array(x) or isinstance(x, also) for x in leaves]
    arrays = [x for x, marked in zip(leaves, marks, strict=True) if marked]
    rest = [_ARRAY if marked else x for x, marked in zip(leaves, marks, strict=True)]
    return Apart(arrays, rest, structure)


def _is_array(x: Any) -> bool:
    return isinstance(x, jax.Array) or (
        isinstance(x, (np.ndarray, np.generic)) and is_numeric(x.dtype)
    )
