"""Mapping a function over a dimension of its arguments."""

from __future__ import annotations

import contextlib
import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from functx._core import describe, fail
from functx._core.random import LaneStream, Randomness, split_lanes

from .arguments import numbered, require_callable
from .chunking import over_chunks, require_chunk_size, resolved_chunk_size
from .dims import broadcast_dims, mapped_size, output_dims, require_dims, without_dims
from .outputs import require_arrays


__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: Randomness = "error",
    *,
    chunk_size: int | str | None = None,
    kw_in_dims: dict[str, Any] | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    """`func`, mapped over one dimension of its arguments: the results of all lanes, stacked.

    - `in_dims`: the dimension to map, for all arguments (an int, negative counts from the
      end) or for each (a tuple). Dicts, tuples and other containers may be nested, and an
      int or None stands for a whole subtree. None leaves an argument as it is in each lane.
    - `out_dims`: where the mapped dimension goes in the outputs, in the same way. None
      promises that an output is the same in every lane, and leaves it unstacked.
    - `randomness`: what draws from the ambient generator give: `"error"` refuses them,
      `"same"` gives each lane the same numbers, `"different"` each its own.
    - `chunk_size`: lanes computed at once, an int, or `"auto"` for as many as fit into
      `max_bytes` (1 GiB by default) by an upper estimate of what a lane keeps alive.
      Random numbers do not depend on it.
    - `kw_in_dims`: dimensions of keyword arguments, by name. Others are not mapped.

    Refuses dimensions out of range (`IndexError`), sizes that differ and dims that do not
    fit the arguments' structure (`ValueError`), and outputs that are not arrays or numbers
    (`TypeError`).

    >>> functx.vmap(jnp.dot)(jnp.ones((3, 2), "float32"), jnp.ones((3, 2), "float32"))
    Array([2., 2., 2.], dtype=float32)
    >>> functx.vmap(jnp.add, in_dims=(0, None), out_dims=1)(jnp.ones((4, 2)), 1).shape
    (2, 4)
    """
    require_callable("vmap", func)
    require_chunk_size("vmap", chunk_size, max_bytes)
    _require_randomness("vmap", randomness)
    if type(in_dims) is list:
        in_dims = tuple(in_dims)
    if type(in_dims) is not int and not isinstance(in_dims, tuple):
        fail(
            "vmap",
            f"`in_dims` must be an int, or a tuple with one entry per argument, got {in_dims!r}",
            error=ValueError if in_dims is None else TypeError,
        )
    require_dims("in_dims", in_dims)
    require_dims("out_dims", out_dims)
    require_dims("kw_in_dims", kw_in_dims or {})

    @ft.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, in_dims, out_dims, randomness, kw_in_dims or {}, args, kwargs)
        if chunk_size is None:
            return call.at_once()
        return call.chunked(chunk_size, max_bytes)

    return mapped


class _Call:
    """One call of a mapped function, its mapped leaves apart from the rest."""

    def __init__(
        self,
        func: Callable[..., Any],
        in_dims: Any,
        out_dims: Any,
        randomness: Randomness,
        kw_in_dims: dict[str, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ):
        named, self.kwargs = _split_keywords(kw_in_dims, kwargs)
        values = (*args, *named.values())
        self.func, self.out_dims, self.names = func, out_dims, tuple(named)
        self.leaves, self.structure = jax.tree.flatten(values)
        paths = (*numbered("args", len(args)), *(f"kwargs[{name!r}]" for name in named))
        dims = _leaf_dims(in_dims, kw_in_dims, args, named)
        size, self.dims = mapped_size(self.leaves, dims, values, paths)
        self.mapped = [i for i, dim in enumerate(self.dims) if dim is not None]
        self.stream = split_lanes(randomness)
        self.per_lane = randomness == "different"
        self.xs = [self.leaves[i] for i in self.mapped]
        self.x_dims: list[int] = [dim for dim in self.dims if dim is not None]
        if self.per_lane:  # global indices: streams do not depend on chunks
            self.xs.append(self.stream.lane_indices(size))
            self.x_dims.append(0)
        self.output_structure: Any = None
        self.output_dims: list[int | None] = []

    def lane(self, *xs: Any) -> Any:
        """One lane: the mapped leaves in, the user's output out, its dims noted."""
        leaves = list(self.leaves)
        for i, x in zip(self.mapped, xs, strict=False):
            leaves[i] = x
        values = self.structure.unflatten(leaves)
        count = len(values) - len(self.names)
        named = dict(zip(self.names, values[count:], strict=True))
        with entered(self.stream, xs[-1] if self.per_lane else None):
            output = self.func(*values[:count], **named, **self.kwargs)
        require_arrays("vmap", output)
        self.output_dims = output_dims(self.out_dims, output)
        return output

    def leaves_of_lane(self, *xs: Any) -> list[Any]:
        """As `lane`, for those whose dims are not alike: leaves, the stacked ones first."""
        leaves, self.output_structure = jax.tree.flatten(self.lane(*xs))
        return leaves

    def at_once(self) -> Any:
        if type(self.out_dims) is int or self.out_dims is None:
            run = jax.vmap(self.lane, in_axes=tuple(self.x_dims), out_axes=self.out_dims)
            return run(*self.xs) if self.out_dims is not None else unmapped(run, self.xs)
        return self.output_structure_of(*self.run(self.xs))

    def run(self, xs: Sequence[Any]) -> tuple[list[Any], list[int | None]]:
        """All lanes of `xs`: leaves of the output, and where their lanes are."""
        stacked, same = jax.vmap(
            self.leaves_apart, in_axes=tuple(self.x_dims), out_axes=(0, None)
        )(*xs)
        raise NotImplementedError
