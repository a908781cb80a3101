from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2), make.put([[3, 0]], "int64"), 2)
    yield call(make(1, 2, 3), make.put([[[4, 0, 3], [1, 2, 0]]], "int64"), 3, 2, (0,), [6])
    yield call(make(1, 2), make.put([[1, 0]], "int64"), (2,), padding=1)


def plane_samples(make: Make) -> Iterator[Sample]:
    where = make.put([[[3, 5], [12, 10]]], "int64")
    yield call(make(1, 2, 2), where, 2)
    yield call(make(1, 1, 2, 2), where[None], 2, 3, (0, 1), output_size=(1, 1, 5, 4))
    yield call(make(1, 2, 2), where, (2, 3), stride=(3, 1), output_size=[4, 4])
    yield call(make(0, 1, 2, 2), make.put(np.zeros((0, 1, 2, 2)), "int64"), 2)


def volume_samples(make: Make) -> Iterator[Sample]:
    where = make.put([[[[3, 7]], [[8, 14]]]], "int64")
    yield call(make(1, 2, 1, 2), where, 2)
    yield call(make(1, 1, 2, 1, 2), where[None], (1, 3, 2), (2, 1, 3), (0, 0, 0), (3, 3, 4))
    yield call(make(1, 2, 1, 2), where, 2, padding=(0, 0, 1))


def np_max_unpool(x, indices, kernel_size, stride=None, padding=0, output_size=None, *, n):
    if output_size is None:
        kernel, pads = np.broadcast_to(kernel_size, n), np.broadcast_to(padding, n)
        strides = kernel if stride is None else np.broadcast_to(stride, n)
        output_size = (np.asarray(x.shape[-n:]) - 1) * strides - 2 * pads + kernel
    sizes = tuple(output_size)[-n:]
    out = np.zeros((*x.shape[:-n], np.prod(sizes, dtype=int)), x.dtype)
    for at in np.ndindex(x.shape):
        out[(*at[:-n], indices[at])] = x[at]
    return out.reshape(*x.shape[:-n], *sizes)


def line_refusals(make: Make) -> Iterator[Refusal]:
    x, where = make(1, 2), make.put([[3, 0]], "int64")
    yield Refusal(call(x, where[0], 2), r"`indices` must have the shape of `input`, got i64\[2\]")
    yield Refusal(
        call(x, where, 2, output_size=(4, 4)), r"`output_size` must be 1 ints", ValueError
    )
    yield Refusal(call(x, where, 1), r"`indices` must lie in \[0, 1\], got 3", IndexError)
    yield Refusal(call(x, -where, 2), r"`indices` must lie in \[0, 3\], got -3", IndexError)


def plane_refusals(make: Make) -> Iterator[Refusal]:
    x, where = make(1, 2, 2), make.put([[[3, 5], [12, 10]]], "int64")
    yield Refusal(call(x[0], where[0], 2), r"`input` must have 3 dimensions, or 4 with a batch")
    yield Refusal(call(x, where, 2, output_size=(6, 4)), "less than a stride away", ValueError)
    yield Refusal(call(x, where, 1, padding=3), "must leave a size", ValueError)
    yield Refusal(call(x, where.astype("int16"), 2), "must be int32 or int64", TypeError)
    integers = make(1, 2, 2, dtype="int64")
    yield Refusal(call(integers, where, 2), "expected floating arrays, got i64", TypeError)


def volume_refusals(make: Make) -> Iterator[Refusal]:
    x, where = make(1, 1, 1, 1), make.put([[[[9]]]], "int64")
    yield Refusal(call(x, where, 2), r"`indices` must lie in \[0, 7\], got 9", IndexError)
    yield Refusal(call(x, where, 2, output_size=(2, 2)), "must be 3 ints, or 5", ValueError)


def conventions(make: Make, *, n: int) -> Iterator[Convention]:
    row = lambda *elements: np.reshape(elements, (1, *[1] * (n - 1), len(elements)))
    kernel = (*[1] * (n - 1), 2) if n > 1 else 2
    x, where = make.put(row(np.nan, -np.inf)), make.put(row(1, 2), "int64")
    yield Convention("NaN and -inf", call(x, where, kernel), value=row(0, np.nan, -np.inf, 0))


def volume_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "no position lies in a result of nothing, in which PyTorch writes nothing",
        call(make(4, 1, 4, 1), make.put(np.zeros((4, 1, 4, 1)), "int64"), 2, padding=(0, 0, 1)),
        "must be empty for a dimension of size 0",
    )


OPS = [
    OpInfo(
        operator,
        samples,
        reference=ft.partial(np_max_unpool, n=n),
        refusals=refusals,
        conventions=ft.partial(conventions, n=n),
        departures=(volume_departures,) if n == 3 else (),
    )
    for n, operator, samples, refusals in [
        (1, F.max_unpool1d, line_samples, line_refusals),
        (2, F.max_unpool2d, plane_samples, plane_refusals),
        (3, F.max_unpool3d, volume_samples, volume_refusals),
    ]
]
