"""Tangents and cotangents: like what they belong to in structure, shape and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, fail
from functx._core.numbers.weak_types import strong

from .arguments import kind_of, kind_of_dtype, outline


class LeafType(NamedTuple):
    """The shape and dtype of a leaf, hashable, without the leaf."""

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def of(cls, x: Any) -> LeafType:
        if isinstance(x, (jax.Array, LeafType)):
            return cls(x.shape, x.dtype)
        return cls(np.shape(x), jnp.result_type(x))

    def __repr__(self) -> str:
        return describe(jax.ShapeDtypeStruct(self.shape, self.dtype))


def leaf_types(tree: Any) -> tuple[tuple[LeafType, ...], Any]:
    """The shapes and dtypes of a tree's leaves, and its structure."""
    leaves, structure = jax.tree.flatten(tree)
    return tuple([LeafType.of(x) for x in leaves]), structure


def matched(
    who: str, name: str, given: Any, likes: Sequence[Any], structure: Any, of: str
) -> list[Any]:
    """The leaves of `given`, which must be like `likes`; Python numbers take their dtype.

    `likes` are leaves, or what `LeafType` keeps of them. Where one is an integer there is
    nothing to match: JAX's float0 zeros take the place of whatever was given, `None` too.
    """
    try:
        leaves = structure.flatten_up_to(given)
    except ValueError:
        fail(
            who,
            f"`{name}` must have the structure of {of}, {outline(structure)}, "
            f"got {outline(jax.tree.structure(given))}",
            error=ValueError,
        )
    return [
        strong(x)
        if isinstance(x, jax.Array)
        and x.shape == getattr(like, "shape", None)
        and x.dtype == like.dtype
        else _adapted(who, name, x, like, structure, i, of)
        for i, (x, like) in enumerate(zip(leaves, likes, strict=True))
    ]


def _adapted(who: str, name: str, x: Any, like: Any, structure: Any, i: int, of: str) -> Any:
    like = like if isinstance(like, LeafType) else LeafType.of(like)
    if kind_of_dtype(like.dtype) not in ("real", "complex"):
        return np.zeros(like.shape, jax.dtypes.float0)
    kind = kind_of(x)
    if isinstance(x, (int, float, complex)) and not hasattr(x, "dtype"):
        if like.shape == () and (kind != "complex" or kind_of_dtype(like.dtype) == "complex"):
            return jnp.asarray(x, like.dtype)
    elif kind != "other" and LeafType.of(x) == like:
        return jnp.asarray(x)
    got = describe(x) if kind != "other" else _summary(x)
    at = name + _path(structure, i)
    fail(
        who,
        f"`{at}` must be like {of}, {like!r}, got {got}",
        error=TypeError if np.shape(x) == like.shape or kind == "other" else ValueError,
    )


def _path(structure: Any, i: int) -> str:
    marks = structure.unflatten(range(structure.num_leaves))
    return jax.tree_util.keystr(jax.tree_util.tree_leaves_with_path(marks)[i][0])


def _summary(x: Any) -> str:
    return "a " + type(x).__name__ if isinstance(x, (tuple, list, dict)) else describe(x)


def without_float0(tangent: Any, outputs: Sequence[Any]) -> Any:
    """JAX's float0 tangents of integer outputs, as PyTorch's zeros of the output's dtype.

    `outputs` are the leaves of the output, or what `LeafType` keeps of them.
    """
    leaves, structure = jax.tree.flatten(tangent)
    if all(t.dtype != jax.dtypes.float0 for t in leaves):
        return tangent
    return structure.unflatten(
        [
            jnp.zeros(t.shape, LeafType.of(like).dtype) if t.dtype == jax.dtypes.float0 else t
            for t, like in zip(leaves, outputs, strict=True)
        ]
    )
