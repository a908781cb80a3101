from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS, Tolerance

from .vector_norms import np_vector_norm


def apart(make: Make, *shape: int):
    """Vectors that equal none of `make(...)`."""
    return make(*shape, low=4, high=9)


def direct_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), apart(make, 4, 2))
    for p in (1, 0.5, 1.5, 3, 4.0, math.inf, 0):
        yield call(make(2, 3), apart(make, 3, 3), p)
    yield call(make(2, 3, 2), apart(make, 4, 2), p=2)
    yield call(make(2, 1, 3, 2), apart(make, 3, 2, 2), 1)
    mode = "donot_use_mm_for_euclid_dist"
    yield call(make(2, 2), x2=apart(make, 2, 2), compute_mode=mode)
    yield call(make(0, 2), make(3, 2))
    yield call(make(2, 2), make(0, 2), 1)
    yield call(make(2, 0), make(3, 0), math.inf)
    yield call(make(0, 2, 2), make(0, 3, 2), 1)
    yield call(make(0, 2), make(2, 3, 2), 1)


def product_samples(make: Make) -> Iterator[Sample]:
    mode = "use_mm_for_euclid_dist"
    yield call(make(3, 2), apart(make, 4, 2), 2.0, mode)
    yield call(make(2, 1, 3, 2), apart(make, 3, 2, 2), compute_mode=mode)
    yield call(make(26, 2), apart(make, 2, 2))
    yield call(make(2, 2), apart(make, 26, 2))
    yield call(make(2, 0), make(3, 0), 2, mode)
    yield call(make(2, 3), apart(make, 3, 3), 1, mode)


def many_samples(make: Make) -> Iterator[Sample]:
    """Pairs enough for loops over them: of elements by steps, and of vectors by blocks, both with a
    rest.
    """
    yield call(make(16, 21), apart(make, 16, 21), 1)
    yield call(make(2, 16, 20), apart(make, 2, 16, 20), 3)
    yield call(make(17, 3), apart(make, 16, 3))


def cdist_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(make(3), x), "`x1` must have at least 2 dimensions")
    yield Refusal(call(x, make(3)), "`x2` must have at least 2 dimensions")
    yield Refusal(call(x, make(2, 2)), "vectors must have the same length")
    for p in (-1, -math.inf, math.nan):
        yield Refusal(call(x, x, p), f"`p` must not be negative, got {p}")
    yield Refusal(call(make(2, 2, 3), make(3, 2, 3)), "shapes do not fit")
    yield Refusal(call(x, x, 2, "mm"), "`compute_mode` must be", ValueError)
    yield Refusal(call(x, x, "2"), "`p` must be", TypeError)
    yield Refusal(call(make(2, 3, dtype="float32"), make(2, 3, dtype="float64")), "same", TypeError)
    halves = make(2, 3, dtype="float16")
    yield Refusal(call(halves, halves), "expected float32 or float64", TypeError)


def pairs_samples(make: Make) -> Iterator[Sample]:
    for p in (2.0, 1, 0.5, 3, 0):
        yield call(make.distinct(4, 2), p)
    yield call(make.put([[0, 0], [0.5, 1.5], [2.5, 0.5], [3.5, 5]]), math.inf)  # no ties
    yield call(make.distinct(3, 3))
    yield call(make.distinct(16, 2))
    yield call(make(1, 3), p=1)
    yield call(make(3, 0))
    yield call(make(0, 2), math.inf)


def pairs_refusals(make: Make) -> Iterator[Refusal]:
    for shape in ((3,), (2, 3, 2)):
        yield Refusal(call(make(*shape)), "`input` must have 2 dimensions")
    for p in (-1, math.nan):
        yield Refusal(call(make(3, 2), p), f"`p` must not be negative, got {p}")
    halves = make(2, 3, dtype="float16")
    yield Refusal(call(halves), "expected float32 or float64", TypeError)


def np_pdist(x, p=2.0):
    return np_cdist(x, x, p)[np.triu_indices(len(x), 1)]


def pairs_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([[1, 2], [1, 2], [1, 5]])
    for p in (2, 1, 3, 0.5, 0, math.inf):
        one, three = (0, 1) if p == 0 else (1, 3)
        gradient = [[0, -one], [0, -one], [0, 2 * one]]
        what = f"p={p}, equal vectors"
        yield Convention(what, call(x, p), value=[0, three, three], gradient=gradient)
    yield Convention("their curvature", call(make.put([[1, 2], [1, 2]])), singular=True)


def np_cdist(x1, x2, p=2.0, compute_mode=None):
    difference = x1[..., :, None, :] - x2[..., None, :, :]
    if difference.shape[-1] == 0:
        return np.zeros(difference.shape[:-1], x1.dtype)
    out = np_vector_norm(difference, p, (-1,))[..., 0]
    return np.where(np.isnan(difference).any(-1), np.nan, out)


def cdist_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([[1, 2]])
    for p in (2, 1, 3, 1.5, 0.5, 0, math.inf):
        yield Convention(
            f"p={p} at 0",
            call(x, x, p),
            value=[[0]],
            gradient=([[0, 0]], [[0, 0]]),
        )
        yield Convention(
            f"p={p}, an element that is equal",
            call(x, make.put([[1, 5]]), p),
            value=[[1 if p == 0 else 3]],
            gradient=([[0, 0 if p == 0 else -1]], [[0, 0 if p == 0 else 1]]),
        )
    yield Convention(
        "curvature at 0",
        call(x, x),
        hessian=np.zeros((4, 4)),
        singular=True,
        departure="PyTorch has no second derivative",
    )
    yield Convention(
        "the largest share",
        call(x, make.put([[2, 3]]), math.inf),
        gradient=([[-0.5, -0.5]], [[0.5, 0.5]]),
        departure="PyTorch gives all of it to each, which no direction's derivative is",
    )
    for p in (2, 1, 0, math.inf):
        yield Convention(
            f"p={p} of NaN",
            call(make.put([[np.nan, 1]]), x, p),
            value=[[np.nan]],
            departure="PyTorch passes over NaN" if math.isinf(p) else "",
        )


def product_conventions(make: Make) -> Iterator[Convention]:
    x = make.put(np.zeros((2, 2)))
    mode = "use_mm_for_euclid_dist"
    zeros = np.zeros((2, 2))
    at = call(x, x, 2, mode)
    yield Convention("0", at, value=zeros, gradient=(zeros, zeros), singular=True)
    lost = call(make.put([[np.nan, 1]]), make.put([[1, 1]]), 2, mode)
    yield Convention("NaN", lost, value=[[np.nan]])


def many_conventions(make: Make) -> Iterator[Convention]:
    zeros = np.zeros((16, 21))
    x = make.put(zeros)
    for p in (1, 2):
        at = call(x, x, p)
        yield Convention(f"p={p}, 0", at, value=np.zeros((16, 16)), gradient=(zeros, zeros))
    for size in (1e30, 1e-30):
        far = make.put(np.diag([size] * 16))
        want = size * 2**0.5 * (1 - np.eye(16))
        yield Convention(f"distances of {size}", call(far, far), value=want)
    lost = np.zeros((16, 16))
    lost[0] = np.nan
    x = make.put(np.zeros((16, 2)))
    yield Convention("NaN", call(make.put(lost[:, :2]), x), value=lost)


def squared_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), make(4, 2))
    yield call(make(2, 3, 2), make(4, 2))
    yield call(make(2, 1, 3, 2), make(3, 2, 2))
    yield call(make(2, 2), x2=make(1, 2))
    yield call(make(0, 2), make(3, 2))
    yield call(make(2, 0), make(3, 0))
    yield call(make(0, 2, 2), make(0, 3, 2))


def many_squared_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 16, 20), make(2, 16, 20))
    yield call(make(16, 21), make(17, 21))


def squared_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(make(3), x), "`x1` must have at least 2 dimensions")
    yield Refusal(call(x, make(3)), "`x2` must have at least 2 dimensions")
    yield Refusal(call(x, make(2, 2)), "vectors must have the same length")
    yield Refusal(call(make(2, 2, 3), make(3, 2, 3)), "shapes do not fit")
    yield Refusal(call(make(2, 3, dtype="float32"), make(2, 3, dtype="float64")), "same", TypeError)
    halves = make(2, 3, dtype="float16")
    yield Refusal(call(halves, halves), "expected float32 or float64", TypeError)


def np_squared(x1, x2):
    return ((x1[..., :, None, :] - x2[..., None, :, :]) ** 2).sum(-1)


def squared_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([[1, 2]]), make.put([[1, 2], [1, 5]])
    yield Convention("equal vectors", call(x, x), value=[[0]], gradient=([[0, 0]], [[0, 0]]))
    one = 2 * np.eye(2)
    hessian = np.block([[one, -one], [-one, one]])
    yield Convention("their curvature", call(x, x), hessian=hessian)
    yield Convention("as the polynomial", call(x, y), like=np_squared, order=3)
    near = make.put([[1e8, 1]]), make.put([[1e8 + 1, 1]])
    yield Convention("no digits are lost", call(*near), value=[[1]], gradient=([[-2, 0]], [[2, 0]]))


def cdist_departures(make: Make) -> Iterator[Departure]:
    x = make.put([[1, 2]], "float64")
    yield Departure(
        "gradient",
        "the largest differences share the gradient, where PyTorch gives all of it to each",
        call(x, make.put([[2, 3]], "float64"), math.inf),
        r"(, |p=)inf\b",
    )


NOT_PYTORCHS = Departure("dtype", "PyTorch has no such operator", answer="*")
CANCELLING = Tolerance("squares of distances are differences of larger numbers", floor=32)

OPS = [
    OpInfo(
        functx.cdist,
        direct_samples,
        reference=np_cdist,
        refusals=cdist_refusals,
        conventions=cdist_conventions,
        departures=(cdist_departures,),
    ),
    OpInfo(
        functx.cdist,
        product_samples,
        reference=np_cdist,
        variant="products",
        tolerances=(CANCELLING,),
        conventions=product_conventions,
    ),
    OpInfo(
        functx.cdist,
        many_samples,
        reference=np_cdist,
        variant="many",
        tolerances=(SUMS,),
        conventions=many_conventions,
    ),
    OpInfo(
        functx.squared_cdist,
        squared_samples,
        np_squared,
        squared_refusals,
        conventions=squared_conventions,
        departures=(NOT_PYTORCHS,),
        kinked=True,
    ),
    OpInfo(
        functx.squared_cdist,
        many_squared_samples,
        np_squared,
        variant="many",
        tolerances=(SUMS,),
        departures=(NOT_PYTORCHS,),
    ),
    OpInfo(
        functx.pdist,
        pairs_samples,
        np_pdist,
        pairs_refusals,
        tolerances=(SUMS,),
        conventions=pairs_conventions,
        kinked=True,
    ),
]
