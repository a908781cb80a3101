"""A `Function`'s own rule for `vmap`: all lanes at once, in place of one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from functx._core import describe, fail
from functx._transforms.concretization import rewording

from .trees import flat, is_made_array, spread


class VmapInfo(NamedTuple):
    """What a `vmap` rule gets to know: the number of lanes, and how draws differ."""

    batch_size: int
    randomness: str = "error"


def lanes_of(
    name: str,
    rule: Callable[..., Any],
    size: int,
    in_dims: tuple[Any, ...],
    args: tuple[Any, ...],
) -> tuple[list[Any], Any]:
    """What `rule` returns, as leaves, arrays with lanes along their first axis, and structure."""
    with rewording(name, "vmap"):
        got = rule(VmapInfo(size), in_dims, *args)
    if type(got) is not tuple or len(got) != 2:
        fail(
            name,
            f"`vmap` must return a pair (output, out_dims), got {describe(got)}",
            error=TypeError,
        )
    found, structure = flat(got[0])
    try:
        out_dims = spread(structure, got[1])
    except ValueError:
        fail(
            name,
            f"the out_dims that `vmap` returns must be like its output, got {describe(got[1])}",
            hint="an int or None may stand for all of a tree",
            error=ValueError,
        )
    return [
        _first(name, y, dim, size) if is_made_array(y) else y
        for y, dim in zip(found, out_dims, strict=True)
    ], structure


def _first(name: str, y: Any, dim: int | None, size: int) -> jax.Array:
    if dim is None:
        return jnp.broadcast_to(y, (size, *y.shape))
    if not -y.ndim <= dim < y.ndim or y.shape[dim] != size:
        fail(
            name,
            f"`vmap` returned {describe(y)} with out_dim {dim}, where it must have {size} lanes",
            error=ValueError,
        )
    return jnp.moveaxis(y, dim, 0)
