from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .masks import some


def masked_fill_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make.mask(2, 3), make())
    yield call(make(3), make.mask(2, 1), 1)
    yield call(make(2, 3), mask=make.mask(3), value=0)
    yield call(make(), make.mask(2), make())
    yield call(make(0, 3), make.mask(3), 1)
    yield call(make.small(2, 1, 3, 2), make.mask(2, 3, 1), make.small())
    yield edge(make.delicate(2, 8), make.put([[True], [False]], bool), make.delicate())


def masked_fill_refusals(make: Make) -> Iterator[Refusal]:
    x, mask = make(3), make.mask(3)
    yield Refusal(call(x, mask.astype("int32"), 1), "`mask` must be bool", TypeError)
    yield Refusal(call(x, mask, make(1)), "`value` must be a number or a 0-d array")
    yield Refusal(call(make(3, dtype="float32"), mask, 1j), "`value` must be real", TypeError)
    yield Refusal(call(x, make.mask(2), 1), "shapes do not fit.*`mask` bool")
    small, half = make(3, dtype="int8"), make(3, dtype="float16")
    yield Refusal(call(small, mask, 1000), "`value` must fit int8, got 1000")
    yield Refusal(call(half, mask, 1e6), "`value` must fit float16")


def np_masked_fill(x, mask, value):
    return np.where(mask, np.asarray(value, x.dtype), x)


def masked_scatter_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), some(make, 4, 2, 3), make(4))
    yield call(make(2, 3), make.mask(2, 3), make(2, 4))
    yield call(make(3), some(make, 1, 2, 1), source=make(3))
    yield call(make(2, 3), mask=make.mask(3), source=make(6))
    yield call(make(), make.put(True, bool), make())
    yield call(make(2), make.put([False, False], bool), make(0))
    yield call(make(0, 2), make.mask(2), make(1))
    yield call(make.small(2, 1, 3, 2), some(make, 2, 3, 2), make.small(4))
    yield edge(make.delicate(2, 8), make.put([[False], [True]], bool), make.delicate(8))


def masked_scatter_refusals(make: Make) -> Iterator[Refusal]:
    x, mask = make(2, 3), make.put([True, False, True], bool)
    yield Refusal(call(x, mask, make(3)), "`source` must have at least 4 elements")
    yield Refusal(call(x, mask, make(0)), "`source` must have at least 4 elements")
    yield Refusal(call(x, make.index(2, 3), make(6)), "`mask` must be bool", TypeError)
    yield Refusal(call(x, make.mask(2), make(6)), "shapes do not fit")
    yield Refusal(call(x, mask, make(6, dtype="float16")), "dtype of `input`", TypeError)
    yield Refusal(call(x, mask, 2.0), "`source` must be an array, got 2.0", TypeError)


def np_masked_scatter(x, mask, source):
    x, mask = np.broadcast_arrays(x, mask)
    out = np.array(x)
    out[mask] = source.ravel()[: mask.sum()]
    return out


def masked_scatter_conventions(make: Make) -> Iterator[Convention]:
    x, mask = make.put([np.nan, np.inf, 1]), make.put([True, True, False], bool)
    yield Convention(
        "what is covered has gradient 0, and what is left over",
        call(x, mask, make.put([5, 6, np.nan])),
        value=[5, 6, 1],
        gradient=([0, 0, 1], [1, 1, 0]),
    )
    yield Convention(
        "what is missing reads NaN in a compiled program",
        call(x, mask, make.put([5])),
        value=[5, np.nan, 1],
        through=lambda y: y[::2],
        gradient=([0, 0, 1], [1]),
        departure="PyTorch refuses",
    )


def masked_select_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), some(make, 4, 2, 3))
    yield call(make(3), some(make, 1, 2, 1))
    yield call(make(2, 3), mask=make.mask())
    yield call(make(), make.mask(3), size=2)
    yield call(make(4), make.mask(4), size=6, fill_value=1)
    yield call(make(0, 2), make.mask(2))
    yield call(make.small(2, 1, 3, 2), some(make, 2, 3, 2))
    yield edge(make.delicate(2, 8), make.put([[False], [True]], bool))


def masked_select_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make.index(2, 2)), "`mask` must be bool", TypeError)
    yield Refusal(call(make(2), make.mask(3)), "shapes do not fit.*`mask` bool")
    yield Refusal(
        call(make(2), make.mask(2), size=-1), "`size` must not be negative, got -1", ValueError
    )
    yield Refusal(call(make(2), make.mask(2), size=0.5), "`size` must be an int", TypeError)


def padded(rows, size, fill_value):
    """The first `size` rows; what is missing is `fill_value`."""
    out = np.full((size, *rows.shape[1:]), fill_value, rows.dtype)
    out[: len(rows)] = rows[:size]
    return out


def np_masked_select(x, mask, size=None, fill_value=0):
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask] if size is None else padded(x[mask], size, fill_value)


def nonzero_samples(make: Make) -> Iterator[Sample]:
    x = sparse(make, 4, 2, 3)
    yield call(x)
    yield call(sparse(make, 4, 2, 4), as_tuple=True)
    yield call(x, size=3)
    yield call(x, as_tuple=True, size=7, fill_value=9)
    yield call(make.put(0))
    yield call(make.nonzero(), as_tuple=True)
    yield call(make(2, 0))
    yield call(sparse(make, 5, 2, 1, 3, 2))
    yield edge(make.delicate(2, 4))


def nonzero_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call([1, 2]), "`input` must be an array", TypeError)
    yield Refusal(call(make(2), size=-1), "`size` must not be negative, got -1", ValueError)
    yield Refusal(call(make(2), fill_value=0.5), "`fill_value` must be an integer", TypeError)


def np_nonzero(x, as_tuple=False, size=None, fill_value=-1):
    rows = np.argwhere(np.atleast_1d(x) if as_tuple else x)
    if size is not None:
        rows = padded(rows, size, fill_value)
    return tuple(rows.T) if as_tuple else rows


def sparse(make: Make, count: int, *shape: int):
    """An array in which `count` elements are not zero."""
    return make.nonzero(*shape) * some(make, count, *shape).astype(make.dtype)


def argwhere_samples(make: Make) -> Iterator[Sample]:
    yield call(sparse(make, 4, 2, 3))
    yield call(sparse(make, 2, 5))
    yield call(sparse(make, 3, 2, 3), size=5, fill_value=9)
    yield call(sparse(make, 4, 5), size=2)
    yield call(make.put(0))
    yield call(make.nonzero())
    yield call(make(2, 0))
    yield call(sparse(make, 5, 2, 1, 3, 2))
    yield edge(make.delicate(2, 4))


def static_samples(make: Make) -> Iterator[Sample]:
    yield call(sparse(make, 4, 2, 3), size=4)
    yield call(sparse(make, 2, 5), size=4)
    yield call(sparse(make, 3, 2, 3), size=5, fill_value=-100)
    yield call(sparse(make, 4, 5), size=2)
    yield call(make.put(np.zeros((2, 2))), size=1, fill_value=7)
    yield call(make.put(0), size=2)
    yield call(make.nonzero(), size=0)
    yield call(make(2, 0), size=3)
    yield call(sparse(make, 5, 2, 1, 3, 2), size=6)
    yield edge(make.delicate(2, 4), size=8)


def static_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call([1, 2], size=2), "`input` must be an array", TypeError)
    yield Refusal(call(make(2)), "size", TypeError)
    yield Refusal(call(make(2), size=-1), "`size` must not be negative, got -1", ValueError)
    yield Refusal(call(make(2), size=0.5), "`size` must be an int", TypeError)
    yield Refusal(call(make(2), size=True), "`size` must be an int", TypeError)
    for value in (0.5, True):
        at = call(make(2), size=1, fill_value=value)
        yield Refusal(at, "`fill_value` must be an integer", TypeError)


def np_nonzero_static(x, size, fill_value=-1):
    return padded(np.argwhere(x), size, fill_value)


def masked_fill_conventions(make: Make) -> Iterator[Convention]:
    mask = make.put([True, True, False], bool)
    yield Convention(
        "what is covered has gradient 0, the value that of all its places",
        call(make.put([np.nan, np.inf, 1]), mask, make.put(3)),
        value=[3, 3, 1],
        gradient=([0, 0, 1], 2),
    )
    bools = call(make.put([True, False, False], bool), mask, 1j)
    yield Convention("a number among bools is True if it is not zero", bools, value=[1, 1, 0])


def nonzero_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, np.nan, 1.0]), size=2)
    yield Convention("NaN counts, zeros of either sign do not", at, value=[[2], [3]])


OPS = [
    OpInfo(
        functx.masked_fill,
        masked_fill_samples,
        reference=np_masked_fill,
        refusals=masked_fill_refusals,
        conventions=masked_fill_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.masked_scatter,
        masked_scatter_samples,
        reference=np_masked_scatter,
        refusals=masked_scatter_refusals,
        conventions=masked_scatter_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.masked_select,
        masked_select_samples,
        reference=np_masked_select,
        refusals=masked_select_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.nonzero,
        nonzero_samples,
        reference=np_nonzero,
        refusals=nonzero_refusals,
        conventions=nonzero_conventions,
    ),
    OpInfo(
        functx.argwhere,
        argwhere_samples,
        reference=np_nonzero,
        refusals=nonzero_refusals,
        conventions=nonzero_conventions,
    ),
    OpInfo(
        functx.nonzero_static,
        static_samples,
        reference=np_nonzero_static,
        refusals=static_refusals,
        conventions=nonzero_conventions,
    ),
]
