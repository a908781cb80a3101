from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


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


def split_with_sizes_samples(make: Make) -> Iterator[Sample]:
    yield call(make(4, 2), [1, 3])
    yield call(make(2, 5), (2, 0, 3), -1)
    yield call(make(2, 2), split_sizes=(1, 1), dim=1)
    yield call(make(0), (0, 0))
    yield call(make.small(2, 5, 1, 2), (2, 3), -3)
    yield edge(make.delicate(8), (3, 5))


def split_with_sizes_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(5), [2, 2]), r"`split_sizes` .* that add up to 5, got \[2, 2\]")
    yield Refusal(call(make(5), [6, -1]), r"non-negative sizes")
    yield Refusal(call(make(), (1,)), r"with a dimension to split, got \S+\[\]")
    yield Refusal(call(make(5), 2), r"`split_sizes` must be a sequence of ints", TypeError)


def np_split_with_sizes(x, split_sizes, dim=0):
    return tuple(np.split(x, np.cumsum(split_sizes)[:-1], dim))


def across(dim: int) -> Callable[[Make], Iterator[Sample]]:
    """Samples of arrays with a size of 4 in dimension `dim`."""

    def samples(make: Make) -> Iterator[Sample]:
        shape = (2,) * dim + (4,)
        yield call(make(*shape), 2)
        yield call(make(*shape, 1), (1, -1))
        yield call(make(*shape), sections=4)
        yield call(make(*shape), indices=[3, 1])
        yield call(make(*shape), ())
        yield call(make(*shape[:-1], 0), 3)
        yield call(make.small(*shape, *(1,) * (3 - dim)), 2)
        yield edge(make.delicate(*shape), 2)

    return samples


def hsplit_samples(make: Make) -> Iterator[Sample]:
    yield from across(1)(make)
    yield call(make(4), 2)


def vsplit_samples(make: Make) -> Iterator[Sample]:
    for sample in across(0)(make):
        x = sample.args[0]
        args = (x.reshape(-1, 1) if x.ndim == 1 else x, *sample.args[1:])
        yield dataclasses.replace(sample, args=args)


def across_refusals(least: int) -> Callable[[Make], Iterator[Refusal]]:
    def refusals(make: Make) -> Iterator[Refusal]:
        x = make(4, 4, 4)
        few = call(make(*(4,) * (least - 1)), 2)
        yield Refusal(few, rf"`input` must have at least {least} dimensions, got")
        yield Refusal(call(x, 3), r"`indices_or_sections` must divide 4, got 3")
        yield Refusal(call(x, 0), r"`indices_or_sections` must divide 4, got 0")
        yield Refusal(call(x, jnp.ones(2)), r"must be an int or integers in one dimension")
        yield Refusal(call(x, True), r"`indices_or_sections` must be an int or a", TypeError)

    return refusals


def np_across(dim: int) -> Callable[..., tuple[np.ndarray, ...]]:
    def reference(x, where=None, *, sections=None, indices=None):
        at = 0 if x.ndim == 1 else dim
        return np_tensor_split(x, where if sections is None else sections, at, indices)

    return reference


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


def _decides_how_many(argument: str) -> FixedSizes:
    return FixedSizes(argument, "the size decides how many arrays there are", along="dim")


OPS = [
    OpInfo(
        functx.split,
        split_samples,
        reference=np_split,
        refusals=split_refusals,
        fixed_sizes=(_decides_how_many("tensor"),),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.chunk,
        chunk_samples,
        reference=np_chunk,
        refusals=chunk_refusals,
        fixed_sizes=(_decides_how_many("input"),),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.tensor_split,
        tensor_split_samples,
        reference=np_tensor_split,
        refusals=tensor_split_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.unbind,
        unbind_samples,
        reference=lambda x, dim=0: tuple(np.moveaxis(x, dim, 0)),
        refusals=unbind_refusals,
        fixed_sizes=(_decides_how_many("input"),),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.split_with_sizes,
        split_with_sizes_samples,
        reference=np_split_with_sizes,
        refusals=split_with_sizes_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.hsplit,
        hsplit_samples,
        reference=np_across(1),
        refusals=across_refusals(1),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.vsplit,
        vsplit_samples,
        reference=np_across(0),
        refusals=across_refusals(2),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.dsplit,
        across(2),
        reference=np_across(2),
        refusals=across_refusals(3),
        tolerances=(EXACT,),
    ),
]
