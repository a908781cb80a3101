"""Shapes, dtypes and arrays."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from functx.testing.make import Make
from functx.testing.options import names_of


def shapes(
    *, min_dims: int = 0, max_dims: int = 3, min_side: int = 0, max_side: int = 3
) -> st.SearchStrategy[tuple[int, ...]]:
    """Small shapes, empty ones included."""
    sides = st.integers(min_side, max_side)
    return st.lists(sides, min_size=min_dims, max_size=max_dims).map(tuple)


@st.composite
def broadcastable(
    draw: st.DrawFn, count: int = 2, *, max_dims: int = 3, max_side: int = 3
) -> list[tuple[int, ...]]:
    """Shapes that broadcast against each other, each with some dimensions 1 or left out."""
    whole = draw(shapes(max_dims=max_dims, max_side=max_side))
    out = []
    for _ in range(count):
        kept = [side if draw(st.booleans()) else 1 for side in whole]
        out.append(tuple(kept[draw(st.integers(0, len(kept))) :]))
    return out


@st.composite
def arrays(
    draw: st.DrawFn, shape: tuple[int, ...], dtypes: str | Sequence[str] = ("float32",)
) -> jax.Array:
    """Arrays of a shape, in one of the dtypes, with values as samples have them."""
    dtype = np.dtype(jnp.dtype(draw(st.sampled_from(names_of(dtypes)))))
    seed = draw(st.integers(0, 2**32 - 1))
    return Make(dtype, np.random.default_rng(seed))(*shape)
