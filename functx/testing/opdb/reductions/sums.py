from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS

from .dimensions import axes_of, dim_refusals, dims_refusals
from .rows import at_edges, far


INEXACT = Accepts.INEXACT.value


def reductions(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), -1)
    yield call(make(2, 3, 2), (0, -1), keepdim=True)
    yield call(make(2, 3))
    yield call(make(2, 3), dim=[])
    yield call(make(), 0)
    yield call(make(2, 0), -1)
    yield call(make(2, 3), None, True)
    yield from at_edges(make, -1)


def sum_samples(make: Make) -> Iterator[Sample]:
    yield from reductions(make)
    yield call(make(2, 3), 0, dtype="complex128")
    yield call(make(2, 3, dtype="uint8"), dtype="int32")
    yield call(make(2, 3, dtype="int64"), 1, dtype="bool")


def mean_samples(make: Make) -> Iterator[Sample]:
    yield from reductions(make)
    yield call(make(2, 3), 0, dtype="complex128")
    yield call(make(2, 3, dtype="int32"), 1, dtype="float32")


def with_nan(make: Make) -> Iterator[Sample]:
    if category(make.dtype) == 2:
        yield edge(make.put([[np.nan, 1, 2], [np.nan, np.nan, 3], [np.nan] * 3]), 1)


def nansum_samples(make: Make) -> Iterator[Sample]:
    yield from real_sum_samples(make)
    yield from with_nan(make)


def real_sum_samples(make: Make) -> Iterator[Sample]:
    yield from reductions(make)
    yield call(make(2, 3), 0, dtype="float64")
    yield call(make(2, 3, dtype="uint8"), dtype="int32")


def nanmean_samples(make: Make) -> Iterator[Sample]:
    yield from reductions(make)
    yield call(make(2, 3), 0, dtype="float64")
    yield from with_nan(make)


def prod_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 3))
    yield call(make(2, 3), -2, True)
    yield call(make(), 0)
    yield call(make(0, 2), 0)
    yield call(make(3), 0, dtype="complex128")
    yield call(make(2, 3, dtype="int64"), 1, dtype="bool")
    yield from (call(make.nonzero(*shape), -1) for shape in ((19,), (2, 8), (1, 11)))
    yield from at_edges(make, -1)


def prod_of_zeros_samples(make: Make) -> Iterator[Sample]:
    for zeros in (1, 2):
        yield call(make.put(np.r_[np.zeros(zeros), np.asarray(make.nonzero(2))]))
    yield call(make.put([0, 0, 0, 1, -1]))
    yield call(make.put(np.zeros((2, 3))), 1)
    yield from at_edges(make, -1)


def trace_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 3))
    yield call(make(2, 4))
    yield call(make(0, 3))
    yield edge(far(make, 3, 3))
    if category(make.dtype) == 2:
        yield edge(make.put([[1, 2], [3, np.nan]]))
        yield edge(make.put([[np.inf, 2], [3, 1]]))


def count_nonzero_samples(make: Make) -> Iterator[Sample]:
    sparse = lambda *shape: make.put(make.mask(*shape))
    yield call(sparse(4, 3), 1)
    yield call(sparse(2, 3))
    yield call(sparse(2, 3), dim=[])
    yield call(sparse(), 0)
    yield call(sparse(2, 0), -1)
    yield call(sparse(2, 3, 2), dim=(0, 2))
    yield from at_edges(make, -1)


def mean_refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    needs = "expected a floating or complex dtype"
    yield Refusal(call(make(3, dtype="int32")), needs, TypeError)
    yield Refusal(call(make(3), dtype="int32"), needs, TypeError)


def nansum_refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield Refusal(call(make(3, dtype="complex64")), "expected real arrays", TypeError)


def nanmean_refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield Refusal(call(make(3, dtype="int32")), "expected floating arrays", TypeError)
    needs = "expected a floating or complex dtype"
    yield Refusal(call(make(3), dtype="int32"), needs, TypeError)


def trace_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), "`input` must be a matrix")
    yield Refusal(call(make(2, 3, 3)), "`input` must be a matrix")


def np_sum(x, dim=None, keepdim=False, dtype=None):
    return np.sum(x.astype(dtype or x.dtype), axis=axes_of(dim), keepdims=keepdim)


def np_mean(x, dim=None, keepdim=False, dtype=None):
    x = x.astype(dtype or x.dtype)
    count = np.sum(np.ones_like(x), axis=axes_of(dim), keepdims=keepdim)
    with np.errstate(invalid="ignore"):
        return np.sum(x, axis=axes_of(dim), keepdims=keepdim) / count


def np_nansum(x, dim=None, keepdim=False, dtype=None):
    return np_sum(np.where(x == x, x, np.zeros((), x.dtype)), dim, keepdim, dtype)


def np_nanmean(x, dim=None, keepdim=False, dtype=None):
    count = np.sum(x == x, axis=axes_of(dim), keepdims=keepdim)
    with np.errstate(invalid="ignore"):
        return np_nansum(x, dim, keepdim, dtype) / count


def np_prod(x, dim=None, keepdim=False, dtype=None):
    return np.prod(x.astype(dtype or x.dtype), axis=dim, keepdims=keepdim)


def np_count_nonzero(x, dim=None):
    return np.count_nonzero(x, axis=axes_of(dim))


def prod_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("one zero", call(make.put([0, 2, 3])), value=0, gradient=[6, 0, 0])
    yield Convention(
        "two zeros",
        call(make.put([0, 0, 3])),
        value=0,
        gradient=[0, 0, 0],
        hessian=[[0, 3, 0], [3, 0, 0], [0, 0, 0]],
    )
    large = call(make.put([7e4, 0]), dtype="float16")
    yield Convention("the input is cast first", large, value=np.nan)


def keepdim_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "`keepdim` needs no `dim`, as in other reductions",
        call(make(2, 3), keepdim=True),
        r'positional arguments: "dim"|invalid combination',
    )


def mean_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("of nothing", call(make.put([])), value=np.nan, gradient=[])
    alike = make.put(np.full((49, 3), 1.0))
    yield Convention("of equal numbers", call(alike, 0), value=[1, 1, 1], ulps=0)


def sum_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([100, 100, 100], "int8")
    yield Convention("small integers do not wrap", call(at), value=300)
    halves = make.put(np.full(5000, 1.0), "float16")
    yield Convention("halves add up in single precision", call(halves), value=5000)
    large = call(make.put([7e4, -7e4]), dtype="float16")
    yield Convention("the input is cast first", large, value=np.nan)


def nansum_conventions(make: Make) -> Iterator[Convention]:
    nans = call(make.put([1, np.nan, 2]))
    yield Convention("NaN takes no part", nans, value=3, gradient=[1, 0, 1])
    large = call(make.put([7e4, -7e4]), dtype="float16")
    yield Convention("the input is cast first", large, value=np.nan)


def nanmean_conventions(make: Make) -> Iterator[Convention]:
    nans = call(make.put([1, np.nan, 2]))
    yield Convention("NaN takes no part", nans, value=1.5, gradient=[0.5, 0, 0.5])
    departure = "PyTorch divides a gradient of 0 by a count of 0"
    alone = call(make.put([np.nan, np.nan]))
    yield Convention("nothing else", alone, value=np.nan, gradient=[0, 0], departure=departure)
    yield Convention("of nothing", call(make.put([])), value=np.nan, gradient=[])


def count_nonzero_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, -0.0, np.nan, np.inf])
    yield Convention("NaN counts, zeros of either sign do not", call(at), value=2)


def prod_departures(make: Make) -> Iterator[Departure]:
    yield from keepdim_departures(make)
    yield Departure(
        "gradient",
        "the derivative is the product of the others, where PyTorch divides by the element",
        call(make.put([2.0, np.nan], "float64")),
        "PyTorch \\(?-?nan",
    )
    yield Departure(
        "gradient",
        "an infinity times a zero is NaN, where PyTorch multiplies nothing beside a second zero",
        call(make.put([np.inf, 0.0, 0.0], "float64")),
        r"of array 0: \(?nan.* at .*PyTorch \(?0(\.0)?\b",
    )


def nanmean_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "of nothing but NaN the gradient is 0, for which PyTorch divides 0 by 0",
        call(make.put([np.nan, np.nan], "float64")),
        "PyTorch -?nan",
    )


OPS = [
    OpInfo(
        functx.sum,
        sum_samples,
        reference=np_sum,
        refusals=dims_refusals,
        tolerances=(SUMS,),
        conventions=sum_conventions,
        departures=(keepdim_departures,),
    ),
    OpInfo(
        functx.mean,
        mean_samples,
        reference=np_mean,
        refusals=mean_refusals,
        dtypes=INEXACT,
        tolerances=(SUMS,),
        conventions=mean_conventions,
        departures=(keepdim_departures,),
    ),
    OpInfo(
        functx.nansum,
        nansum_samples,
        reference=np_nansum,
        refusals=nansum_refusals,
        tolerances=(SUMS,),
        conventions=nansum_conventions,
    ),
    OpInfo(
        functx.nanmean,
        nanmean_samples,
        reference=np_nanmean,
        refusals=nanmean_refusals,
        tolerances=(SUMS,),
        conventions=nanmean_conventions,
        departures=(nanmean_departures,),
    ),
    OpInfo(
        functx.prod,
        prod_samples,
        reference=np_prod,
        refusals=dim_refusals,
        departures=(prod_departures,),
    ),
    OpInfo(
        functx.prod,
        prod_of_zeros_samples,
        reference=np_prod,
        variant="zeros",
        dtypes=INEXACT,
        conventions=prod_conventions,
        gaps=(
            Gap(
                "extremal",
                "1e20 squared is out of range, and infinity times 0",
                at="huge in array 0",
            ),
        ),
    ),
    OpInfo(
        functx.trace, trace_samples, reference=np.trace, refusals=trace_refusals, tolerances=(SUMS,)
    ),
    OpInfo(
        functx.count_nonzero,
        count_nonzero_samples,
        reference=np_count_nonzero,
        refusals=dims_refusals,
        conventions=count_nonzero_conventions,
    ),
]
