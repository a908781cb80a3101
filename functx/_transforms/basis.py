"""The standard basis of the space that a tree's leaves span."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .chunking import over_chunks
from .tangents import LeafType


def over_basis(
    run: Callable[[Sequence[jax.Array]], tuple[list[Any], list[int | None]]],
    types: tuple[LeafType, ...],
    lanes: int | None,
    *,
    with_index: bool = False,
) -> list[Any]:
    """`run` on the standard basis of the space that `types` spans, `lanes` vectors at a time."""
    size = sum(math.prod(x.shape) for x in types)
    if not with_index and (lanes is None or lanes >= size):
        return run(_basis(size, types))[0]

    def run_at(xs: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
        basis = _basis_at(xs[0], types)
        return run([*basis, xs[0]] if with_index else basis)

    return over_chunks(run_at, [jnp.arange(size, dtype=np.int32)], [0], lanes)


# Compiled, so that an eager Jacobian makes its basis in one dispatch; `inline`, so that a
# recorded one shows no trace of it. Comparing indices keeps the identity out of the
# program's constants, where its size would be that of the Jacobian.
@ft.partial(jax.jit, static_argnums=(0, 1), inline=True)
def _basis(size: int, types: tuple[LeafType, ...]) -> list[jax.Array]:
    return _basis_at(lax.iota(np.int32, size), types)


@ft.partial(jax.jit, static_argnums=1, inline=True)
def _basis_at(index: jax.Array, types: tuple[LeafType, ...]) -> list[jax.Array]:
    """The basis vectors number `index`, `[n]`, each a tree's leaves: `[n, *shape]`."""
    basis, offset = [], 0
    for shape, dtype in types:
        size = math.prod(shape)
        element = lax.broadcasted_iota(np.int32, (index.size, size), 1) + offset
        hit = lax.eq(element, lax.broadcast_in_dim(index, element.shape, (0,)))
        basis.append(hit.astype(dtype).reshape(index.size, *shape))
        offset += size
    return basis


def split(stacked: Sequence[Any], types: tuple[LeafType, ...], *, axis: int) -> list[list[Any]]:
    """Each array of `stacked`, cut along the basis at the borders of the leaves of `types`."""
    if len(types) == 1:
        return [list(stacked)]
    parts, start = [], 0
    for x in types:
        stop = start + math.prod(x.shape)
        parts.append([lax.slice_in_dim(y, start, stop, axis=axis) for y in stacked])
        start = stop
    return parts
