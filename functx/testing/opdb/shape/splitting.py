from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Refusal, Sample


def split_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 5), 2, -1)
    yield call(make(4, 2), [1, 0, 3])
    yield call(make(3), 5)
    yield call(make(2, 2), split_size_or_sections=(1, 1), dim=1)
    yield call(make(0), 0)
    yield call(make(0, 2), 2)
    yield call(make.small(2, 5, 1, 2), (2, 0, 3), -3)
    yield edge(make.delicate(8), 4)


def split_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(5), 0), r"`split_size_or_sections` must be positive, got 0")
    yield Refusal(call(make(5), [2, 2]), r"that add up to 5, got \[2, 2\]")
    yield Refusal(call(make(5), [6, -1]), r"non-negative sizes")
    yield Refusal(call(make(), 1), r"with a dimension to split, got \S+\[\]")
    yield Refusal(call(make(5), 1, 1), r"`dim` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(make(5), 2.5), r"`split_size_or_sections` must be an int or a", TypeError)


def np_split(tensor, split_size_or_sections, dim=0):
    n, sizes = tensor.shape[dim], split_size_or_sections
    if np.ndim(sizes) == 0:
        return tuple(np.split(tensor, list(range(sizes, n, max(sizes, 1))), dim))
    return tuple(np.split(tensor, np.cumsum(sizes)[:-1], dim))


def chunk_samples(make: Make) -> Iterator[Sample]:
    yield call(make(5, 2), 3)
    yield call(make(2, 6), 4, -1)
    yield call(make(2), chunks=3)
    yield call(make(0), 2)
    yield call(make(3, 0), 2, dim=0)
    yield call(make.small(2, 5, 1, 2), 2, -3)
    yield edge(make.delicate(8), 2)


def chunk_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(5), 0), r"`chunks` must be positive, got 0")
    yield Refusal(call(make(5), 2.5), r"`chunks` must be an int, got 2.5", TypeError)
    yield Refusal(call(make(), 1), r"with a dimension to split, got \S+\[\]")


def np_chunk(x, chunks, dim=0):
    n = x.shape[dim]
    if n == 0:
        return (x,) * chunks
    size = -(-n // chunks)
    return tuple(np.split(x, range(size, n, size), dim))


def tensor_split_samples(make: Make) -> Iterator[Sample]:
    yield call(make(5, 2), 3)
    yield call(make(2, 5), (1, -1), -1)
    yield call(make(5), [3, 1])
    yield call(make(3), 4)
    yield call(make(3), (2, 10))
    yield call(make(2), ())
    yield call(make(0), 2)
    yield call(make.small(2, 5, 1, 2), 3, -3)
    yield call(make(3), sections=2)
    yield call(make(3), indices=[2])
    yield edge(make.delicate(8), 2)


def np_tensor_split(x, sections=None, dim=0, indices=None):
    return tuple(np.array_split(x, indices if sections is None else sections, dim))


def tensor_split_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(5), 0), r"`indices_or_sections` must be positive, got 0")
    yield Refusal(call(make(), 2), r"with a dimension to split, got \S+\[\]")
    yield Refusal(call(make(5), jnp.ones(2)), r"must be an int or integers in one dimension")
    yield Refusal(call(make(5), (0.5,)), r"`indices_or_sections` must be an int or a", TypeError)


def unbind_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2))
    yield call(make(2, 3), -1)
    yield call(make(2), dim=0)
    yield call(make(2, 0))
    yield call(make(1, 2, 2), 1)
    yield call(make.small(2, 1, 3, 2), -2)
    yield edge(make.delicate(2, 8))


def unbind_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(), 0), r"`input` must have a dimension, got \S+\[\]", IndexError)
    yield Refusal(call(make(2), 2), r"`dim` must lie in \[-1, 0\], got 2", IndexError)


OPS = [
    OpInfo(functx.split, split_samples, reference=np_split, refusals=split_refusals, ulps=0),
    OpInfo(functx.chunk, chunk_samples, reference=np_chunk, refusals=chunk_refusals, ulps=0),
    OpInfo(
        functx.tensor_split,
        tensor_split_samples,
        reference=np_tensor_split,
        refusals=tensor_split_refusals,
        ulps=0,
    ),
    OpInfo(
        functx.unbind,
        unbind_samples,
        reference=lambda x, dim=0: tuple(np.moveaxis(x, dim, 0)),
        refusals=unbind_refusals,
        ulps=0,
    ),
]
