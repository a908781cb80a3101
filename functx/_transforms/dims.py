"""Mapped dimensions: `in_dims` and `out_dims` against what they describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from functx._core import describe, fail, foreign_hint

from .arguments import kind_of, leaves_with_paths, outline
from .outputs import is_key


def _is_none(x: Any) -> bool:
    return x is None


def require_dims(name: str, dims: Any) -> None:
    """Refuses what holds anything but ints and None."""
    if type(dims) is int:
        return
    for path, dim in jax.tree_util.tree_leaves_with_path(dims, is_leaf=_is_none):
        if dim is not None and type(dim) is not int:
            fail(
                "vmap",
                f"`{name}{jax.tree_util.keystr(path)}` must be an int or None, got {describe(dim)}",
                error=TypeError,
            )


def broadcast_dims(name: str, dims: Any, tree: Any, of: str) -> list[int | None]:
    """`dims`, a prefix of `tree`, as one dim for each leaf."""
    if type(dims) is int or dims is None:
        return [dims] * len(jax.tree.leaves(tree))
    given, prefix = jax.tree.flatten(dims, is_leaf=_is_none)
    try:
        subtrees = prefix.flatten_up_to(tree)
    except ValueError:
        fail(
            "vmap",
            f"`{name}`={dims} does not fit the structure of {of}, "
            f"{outline(jax.tree.structure(tree))}",
            hint="an int or None may stand for a whole subtree; containers must match in type "
            "and length",
            error=ValueError,
        )
    return [
        dim
        for dim, subtree in zip(given, subtrees, strict=True)
        for _ in range(len(jax.tree.leaves(subtree)))
    ]


def mapped_size(
    leaves: list[Any],
    dims: Sequence[int | None],
    values: tuple[Any, ...],
    paths: tuple[str, ...],
    axis_size: int | None = None,
) -> tuple[int, list[int | None]]:
    """The common size of the mapped dimensions, and these dimensions counted from the front.

    It must be `axis_size`, if that is given, and is it where nothing is mapped.
    """
    size, ragged, front = None, False, []
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            front.append(None)
            continue
        if kind_of(x) == "other" and not is_key(x):
            at = leaves_with_paths(values, paths)[i][0]
            fail(
                "vmap",
                f"`{at}` must be an array to be mapped along dimension {dim}, got {describe(x)}",
                hint=foreign_hint(x) or "in_dims=None leaves an argument unmapped",
                error=TypeError,
            )
        shape = np.shape(x)
        if not -len(shape) <= dim < len(shape):
            at = leaves_with_paths(values, paths)[i][0]
            fail(
                "vmap",
                f"`in_dims` {describe(dim)} is out of range for `{at}`, {_shown(x)}",
                hint="in_dims=None leaves an argument unmapped",
                error=IndexError,
            )
        front.append(dim % len(shape))
        if size is None:
            size = shape[dim]
        elif size != shape[dim]:
            ragged = True
    if size is None:
        size = axis_size
    if size is None:
        fail(
            "vmap",
            "at least one array must be mapped, but "
            + ("every in_dim is None" if leaves else "there are no arguments to map"),
            hint="keyword arguments are mapped by kw_in_dims={name: dim} only; axis_size= says "
            "how many lanes there are where nothing is mapped",
            error=ValueError,
        )
    if ragged:
        _refuse_ragged("mapped dimensions must have one size", leaves, front, values, paths)
    if axis_size is not None and size != axis_size:
        what = f"mapped dimensions must have the size axis_size={axis_size}"
        _refuse_ragged(what, leaves, front, values, paths)
    return size, front


def _refuse_ragged(
    what: str,
    leaves: list[Any],
    dims: Sequence[int | None],
    values: tuple[Any, ...],
    paths: tuple[str, ...],
) -> None:
    named = [at for at, _ in leaves_with_paths(values, paths)]
    sizes = [
        f"`{at}` {_shown(x)} has {np.shape(x)[dim]} in dimension {dim}"
        for at, x, dim in zip(named, leaves, dims, strict=True)
        if dim is not None
    ]
    fail("vmap", f"{what}, but {', '.join(sizes)}", error=ValueError)


def _shown(x: Any) -> str:
    return "a Python number" if isinstance(x, (int, float, complex)) else describe(x)


def output_dims(out_dims: Any, output: Any) -> list[int | None]:
    """One dim for each leaf of one lane's output, counted from the front of the result."""
    leaves = jax.tree.leaves(output)
    if is_single_dim(out_dims, output):
        out_dims = out_dims[0]
    dims = broadcast_dims("out_dims", out_dims, output, "the output of `func`")
    front: list[int | None] = []
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        rank = np.ndim(x) + 1
        if dim is not None and not -rank <= dim < rank:
            path = jax.tree_util.tree_leaves_with_path(output)[i][0]
            fail(
                "vmap",
                f"`out_dims` {dim} is out of range for `output{jax.tree_util.keystr(path)}`, "
                f"{describe(x)} in each lane, so {rank} dimensions in all",
                error=IndexError,
            )
        front.append(None if dim is None else dim % rank)
    return front


def is_single_dim(out_dims: Any, output: Any) -> bool:
    """Whether `out_dims` is a tuple of one for an output that is one array: PyTorch takes it."""
    return type(out_dims) is tuple and len(out_dims) == 1 and jax.tree_util.all_leaves([output])


def without_dims(xs: Sequence[Any], dims: Sequence[int]) -> list[jax.ShapeDtypeStruct]:
    """One lane of each mapped array: its shape without the mapped dimension."""
    return [
        jax.ShapeDtypeStruct(x.shape[:dim] + x.shape[dim + 1 :], x.dtype)
        for x, dim in zip(xs, dims, strict=True)
    ]
