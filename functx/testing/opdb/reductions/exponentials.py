from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tail import Tail
from functx.testing.tolerances import SUMS

from .dimensions import axes_of, dim_refusals, dims_refusals
from .rows import among_many, at_edges


def logsumexp_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 3, 2), (0, -1), keepdim=True)
    yield call(make(), 0)
    yield call(make(2, 0), 1)
    yield call(make(2, 3), dim=[0, 1])
    yield from at_edges(make, -1)
    yield from among_many(make, -1)


def logcumsumexp_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(5, 2), -2)
    yield call(make(), 0)
    yield call(make(2, 0), dim=1)
    yield call(make(2, 19, low=0, high=1), 1)  # several blocks and a rest; nothing cancels
    yield call(5 * make(2, 3), 1)  # where complex, beyond the principal logarithm
    yield from at_edges(make, -1)


def logcumsumexp_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield Refusal(call(make(3, dtype="int32"), 0), "expected inexact arrays", TypeError)


def np_logsumexp(x, dim, keepdim=False):
    if np.iscomplexobj(x):
        return np.log(np.sum(np.exp(x), axis=axes_of(dim), keepdims=keepdim))
    return np.logaddexp.reduce(x, axis=axes_of(dim), keepdims=keepdim)


def np_logaddexp(x, y):
    high, low = (x, y) if x.real >= y.real else (y, x)
    return high + np.log1p(np.exp(low - high))


def np_logcumsumexp(x, dim):
    add = np.frompyfunc(np_logaddexp, 2, 1) if np.iscomplexobj(x) else np.logaddexp
    return add.accumulate(np.atleast_1d(x), axis=dim).astype(x.dtype).reshape(x.shape)


def logsumexp_conventions(make: Make) -> Iterator[Convention]:
    inf = np.inf
    yield Convention(
        "nothing likely",
        call(make.put([-inf, -inf]), 0),
        value=-inf,
        gradient=[0, 0],
        departure="PyTorch's gradient is NaN",
    )
    yield Convention(
        "infinity",
        call(make.put([inf, 1]), 0),
        value=inf,
        gradient=[0, 0],
        departure="PyTorch's gradient is NaN",
    )
    tied = call(make.put([1, 1]), 0)
    yield Convention("a tie", tied, gradient=[0.5, 0.5], hessian=[[0.25, -0.25], [-0.25, 0.25]])
    yield Convention("one impossible", call(make.put([-inf, 1]), 0), hessian=np.zeros((2, 2)))


def logcumsumexp_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "after nothing likely",
        call(make.put([-np.inf, -np.inf, 1]), 0),
        value=[-np.inf, -np.inf, 1],
        gradient=[0, 0, 1],
        through=lambda y: y[2:],
        departure="PyTorch's gradient is NaN",
    )
    yield Convention(
        "a tie",
        call(make.put([1, 1]), 0),
        through=lambda y: y[1],
        hessian=[[0.25, -0.25], [-0.25, 0.25]],
    )


def logsumexp_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "None stands for all dimensions, as in other reductions",
        call(make(2, 3), None),
        "must be tuple of ints, not NoneType",
    )
    yield Departure(
        "accepted",
        "no dimensions are all of them, which PyTorch's kernel loses unless they are kept",
        call(make(2, 3), ()),
        "doesn't match the broadcast shape",
    )


def logcumsumexp_departures(make: Make) -> Iterator[Departure]:
    yield from branch_departures(make)
    yield Departure(
        "gradient",
        "PyTorch adds logarithms of cotangents to the result, and great ones swallow them",
        call(make.put([[1], [4e307], [2]], "float64"), 0),
        r"PyTorch -?(\d\.0|inf) |\(c\d+\S*\[.*e\+\d+.*\): of array",
    )


def branch_departures(make: Make) -> Iterator[Departure]:
    real = [-0.7, -0.2, -0.2, 0.1, 1.2, 2.2, 0.2, -0.5, 0, 1.4, 0.4, -0.2, -2.4, -0.5, -0.1, 0.9]
    imag = [4, 3.2, 1.8, 1.6, 4, 0.4, 3.4, 1.9, 3.2, 4.6, 4.3, 2.5, 2.1, 4.1, 3.7, 2.2]
    yield Departure(
        "value",
        "the imaginary part of a logarithm is open by whole turns",
        call(make.put(np.array(real) + 1j * np.array(imag), "complex128"), 0),
        r"logcumsumexp\(c\d+",
    )


OPS = [
    OpInfo(
        functx.logsumexp,
        logsumexp_samples,
        reference=np_logsumexp,
        refusals=dims_refusals,
        tolerances=(SUMS,),
        conventions=logsumexp_conventions,
        departures=(logsumexp_departures,),
        tails=(
            Tail(lambda mp, x: mp.log1p(mp.exp(x)), lambda op, x: op(jnp.stack([x, 0 * x]), 0)),
        ),
    ),
    OpInfo(
        functx.logcumsumexp,
        logcumsumexp_samples,
        reference=np_logcumsumexp,
        refusals=logcumsumexp_refusals,
        tolerances=(SUMS,),
        conventions=logcumsumexp_conventions,
        departures=(logcumsumexp_departures,),
        tails=(
            Tail(lambda mp, x: mp.log1p(mp.exp(x)), lambda op, x: op(jnp.stack([x, 0 * x]), 0)[1]),
        ),
    ),
]
