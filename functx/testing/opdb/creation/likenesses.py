from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge


def full_like_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 2)
    yield call(make(2), make(), dtype=make.dtype)
    yield call(make(), True)
    yield call(make(0, 2), 1)
    yield call(make(2), 1.5, dtype="float64")
    yield call(make(2), fill_value=1.5j, dtype="complex64", device="cpu")
    yield call(make(2), -1, dtype="uint8")
    yield call(make(2), -2.5, dtype="float16")
    yield call(make.small(2, 1, 3, 2), 1)


def value_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2)
    yield Refusal(call(x, make(1)), r"`fill_value` must be a number or 0-d", TypeError)
    yield Refusal(call(x, 1j, dtype="float32"), r"`fill_value` must be real for float32")
    yield Refusal(call(x, 300, dtype="uint8"), r"`fill_value` must fit uint8, got 300")
    yield Refusal(call(x, float("nan"), dtype="int32"), r"`fill_value` must fit int32, got nan")
    yield Refusal(call(x, 2**63), r"`fill_value` must fit int64, the widest", OverflowError)


def np_filled(shape: Any, fill_value: Any, dtype: Any) -> np.ndarray:
    value = np.asarray(fill_value)
    return np.full(shape, value.astype(dtype) if dtype == "uint8" else value)


def np_full_like(x, fill_value, *, dtype=None, device=None):
    return np_filled(x.shape, fill_value, dtype)


def full_like_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "has a gradient in its value",
        call(make(3), make.put(2.0)),
        value=[2, 2, 2],
        gradient=([0, 0, 0], 3),
        departure="PyTorch's fill value is a number",
    )
    infinite = call(make(1), float("-inf"))
    yield Convention("may be infinite", infinite, value=[-np.inf])
    whole = call(make(2, dtype="int32"), 2.5)
    yield Convention("a fraction is dropped", whole, value=[2, 2])
    at = call(make.put([0, 0]), 1.5j, dtype="bool")
    yield Convention("an imaginary number is not zero", at, value=[True, True])


def new_full_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3), (2, 3), 2)
    yield call(make(2), [2], make(), dtype=make.dtype)
    yield call(make(), (), True)
    yield call(make(2), (0, 2), 1)
    yield call(make(2), (2,), 1.5, dtype="float64")
    yield call(make(2), size=(2,), fill_value=1.5j, dtype="complex64", device="cpu")
    yield call(make(2), (2,), 2**24 + 1, dtype=functx.int64)
    yield call(make.small(2, 1, 3, 2), (2, 1, 1, 2), 1)


def new_full_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2)
    yield Refusal(call(x, (2,), make(1)), r"`fill_value` must be a number or 0-d", TypeError)
    yield Refusal(call(x, (2,), 1j, dtype="float32"), r"`fill_value` must be real for float32")
    yield Refusal(call(x, (2,), 300, dtype="uint8"), r"`fill_value` must fit uint8, got 300")
    yield Refusal(call(x, (-1,), 1), r"`size` must not be negative, got \[-1\]")


def new_full_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "has a gradient in its value",
        call(make(2), (3,), make.put(2.0)),
        value=[2, 2, 2],
        gradient=([0, 0], 3),
        departure="PyTorch's fill value is a number",
    )


def new_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3), (2, 3))
    yield call(make(), 2, 1)
    yield call(make(), [2, 0])
    yield call(make(2), ())
    yield call(make(2), 3, dtype="int16")
    yield call(make(2), size=(2,), dtype=functx.complex64, device="cpu")
    yield call(make(2, 1, 3, 2), (2, 1, 1, 2))


def new_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), -1), r"`size` must not be negative, got \[-1\]")
    yield Refusal(call(make(2), 2.5), r"`size` must be an int or a sequence of ints", TypeError)
    yield Refusal(call(None, 2), r"`input` must be an array, got None", TypeError)


def new_filled_with(value: int):
    def reference(x, *sizes, size=None, dtype=None, device=None):
        return np.full(size or (sizes[0] if len(sizes) == 1 else sizes), value)

    return reference


def fill_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make())
    yield call(make(2, 3), 2)
    yield call(make(), value=True)
    yield call(make(0, 2), 1)
    yield call(make(2), make(dtype="bool"))
    yield call(make.small(2, 1, 3, 2), make.small())
    yield edge(make.delicate(2), make.delicate())


def fill_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, dtype="float32")
    yield Refusal(call(x, make(1)), r"`value` must be a number or 0-d, got \S+\[1\]")
    yield Refusal(call(x, 1j), r"`value` must be real for f32\[2\], got")
    small = make(2, dtype="uint8")
    yield Refusal(call(small, 300), r"`value` must fit uint8, got 300")
    yield Refusal(call(make(2, dtype="int32"), float("nan")), r"`value` must fit int32, got nan")


def fill_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([1, np.nan]), make.put(2.0))
    yield Convention("the gradient is the sum", at, value=[2, 2], gradient=([0, 0], 2))
    wrapped = call(make(1, dtype="uint8"), make.put(300, "int64"))
    yield Convention("arrays are cast", wrapped, value=[44])
    whole = call(make(1, dtype="int32"), 2.5)
    yield Convention("a fraction is dropped", whole, value=[2])
    at = call(make.put([False], "bool"), 1.5j)
    yield Convention("an imaginary number is not zero", at, value=[True])


OPS = [
    OpInfo(
        functx.full_like,
        full_like_samples,
        reference=np_full_like,
        refusals=value_refusals,
        conventions=full_like_conventions,
    ),
    OpInfo(
        functx.new_full,
        new_full_samples,
        reference=lambda x, size, fill_value, dtype=None, device=None: np_filled(
            size, fill_value, dtype
        ),
        refusals=new_full_refusals,
        conventions=new_full_conventions,
    ),
    OpInfo(functx.new_zeros, new_samples, reference=new_filled_with(0), refusals=new_refusals),
    OpInfo(functx.new_ones, new_samples, reference=new_filled_with(1), refusals=new_refusals),
    OpInfo(
        functx.fill,
        fill_samples,
        reference=lambda x, value: np.full(x.shape, value),
        refusals=fill_refusals,
        conventions=fill_conventions,
    ),
]
