from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call

from .sizes import size_of


def size_samples(make: Make) -> Iterator[Sample]:
    yield call((2, 3), dtype=make.dtype)
    yield call([2, 0], dtype=make.dtype)
    yield call((), dtype=make.dtype)
    yield call(3)
    yield call(2, 1, dtype=make.dtype)
    yield call(size=(2,), device="cpu")


def size_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(-1), r"`size` must not be negative, got \[-1\]")
    yield Refusal(call(2.5), r"`size` must be an int or a sequence of ints", TypeError)
    yield Refusal(call(), r"missing a required argument: 'size'", TypeError)
    yield Refusal(call(2, dtype="floating"), r"`dtype` must be a dtype, got 'floating'", TypeError)


def filled_with(value: int):
    def reference(*size, dtype=None, device=None, **named):
        return np.full(size_of(*size, **named), value)

    return reference


def full_samples(make: Make) -> Iterator[Sample]:
    yield call((2, 3), make(), dtype=make.dtype)
    yield call((2,), make(dtype="int32"))
    yield call((), 2)
    yield call([0, 2], 1.5)
    yield call(2, True)
    yield call((2,), 1.5j)
    yield call(size=(2,), fill_value=2.5, dtype="int32", device="cpu")
    yield call((2,), -1, dtype="uint8")
    yield call((2,), -2.5, dtype="float16")
    yield call((2,), float("-inf"))


def full_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call((2,), make(1)), r"`fill_value` must be a number or 0-d", TypeError)
    yield Refusal(call((2,), 1j, dtype="float32"), r"`fill_value` must be real for float32")
    yield Refusal(call((2,), 300, dtype="uint8"), r"`fill_value` must fit uint8, got 300")
    yield Refusal(call((2,), float("nan"), dtype="int32"), r"`fill_value` must fit int32, got nan")
    yield Refusal(call((2,), 1e39, dtype="float32"), r"`fill_value` must fit float32, got 1e\+39")
    at = call((2,), make.put(1e300j, "complex128"))
    yield Refusal(at, r"`fill_value` must fit complex64, got \S*1e\+300j")
    yield Refusal(call((2,), 2**63), r"`fill_value` must fit int64, the widest", OverflowError)
    yield Refusal(call((-1,), 1), r"`size` must not be negative, got \[-1\]")


def np_full(size, fill_value, dtype=None, device=None):
    value = np.asarray(fill_value)
    return np.full(size, value.astype(dtype) if dtype == "uint8" else value)


def like_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make())
    yield call(make(2, 0))
    yield call(make(2), dtype="int16")
    yield call(make(2), dtype=functx.complex64, device="cpu")


def like_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), dtype="floating"), r"`dtype` must be a dtype", TypeError)
    yield Refusal(call(None), r"`input` must be an array, got None", TypeError)


def eye_samples(make: Make) -> Iterator[Sample]:
    yield call(2, dtype=make.dtype)
    yield call(2, 3, dtype=make.dtype)
    yield call(3, m=1)
    yield call(0)
    yield call(2, 0)
    yield call(n=2, m=3, device="cpu")


def eye_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(-1), r"`n` must not be negative, got \[-1\]")
    yield Refusal(call(2, -3), r"`m` must not be negative, got \[-3\]")
    yield Refusal(call(2.0), r"`n` must be an int, got 2.0", TypeError)
    yield Refusal(call(2, jnp.ones(2)), r"`m` must be an int", TypeError)


def scalar_samples(make: Make) -> Iterator[Sample]:
    yield call(make(), dtype=make.dtype)
    yield call(2)
    yield call(True)
    yield call(2.5, dtype="int32", device="cpu")
    yield call(s=1.5j, dtype="complex64")
    yield call(-1, dtype="uint8")
    yield call(float("-inf"))


def scalar_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1)), r"`s` must be a number or 0-d", TypeError)
    yield Refusal(call(1j), r"`s` must be real for float32")
    yield Refusal(call(300, dtype="uint8"), r"`s` must fit uint8, got 300")
    yield Refusal(call(float("nan"), dtype="int32"), r"`s` must fit int32, got nan")


def np_scalar(s, dtype=None, device=None):
    value = np.asarray(s)
    return value.astype(dtype) if dtype in ("uint8", "int32") else value


def scalar_conventions(make: Make) -> Iterator[Convention]:
    value = call(make.put(2.0), dtype="float64")
    departure = "PyTorch's is a number"
    yield Convention("has a gradient", value, value=2, gradient=1, departure=departure)
    at = call(1.5j, dtype="bool")
    yield Convention("an imaginary number is not zero", at, value=True)


def full_conventions(make: Make) -> Iterator[Convention]:
    value = call((3,), make.put(2.0), dtype="float64")
    departure = "PyTorch's fill value is a number"
    what = "has a gradient in its value"
    yield Convention(what, value, value=[2, 2, 2], gradient=3, departure=departure)
    at = call((2,), 1.5j, dtype="bool")
    yield Convention("an imaginary number is not zero", at, value=[True, True])


NO_SIZES = "its only array has no dimensions, so there is no size that could be a symbol"

OPS = [
    OpInfo(functx.zeros, size_samples, reference=filled_with(0), refusals=size_refusals),
    OpInfo(functx.ones, size_samples, reference=filled_with(1), refusals=size_refusals),
    OpInfo(
        functx.full,
        full_samples,
        reference=np_full,
        refusals=full_refusals,
        conventions=full_conventions,
    ),
    OpInfo(
        functx.zeros_like,
        like_samples,
        reference=lambda x, **_: np.zeros(x.shape),
        refusals=like_refusals,
    ),
    OpInfo(
        functx.ones_like,
        like_samples,
        reference=lambda x, **_: np.ones(x.shape),
        refusals=like_refusals,
    ),
    OpInfo(
        functx.eye,
        eye_samples,
        reference=lambda n, m=None, **_: np.eye(n, m),
        refusals=eye_refusals,
    ),
    OpInfo(
        functx.scalar_tensor,
        scalar_samples,
        reference=np_scalar,
        refusals=scalar_refusals,
        conventions=scalar_conventions,
        gaps=tuple(Gap(check, NO_SIZES) for check in ("symbolic", "symbolic_values")),
    ),
]
