"""Functions of float64 arrays with a costly part for elements that most arrays do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.custom_batching import custom_vmap

from functx._core import platform_dependent


def with_rare_elements(
    has_rare: Callable[..., Array], function: Callable[..., Any], without: Callable[..., Any]
) -> Callable[..., Any]:
    """`function` of float64 arrays of one shape, on CPUs by `without` where no element is rare.

    - `has_rare`: whether any is, a 0-d bool.
    - `without`: gives the values of `function` for all other elements.

    Mapped arrays are asked as a whole: a branch for each lane would compute both.
    """

    @custom_vmap
    def chosen(*arrays: Array) -> Any:
        # Lanes are traced when the operator's own contexts have ended.
        with jax.enable_x64(True), jax.numpy_rank_promotion("allow"):
            return platform_dependent(*arrays, cpu=on_cpu, default=function)

    @chosen.def_vmap
    def in_lanes(size: int, mapped: list[bool], *arrays: Array) -> tuple[Any, Any]:
        lanes = (
            x if is_mapped else jnp.broadcast_to(x, (size, *x.shape))
            for x, is_mapped in zip(arrays, mapped, strict=True)
        )
        out = chosen(*lanes)
        return out, jax.tree.map(lambda _: True, out)

    def on_cpu(*arrays: Array) -> Any:
        return lax.cond(has_rare(*arrays), function, without, *arrays)

    return chosen
