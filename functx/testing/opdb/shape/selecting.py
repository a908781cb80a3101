from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def select_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1, 2)
    yield call(make(3, 2), 0, make.index(3))
    yield call(make(2, 3, 2), -2, -3)
    yield call(make(2), dim=0, index=1)
    yield call(make(2, 0), 0, make.index(2, dtype="uint8"))
    yield call(make.small(2, 1, 9, 2), -2, make.index(9, 1))
    yield edge(make.delicate(2, 8), 0, make.index(2))


def select_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 0, 2), r"`index` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 3), 1, -4), r"`index` must lie in \[-3, 2\], got -4", IndexError)
    yield Refusal(call(make(), 0, 0), r"`input` must have an element along `dim`", IndexError)
    yield Refusal(call(make(3), 0, 1.5), r"`index` must be an integer", TypeError)
    yield Refusal(call(make(3), 0, jnp.asarray([0, 1])), r"`index` must be one integer, got")
    yield Refusal(call(make(3), 1, 0), r"`dim` must lie in \[-1, 0\], got 1", IndexError)


def narrow_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 1, 1, 2)
    yield call(make(9, 2), 0, make.index(8), 2)
    yield call(make(2, 3), -1, -2, 2)
    yield call(make(3), dim=0, start=3, length=0)
    yield call(make(0, 2), 0, 0, 0)
    yield call(make.small(2, 1, 9, 2), -2, make.index(8), 2)
    yield edge(make.delicate(3, 8), 0, make.index(2), 2)


def narrow_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), 0, make.index(2, 1), 1), r"`start` must be 0-d, got i64\[1\]")
    yield Refusal(call(make(), 0, 0, 1), r"`input` must have a dimension, got \S+\[\]")
    yield Refusal(call(make(3), 0, 4, 0), r"`start` must lie in \[-3, 3\], got 4", IndexError)
    yield Refusal(call(make(3), 0, 2, 2), r"`start` \+ `length` must not exceed 3, got 2 \+ 2")
    yield Refusal(call(make(3), 0, 0, -1), r"`length` must lie in \[0, 3\], got -1")
    yield Refusal(call(make(3), 0, True, 1), r"`start` must be an integer", TypeError)
    yield Refusal(call(make(3), 0, 0, 1.5), r"`length` must be an int, got 1.5", TypeError)


def np_narrow(x, dim, start, length):
    start = start % x.shape[dim] if start < 0 else start
    return np.take(x, np.arange(start, start + length), dim)


def outside(make: Make, *rest: int) -> Iterator[Convention]:
    """Positions known only at run time, as PyTorch has none."""
    n = len(rest)
    for at in (3 - n, -4):
        index, departure = make.put(at, "int64"), "PyTorch refuses"
        value = [np.nan] * rest[0] if rest else np.nan
        yield Convention(
            f"{at} reads NaN in a compiled program",
            call(make.put([1, 2, 3]), 0, index, *rest),
            value=value,
            gradient=[0, 0, 0],
            departure=departure,
        )
        least = np.iinfo(np.int16).min
        yield Convention(
            f"{at} reads the least integer",
            call(make.put([1, 2, 3], "int16"), 0, index, *rest),
            value=[least] * rest[0] if rest else least,
            departure=departure,
        )


def select_conventions(make: Make) -> Iterator[Convention]:
    yield from outside(make)
    for at, value in ((0, 1), (2, 3), (-1, 3), (-3, 1)):
        sample = call(make.put([1, 2, 3]), 0, make.put(at, "int64"))
        yield Convention(f"{at} known at run time", sample, value=value)
    rest = call(make.put([[np.nan, np.inf], [1, 1]]), 0, 1)
    yield Convention("what is not read", rest, value=[1, 1], gradient=[[0, 0], [1, 1]])


def narrow_conventions(make: Make) -> Iterator[Convention]:
    yield from outside(make, 2)


def slice_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 1, 1, 3)
    yield call(make(5), 0, -4, -1, 2)
    yield call(make(3, 2))
    yield call(make(2, 3), dim=-1, start=1, end=None, step=5)
    yield call(make(3), 0, 2, 1)
    yield call(make(3), 0, -100, 100)
    yield call(make(0, 2), 0, 0, 3)
    yield call(make.small(2, 1, 5, 2), -2, 1, None, 3)
    yield edge(make.delicate(3, 8), 0, 1)


def slice_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make()), r"`input` must have a dimension, got \S+\[\]", IndexError)
    yield Refusal(call(make(3), 0, 0, 3, 0), r"`step` must be positive, got 0")
    yield Refusal(call(make(3), 1), r"`dim` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(make(3), 0, 1.5), r"`start` must be an int or None, got 1.5", TypeError)


def np_slice(x, dim=0, start=None, end=None, step=1):
    return np.moveaxis(np.moveaxis(x, dim, 0)[start:end:step], 0, dim)


def slice_scatter_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), make(2, 2), 1, 1, 3)
    yield call(make(5, 2), make(2, 2), 0, -4, -1, 2)
    yield call(make(3, 2), make(3, 2))
    yield call(make(2, 3), make(2, 1), dim=-1, start=1, end=None, step=5)
    yield call(make(3), make(0), 0, 2, 1)
    yield call(make(0, 2), make(0, 2))
    yield call(make(4), make(2, dtype="int32"), 0, 2)
    yield call(make.small(2, 1, 5, 2), make.small(2, 1, 2, 2), -2, 1, None, 3)
    yield edge(make.delicate(3, 8), make.delicate(2, 8), 0, 1)


def slice_scatter_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, make(3), 1), r"`src` must have shape \[2, 3\], got \S+\[3\]")
    yield Refusal(call(x, make(2, 3), 1, 0, 3, 0), r"`step` must be positive, got 0")
    yield Refusal(call(x, 2.0), r"`src` must be an array, got 2.0", TypeError)
    yield Refusal(call(make(), make()), r"`input` must have a dimension", IndexError)


def np_slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    out = np.moveaxis(x, dim, 0).copy()
    out[start:end:step] = np.moveaxis(src, dim, 0)
    return np.moveaxis(out, 0, dim)


def slice_scatter_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        at = call(make.put([fill, 1, fill]), make.put([3, 4]), 0, 0, None, 2)
        kept = ([0, 1, 0], [1, 1])
        yield Convention(f"{fill} is replaced", at, value=[3, 1, 4], gradient=kept)


def select_scatter_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2), 1, 2)
    yield call(make(3, 2), make(2), 0, make.index(3))
    yield call(make(2, 3, 2), make(2, 2), -2, -3)
    yield call(make(2), make(), dim=0, index=1)
    yield call(make(2, 0), make(0), 0, make.index(2, dtype="uint8"))
    yield call(make(2, 2), make(2, dtype="int32"), 0, 1)
    yield call(make.small(2, 1, 9, 2), make.small(2, 1, 2), -2, make.index(9, 1))
    yield edge(make.delicate(2, 8), make.delicate(8), 0, make.index(2))
    yield edge(make(3), make(low=0, dtype="complex64"), dim=0, index=1)


def select_scatter_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, make(2), 0, 0), r"`src` must have shape \[3\], got \S+\[2\]")
    yield Refusal(call(x, make(3), 0, 2), r"`index` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(x, 2.0, 0, 0), r"`src` must be an array, got 2.0", TypeError)
    yield Refusal(call(make(), make(), 0, 0), r"`input` must have an element", IndexError)


def np_select_scatter(x, src, dim, index):
    out = np.moveaxis(x, dim, 0).copy()
    out[np.reshape(index, ())] = src if np.iscomplexobj(x) else np.real(src)
    return np.moveaxis(out, 0, dim)


def select_scatter_conventions(make: Make) -> Iterator[Convention]:
    for at in (2, -3):
        sample = call(make.put([1, 2]), make.put(3), 0, make.put(at, "int64"))
        yield Convention(
            f"{at} writes nothing in a compiled program",
            sample,
            value=[1, 2],
            gradient=([1, 1], 0),
            departure="PyTorch refuses",
        )
    rest = call(make.put([np.nan, np.inf]), make.put(1), 0, -1)
    yield Convention("what is replaced", rest, value=[np.nan, 1], gradient=([1, 0], 1))


OPS = [
    OpInfo(
        functx.select,
        select_samples,
        reference=lambda x, dim, index: np.take(x, np.reshape(index, ()), dim),
        refusals=select_refusals,
        conventions=select_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.narrow,
        narrow_samples,
        reference=np_narrow,
        refusals=narrow_refusals,
        conventions=narrow_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.slice,
        slice_samples,
        reference=np_slice,
        refusals=slice_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.slice_scatter,
        slice_scatter_samples,
        reference=np_slice_scatter,
        refusals=slice_scatter_refusals,
        conventions=slice_scatter_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.select_scatter,
        select_scatter_samples,
        reference=np_select_scatter,
        refusals=select_scatter_refusals,
        conventions=select_scatter_conventions,
        tolerances=(EXACT,),
    ),
]
