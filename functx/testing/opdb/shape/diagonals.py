from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def diag_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3))
    yield call(make(2), -1)
    yield call(make(2, 3), 1)
    yield call(make(2), diagonal=2)
    yield call(make(3, 2), -2)
    yield call(make(2, 2), 5)
    yield call(make(0), 2)
    yield call(make.small(2), 1)
    yield edge(make.delicate(8))


def diag_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make()), r"`input` must have 1 or 2 dimensions, got \S+\[\]")
    yield Refusal(call(make(1, 1, 1)), r"`input` must have 1 or 2 dimensions")
    yield Refusal(call(make(2), 0.5), r"`diagonal` must be an int, got 0.5", TypeError)


def diagonal_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 2, 3), 0, -1, 1)
    yield call(make(3, 2), offset=-1)
    yield call(make(2, 3), -7)
    yield call(make(2, 0))
    yield call(make(3, 2, 2), offset=-1, dim1=0, dim2=2)
    yield call(make.small(2, 3, 1, 2), 1, -1, -3)
    yield edge(make.delicate(8, 1, 1), 0, 1, 2)


def diagonal_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 0, 1, -1), r"`dim1` and `dim2` must differ, got 1 and -1")
    yield Refusal(call(make(3)), r"`dim2` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(make(2, 3), 0.5), r"`offset` must be an int, got 0.5", TypeError)


def triangle_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(3, 2), 1)
    yield call(make(2, 3, 3), -1)
    yield call(make(2, 3), diagonal=-9)
    yield call(make(2, 3), 2**40)
    yield call(make(0, 3))
    yield call(make.small(2, 1, 3, 3), 1)
    yield edge(make.delicate(8, 1, 1))


def triangle_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must have at least 2 dimensions, got \S+\[3\]")
    yield Refusal(call(make(2, 3), 0.5), r"`diagonal` must be an int, got 0.5", TypeError)


def diag_embed_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(2, 2), 1)
    yield call(make(2, 2), -1, 0, 2)
    yield call(make(2), offset=2, dim1=1, dim2=-2)
    yield call(make(0), 2)
    yield call(make(0, 2), -1)
    yield call(make.small(2, 1, 2, 2), 1, -1, -3)
    yield edge(make.delicate(8))


def diag_embed_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make()), r"`input` must have a dimension, got \S+\[\]", IndexError)
    yield Refusal(call(make(2), 0, 1, -1), r"`dim1` and `dim2` must differ, got 1 and -1")
    yield Refusal(call(make(2), 0, 0, 2), r"`dim2` must lie in \[-2, 1\], got 2", IndexError)


def np_diag_embed(x, offset=0, dim1=-2, dim2=-1):
    size = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], size, size), x.dtype)
    places = np.arange(x.shape[-1])
    out[..., places + max(-offset, 0), places + max(offset, 0)] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


def diagflat_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2))
    yield call(make(3), -1)
    yield call(make())
    yield call(make(0), 2)
    yield call(make(2), offset=1)
    yield call(make.small(1, 2, 1, 2))
    yield edge(make.delicate(8))


def diagonal_scatter_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2))
    yield call(make(2, 3), make(2), 1)
    yield call(make(2, 2, 3), make(2, 1), -1, 1, -1)
    yield call(make(3, 2, 2), make(2, 2), offset=-1, dim1=0, dim2=2)
    yield call(make(2, 3), make(0), 7)
    yield call(make(2, 0), make(0))
    yield call(make(2, 2), make(2, dtype="int32"))
    yield call(make.small(2, 3, 1, 2), make.small(2, 1, 2), 1, -1, -3)
    yield edge(make.delicate(8, 8), make.delicate(8))


def diagonal_scatter_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(3)), r"`src` must have shape \[2\], got \S+\[3\]")
    yield Refusal(call(make(2, 3), make()), r"`src` must have shape \[2\], got \S+\[\]")
    yield Refusal(call(make(2, 3), 2.0), r"`src` must be an array, got 2.0", TypeError)
    yield Refusal(call(make(2, 3), make(2), 0, 1, 1), r"`dim1` and `dim2` must differ")


def np_diagonal_scatter(x, src, offset=0, dim1=0, dim2=1):
    out = np.moveaxis(x, (dim1, dim2), (-2, -1)).copy()
    places = np.arange(src.shape[-1])
    if places.size:
        out[..., places + max(-offset, 0), places + max(offset, 0)] = src
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


def diagonal_scatter_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        at = call(make.put([[fill, 1], [2, fill]]), make.put([3, 4]))
        kept = ([[0, 1], [1, 0]], [1, 1])
        yield Convention(f"{fill} is replaced", at, value=[[3, 1], [2, 4]], gradient=kept)


def diag_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        value = [[1, 0], [0, fill]]
        yield Convention(f"zeros beside {fill}", call(make.put([1, fill])), value=value)


def tril_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        at, kept = call(make.put([[1, fill], [2, 3]])), [[1, 0], [1, 1]]
        yield Convention(f"{fill} is cut away", at, value=[[1, 0], [2, 3]], gradient=kept)


def triu_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        at, kept = call(make.put([[1, 2], [fill, 3]])), [[1, 1], [0, 1]]
        yield Convention(f"{fill} is cut away", at, value=[[1, 2], [0, 3]], gradient=kept)


OPS = [
    OpInfo(
        functx.diag,
        diag_samples,
        reference=lambda x, diagonal=0: np.diag(x, diagonal),
        refusals=diag_refusals,
        conventions=diag_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.diagonal,
        diagonal_samples,
        reference=lambda x, offset=0, dim1=0, dim2=1: np.diagonal(x, offset, dim1, dim2),
        refusals=diagonal_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.tril,
        triangle_samples,
        reference=lambda x, diagonal=0: np.tril(x, diagonal),
        refusals=triangle_refusals,
        conventions=tril_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.triu,
        triangle_samples,
        reference=lambda x, diagonal=0: np.triu(x, diagonal),
        refusals=triangle_refusals,
        conventions=triu_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.diag_embed,
        diag_embed_samples,
        reference=np_diag_embed,
        refusals=diag_embed_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.diagflat,
        diagflat_samples,
        reference=lambda x, offset=0: np.diagflat(x, offset),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.diagonal_scatter,
        diagonal_scatter_samples,
        reference=np_diagonal_scatter,
        refusals=diagonal_scatter_refusals,
        conventions=diagonal_scatter_conventions,
        tolerances=(EXACT,),
    ),
]
