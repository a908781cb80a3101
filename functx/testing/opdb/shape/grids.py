from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .lists import list_departures


def meshgrid_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2), make(3))
    yield call(make(2), make(3), indexing="xy")
    yield call(make(2), make(1), make(3), make(2), indexing="xy")
    yield call([make(2), make()], indexing="ij")
    yield call(make(3), indexing="xy")
    yield call(make(), make())
    yield call(make(0), make(2))
    yield call(*(make.small(2) for _ in range(4)))
    yield edge(make.delicate(8), make.delicate(8))


def meshgrid_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(), r"`tensors` must not be empty", ValueError)
    yield Refusal(call(make(2), make(2, 2)), r"`tensors\[1\]` must have at most 1 dimension, got")
    yield Refusal(call(make(2), indexing="yx"), r"`indexing` must be 'ij' or 'xy', got 'yx'")
    mixed = call(make(2, dtype="float32"), make(2, dtype="int32"))
    yield Refusal(mixed, r"arrays must have the same dtype", TypeError)


def np_meshgrid(*tensors, indexing="ij"):
    several = tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors
    return tuple(np.meshgrid(*several, indexing=indexing))


def cartesian_prod_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2), make(3))
    yield call(make(2), make(1), make(3))
    yield call(make(3))
    yield call(make(0), make(2))
    yield call(make.small(2), make.small(3))
    yield edge(make.delicate(8), make.delicate(8))


def cartesian_prod_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(), r"`tensors` must not be empty", ValueError)
    yield Refusal(call(make(2), make()), r"`tensors\[1\]` must have 1 dimension, got \S+\[\]")
    mixed = call(make(2, dtype="float32"), make(2, dtype="int32"))
    yield Refusal(mixed, r"arrays must have the same dtype", TypeError)


def np_cartesian_prod(*tensors):
    several = tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors
    if len(several) == 1:
        return several[0]
    return np.stack([x.ravel() for x in np.meshgrid(*several, indexing="ij")], 1)


def combinations_samples(make: Make) -> Iterator[Sample]:
    yield call(make(4))
    yield call(make(4), 3)
    yield call(make(3), 2, True)
    yield call(make(2), r=4, with_replacement=True)
    yield call(make(3), 1)
    yield call(make(3), 0)
    yield call(make(2), 3)
    yield call(make(0), 2, True)
    yield call(make.small(4), 2)
    yield edge(make.delicate(8))


def combinations_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2)), r"`input` must have 1 dimension, got \S+\[2,2\]")
    yield Refusal(call(make(2), -1), r"`r` must not be negative, got -1")
    yield Refusal(call(make(2), 2, 1), r"`with_replacement` must be a bool, got 1", TypeError)
    many = call(make(100), 50)
    yield Refusal(many, r"choices of 50 are more than memory holds", MemoryError)


def combinations_conventions(make: Make) -> Iterator[Convention]:
    three = make.put([1, 2, 3])
    yield Convention("the gradient counts", call(three), gradient=[2, 2, 2])
    yield Convention("with repetition", call(three, 2, True), gradient=[4, 4, 4])


def np_combinations(x, r=2, with_replacement=False):
    chosen = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(chosen(range(x.size), r)), int)
    return x[places.reshape(-1, r)] if r else x[:0]


OPS = [
    OpInfo(
        functx.meshgrid,
        meshgrid_samples,
        reference=np_meshgrid,
        refusals=meshgrid_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.cartesian_prod,
        cartesian_prod_samples,
        reference=np_cartesian_prod,
        refusals=cartesian_prod_refusals,
        departures=(list_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.combinations,
        combinations_samples,
        reference=np_combinations,
        refusals=combinations_refusals,
        conventions=combinations_conventions,
        tolerances=(EXACT,),
    ),
]
