from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .lists import list_departures


def cat_samples(make: Make) -> Iterator[Sample]:
    yield call((make(2, 3), make(2, 1), make(2, 2)), -1)
    yield call([make(2), make(3), make(1)])
    yield call([make(2, 2)], dim=1)
    yield call((make(0), make(2, 3)), 1)
    yield call((make(2), make(0)))
    yield call((make(0), make(0)))
    yield call([make(2), make(2, dtype="bool")], dim=0)
    yield call([make.small(2, n, 1, 2) for n in (1, 3, 2)], -3)
    yield edge([make.delicate(8) for _ in range(3)])


def cat_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(()), r"`tensors` must not be empty", ValueError)
    yield Refusal(call((make(2), None)), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2, 3)), r"`tensors` must be a sequence of arrays", TypeError)
    yield Refusal(call((make(2), make())), r"`tensors\[1\]` must have a dimension, got \S+\[\]")
    yield Refusal(
        call((make(2, 3), make(2, 2))), r"agree in shape but for dimension 0, got \S+\[2,3\]"
    )
    yield Refusal(call((make(2, 3), make(2))), r"`tensors` must agree in shape")
    yield Refusal(call((make(2),), 1), r"`dim` must lie in \[-1, 0\], got 1", IndexError)


def np_cat(tensors, dim=0):
    return np.concatenate([x for x in tensors if x.shape != (0,)] or tensors, dim)


def stack_samples(make: Make) -> Iterator[Sample]:
    yield call((make(2, 3), make(2, 3)), 1)
    yield call([make(3), make(3)], -1)
    yield call([make(), make()])
    yield call([make(0, 2)], dim=2)
    yield call([make(2), make(2, dtype="bool")], dim=0)
    yield call([make.small(2, 1, 3, 2) for _ in range(2)], 2)
    yield edge([make.delicate(8) for _ in range(2)])


def stack_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call([]), r"`tensors` must not be empty", ValueError)
    yield Refusal(
        call((make(2), make(3))), r"`tensors` must have one shape, got \S+\[2\], \S+\[3\]"
    )
    yield Refusal(call((make(2),), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call((make(2), None)), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2, 3)), r"`tensors` must be a sequence of arrays", TypeError)


def several_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call([]), r"`tensors` must not be empty", ValueError)
    yield Refusal(call((make(2), None)), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2, 3)), r"`tensors` must be a sequence of arrays", TypeError)


def hstack_samples(make: Make) -> Iterator[Sample]:
    yield call((make(2), make(3)))
    yield call((make(2, 1), make(2, 3)))
    yield call([make(2), make(3), make()])
    yield call([make(), make()])
    yield call((make(0), make(2, 3)))
    yield call((make(2, 0), make(0)))
    yield call([make(2, 1, 3)])
    yield call([make(2), make(2, dtype="bool")])
    yield call([make.small(2, n, 1, 2) for n in (1, 3, 2)])
    yield edge([make.delicate(8) for _ in range(3)])


def hstack_refusals(make: Make) -> Iterator[Refusal]:
    yield from several_refusals(make)
    yield Refusal(
        call((make(2, 3), make(3, 3))), r"agree in shape but for dimension 1, got \S+\[2,3\]"
    )
    yield Refusal(call((make(2, 3), make(2))), r"`tensors` must agree in shape")


def np_hstack(tensors):
    rows = [np.atleast_1d(x) for x in tensors]
    return np_cat(rows, 0 if rows[0].ndim == 1 else 1)


def vstack_samples(make: Make) -> Iterator[Sample]:
    yield call((make(1), make(3, 1)))
    yield call([make(3), make(2, 3)])
    yield call([make(), make()])
    yield call([make(0), make(2, 0)])
    yield call([make(2, 1, 3)])
    yield call([make(2), make(2, dtype="bool")])
    yield call([make.small(n, 2, 1, 2) for n in (1, 3, 2)])
    yield edge([make.delicate(8) for _ in range(3)])


def vstack_refusals(make: Make) -> Iterator[Refusal]:
    yield from several_refusals(make)
    yield Refusal(call((make(0), make(2, 2))), r"agree in shape but for dimension 0, got")
    yield Refusal(call((make(2), make(3))), r"got \S+\[2\], \S+\[3\]|got \S+\[1,2\]")


def dstack_samples(make: Make) -> Iterator[Sample]:
    yield call((make(1), make(1, 1, 3)))
    yield call((make(2, 2), make(2, 2, 2)))
    yield call([make(3), make(1, 3)])
    yield call([make(), make()])
    yield call([make(0), make(1, 0, 2)])
    yield call([make(2), make(2, dtype="bool")])
    yield call([make.small(2, 1, n, 2) for n in (1, 3, 2)])
    yield edge([make.delicate(8) for _ in range(3)])


def dstack_refusals(make: Make) -> Iterator[Refusal]:
    yield from several_refusals(make)
    yield Refusal(call((make(2, 1), make(2))), r"agree in shape but for dimension 2, got")


def column_stack_samples(make: Make) -> Iterator[Sample]:
    yield call((make(1), make(1, 3)))
    yield call((make(2), make(2, 3)))
    yield call([make(3), make(3)])
    yield call([make(), make(1, 2), make()])
    yield call([make(0), make(0, 2)])
    yield call([make(2, 1, 3), make(2, 2, 3)])
    yield call([make(2), make(2, dtype="bool")])
    yield call([make.small(2, n, 1, 2) for n in (1, 3, 2)])
    yield edge([make.delicate(8) for _ in range(3)])


def np_column_stack(tensors):
    columns = [x if x.ndim > 1 else np.reshape(x, (x.size, 1)) for x in tensors]
    return np.concatenate(columns, 1)


def column_stack_refusals(make: Make) -> Iterator[Refusal]:
    yield from several_refusals(make)
    yield Refusal(call((make(2), make(3))), r"agree in shape but for dimension 1, got")
    yield Refusal(call((make(2, 2, 2), make(2))), r"`tensors` must agree in shape")


def block_diag_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 1), make(2, 3))
    yield call(make(2), make(), make(2, 2))
    yield call(make(2, 2), make(3, dtype="bool"))
    yield call(make(0), make(2, 0), make(2))
    yield call(make())
    yield call(make.small(2, 3), make.small(3, 1))
    yield edge(make.delicate(8), make.delicate(8))


def block_diag_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(
        call(make(2), make(1, 1, 1)), r"`tensors\[1\]` must have at most 2 dimensions, got"
    )
    yield Refusal(call(make(2), None), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2), [make(2)]), r"`tensors` must be a sequence of arrays", TypeError)


def block_diag_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("no matrices", call(), holds=lambda y: y.shape == (1, 0))
    for fill in (np.nan, np.inf):
        at = call(make.put([fill]), make.put([1]))
        yield Convention(f"zeros beside {fill}", at, value=[[fill, 0], [0, 1]])


def np_block_diag(*tensors):
    blocks = [np.atleast_2d(x) for x in tensors]
    out = np.zeros(np.sum([x.shape for x in blocks], 0), np.result_type(*blocks))
    i = j = 0
    for x in blocks:
        out[i : i + x.shape[0], j : j + x.shape[1]] = x
        i, j = i + x.shape[0], j + x.shape[1]
    return out


OPS = [
    OpInfo(functx.cat, cat_samples, reference=np_cat, refusals=cat_refusals, tolerances=(EXACT,)),
    OpInfo(
        functx.stack,
        stack_samples,
        reference=lambda tensors, dim=0: np.stack(tensors, dim),
        refusals=stack_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.hstack,
        hstack_samples,
        reference=np_hstack,
        refusals=hstack_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.vstack,
        vstack_samples,
        reference=lambda tensors: np.vstack(tensors),
        refusals=vstack_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.dstack,
        dstack_samples,
        reference=lambda tensors: np.dstack(tensors),
        refusals=dstack_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.column_stack,
        column_stack_samples,
        reference=np_column_stack,
        refusals=column_stack_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.block_diag,
        block_diag_samples,
        reference=np_block_diag,
        refusals=block_diag_refusals,
        conventions=block_diag_conventions,
        departures=(list_departures,),
        tolerances=(EXACT,),
    ),
]
