"""PyTorch's descriptions of trees as trees of JAX's."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any


def filled(spec: Any, leaves: Iterator[Any]) -> Any:
    """The tree that `spec` describes, with its leaves in order.

    Classes of PyTorch's and of libraries become dicts where they have names, and tuples elsewhere.
    """
    if spec.is_leaf():
        return next(leaves)
    children = [filled(child, leaves) for child in spec.children()]
    if spec.type is list:
        return children
    if spec.type in (dict, collections.OrderedDict, collections.defaultdict):
        names = spec.context[1] if spec.type is collections.defaultdict else spec.context
        return dict(zip(names, children, strict=True))
    if spec.type is collections.namedtuple:
        return spec.context(*children)
    names = _names(spec.context, len(children))
    if spec.type is not tuple and names is not None:
        return dict(zip(names, children, strict=True))
    return tuple(children)


def _names(context: Any, many: int) -> list[str] | None:
    """The names of children in what a class keeps to put itself together again."""
    candidates = [context, *context] if isinstance(context, (list, tuple)) else []
    for names in candidates:
        if isinstance(names, (list, tuple)) and len(names) == many and many:
            if all(isinstance(name, str) for name in names):
                return list(names)
    return None
