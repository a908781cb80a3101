"""Operators that cut an array into pieces, and eager calls that cut it into many.

XLA compiles a kernel for each output of a program, which takes 7 ms and 1 MB, whatever its size.
So an eager call with many outputs is not one program: the array is first cut into blocks of
`BLOCK` equal pieces, by one program that takes where a block starts as a value, and each block
into its pieces by another.
"""

from __future__ import annotations

import functools as ft
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core.errors import refuse, Refused
from functx._core.jax_compat import staging_trace
from functx._core.numbers.dtypes import is_numeric
from functx._core.shapes.symbolic_sizes import decided, known, Size

from .catalog import OpSpec
from .tracing import canonicalize


BLOCK = 32
_MOST_IN_A_PROGRAM = 2**14
_MOST = 2**24


class Splits(NamedTuple):
    """Where the pieces of an array begin along `dim`, how long each is, whether `dim` stays."""

    starts: Sequence[int]
    sizes: Sequence[int]
    dim: int
    keepdim: bool = True


def check_number_of_pieces(n: int) -> None:
    """Refuses more pieces than there is memory for the objects that hold them."""
    if n > _MOST:
        refuse(f"{n} results are more arrays than memory holds", error=MemoryError)


def split_at(input: jax.Array, splits: Splits) -> tuple[jax.Array, ...]:
    """The pieces, in a program being recorded."""
    starts, sizes, dim, keepdim = splits
    if len(sizes) > _MOST_IN_A_PROGRAM:
        refuse(
            f"{len(sizes)} results in one program, each of which XLA compiles by itself",
            hint="functx.vmap maps over them, jax.lax.scan loops; an eager call takes more",
        )
    ends = list(itertools.accumulate(sizes))
    if len(sizes) and list(starts) == [0, *ends[:-1]] and ends[-1] == input.shape[dim]:
        pieces = lax.split(input, sizes, axis=dim)  # of which the gradient is one concatenation
    else:
        bounds = zip(starts, sizes, strict=True)
        pieces = [_piece(input, a, n, dim) for a, n in bounds]
    return tuple(pieces) if keepdim else tuple(lax.squeeze(x, [dim]) for x in pieces)


def _piece(input: jax.Array, start: Size, size: Size, dim: int) -> jax.Array:
    if known(start, size) or decided(
        lambda: 0 <= start <= start + size <= input.shape[dim], otherwise=False
    ):
        return lax.slice_in_dim(input, start, start + size, axis=dim)
    # Of symbolic sizes a slice must be known to lie inside.
    return jnp.take(input, jnp.arange(size) + start, dim, mode="clip")


def split_in_blocks(
    spec: OpSpec, call: Callable[..., Any], splits: Callable[..., Splits]
) -> Callable[..., Any]:
    """`call`, but block by block where an eager call has many results."""
    first = spec.parameters.positional[0]

    def block_of(x: jax.Array, start: Any, size: int, dim: int) -> jax.Array:
        return lax.dynamic_slice_in_dim(x, start, size, dim)

    def pieces_of(x: jax.Array, n: int, dim: int, keepdim: bool) -> tuple[jax.Array, ...]:
        size = x.shape[dim] // n
        starts = [i * size for i in range(n)]
        return split_at(x, Splits(starts, (size,) * n, dim, keepdim))

    block_of.__name__ = pieces_of.__name__ = spec.name
    block = jax.jit(block_of, static_argnames=("size", "dim"))
    pieces = jax.jit(pieces_of, static_argnames=("n", "dim", "keepdim"))

    @ft.lru_cache
    def planned(shape: tuple[int, ...], args: tuple[Any, ...], kwargs: Any) -> Splits | None:
        like = jax.ShapeDtypeStruct(shape, np.float32)
        given = spec.parameters.bound((like, *args), dict(kwargs))
        canonicalize(spec, given)
        where = splits(**spec.parameters.defaults | given)
        return where if len(where.sizes) > BLOCK else None

    def operator(*args: Any, **kwargs: Any) -> Any:
        if staging_trace() is not None:
            return call(*args, **kwargs)
        x: Any = args[0] if args else kwargs.get(first)
        shape = getattr(x, "shape", ())
        if max(shape, default=0) <= BLOCK or not is_numeric(x.dtype):
            return call(*args, **kwargs)
        rest = {k: v for k, v in kwargs.items() if k != first}
        try:
            where = planned(shape, args[1:], tuple(rest.items()))
        except (Refused, TypeError):  # which the rule words, or lists are frozen first
            where = None
        if where is None:
            return call(*args, **kwargs)
        out: list[jax.Array] = []
        for start, size, n in _blocks(where):
            part = block(x, start, size=size * n, dim=where.dim)
            out.extend(pieces(part, n=n, dim=where.dim, keepdim=where.keepdim))
        return tuple(out)

    return operator


def _blocks(splits: Splits) -> Iterator[tuple[int, int, int]]:
    """The start of each block, the size of its pieces, and how many: `BLOCK`, or one."""
    i, (starts, sizes) = 0, splits[:2]
    while i < len(sizes):
        size, end = sizes[i], i + BLOCK
        whole = end <= len(sizes) and all(
            sizes[j] == size and starts[j] == starts[i] + (j - i) * size for j in range(i, end)
        )
        n = BLOCK if whole else 1
        yield starts[i], size, n
        i += n
