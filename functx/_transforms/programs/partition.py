"""The arrays of a tree and its other leaves, which no program can take or give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from functx._core import is_numeric
from functx._transforms.arguments import leaves_with_paths, numbered


class Partition(NamedTuple):
    """A tree: its arrays, and what is needed to put others in their place."""

    arrays: list[Any]
    rest: list[Any]  # the other leaves, and a mark in the place of each array
    structure: Any

    @property
    def others(self) -> list[Any]:
        """The leaves that are no arrays."""
        return [x for x in self.rest if x is not _ARRAY]

    def whole(self, arrays: Sequence[Any]) -> Any:
        """The tree with `arrays` in the place of its own arrays."""
        given = iter(arrays)
        leaves = [next(given) if x is _ARRAY else x for x in self.rest]
        return self.structure.unflatten(leaves)


_ARRAY = object()


def is_array(x: Any) -> bool:
    """Whether `x` is an array of JAX or NumPy, not one of Python's numbers."""
    return isinstance(x, jax.Array) or (
        isinstance(x, (np.ndarray, np.generic)) and is_numeric(x.dtype)
    )


def partition(tree: Any, counts: Callable[[Any], bool] = is_array) -> Partition:
    """The leaves of `tree` that count as arrays, and the others.

    By default Python's numbers, strings, functions and other objects are no arrays.
    """
    leaves, structure = jax.tree.flatten(tree)
    marks = [*map(counts, leaves)]
    arrays = [x for x, marked in zip(leaves, marks, strict=True) if marked]
    rest = [_ARRAY if marked else x for x, marked in zip(leaves, marks, strict=True)]
    return Partition(arrays, rest, structure)


def array_paths(call: Partition) -> tuple[str, ...]:
    """What errors and reports call each array in `call`, a pair of arguments and keyword arguments.

    Such as `args[0]['w']`.
    """
    mark = object()
    args, kwargs = call.whole([mark] * len(call.rest))
    values = (*args, *(kwargs[name] for name in sorted(kwargs)))
    paths = (*numbered("args", len(args)), *(f"kwargs[{name!r}]" for name in sorted(kwargs)))
    return tuple(path for path, x in leaves_with_paths(values, paths) if x is mark)
