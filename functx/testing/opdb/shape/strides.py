from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def unfold_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 5), 1, 3, 1)
    yield call(make(5, 2), 0, 2, 2)
    yield call(make(2, 5, 2), -2, 1, 3)
    yield call(make(3), dimension=0, size=0, step=2)
    yield call(make(3), 0, 3, 2**40)
    yield call(make(), 0, 1, 1)
    yield call(make(2, 0), 1, 0, 1)
    yield call(make.small(2, 1, 3, 2), 2, 2, 1)
    yield edge(make.delicate(8), 0, 3, 1)


def unfold_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), 0, 4, 1), r"`size` must lie in \[0, 3\], got 4")
    yield Refusal(call(make(3), 0, -1, 1), r"`size` must lie in \[0, 3\], got -1")
    yield Refusal(call(make(3), 0, 2, 0), r"`step` must be positive, got 0")
    yield Refusal(call(make(3), 1, 2, 1), r"`dimension` must lie in \[-1, 0\], got 1", IndexError)


def unfold_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([1, 2, 3, 4]), 0, 3, 1)
    yield Convention("the gradient counts", at, gradient=[1, 2, 2, 1])


def np_unfold(x, dimension, size, step):
    line = np.atleast_1d(x)
    dim = dimension % line.ndim
    starts = range(0, line.shape[dim] - size + 1, step)
    windows = [np.moveaxis(line.take(range(i, i + size), dim), dim, -1) for i in starts]
    out = np.stack(windows, dim)
    return out if x.ndim else out[0]


def as_strided_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (2, 2), (1, 2))
    yield call(make(2, 3), [3, 2], [0, 1], 4)
    yield call(make(6), (2, 3), (2, 1), storage_offset=1)
    yield call(make(2, 2), (), ())
    yield call(make(), (2,), (0,))
    yield call(make(3), (0, 2), (100, 1), 60)
    yield call(make(0), (0,), (1,))
    yield call(make.small(1, 2, 1, 3), (2, 1, 2, 1), (1, 7, 3, 9))
    yield edge(make.delicate(8), (3, 4), (2, 1))


def as_strided_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), (2, 2), (1,)), r"`stride` must have 2 entries, got \[1\]")
    yield Refusal(call(make(3), (2,), (-1,), 1), r"`stride` must not be negative, got \[-1\]")
    yield Refusal(call(make(3), (-1,), (1,)), r"`size` must not be negative, got \[-1\]")
    yield Refusal(call(make(3), (2,), (1,), -1), r"`storage_offset` must not be negative")
    yield Refusal(call(make(3), (2,), (2,), 1), r"positions must lie in \S+\[3\], and reach 3")
    yield Refusal(call(make(0), (1,), (1,)), r"positions must lie in \S+\[0\], and reach 0")


def as_strided_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([1, 2, 3]), (2, 2), (1, 1))
    yield Convention("the gradient counts", at, value=[[1, 2], [2, 3]], gradient=[1, 2, 1])


def places(size, stride, offset) -> np.ndarray:
    return sum((i * n for i, n in zip(np.indices(size), stride, strict=True)), offset or 0)


def np_as_strided(x, size, stride, storage_offset=None):
    at = np.asarray(places(size, stride, storage_offset), int)
    return x.ravel()[at] if at.size else np.zeros(size, x.dtype)


def as_strided_scatter_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 2), (2, 2), (1, 2))
    yield call(make(6), make(2), (2,), (3,), storage_offset=2)
    yield call(make(6), make(2, 3), (2, 3), (1, 1), 1)
    yield call(make(2, 2), make(), (), ())
    yield call(make(3), make(0, 2), (0, 2), (100, 1))
    yield call(make(4), make(2, dtype="int32"), (2,), (2,))
    yield call(make.small(1, 2, 1, 3), make.small(2, 2), (2, 2), (1, 3))
    yield edge(make.delicate(16), make.delicate(8), (8,), (2,))
    yield edge(make.delicate(4), make(low=0, dtype="complex64"), (), (), 1)


def as_strided_scatter_refusals(make: Make) -> Iterator[Refusal]:
    x = make(4)
    yield Refusal(call(x, make(3), (2,), (1,)), r"`src` must have shape \[2\], got \S+\[3\]")
    yield Refusal(call(x, 2.0, (), ()), r"`src` must be an array, got 2.0", TypeError)
    yield Refusal(call(x, make(2), (2,), (4,)), r"positions must lie in \S+\[4\], and reach 4")


def as_strided_scatter_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([1, 2, 3, 4]), make.put([[5, 6], [7, 8]]), (2, 2), (1, 1))
    yield Convention("the last one stays", at, value=[5, 7, 8, 4])
    yield Convention(
        "what is overwritten has no gradient",
        at,
        gradient=([0, 0, 0, 1], [[1, 0], [1, 1]]),
        departure="PyTorch gives the gradient to all that were written",
    )


def as_strided_scatter_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "PyTorch gives the gradient to what is overwritten, and none to what stays",
        call(make(6), make(2), (2,), (3,), storage_offset=2),
        r"^gradient: as_strided_scatter\(",
    )
    yield Departure(
        "value",
        "of several elements for one place the last stays; PyTorch walks along the short side",
        call(make.put([0] * 6, "int8"), make.put([[1, 2, 3], [4, 5, 6]], "int8"), (2, 3), (1, 1)),
        r"\), \(1, 1\)(, |\))",
    )


def np_as_strided_scatter(x, src, size, stride, storage_offset=None):
    out, src = x.ravel().copy(), src if np.iscomplexobj(x) else np.real(src)
    at = np.asarray(places(size, stride, storage_offset), int)
    for place, value in zip(at.ravel() if src.size else (), src.ravel(), strict=True):
        out[place] = value
    return out.reshape(x.shape)


OPS = [
    OpInfo(
        functx.unfold,
        unfold_samples,
        reference=np_unfold,
        refusals=unfold_refusals,
        conventions=unfold_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.as_strided,
        as_strided_samples,
        reference=np_as_strided,
        refusals=as_strided_refusals,
        conventions=as_strided_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.as_strided_scatter,
        as_strided_scatter_samples,
        reference=np_as_strided_scatter,
        refusals=as_strided_scatter_refusals,
        conventions=as_strided_scatter_conventions,
        departures=(as_strided_scatter_departures,),
        tolerances=(EXACT,),
        kinked=True,
    ),
]
