"""Where a program looks rows of a table up, and at which indices."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax.experimental.sparse import BCOO

from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr, JaxprEqn
from functx._transforms.programs.inlining import inlined, is_plain_call
from functx._transforms.programs.labels import line_of
from functx._transforms.programs.walking import LOOPS, opened, type_of


@dataclasses.dataclass(frozen=True)
class Lookup:
    """One `gather` of a program: which table it reads, by number, and how."""

    table: int
    eqn: JaxprEqn

    @property
    def indexed(self) -> tuple[int, ...]:
        """The dimensions of the table that have indices."""
        numbers = self.eqn.params["dimension_numbers"]
        return tuple(sorted((*numbers.start_index_map, *numbers.operand_batching_dims)))

    def rows(self, cotangent: Array, indices: Array) -> tuple[Array, Array]:
        """The cotangents of the rows that were read, `[count, *dense]`, and their indices."""
        numbers = self.eqn.params["dimension_numbers"]
        windows = numbers.offset_dims
        lanes = [d for d in range(cotangent.ndim) if d not in windows]
        lead = tuple(cotangent.shape[d] for d in lanes)
        size = type_of(self.eqn.invars[0]).shape
        columns = [self._column(d, indices, lead) for d in self.indexed]
        kept = [jnp.ones(lead, bool)]
        for d, column in zip(self.indexed, columns, strict=True):
            kept.append((column >= 0) & (column < size[d]))
        inside = jnp.stack(kept).all(0)
        clips = self.eqn.params["mode"] == lax.GatherScatterMode.CLIP
        where = [
            jnp.clip(column, 0, size[d] - 1) if clips else jnp.where(inside, column, size[d])
            for d, column in zip(self.indexed, columns, strict=True)
        ]
        data = cotangent.transpose([*lanes, *windows])
        shape = (-1, *(cotangent.shape[d] for d in windows))
        if data.size == 0:
            shape = (inside.size, *shape[1:])
        return data.reshape(shape), jnp.stack([x.ravel() for x in where], -1)

    def _column(self, d: int, indices: Array, lead: tuple[int, ...]) -> Array:
        numbers = self.eqn.params["dimension_numbers"]
        if d in numbers.start_index_map:
            return indices[..., numbers.start_index_map.index(d)]
        along = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(d)]
        return lax.broadcasted_iota(indices.dtype, lead, along)


def with_open_lookups(program: ClosedJaxpr, tables: Sequence[Any]) -> ClosedJaxpr:
    """`program` with the calls opened that may take one of `tables`, its first arguments."""
    types = {(x.shape, x.dtype) for x in tables}
    takes = lambda eqn: any((x.aval.shape, x.aval.dtype) in types for x in eqn.invars)
    return inlined(program, lambda eqn: is_plain_call(eqn) and takes(eqn))


def lookups(who: str, program: ClosedJaxpr, paths: Sequence[str]) -> dict[int, Lookup]:
    """The reads of the program's first arguments, `paths`, by the number of the equation.

    Refuses a program that reads a table in another way.
    """
    jaxpr = opened(program)[0]
    numbers = {x: i for i, x in enumerate(jaxpr.invars[: len(paths)])}
    found = {}
    for i, eqn in enumerate(jaxpr.eqns):
        read = [numbers[x] for x in eqn.invars if not hasattr(x, "val") and x in numbers]
        if not read:
            continue
        if _is_whole(eqn):
            numbers[eqn.outvars[0]] = read[0]
            continue
        if not _is_lookup(eqn, len(read)):
            _refuse_use(who, paths[read[0]], eqn)
        found[i] = Lookup(read[0], eqn)
    return found


def _is_whole(eqn: JaxprEqn) -> bool:
    """Whether the equation is a slice that takes all."""
    return eqn.primitive.name == "slice" and eqn.invars[0].aval == eqn.outvars[0].aval


def _is_lookup(eqn: JaxprEqn, reads: int) -> bool:
    if eqn.primitive.name != "gather" or reads != 1 or hasattr(eqn.invars[1], "val"):
        return False
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    indexed = sorted((*numbers.start_index_map, *numbers.operand_batching_dims))
    shape = type_of(eqn.invars[0]).shape
    collapsed = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    return (
        indexed == list(range(len(indexed)))
        and collapsed == set(indexed)
        and all(n == shape[d] for d, n in enumerate(sizes) if d not in collapsed)
    )


def _refuse_use(who: str, path: str, eqn: JaxprEqn) -> None:
    line = line_of(eqn)
    name = eqn.primitive.name
    hint = "functx.grad gives its whole gradient"
    if name in LOOPS:
        hint = "look the rows up before the loop; " + hint
    elif "slice" in name:
        hint = "index with an array of numbers, table[jnp.asarray([i])]; " + hint
    fail(
        who,
        f"`{path}` must only be looked up, by indices into its first dimensions, but {name!r} "
        f"reads it{f' in {line}' if line else ''}: that has a gradient for every row",
        hint=hint,
    )


def joined(table: Any, parts: Sequence[tuple[Array, Array]]) -> BCOO:
    """The gradient of `table` as its rows: `parts` are rows and indices, one after the other."""
    width = {indices.shape[1] for _, indices in parts} or {min(table.ndim, 1)}
    if len(width) > 1:
        fail(
            "sparse.row_grad",
            f"all lookups of a table must count by as many dimensions, got {sorted(width)} for "
            f"{describe(table)}",
            hint="look rows up first, and elements in the rows",
        )
    count = width.pop()
    if not parts:
        data = jnp.zeros((0, *table.shape[count:]), table.dtype)
        return BCOO((data, jnp.zeros((0, count), "int32")), shape=table.shape)
    dtype = max((x.dtype for _, x in parts), key=lambda dtype: dtype.itemsize)
    data = jnp.concatenate([data for data, _ in parts])
    indices = jnp.concatenate([x.astype(dtype) for _, x in parts])
    return BCOO((data, indices), shape=table.shape)
