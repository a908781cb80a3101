from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS


WHOLE = frozenset(Accepts.INTEGER.value)
_SINGLE = "PyTorch answers float32 for one observation that is weighted, whatever the default is"


def counts(make: Make, n: int):
    return make.put(make.rng.integers(1, 10, n), "int32")


def shares(make: Make, n: int, dtype: str = "float32"):
    return make(n, low=0.2, high=1, dtype=dtype)


def spread(make: Make, *shape: int):
    """Rows of numbers that are not all alike, whatever the dtype."""
    return make.put(np.asarray(make.distinct(*shape)))


def cov_samples(make: Make) -> Iterator[Sample]:
    yield call(spread(make, 2, 4))
    yield call(spread(make, 2, 4), correction=0)
    yield call(spread(make, 3, 4), fweights=counts(make, 4))
    yield call(spread(make, 2, 4), correction=2, aweights=shares(make, 4, "float64"))
    # Differences of double precision are lost in narrower weights.
    yield edge(spread(make, 3, 4), aweights=shares(make, 4))
    yield edge(spread(make, 2, 4), correction=0, fweights=counts(make, 4), aweights=shares(make, 4))
    yield edge(spread(make, 2, 4), aweights=shares(make, 4, "float16"))
    yield call(spread(make, 4), correction=-3, fweights=make.put([0, 2, 1, 1], "uint8"))
    yield call(spread(make, 1, 3))
    yield call(make(), correction=0)
    yield call(make(), correction=0, fweights=make.put(3, "int64"))
    yield call(make(0, 3))
    yield edge(make(2, 0))
    yield edge(make(2, 1))
    yield edge(spread(make, 2, 3), correction=3)


def cov_refusals(make: Make) -> Iterator[Refusal]:
    a = make(5)
    yield Refusal(call(make(2, 2, 2)), "`input` must have at most 2 dimensions")
    yield Refusal(call(a, fweights=counts(make, 5).reshape(5, 1)), r"`fweights` must have shape")
    yield Refusal(call(a, aweights=shares(make, 5).reshape(5, 1)), r"`aweights` must have shape")
    yield Refusal(call(a, fweights=shares(make, 5)), "`fweights` must be integers", TypeError)
    yield Refusal(call(a, fweights=make.mask(5)), "`fweights` must be integers", TypeError)
    yield Refusal(call(a, aweights=counts(make, 5)), "`aweights` must be floating", TypeError)
    yield Refusal(call(a, fweights=counts(make, 1)), r"`fweights` must have shape \[5\]")
    yield Refusal(call(a, aweights=shares(make, 1)), r"`aweights` must have shape \[5\]")
    negative = make.put([1, -2, 3, 4, 5], "int64")
    yield Refusal(call(a, fweights=negative), "`fweights` must not be negative, got -2")
    negative = make.put([1, 2, -3, 4, 5], "float32")
    yield Refusal(call(a, aweights=negative), "`aweights` must not be negative, got -3")
    nothing = make.put(np.zeros(5), "float32")
    yield Refusal(call(a, aweights=nothing), "the weights must not sum to 0")
    yield Refusal(call(a, fweights=nothing.astype("int32")), "the weights must not sum to 0")
    yield Refusal(call(a, correction=1.5), "`correction` must be an integer", TypeError)
    yield Refusal(call(a, correction=True), "`correction` must be an integer", TypeError)
    yield Refusal(call(make.mask(3)), "expected number arrays", TypeError)
    yield Refusal(call(3), "`input` must be an array, got 3", TypeError)


def np_cov(x, correction=1, fweights=None, aweights=None):
    x = np.atleast_2d(np.asarray(x, np.result_type(x.dtype, np.float64)))
    f = np.ones(x.shape[1]) if fweights is None else np.reshape(fweights, -1).astype(float)
    a = np.ones(x.shape[1]) if aweights is None else np.reshape(aweights, -1).astype(float)
    w = f * a
    with np.errstate(invalid="ignore", divide="ignore"):
        total = w.sum()
        off = x - (x * w).sum(1, keepdims=True) / total
        left = max(0, total - correction * ((w * a).sum() / total if len(w) else 1))
        return ((off * w) @ off.conj().T / left).squeeze()


def cov_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([[1, 2, 4], [3, 1, 1]])
    yield Convention("too large a correction", call(x[0], correction=3), value=np.inf)
    yield Convention("of nothing", call(make.put([])), value=np.nan)
    yield Convention(
        "NaN stays in its row",
        call(make.put([[1, np.nan], [1, 3]])),
        value=[[np.nan, np.nan], [np.nan, 2]],
    )
    gradient = [[-4 / 3, -1 / 3, 5 / 3]]
    yield Convention("a variance", call(x[:1]), value=7 / 3, gradient=gradient)
    alike = call(x[0], correction=0, aweights=make.put([1, 1, 2], "float64"))
    gradient = ([-0.875, -0.375, 1.25], [0.34375, -0.28125, -0.03125])
    yield Convention("equal weights", alike, value=1.6875, gradient=gradient)


def corrcoef_samples(make: Make) -> Iterator[Sample]:
    yield call(spread(make, 2, 4))
    yield call(spread(make, 3, 5))
    yield call(spread(make, 1, 3))
    yield call(spread(make, 4))
    yield call(make(0, 3))
    yield edge(make())
    yield edge(make(2, 0))
    yield edge(make.put([[1, 2, 3], [2, 4, 6], [3, 2, 1]]))


def corrcoef_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2, 2)), "`input` must have at most 2 dimensions")
    yield Refusal(call(make.mask(3)), "expected number arrays", TypeError)
    yield Refusal(call(3), "`input` must be an array, got 3", TypeError)


def np_corrcoef(x):
    covariance = np_cov(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        if covariance.ndim == 0:
            return covariance / covariance
        deviation = np.sqrt(np.diagonal(covariance).real)
        out = covariance / deviation[:, None] / deviation
    if out.dtype.kind == "c":
        return out.real.clip(-1, 1) + 1j * out.imag.clip(-1, 1)
    return out.clip(-1, 1)


def corrcoef_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    constant = call(make.put([[2, 2, 2], [1, 2, 3]]))
    yield Convention("a constant", constant, value=[[nan, nan], [nan, 1]])
    beside = call(make.put([[2, 2, 2], [1, 2, 3], [2, 1, 4]]))
    others = lambda y: y[1:, 1:]
    yield Convention("beside a constant", beside, through=others, smooth=True, floor=1e-14)
    yield Convention("one variable", call(make.put([1, 2, 4])), value=1, gradient=[0, 0, 0])
    yield Convention("one constant", call(make.put([2, 2])), value=nan)
    along = call(make.put([[1, 2, 3], [2, 4, 6]]))
    yield Convention(
        "the greatest there is", along, value=np.ones((2, 2)), gradient=np.zeros((2, 3)), floor=8
    )


OPS = [
    OpInfo(
        functx.cov,
        cov_samples,
        reference=np_cov,
        refusals=cov_refusals,
        conventions=cov_conventions,
        tolerances=(SUMS,),
        departures=tuple(
            Departure(
                "dtype",
                _SINGLE,
                answer=answer,
                match=r"^\(\S+\[\], .*fweights",
                dtypes=WHOLE,
                defaults=frozenset({default}),
            )
            for answer, default in (("f16", "float16"), ("bf16", "bfloat16"), ("f64", "float64"))
        ),
    ),
    OpInfo(
        functx.corrcoef,
        corrcoef_samples,
        reference=np_corrcoef,
        refusals=corrcoef_refusals,
        conventions=corrcoef_conventions,
        tolerances=(SUMS,),
        gaps=(
            Gap(
                "extremal",
                "the squares of 1e-20 are subnormal, which XLA takes for zeros on CPUs",
                at="tiny in",
            ),
            Gap(
                "extremal", "the squares of 1e20 are more than float32 holds", at="(huge|mixed) in"
            ),
        ),
        kinked=True,
    ),
]
