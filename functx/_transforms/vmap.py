"""Mapping a function over a dimension of its arguments."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import numpy as np

from functx._core import describe, explain_unknown_keywords, fail
from functx._core.numbers.wide_integers import require_representable, wide_integers_fit
from functx._core.randomness.ambient_generator import Randomness, split_lanes

from .anomaly.lanes import in_lanes
from .arguments import numbered, require_callable, require_randomness
from .chunking import lane_shards, over_chunks, require_chunk_size, resolved_chunk_size
from .concretization import tracing
from .dims import (
    broadcast_dims,
    is_single_dim,
    mapped_size,
    output_dims,
    require_dims,
    without_dims,
)
from .eager import eager_vmap
from .generics import P, Y
from .named_axes import alone, Axis, require_axis
from .numbers import as_arrays
from .outputs import is_float0, require_arrays, signed
from .sparse_arrays import sparse_module
from .sparse_lanes import SparseLanes


__all__ = ["vmap"]


@explain_unknown_keywords()
def vmap(
    func: Callable[P, Y],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: Randomness = "error",
    *,
    chunk_size: int | str | None = None,
    kw_in_dims: dict[str, Any] | None = None,
    max_bytes: int | None = None,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
) -> Callable[P, Y]:
    """`func`, mapped over one dimension of its arguments: the results of all lanes, stacked.

    - `in_dims`: the dimension to map, for all arguments (an int, negative counts from the
      end) or for each (a tuple). Dicts, tuples and other containers may be nested, and an
      int or None stands for a whole subtree. None leaves an argument as it is in each lane.
    - `out_dims`: where the mapped dimension goes in the outputs, in the same way. None
      promises that an output is the same in every lane, and leaves it unstacked; what is no
      array comes back as it is.
    - `randomness`: what draws from the ambient generator give: `"error"` refuses them,
      `"same"` gives each lane the same numbers, `"different"` each its own.
    - `chunk_size`: lanes computed at once, an int, or `"auto"` for as many as fit into
      `max_bytes` (1 GiB by default) by an upper estimate of what a lane keeps alive.
      Random numbers do not depend on it. Lanes that are split over devices stay there, if it is no
      less than the number of these.
    - `kw_in_dims`: dimensions of keyword arguments, by name. Others are not mapped.
    - `axis_name`: a name for the mapped dimension, by which collectives in `func` cross the lanes:
      `jax.lax.psum(x, axis_name)` and its kin, `jax.lax.axis_index(axis_name)`.
    - `axis_size`: the number of lanes, for a call that maps no argument.
    - `spmd_axis_name`: the axis, or axes, of the device mesh that the mapped dimension is split
      over, for sharding constraints and `jax.shard_map` in `func`.

    Refuses dimensions out of range (`IndexError`), sizes that differ and dims that do not
    fit the arguments' structure (`ValueError`), outputs that are not arrays or numbers
    (`TypeError`), and a collective over `axis_name` where the lanes take several chunks
    (`ValueError`).

    >>> functx.vmap(jnp.dot)(jnp.ones((3, 2), "float32"), jnp.ones((3, 2), "float32"))
    Array([2., 2., 2.], dtype=float32)
    >>> functx.vmap(jnp.add, in_dims=(0, None), out_dims=1)(jnp.ones((4, 2)), 1).shape
    (2, 4)
    >>> functx.vmap(lambda x: x / jax.lax.psum(x, "i"), axis_name="i")(jnp.ones(4, "float32"))
    Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    require_callable("vmap", func)
    require_chunk_size("vmap", chunk_size, max_bytes)
    require_randomness("vmap", randomness)
    if type(in_dims) is list:
        in_dims = tuple(in_dims)
    if in_dims is not None and type(in_dims) is not int and not isinstance(in_dims, tuple):
        fail(
            "vmap",
            f"`in_dims` must be an int, None, or a tuple with one entry per argument, "
            f"got {describe(in_dims)}",
            error=TypeError,
        )
    require_dims("in_dims", in_dims)
    require_dims("out_dims", out_dims)
    if kw_in_dims is not None and not isinstance(kw_in_dims, dict):
        fail(
            "vmap",
            f"`kw_in_dims` must be a dict from names to dims, got {describe(kw_in_dims)}",
            error=TypeError,
        )
    require_dims("kw_in_dims", kw_in_dims or {})
    axis = require_axis("vmap", axis_name, axis_size, spmd_axis_name)

    @ft.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        lanes, f = None, func
        if sparse_module() is not None:
            lanes = SparseLanes(func, in_dims, kw_in_dims or {}, out_dims, args, kwargs)
            f, args, kwargs = lanes.func, lanes.args, lanes.kwargs
        call = _MappedCall(f, in_dims, out_dims, randomness, kw_in_dims or {}, axis, args, kwargs)
        if chunk_size is None:
            output = call.over(call.xs)
            if call.put_by:
                leaves, structure = jax.tree.flatten(output)
                output = structure.unflatten(call.restored(leaves))
        else:
            lane = without_dims(call.xs, call.x_dims)
            names = axis.names(call.size)
            most = resolved_chunk_size(chunk_size, max_bytes, call.lane, lane, names)
            if axis.name is not None and most is not None and most < call.size:
                call.apart(most, lane)
            shards = lane_shards("vmap", call.xs, call.x_dims, most)
            leaves = over_chunks(call.leaves_over, call.xs, call.x_dims, most, shards)
            output = call.output_structure.unflatten(call.restored(leaves))
        return output if lanes is None else lanes.whole(output)

    return mapped


@jax.tree_util.register_static
class _MappedCall:
    """One call of a mapped function, its mapped leaves apart from the rest."""

    def __init__(
        self,
        func: Callable[..., Any],
        in_dims: Any,
        out_dims: Any,
        randomness: Randomness,
        kw_in_dims: dict[str, Any],
        axis: Axis,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ):
        names = _mapped_names(kw_in_dims, kwargs)
        values = (*args, *[kwargs[name] for name in names])
        self.func, self.out_dims, self.axis = func, out_dims, axis
        self.names, self.count = names, len(args)
        self.kwargs = {name: x for name, x in kwargs.items() if name not in kw_in_dims}
        self.leaves, self.structure = jax.tree.flatten(values)
        if names or type(in_dims) is not int:
            leaf_dims = _leaf_dims(in_dims, kw_in_dims, args, names, values)
        else:
            leaf_dims = [in_dims] * len(self.leaves)
        paths = (*numbered("args", len(args)), *(f"kwargs[{name!r}]" for name in names))
        self.size, dims = mapped_size(self.leaves, leaf_dims, values, paths, axis.size)
        if not wide_integers_fit(self.leaves):
            require_representable("vmap", zip(paths, values, strict=True))
        self.mapped = [i for i, dim in enumerate(dims) if dim is not None]
        self.xs = [self.leaves[i] for i in self.mapped]
        self.x_dims: list[int] = [dim for dim in dims if dim is not None]
        self.stream = split_lanes("vmap", randomness)
        self.per_lane = randomness == "different"
        if self.per_lane or not self.xs:  # the lane's index in all: chunks change no stream
            self.xs.append(self.stream.lane_indices(self.size))
            self.x_dims.append(0)
        self.run = self.lane
        self.output_dims: list[int | None] = []
        self.output_structure: Any = None
        self.wrapped = False
        self.put_by: dict[int, Any] = {}

    def lane(self, *xs: Any) -> Any:
        """One lane: mapped leaves in, the output of the user's function out."""
        leaves = list(self.leaves)
        for i, x in zip(self.mapped, xs, strict=False):
            leaves[i] = x
        values = self.structure.unflatten(leaves)
        named = dict(zip(self.names, values[self.count :], strict=True))
        with self.stream.enter(xs[-1] if self.per_lane else None):
            output = tracing("vmap", self.func, *values[: self.count], **named, **self.kwargs)
        if self.out_dims != 0:
            self.output_dims = output_dims(self.out_dims, output)
            output = self._put_by(output)
        require_arrays("vmap", output)
        output = as_arrays(output)
        self.wrapped = is_single_dim(self.out_dims, output)
        return (output,) if self.wrapped else output

    def _put_by(self, output: Any) -> Any:
        """`output` without the leaves that are no arrays, which `restored` puts back."""
        leaves, structure = jax.tree.flatten(output)
        self.put_by = {
            i: x
            for i, (x, dim) in enumerate(zip(leaves, self.output_dims, strict=True))
            if dim is None and not isinstance(x, (jax.Array, np.ndarray, np.generic))
        }
        if not self.put_by:
            return output
        return structure.unflatten(
            [np.zeros(()) if i in self.put_by else x for i, x in enumerate(leaves)]
        )

    def restored(self, leaves: list[Any]) -> list[Any]:
        """The leaves of the result, with the leaves that `_put_by` took in their places."""
        return [self.put_by.get(i, x) for i, x in enumerate(leaves)]

    def apart(self, lanes: int, lane: Sequence[jax.ShapeDtypeStruct]) -> None:
        """Has lanes run for themselves, so many at once; refuses those that read one another."""
        self.run = alone("vmap", self.lane, lane, self.axis.name, self.size, lanes)

    def over(self, xs: Sequence[Any]) -> Any:
        """The outputs for the lanes of `xs`, stacked."""
        name, spmd_name = self.axis.name, self.axis.spmd_name
        if type(self.out_dims) is int:
            mapper = _mapper(tuple(self.x_dims), self.out_dims, name, spmd_name)
            if name is not None or spmd_name is not None:
                return mapper(self, *xs)
            lane = ft.partial(_lane, self)
            return eager_vmap(lane, xs, self.x_dims, self.out_dims, lambda: mapper(self, *xs))
        run = jax.vmap(
            _lane,
            in_axes=(None, *self.x_dims),
            out_axes=self.out_dims,
            axis_name=name,
            spmd_axis_name=spmd_name,
        )
        output = _refusing_stacked(run, (self, *xs))
        return output[0] if self.wrapped else output

    def leaves_over(self, xs: Sequence[Any]) -> tuple[list[Any], list[int | None]]:
        """The leaves of `over(xs)` and their dims, as `over_chunks` needs them."""
        leaves, self.output_structure = jax.tree.flatten(self.over(xs))
        dims: list[int | None] = [0] * len(leaves)
        if self.out_dims != 0:
            dims = list(self.output_dims)
        for i, y in enumerate(leaves):
            if is_float0(y):  # which no program computes
                self.put_by[i] = self._zeros(y, dims[i])
                leaves[i], dims[i] = np.zeros(()), None
        return leaves, dims

    def _zeros(self, y: Any, dim: int | None) -> np.ndarray:
        """The `float0` array `y`, made for some lanes, for all of them."""
        shape = y.shape if dim is None else (*y.shape[:dim], self.size, *y.shape[dim + 1 :])
        return np.zeros(shape, y.dtype)


@signed
def _lane(call: _MappedCall, *xs: Any) -> Any:
    return in_lanes(call.run, *xs)


@ft.lru_cache(maxsize=256)
def _mapper(
    x_dims: tuple[int, ...], out_dim: int, axis_name: Any, spmd_axis_name: Any
) -> Callable[..., Any]:
    """`jax.vmap` of `_lane`, made once: making it takes a tenth of the time of calling it."""
    return jax.vmap(
        _lane,
        in_axes=(None, *x_dims),
        out_axes=out_dim,
        axis_name=axis_name,
        spmd_axis_name=spmd_axis_name,
    )


def _mapped_names(kw_in_dims: dict[str, Any], kwargs: dict[str, Any]) -> tuple[str, ...]:
    for name in kw_in_dims:
        if name not in kwargs:
            passed = ", ".join(kwargs) or "none"
            fail(
                "vmap",
                f"`kw_in_dims` names {name!r}, which this call does not pass; its keyword "
                f"arguments: {passed}",
                error=ValueError,
            )
    return tuple(kw_in_dims)


def _leaf_dims(
    in_dims: Any,
    kw_in_dims: dict[str, Any],
    args: tuple[Any, ...],
    names: tuple[str, ...],
    values: tuple[Any, ...],
) -> list[int | None]:
    dims = broadcast_dims("in_dims", in_dims, args, "the arguments")
    for name, x in zip(names, values[len(args) :], strict=True):
        dims += broadcast_dims(f"kw_in_dims[{name!r}]", kw_in_dims[name], x, f"`{name}`")
    return dims


def _refusing_stacked(run: Callable[..., Any], xs: Sequence[Any]) -> Any:
    """Calls `run`; where `out_dims` is None for an output that differs by lane, says so."""
    try:
        return run(*xs)
    except ValueError as error:  # JAX alone knows which outputs are batched
        message = str(error)
        if not message.startswith("at vmap out_axes") and "out_axes is None" not in message:
            raise
        path = message.removeprefix("at vmap out_axes").split(",")[0].split(" ")[0]
    fail(
        "vmap",
        f"`output{path}` differs from lane to lane, but its out_dim is None",
        hint="None promises an output that depends on no mapped input; use an int to stack it",
        error=ValueError,
    )
