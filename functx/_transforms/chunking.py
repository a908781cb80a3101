"""Mapping in chunks: the memory of `chunk_size` lanes instead of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from functx._core import describe, fail
from functx._core.jax_compat import staging_trace

from .convolutions import with_fast_convolutions
from .memory import lane_bytes


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
) -> int | None:
    """`"auto"` made a number: as many lanes as fit into `max_bytes`, at least one."""
    if chunk_size != "auto":
        assert not isinstance(chunk_size, str)
        return chunk_size
    budget = DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
    return max(1, budget // max(1, lane_bytes(lane, inputs)))


def over_chunks(
    run: Run, xs: Sequence[jax.Array], dims: Sequence[int], chunk_size: int | None
) -> list[Any]:
    """The outputs of `run(xs)`, computed for `chunk_size` lanes at a time.

    A Python loop in eager mode, where compiling a loop would cost more than it saves; one
    `lax.scan` in a program that is being recorded, so that its size does not grow.
    """
    size = xs[0].shape[dims[0]]
    if chunk_size is None or chunk_size >= size:
        return run(xs)[0]
    whole, rest = divmod(size, chunk_size)
    if staging_trace() is not None and whole > 1:
        parts, out_dims = _scanned(run, xs, dims, chunk_size, whole)
    else:
        parts, out_dims = [], []
        for start in range(0, whole * chunk_size, chunk_size):
            outputs, out_dims = run(_part(xs, dims, start, start + chunk_size))
            parts.append(outputs)
    if rest:
        parts.append(run(_part(xs, dims, whole * chunk_size, size))[0])
    return [
        pieces[0] if dim is None or len(pieces) == 1 else jnp.concatenate(pieces, dim)
        for dim, *pieces in zip(out_dims, *parts, strict=True)
    ]


def _part(xs: Sequence[jax.Array], dims: Sequence[int], start: int, stop: int) -> list[jax.Array]:
    return [lax.slice_in_dim(x, start, stop, axis=dim) for x, dim in zip(xs, dims, strict=True)]


def _scanned(
    run: Run, xs: Sequence[jax.Array], dims: Sequence[int], chunk_size: int, whole: int
) -> tuple[list[list[Any]], list[int | None]]:
    stacked = [
        jnp.moveaxis(x.reshape(*x.shape[:dim], whole, chunk_size, *x.shape[dim + 1 :]), dim, 0)
        for x, dim in zip(_part(xs, dims, 0, whole * chunk_size), dims, strict=True)
    ]
    out_dims: list[int | None] = []

    def body(_: None, chunk: Sequence[jax.Array]) -> tuple[None, list[Any]]:
        return None, list(with_fast_convolutions(outputs)(chunk))

    def outputs(chunk: Sequence[jax.Array]) -> list[Any]:
        nonlocal out_dims
        found, out_dims = run(chunk)
        return found

    _, parts = lax.scan(body, None, stacked)
    joined = [
        y[0] if dim is None else _joined(y, dim) for y, dim in zip(parts, out_dims, strict=True)
    ]
    return [joined], out_dims


def _joined(y: jax.Array, dim: int) -> jax.Array:
    """`[chunks, ..., lanes, ...]`, lanes at `dim` of each chunk, with the two made one."""
    y = jnp.moveaxis(y, 0, dim)
    return y.reshape(*y.shape[:dim], -1, *y.shape[dim + 2 :])
