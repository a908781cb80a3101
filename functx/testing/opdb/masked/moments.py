from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dims_refusals
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge

from .masked_calls import (
    mask_refusals,
    nothing_left,
    of_numbers,
    over_kept,
    over_several,
    some_in_each_row,
    unheard,
)


def moment_samples(make: Make) -> Iterator[Sample]:
    yield from over_several(make)
    mask = some_in_each_row(make, 2, 4, least=2)
    yield call(make(2, 4), 1, correction=0, mask=mask)
    yield call(make(2, 4), 1, correction=0.5, keepdim=True, mask=mask)
    yield call(make(2, 4), 1, correction=-1, mask=mask)
    yield call(make(2, 4), 1, True, mask=mask)
    yield call(make(2, 4), 1, False, mask=mask)
    yield call(make(2, 4), correction=1, mask=some_in_each_row(make, 4, least=2))
    yield call(make(2, 4), 1, correction=2, mask=mask)
    yield call(make(2, 3), 0, correction=0)
    yield call(make(), 0, correction=0, mask=make.put(True, bool))
    yield call(make(0, 2), 0, mask=make.mask(2))
    yield call(make(2, 4), 1, dtype="complex128", mask=mask)
    yield call(make(2, 4, dtype="uint8"), 1, dtype="float32", mask=mask)


def deviation_samples(make: Make) -> Iterator[Sample]:
    yield from moment_samples(make)
    if category(make.dtype) >= 2 and jnp.finfo(make.dtype).maxexp > 100:
        rows = [[1e-30, 3e-30, 1], [1, 2, 1e30], [4e30, 1e30, 1]]  # their variances leave the range
        yield edge(make.put(rows), 1, mask=make.put([True, True, False], bool))


def refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield from mask_refusals(make)
    both = call(make(3), 0, True, correction=1)
    yield Refusal(both, "`unbiased` and `correction` exclude each other", TypeError)
    yield Refusal(call(make(3), unbiased=1), "`unbiased` must be a bool or None, got 1", TypeError)
    yield Refusal(call(make(3), correction=1j), "`correction` must not be complex", TypeError)
    needs = "`dtype` must be floating or complex, got int32"
    yield Refusal(call(make(3), dtype="int32"), needs, TypeError)
    yield Refusal(call(make.mask(3)), "expected number arrays", TypeError)


def np_var(x, dim=None, unbiased=None, correction=None, keepdim=False, dtype=None, mask=None):
    less = int(unbiased) if unbiased is not None else 1 if correction is None else correction
    x = x.astype(dtype) if dtype else x

    def of_row(row):
        off = np.abs(row - np.sum(row) / np.float64(row.size))
        return np.sum(off**2) / np.float64(max(0, row.size - less))

    return over_kept(of_row, x, dim, keepdim, mask)


def np_std(*args, **kwargs):
    return np.sqrt(np_var(*args, **kwargs))


_SQUARED = "PyTorch's gradient is 0 times the slope of the square of what is masked out"


def moment_conventions(value: float, slope: float):
    """Of 1 and 3, which are left: the value, and the slope in the second."""

    def conventions(make: Make) -> Iterator[Convention]:
        yield from unheard(0, make=make, rest=(0, False), departure=_SQUARED)
        for rest in ((0,), (0, False)):
            stated = nothing_left(np.nan, make=make, rest=rest, departure=_SQUARED)
            yield dataclasses.replace(stated, what=f"{stated.what}, {rest}")
        yield of_numbers(make, 0, False, value=0)
        mask = make.put([False, True, True, False], bool)
        at = call(make.put([np.nan, 1, 3, np.inf]), mask=mask)
        gradient = [0, -slope, slope, 0]
        what = "beside what is not finite"
        yield Convention(what, at, value=value, gradient=gradient, departure=_SQUARED)

    return conventions


def std_conventions(make: Make) -> Iterator[Convention]:
    yield from moment_conventions(2**0.5, 0.5**0.5)(make)
    constant = call(make.put([2, 5, 2]), mask=make.put([True, False, True], bool))
    yield Convention(
        "a constant",
        constant,
        value=0,
        gradient=[0, 0, 0],
        hessian=np.zeros((3, 3)),
        singular=True,
        departure="PyTorch's gradient is NaN",
    )


WHOLE = frozenset(Accepts.INTEGER.value)
_WHOLE = "PyTorch rounds variances to whole numbers, and takes roots of those"
_UNASKED = r"^(?!.*(dtype=|f32|c64))"
_SINGLE = "PyTorch computes those of integers in float32, whatever the default dtype is"
WHOLE_ASKED = (
    Departure("refused", _WHOLE, answer="-", match=r"dtype=(bool|u8|i64)|dtype=\*", dtypes=WHOLE),
    Departure("refused", _WHOLE, answer="-", match="dtype=(bool|u8|i64)"),
    *(
        Departure(
            "dtype",
            _SINGLE,
            answer=answer,
            match=_UNASKED,
            dtypes=WHOLE,
            defaults=frozenset({default}),
        )
        for answer, default in (("f16", "float16"), ("bf16", "bfloat16"), ("f64", "float64"))
    ),
)


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        _WHOLE,
        call(make.put([1, 2], "float64"), dtype="int32"),
        "`dtype` must be floating or complex",
    )
    yield Departure(
        "gradient",
        "the input is cast first, where PyTorch subtracts the mean of the real parts alone",
        call(make.put([1 + 2j, 3 - 1j, 2 + 2j], "complex128"), dtype="float64"),
        r"\(c\d+\[.*dtype='(?:b?float|bf)\w*'",
    )
    yield Departure(
        "gradient",
        _SQUARED,
        call(make.put([np.nan, 1, 3], "float64"), mask=make.put([False, True, True], bool)),
        r"PyTorch \(?-?(nan|inf)",
    )


def std_departures(make: Make) -> Iterator[Departure]:
    yield from departures(make)
    yield Departure(
        "value",
        "the input is cast first, where PyTorch subtracts a rounded mean from what is not rounded",
        call(make.put([0.1 + 0.3j], "complex128"), correction=0, dtype="complex64"),
        r"\(c128\[.*dtype='complex64'.*: 0j at",
    )


OPS = [
    OpInfo(
        functx.masked.var,
        moment_samples,
        reference=np_var,
        refusals=refusals,
        conventions=moment_conventions(2, 2),
        departures=(*WHOLE_ASKED, departures),
    ),
    OpInfo(
        functx.masked.std,
        deviation_samples,
        reference=np_std,
        refusals=refusals,
        conventions=std_conventions,
        departures=(*WHOLE_ASKED, std_departures),
        kinked=True,
    ),
]
