from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, Tolerance

from .lists import list_departures


def expand_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 1), (3, -1, 2))
    yield call(make(3), (2, 3))
    yield call(make(), ())
    yield call(make(), [2, 2])
    yield call(make(1, 3), (0, 3))
    yield call(make(3), -1)
    yield call(make(0, 1), (-1, 2))
    yield call(make.small(1, 2, 1, 2), (3, -1, 2, -1))
    yield edge(make.delicate(8), (2, 8))


def expand_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 3), 3), r"`size` must have at least 2 entries, got \[3\]")
    yield Refusal(call(make(3), (-1, 3)), r"`size` may be -1 only where \S+ has a dimension")
    yield Refusal(call(make(1, 3), (2, 4)), r"\[1,3\] does not broadcast to \[2, 4\]")
    yield Refusal(call(make(1, 3), (-2, 3)), r"\[1,3\] does not broadcast to \[-2, 3\]")
    yield Refusal(call(make(3), None), r"`size` must be an int or a sequence", TypeError)


def np_expand(x, size):
    size = np.atleast_1d(np.asarray(size, int))
    shape = (1,) * (len(size) - x.ndim) + x.shape
    return np.broadcast_to(x, [n if m == -1 else m for m, n in zip(size, shape, strict=True)])


def repeat_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (1, 2))
    yield call(make(2), (3, 2))
    yield call(make(3), 2)
    yield call(make(), ())
    yield call(make(), [2])
    yield call(make(2, 0), repeats=(2, 2))
    yield call(make(2), (0, 1))
    yield call(make(0), (2, -1))
    yield call(make.small(2, 1, 1, 2), (1, 3, 1, 2))
    yield edge(make.delicate(8), 2)


def repeat_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 2), r"`repeats` must have at least 2 entries, got \[2\]")
    yield Refusal(call(make(2), (-1,)), r"`repeats` must not be negative, got \[-1\]")
    yield Refusal(call(make(2), 1.5), r"`repeats` must be an int or a sequence", TypeError)


def tile_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (2,))
    yield call(make(2), (3, 2))
    yield call(make(2, 2), (2, 1))
    yield call(make(), ())
    yield call(make(), [2])
    yield call(make(2, 0), dims=(2, 2))
    yield call(make(2), (0, 1))
    yield call(make.small(2, 1, 1, 2), (3, 1, 2))
    yield edge(make.delicate(8), (2,))


def tile_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), (-1,)), r"`dims` must not be negative, got \[-1\]")
    yield Refusal(call(make(2), (1.5,)), r"`dims` must be an int or a sequence", TypeError)


def repetition(sample: Callable[[Make], Sample], times: int):
    def conventions(make: Make) -> Iterator[Convention]:
        yield Convention("the gradient is the sum", sample(make), gradient=[times, times])

    return conventions


def expand_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "a size is negative, which PyTorch overlooks where another is 0",
        call(make(), (0, -3)),
        r"does not broadcast to \[.*-",
    )


def expand_as_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 1), make(3, 2, 2))
    yield call(make(3), make(2, 3, dtype="int32"))
    yield call(make(), other=make())
    yield call(make(1, 3), make(0, 3))
    yield call(make.small(1, 2, 1, 2), make(3, 2, 1, 2))
    yield edge(make.delicate(8), make(2, 8))


def expand_as_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 3), make(3)), r"`other` must have at least 2 entries, got \[3\]")
    yield Refusal(call(make(1, 3), make(2, 4)), r"\[1,3\] does not broadcast to \[2, 4\]")
    yield Refusal(call(make(3), 2.0), r"`other` must be an array", TypeError)


def broadcast_tensors_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 1), make(3))
    yield call(make(2, 3), make(), make(1, 1))
    yield call(make(3))
    yield call(make(0), make(1))
    yield call(make(2), make(2, 1, dtype="bool"))
    yield call(make.small(1, 2, 1, 2), make.small(2, 1, 3, 1))
    yield edge(make.delicate(8), make.delicate(2, 1))


def broadcast_tensors_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make(3)), r"`tensors` must broadcast, got \S+\[2\], \S+\[3\]")
    yield Refusal(call(make(2), None), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2), 2.0), r"`tensors\[1\]` must be an array, got 2.0", TypeError)


def sum_to_size_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (2, 1))
    yield call(make(2, 3), 3)
    yield call(make(2, 3), 1, 1)
    yield call(make(2, 3), ())
    yield call(make(2, 3), size=[2, 3])
    yield call(make(0, 3), (1, 3))
    yield call(make(1, 3), (3,))
    yield call(make(), ())
    yield call(make.small(2, 3, 2, 2), (1, 2, 1))
    yield edge(make.delicate(8, 1), (8, 1))


def sum_to_size_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 2), r"`size` must broadcast to \[2, 3\], got \[2\]")
    yield Refusal(call(make(3), (1, 3)), r"`size` must broadcast to \[3\], got \[1, 3\]")
    yield Refusal(call(make(2, 3), -1), r"`size` must broadcast to \[2, 3\], got \[-1\]")


def sum_to_size_conventions(make: Make) -> Iterator[Convention]:
    for shape, size, dtype in (((), (), "int64"), ((2,), (2,), "int32"), ((2,), (1,), "int64")):
        at = call(make(*shape, dtype="int32"), size)
        same = lambda y, dtype=dtype: y.dtype == dtype
        yield Convention(f"{list(shape)} to {list(size)} is {dtype}", at, holds=same)


def np_sum_to_size(x, *sizes, size=None):
    size = size or (sizes[0] if len(sizes) == 1 else sizes)
    size = np.atleast_1d(np.asarray(size, int))
    new = x.ndim - len(size)
    kept = [d for d, n in enumerate(size, new) if n == x.shape[d]]
    summed = np.sum(x, tuple(d for d in range(x.ndim) if d not in kept), keepdims=True)
    return summed.reshape(size) if len(kept) < x.ndim else x


OPS = [
    OpInfo(
        functx.expand,
        expand_samples,
        reference=np_expand,
        refusals=expand_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), (3, 2)), 3),
        tolerances=(EXACT,),
        departures=(expand_departures,),
    ),
    OpInfo(
        functx.broadcast_to,
        expand_samples,
        reference=np_expand,
        refusals=expand_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), (3, 2)), 3),
        tolerances=(EXACT,),
        departures=(expand_departures,),
    ),
    OpInfo(
        functx.repeat,
        repeat_samples,
        reference=lambda x, repeats: np.tile(x, np.maximum(repeats, 0)),
        refusals=repeat_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), (2, 2)), 4),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.tile,
        tile_samples,
        reference=lambda x, dims: np.tile(x, dims),
        refusals=tile_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), (2, 2)), 4),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.expand_as,
        expand_as_samples,
        reference=lambda x, other: np.broadcast_to(x, other.shape),
        refusals=expand_as_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), make(3, 2, dtype="int32")), 3),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.broadcast_tensors,
        broadcast_tensors_samples,
        reference=lambda *tensors: tuple(np.broadcast_arrays(*tensors)),
        refusals=broadcast_tensors_refusals,
        departures=(list_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.sum_to_size,
        sum_to_size_samples,
        reference=np_sum_to_size,
        refusals=sum_to_size_refusals,
        conventions=sum_to_size_conventions,
        tolerances=(Tolerance("sums of both signs cancel", floor=4),),
    ),
]
