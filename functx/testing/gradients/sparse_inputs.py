"""Sparse inputs of `gradcheck` by all their elements, stored or not.

A rule gives the gradient of stored values alone. Differences of the function at a sparse array that
stores every element say what the others would have, so that a function whose value depends on them
fails the check unless it is `masked`.
"""

from __future__ import annotations

import functools as ft
import importlib
import math
from collections.abc import Callable
from typing import Any

import jax

from functx import vmap
from functx._transforms.sparse_arrays import is_sparse, SparseLayout


def by_all_elements(
    func: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
    """`func` as a function of dense arrays, twice, and these in the place of sparse arguments.

    The first function is differentiated: it takes the stored elements of each array. The second is
    evaluated: it takes all.
    """
    layout = SparseLayout.of(args)
    leaves = layout.structure.flatten_up_to(args)
    like = [x if is_sparse(x) else None for x in leaves]

    def over(read: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        @ft.wraps(func)
        def function(*dense: Any) -> Any:
            parts = zip(layout.structure.flatten_up_to(dense), like, strict=True)
            given = [x if mask is None else read(x, mask) for x, mask in parts]
            return _dense(func(*layout.structure.unflatten(given)))

        return function

    dense = [x.todense() if is_sparse(x) else x for x in leaves]
    return over(_stored), over(_all), layout.structure.unflatten(dense)


def _stored(x: Any, mask: Any) -> Any:
    """The elements of `x` where `mask` stores some."""
    read = importlib.import_module("functx.sparse").sparse_mask  # imported where there is one
    for _ in range(mask.n_batch):
        read = vmap(read)
    return read(x, mask)


def _all(x: Any, mask: Any) -> Any:
    """Every element of `x`, in a sparse array of the dimensions of `mask`."""
    room = math.prod(x.shape[mask.n_batch : mask.n_batch + mask.n_sparse])
    return type(mask).fromdense(x, nse=room, n_batch=mask.n_batch, n_dense=mask.n_dense)


def _dense(output: Any) -> Any:
    return jax.tree.map(lambda y: y.todense() if is_sparse(y) else y, output, is_leaf=is_sparse)
