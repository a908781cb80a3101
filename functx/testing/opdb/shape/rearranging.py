from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def transpose_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 0, 1)
    yield call(make(2, 3, 2), -1, 0)
    yield call(make(2, 0), 1, 0)
    yield call(make(), 0, -1)
    yield call(make(3, 2), dim0=1, dim1=1)
    yield call(make.small(2, 1, 3, 2), -2, -4)
    yield edge(make.delicate(2, 4), 0, 1)


def transpose_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), 0, 1), r"`dim1` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(make(2, 3), None, 0), r"`dim0` must be an int, got None", TypeError)


def np_transpose(x, dim0, dim1):
    return np.swapaxes(x, dim0, dim1) if x.ndim else x


def permute_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, 2), (2, 0, 1))
    yield call(make(2, 3), [-1, 0])
    yield call(make(), ())
    yield call(make(2, 0, 1), dims=(1, 2, 0))
    yield call(make.small(2, 1, 3, 2), (3, -4, 1, -2))
    yield edge(make.delicate(2, 4), (1, 0))


def permute_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), (1,)), r"`dims` must name 2 dimensions for \S+, got \[1\]")
    yield Refusal(call(make(2, 3), (1, -1)), r"`dims` names a dimension twice")
    yield Refusal(call(make(2, 3), (0, 2)), r"`dims` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 3), None), r"`dims` must be an int or a sequence", TypeError)


def movedim_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, 2), 0, 2)
    yield call(make(2, 3, 1), (0, -1), (1, 0))
    yield call(make(2, 0), source=-1, destination=0)
    yield call(make(), 0, 0)
    yield call(make.small(2, 1, 3, 2), (3, 0), (-3, 2))
    yield edge(make.delicate(2, 4), 0, 1)


def movedim_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), (0, 1), (1,)), r"equally many dimensions, got \[0, 1\] and")
    yield Refusal(call(make(2, 3), (0, -2), (0, 1)), r"`source` names a dimension twice")
    yield Refusal(call(make(2, 3), 0, 2), r"`destination` must lie in \[-2, 1\]", IndexError)


def np_movedim(x, source, destination):
    return np.moveaxis(x, source, destination) if x.ndim else x


def flip_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (1,))
    yield call(make(2, 3), [0, -1])
    yield call(make(2, 3), dims=())
    yield call(make(0, 2), (0, 1))
    yield call(make(), [0])
    yield call(make.small(2, 1, 3, 2), (0, -2, 3))
    yield edge(make.delicate(2, 4), 1)


def flip_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), (0, 0)), r"`dims` names a dimension twice")
    yield Refusal(call(make(2, 3), (2,)), r"`dims` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 3), None), r"`dims` must be an int or a sequence", TypeError)


def np_flip(x, dims):
    return np.flip(x, dims) if x.ndim else x


def fliplr_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(0, 2))
    yield call(make(2, 3, 2))
    yield call(make.small(2, 3, 1, 2))
    yield edge(make.delicate(2, 4))


def fliplr_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must have at least 2 dimensions, got \S+\[3\]")


def flipud_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3))
    yield call(make(2, 3))
    yield call(make(0, 2))
    yield call(make.small(3, 2, 1, 2))
    yield edge(make.delicate(8))


def flipud_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make()), r"`input` must have a dimension, got \S+\[\]")


def rot90_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(2, 3), 2)
    yield call(make(2, 3, 2), -1, (-1, 0))
    yield call(make(2, 3), k=3, dims=[1, 0])
    yield call(make(2, 3), 4)
    yield call(make(0, 3), 2**40 + 1)
    yield call(make.small(2, 1, 3, 2), 3, (0, -2))
    yield edge(make.delicate(2, 4), 1)


def rot90_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must have at least 2 dimensions, got \S+\[3\]")
    yield Refusal(call(make(2, 3), 1, (0,)), r"`dims` must name 2 dimensions, got \[0\]")
    yield Refusal(call(make(2, 3), 1, (0, -2)), r"`dims` names a dimension twice")
    yield Refusal(call(make(2, 3), 1, (0, 2)), r"`dims` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 3), 1.5), r"`k` must be an int, got 1.5", TypeError)


def roll_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1, 1)
    yield call(make(2, 3), -2)
    yield call(make(2, 3), (1, 2), (0, -1))
    yield call(make(2, 3), (1, 1), (1, 1))
    yield call(make(0, 3), 1, 0)
    yield call(make(), 3)
    yield call(make(4), shifts=1001, dims=0)
    yield call(make.small(2, 1, 3, 2), (1, -2), (-1, 2))
    yield edge(make.delicate(2, 4), 3)


def roll_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), ()), r"`shifts` must not be empty")
    yield Refusal(call(make(2, 3), (1, 2)), r"must have the same length, got \[1, 2\] and \[\]")
    yield Refusal(call(make(3), 0, 2), r"`dims` must lie in \[-1, 0\], got 2", IndexError)
    yield Refusal(call(make(), 0, 0), r"`dims` must be left out for", IndexError)


def np_roll(x, shifts, dims=None):
    return np.roll(x, shifts, dims)


OPS = [
    OpInfo(
        functx.transpose,
        transpose_samples,
        reference=np_transpose,
        refusals=transpose_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.permute,
        permute_samples,
        reference=lambda x, dims: np.transpose(x, dims),
        refusals=permute_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.movedim,
        movedim_samples,
        reference=np_movedim,
        refusals=movedim_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.flip, flip_samples, reference=np_flip, refusals=flip_refusals, tolerances=(EXACT,)
    ),
    OpInfo(
        functx.fliplr,
        fliplr_samples,
        reference=lambda x: np.flip(x, 1),
        refusals=fliplr_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.flipud,
        flipud_samples,
        reference=lambda x: np.flip(x, 0),
        refusals=flipud_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.rot90,
        rot90_samples,
        reference=lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims),
        refusals=rot90_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.roll, roll_samples, reference=np_roll, refusals=roll_refusals, tolerances=(EXACT,)
    ),
]
