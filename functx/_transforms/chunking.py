"""Mapping in chunks: the memory of `chunk_size` lanes instead of all."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import core, lax
from jax.sharding import AxisType

from functx._core import describe, fail
from functx._core.jax_compat import staging_trace

from .convolutions import with_fast_convolutions
from .programs.memory import lane_bytes


DEFAULT_MAX_BYTES = 2**30

# From inputs to outputs and, for each output, the dimension of its lanes, or None for an
# output that is the same in every chunk.
Run = Callable[[Sequence[jax.Array]], tuple[list[Any], list[int | None]]]


def require_chunk_size(who: str, chunk_size: Any, max_bytes: Any) -> None:
    """Refuses all but None, a positive int and "auto"; `max_bytes` goes with "auto" only."""
    if isinstance(chunk_size, str) and chunk_size == "auto":
        if max_bytes is not None and (type(max_bytes) is not int or max_bytes < 1):
            fail(
                who,
                f"`max_bytes` must be a positive int, got {describe(max_bytes)}",
                error=ValueError,
            )
        return
    if max_bytes is not None:
        fail(
            who,
            f"`max_bytes` goes with chunk_size='auto', got chunk_size={chunk_size!r}",
            error=ValueError,
        )
    if chunk_size is None:
        return
    if type(chunk_size) is not int:
        fail(
            who,
            f"`chunk_size` must be None, an int or 'auto', got {describe(chunk_size)}",
            error=ValueError if isinstance(chunk_size, str) else TypeError,
        )
    if chunk_size < 1:
        fail(who, f"`chunk_size` must be at least 1, got {chunk_size}", error=ValueError)


def resolved_chunk_size(
    chunk_size: int | str | None,
    max_bytes: int | None,
    lane: Callable[..., Any],
    inputs: Sequence[jax.ShapeDtypeStruct],
    names: Sequence[tuple[Any, int]] = (),
) -> int | None:
    """`"auto"` made a number: as many lanes as fit into `max_bytes`, at least one.

    `names` are those of the axis of lanes, with its size, if it has any.
    """
    if chunk_size != "auto":
        assert not isinstance(chunk_size, str)
        return chunk_size
    budget = DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
    return max(1, budget // max(1, lane_bytes(lane, inputs, names)))


def lane_shards(
    who: str, xs: Sequence[jax.Array], dims: Sequence[int], chunk_size: int | None
) -> int:
    """In how many equal parts, at most, devices hold the lanes of `xs`; 1 if on one device."""
    size = xs[0].shape[dims[0]]
    if chunk_size is None or not isinstance(size, int) or chunk_size >= size:
        return 1
    devices = max(map(_devices, xs, dims))
    shards = math.gcd(size, devices)
    if shards <= chunk_size:
        return shards
    warnings.warn(
        f"{who}: chunk_size={chunk_size} is less than the {devices} devices that the lanes may be "
        "split over, which do not keep their own\n"
        f"  hint: with a chunk_size of {shards} or more, each device computes its own lanes, and "
        "results are split as arguments are",
        stacklevel=3,
    )
    return 1


def _devices(x: Any, dim: int) -> int:
    """Over how many devices the dimension `dim` of `x` is split, or may be.

    What is being traced knows the mesh of its devices, but not how it is split over its axes.
    """
    if not isinstance(x, core.Tracer):
        sharding = getattr(x, "sharding", None)
        return x.shape[dim] // sharding.shard_shape(x.shape)[dim] if sharding else 1
    mesh = jax.typeof(x).sharding.mesh
    axes = zip(mesh.axis_sizes, mesh.axis_types, strict=True)
    return math.prod(n for n, kind in axes if kind != AxisType.Manual)


def over_chunks(
    run: Run,
    xs: Sequence[jax.Array],
    dims: Sequence[int],
    chunk_size: int | None,
    shards: int = 1,
) -> list[Any]:
    """The outputs of `run(xs)`, computed for `chunk_size` lanes at a time.

    A Python loop in eager mode, where compiling a loop would cost more than it saves; one
    `lax.scan` in a program that is being recorded, so that its size does not grow.

    With lanes in `shards` equal parts, a chunk has equally many of each, so that devices that hold
    one part each compute their own lanes, and results stay where the lanes are.
    """
    size = xs[0].shape[dims[0]]
    if chunk_size is None or chunk_size >= size:
        return run(xs)[0]
    each = chunk_size // shards  # lanes of a shard in a chunk
    whole, rest = divmod(size // shards, each)
    cut = _Cut(xs, dims, shards)
    if staging_trace() is not None and whole > 1:
        parts, out_dims = cut.scanned(run, whole, each)
    else:
        parts, out_dims = [], []
        for start in range(0, whole * each, each):
            outputs, out_dims = run(cut.chunk(start, start + each))
            parts.append([cut.opened(y, dim) for y, dim in zip(outputs, out_dims, strict=True)])
    if rest:
        outputs = run(cut.chunk(whole * each, whole * each + rest))[0]
        parts.append([cut.opened(y, dim) for y, dim in zip(outputs, out_dims, strict=True)])
    return [
        pieces[0] if dim is None else cut.joined(pieces, dim)
        for dim, *pieces in zip(out_dims, *parts, strict=True)
    ]


class _Cut:
    """Arrays with lanes along `dims`, which several `shards` hold in equal parts.

    "Opened", an array has a dimension of shards, and behind it, at `inside`, one of their lanes;
    where there is but one shard, it is as it was.
    """

    def __init__(self, xs: Sequence[jax.Array], dims: Sequence[int], shards: int):
        self.shards = shards
        self.xs = [self.opened(x, dim) for x, dim in zip(xs, dims, strict=True)]
        self.dims, self.insides = dims, [self.inside(dim) for dim in dims]

    def inside(self, dim: int) -> int:
        """Where the lanes of a shard are, in an opened array whose lanes were along `dim`."""
        return dim if self.shards == 1 else dim + 1

    def opened(self, x: Any, dim: int | None) -> Any:
        """`x`, opened along `dim`."""
        if dim is None or self.shards == 1:
            return x
        return x.reshape(*x.shape[:dim], self.shards, -1, *x.shape[dim + 1 :])

    def closed(self, x: jax.Array, dim: int) -> jax.Array:
        """The opened array `x` with its lanes along `dim` again."""
        return x if self.shards == 1 else x.reshape(*x.shape[:dim], -1, *x.shape[dim + 2 :])

    def joined(self, pieces: Sequence[jax.Array], dim: int) -> jax.Array:
        """Opened arrays of consecutive lanes of each shard, as one array."""
        whole = pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces, self.inside(dim))
        return self.closed(whole, dim)

    def chunk(self, start: int, stop: int) -> list[jax.Array]:
        """The lanes of each shard from `start` to `stop`."""
        return [
            self.closed(_sliced(x, start, stop, inside), dim)
            for x, inside, dim in zip(self.xs, self.insides, self.dims, strict=True)
        ]

    def scanned(self, run: Run, whole: int, each: int) -> tuple[list[list[Any]], list[int | None]]:
        """The outputs, opened, of so many chunks that have so many lanes of each shard."""
        stacked = [_stacked(x, i, whole, each) for x, i in zip(self.xs, self.insides, strict=True)]
        out_dims: list[int | None] = []

        def body(_: None, chunk: Sequence[jax.Array]) -> tuple[None, list[Any]]:
            xs = [self.closed(x, dim) for x, dim in zip(chunk, self.dims, strict=True)]
            return None, list(with_fast_convolutions(outputs)(xs))

        def outputs(chunk: Sequence[jax.Array]) -> list[Any]:
            nonlocal out_dims
            found, out_dims = run(chunk)
            return [self.opened(y, dim) for y, dim in zip(found, out_dims, strict=True)]

        _, parts = lax.scan(body, None, stacked)
        joined = [
            y[0] if dim is None else _joined(y, self.inside(dim))
            for y, dim in zip(parts, out_dims, strict=True)
        ]
        return [joined], out_dims


def _sliced(x: jax.Array, start: int, stop: int, axis: int) -> jax.Array:
    """`x[start:stop]` along `axis`; of arrays at hand, one program cuts out every chunk."""
    if isinstance(x, core.Tracer):
        return lax.slice_in_dim(x, start, stop, axis=axis)
    return lax.dynamic_slice_in_dim(x, start, stop - start, axis)


def _stacked(x: jax.Array, dim: int, whole: int, each: int) -> jax.Array:
    """`x` cut at the lanes' dimension `dim` into chunks: `[chunks, ..., lanes, ...]`."""
    x = lax.slice_in_dim(x, 0, whole * each, axis=dim)
    return jnp.moveaxis(x.reshape(*x.shape[:dim], whole, each, *x.shape[dim + 1 :]), dim, 0)


def _joined(y: jax.Array, dim: int) -> jax.Array:
    """`[chunks, ..., lanes, ...]` with the chunks and the lanes at `dim` made one dimension."""
    y = jnp.moveaxis(y, 0, dim)
    return y.reshape(*y.shape[:dim], -1, *y.shape[dim + 2 :])
