from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS

from .dimensions import axes_of, dims_refusals
from .rows import at_edges


def moment_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 3), correction=0)
    yield call(make(2, 3, 2), (0, -1), correction=0.5, keepdim=True)
    yield call(make(3, 2), 0, False, True)
    yield call(make(3), True)
    yield call(make(3), unbiased=False)
    yield call(make(2, 3), None, correction=None)
    yield call(make(), 0, correction=0)
    yield call(make(0, 2), 0)
    yield edge(make(2, 2), 1, correction=2)
    yield from at_edges(make, -1)


def deviation_samples(make: Make) -> Iterator[Sample]:
    yield from moment_samples(make)
    if jnp.finfo(make.dtype).maxexp > 100:  # rows whose variances leave the range, and one more
        yield edge(make.put([[1e-30, 3e-30], [1, 2], [4e30, 1e30]]), 1)


def moment_refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    both = call(make(3), 0, True, correction=1)
    yield Refusal(both, "`unbiased` and `correction` exclude each other", TypeError)
    yield Refusal(call(make(3), 0, True, unbiased=True), "`unbiased` is given twice", TypeError)
    yield Refusal(call(make(3, dtype="int32")), "expected inexact arrays", TypeError)
    yield Refusal(call(make(3), unbiased=1), "`unbiased` must be a bool, got 1", TypeError)
    whole = make(3, dtype="complex64")
    yield Refusal(call(whole, correction=1j), "`correction` must not be complex, got 1j", TypeError)


def np_var_mean(x, dim=None, unbiased=None, keepdim=False, correction=1):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    axes = axes_of(dim)
    count = np.sum(np.ones(x.shape), axis=axes, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.sum(x, axis=axes, keepdims=True) / count
        squares = np.sum(np.abs(x - mean) ** 2, axis=axes, keepdims=True)
        var = squares / np.maximum(0, count - (1 if correction is None else correction))
    return (var, mean) if keepdim else (np.squeeze(var, axes), np.squeeze(mean, axes))


def np_var(*args, **kwargs):
    return np_var_mean(*args, **kwargs)[0]


def np_std(*args, **kwargs):
    return np.sqrt(np_var_mean(*args, **kwargs)[0])


def var_conventions(make: Make) -> Iterator[Convention]:
    constant = call(make.put([2, 2]))
    hessian = [[1, -1], [-1, 1]]
    yield Convention("a constant", constant, value=0, gradient=[0, 0], hessian=hessian)
    one, departure = call(make.put([2.0])), "PyTorch's gradient there is a constant, NaN"
    yield Convention("one element", one, value=np.nan, gradient=[np.nan])
    yield Convention("its curvature", one, hessian=[[np.nan]], departure=departure)
    yield Convention("of nothing", call(make.put([]), correction=-1), value=np.nan, gradient=[])
    unknown = call(make.put([1, 3]), correction=np.nan)
    yield Convention("a correction of NaN leaves no element", unknown, value=np.inf)


def std_conventions(make: Make) -> Iterator[Convention]:
    constant, zeros = call(make.put([2, 2])), np.zeros((2, 2))
    yield Convention("a constant", constant, value=0, gradient=[0, 0], hessian=zeros, singular=True)
    alone = call(make.put([2.0]), correction=0)
    yield Convention("one element, uncorrected", alone, value=0, gradient=[0])
    yield Convention("of nothing", call(make.put([]), correction=-1), value=np.nan, gradient=[])
    for scale in (1e-200, 1e200):
        yield Convention(
            f"numbers near {scale}",
            call(make.put([1 * scale, 3 * scale]), correction=0),
            value=scale,
            gradient=[-0.5, 0.5],
            departure="PyTorch squares them, which gives 0 or infinity",
        )


def np_std_mean(*args, **kwargs):
    var, mean = np_var_mean(*args, **kwargs)
    return np.sqrt(var), mean


def constant_conventions(make: Make) -> Iterator[Convention]:
    constant = call(make.put([2, 2]))
    yield Convention("a constant", constant, value=(0, 2), gradient=[0.5, 0.5])


def deviation_conventions(make: Make) -> Iterator[Convention]:
    yield from constant_conventions(make)
    constant = call(make.put([2, 2]))
    yield Convention("its curvature", constant, through=lambda out: out[0], singular=True)


def moment_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "no dimensions are all of them, which PyTorch's gradient takes for none",
        call(make.put([1, 3, 2], "float64"), ()),
        r"\(\)[,)]",
    )


def deviation_departures(make: Make) -> Iterator[Departure]:
    yield from moment_departures(make)
    yield Departure(
        "gradient",
        "PyTorch's deviation of numbers whose squares leave the range is infinite, its slope 0",
        call(make.put([1e300, 0, 1], "float64")),
        r"e\+(1[5-9]\d|[23]\d\d)j?\b.*\): of array",
    )


def infinity_departures(make: Make) -> Iterator[Departure]:
    yield from moment_departures(make)
    yield Departure(
        "gradient",
        "beside an infinity the mean is infinite too, and so is its share of the derivative",
        call(make.put([1, np.inf, 2], "float64")),
        r"at .*PyTorch \(?-?(inf|nan)",
    )
    yield Departure(
        "gradient",
        "where no degrees of freedom are left there is no variance, and no slope of it",
        call(make.put([[1, 2]], "float64"), 0, correction=np.inf),
        r"correction=inf.*\): of array 0: nan at",
    )


OPS = [
    OpInfo(
        functx.var,
        moment_samples,
        reference=np_var,
        refusals=moment_refusals,
        conventions=var_conventions,
        departures=(infinity_departures,),
    ),
    OpInfo(
        functx.std,
        deviation_samples,
        reference=np_std,
        refusals=moment_refusals,
        conventions=std_conventions,
        departures=(deviation_departures,),
    ),
    OpInfo(
        functx.var_mean,
        moment_samples,
        reference=np_var_mean,
        refusals=moment_refusals,
        tolerances=(SUMS,),
        conventions=constant_conventions,
        departures=(infinity_departures,),
    ),
    OpInfo(
        functx.std_mean,
        deviation_samples,
        reference=np_std_mean,
        refusals=moment_refusals,
        tolerances=(SUMS,),
        conventions=deviation_conventions,
        departures=(deviation_departures,),
    ),
]
