from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import available
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def reshape_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 6), (3, -1))
    yield call(make(), (1, 1))
    yield call(make(1, 1), ())
    yield call(make(2, 3), -1)
    yield call(make(0, 3), [2, 0])
    yield call(make(0, 3), (-1, 3))
    yield call(make.small(2, 1, 3, 2), (3, 4))
    yield edge(make.delicate(8), (2, 4))


def size_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), (4,)), r"`shape` must hold 6 elements, got \[4\]")
    yield Refusal(call(make(2, 3), (4, -1)), r"`shape` must hold 6 elements, and \[4, -1\] cannot")
    yield Refusal(call(make(2, 3), (-1, -1)), r"at most one -1")
    yield Refusal(call(make(2, 3), (-2, -3)), r"non-negative ints")
    yield Refusal(call(make(0, 3), (0, -1)), r"hint: beside a size of 0, -1 could be anything")


def reshape_refusals(make: Make) -> Iterator[Refusal]:
    yield from size_refusals(make)
    yield Refusal(call(make(2, 3), 2.0), r"`shape` must be an int or a sequence", TypeError)
    yield Refusal(call(make(2, 3), None), r"`shape` must be an int or a sequence", TypeError)


def view_refusals(make: Make) -> Iterator[Refusal]:
    yield from size_refusals(make)
    yield Refusal(call(make(2, 3)), r"exactly one of `size` and `dtype`", TypeError)
    yield Refusal(call(make(), functx.int8), r"`input` must have a dimension to read as int8")
    half = make(3, dtype="float16")
    yield Refusal(call(half, functx.int32), r"must end in a multiple of 2 .*, got f16\[3\]")


def view_dtype_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), functx.int32)
    yield call(make(2, 3), dtype="int8")
    yield call(make(2, 3), dtype="float32")
    yield call(make(), functx.int32)
    yield call(make(0, 2), functx.complex64)
    yield call(make(2, 4), dtype="complex64")
    yield call(make(4), functx.complex64)
    yield call(make.small(2, 1, 3, 2), functx.uint8)
    yield call(make.small(2, 1, 3, 2), functx.complex64)
    yield edge(make.delicate(8), functx.int32)


def flatten_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, 2), 1)
    yield call(make(2, 3, 2))
    yield call(make())
    yield call(make(2, 0, 3), start_dim=-3, end_dim=-2)
    yield call(make(3), 0, 0)
    yield call(make.small(2, 1, 3, 2), -3, 2)
    yield edge(make.delicate(2, 4))


def flatten_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 1, 0), r"`start_dim` must not come after `end_dim`")
    yield Refusal(call(make(2, 3), 0, 2), r"`end_dim` must lie in \[-2, 1\], got 2", IndexError)


def np_flatten(x, start_dim=0, end_dim=-1):
    if x.ndim == 0:
        return x.reshape(1)
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:start], np.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])


def as_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3, 2))
    yield call(make(2, 3), make(6, dtype="int32"))
    yield call(make(), other=make(1, 1))
    yield call(make(1, 1), make())
    yield call(make(0, 3), make(2, 0))
    yield call(make.small(2, 1, 3, 2), make(3, 4))
    yield edge(make.delicate(8), make(2, 4))


def as_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(4)), r"`other` must hold 6 elements, got \[4\]")
    yield Refusal(call(make(1), 2.0), r"`other` must be an array", TypeError)


def unflatten_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 6), 1, (2, 3))
    yield call(make(2, 6, 2), -2, (3, -1))
    yield call(make(6), dim=0, sizes=[6])
    yield call(make(0, 2), 0, (-1, 2))
    yield call(make(0), 0, (2, 0))
    yield call(make.small(2, 4, 1, 2), 1, (2, 1, 2))
    yield edge(make.delicate(8), 0, (2, 4))


def unflatten_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 1, (2, 2)), r"`sizes` must hold 3 elements, got \[2, 2\]")
    yield Refusal(call(make(2, 3), 1, (2, -1)), r"`sizes` must hold 3 elements, and \[2, -1\]")
    yield Refusal(call(make(2, 3), 1, ()), r"`sizes` must not be empty")
    yield Refusal(call(make(), 0, (1,)), r"`input` must have a dimension, got \S+\[\]")
    yield Refusal(call(make(2), 1, (2,)), r"`dim` must lie in \[-1, 0\], got 1", IndexError)


def np_unflatten(x, dim, sizes):
    dim %= x.ndim
    known = -np.prod(sizes) if -1 in sizes else 1
    sizes = [x.shape[dim] // known if n == -1 else n for n in sizes]
    return np.reshape(x, (*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


def ravel_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make())
    yield call(make(2, 0))
    yield call(make.small(2, 1, 3, 2))
    yield edge(make.delicate(2, 4))


def squeeze_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 3, 1))
    yield call(make(1, 3, 1), -1)
    yield call(make(1, 3, 1), 1)
    yield call(make(1, 3, 1), dim=(0, 2))
    yield call(make(1, 3, 1), ())
    yield call(make(), 0)
    yield call(make(1, 0))
    yield call(make.small(2, 1, 3, 1), (1, -1))
    yield edge(make.delicate(1, 8))


def squeeze_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 3), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(1, 3), (0, -2)), r"`dim` names a dimension twice")


def np_squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else np.atleast_1d(dim).astype(int)
    drop = {d % x.ndim for d in dims if x.ndim and x.shape[d] == 1}
    return x.reshape([n for d, n in enumerate(x.shape) if d not in drop])


def unsqueeze_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 3), -1)
    yield call(make(2, 3), -3)
    yield call(make(), 0)
    yield call(make(0), dim=1)
    yield call(make.small(2, 1, 3, 2), -2)
    yield edge(make.delicate(8), 1)


def unsqueeze_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(3), 0.5), r"`dim` must be an int, got 0.5", TypeError)


def view_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "a size of 0 is divided by any; PyTorch divides the strides of nothing",
        call(make.put(np.zeros((3, 0)), "float32"), dtype="float64"),
        r"stride\S* must be divisible by",
    )


def bytes_conventions(make: Make) -> Iterator[Convention]:
    x = np.asarray([1.5, -2, 0, 3], "float32")
    for dtype in ("uint8", "int16", "int32", "float64", "complex64", "complex128"):
        if available(dtype).name != dtype:
            continue  # 64 bit is off
        sample = call(make.put(x, "float32"), dtype=dtype)
        yield Convention(f"bytes of {dtype}", sample, value=x.view(dtype))
    flags = make.put([True, False], bool)
    yield Convention("bytes of bools", call(flags, dtype="uint8"), value=[1, 0])
    ones = make.put([1, 0], "uint8")
    yield Convention("bools of bytes", call(ones, dtype="bool"), value=[True, False])
    z = make.put([1 + 2j, 3 - 1j], "complex64")
    yield Convention("parts", call(z, dtype="float32"), value=[1, 2, 3, -1])


OPS = [
    OpInfo(
        functx.reshape,
        reshape_samples,
        reference=np.reshape,
        refusals=reshape_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.view,
        reshape_samples,
        reference=np.reshape,
        refusals=view_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.view,
        view_dtype_samples,
        reference=lambda x, dtype: x.astype("float32").view(dtype),
        variant="dtype",
        dtypes=("float32",),
        gaps=(Gap("storage", "dtypes of another width are read as arrays of other shapes"),),
        conventions=bytes_conventions,
        departures=(view_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.flatten,
        flatten_samples,
        reference=np_flatten,
        refusals=flatten_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.reshape_as,
        as_samples,
        reference=lambda x, other: np.reshape(x, other.shape),
        refusals=as_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.view_as,
        as_samples,
        reference=lambda x, other: np.reshape(x, other.shape),
        refusals=as_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.unflatten,
        unflatten_samples,
        reference=np_unflatten,
        refusals=unflatten_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(functx.ravel, ravel_samples, reference=np.ravel, tolerances=(EXACT,)),
    OpInfo(
        functx.squeeze,
        squeeze_samples,
        reference=np_squeeze,
        refusals=squeeze_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.unsqueeze,
        unsqueeze_samples,
        reference=lambda x, dim: np.expand_dims(x, dim),
        refusals=unsqueeze_refusals,
        tolerances=(EXACT,),
    ),
]
