from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample, Samples
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, FEW_TERMS, Tolerance

from .sources import source_refusals, terms


def at_limits(make: Make, reduce: str) -> Iterator[Sample]:
    """Small values in many dimensions; the first of two rows of delicate ones written to."""
    index = make.put([[[[0], [2]]]], "int64")
    # Small values may lie closer together than a step of finite differences across an extremum.
    small = edge if reduce in ("amax", "amin") else call
    yield small(make.small(1, 1, 3, 1), -2, index, make.small(1, 1, 2, 1), reduce)
    row = make.put(np.zeros((1, 8)), "int64")
    yield edge(make.delicate(2, 8), 0, row, make.delicate(1, 8), reduce)


def samples_of(reduce: str) -> Samples:
    def samples(make: Make) -> Iterator[Sample]:
        # Distinct, so that no two values tie where an extremum is differentiated.
        values = make.distinct(18) if reduce in ("amax", "amin") else terms(make, 18)
        yield call(
            values[:8].reshape(2, 4), 1, make.index(4, 2, 5), values[8:].reshape(2, 5), reduce
        )
        yield call(
            values[:6].reshape(3, 2),
            0,
            make.index(3, 4, 1),
            values[6:14].reshape(4, 2),
            reduce,
            include_self=False,
        )
        yield call(values[:3], -1, make.index(3, 6, dtype="int32"), values[3:9], reduce=reduce)
        yield call(values[0], 0, make.put(0, "int64"), values[1], reduce)
        yield call(values[0], 0, make.put(0, "int64"), 1, reduce)
        yield call(values[:3], 0, make.put([], "int64"), values[3:5], reduce, include_self=False)
        yield from at_limits(make, reduce)

    return samples


def samples_with_zeros(make: Make) -> Iterator[Sample]:
    """None, one and several factors of a product are zero."""
    x, src = make.nonzero(2, 4), make.nonzero(2, 6)
    order = make.rng.permutation(6)
    index = np.array([[0, 1, 1, 2, 2, 2], [3, 3, 0, 1, 1, 0]])[:, order]
    index = make.put((index + make.rng.integers(4)) % 4, "int64")
    src = src * make.put(np.array([[0, 0, 1, 0, 0, 1], [1, 1, 0, 0, 0, 1]])[:, order])
    yield call(x, 1, index, src, "prod")
    yield call(x * make.put([[1, 1, 0, 0], [0, 1, 1, 1]]), 1, index, src, "prod")
    yield call(x, 1, index, src, "prod", include_self=False)
    yield from at_limits(make, "prod")


def slices_of(reduce: str) -> Samples:
    def samples(make: Make) -> Iterator[Sample]:
        extremum = reduce in ("amax", "amin")
        values = make.distinct(24) if extremum else terms(make, 24)
        yield call(
            values[:8].reshape(2, 4), 1, make.index(4, 5), values[8:18].reshape(2, 5), reduce
        )
        x, source = values[:6].reshape(3, 2), values[6:14].reshape(4, 2)
        yield call(x, -2, make.index(3, 4), source, reduce, include_self=False)
        narrow = make.index(3, 6, dtype="int32")
        yield call(values[:3], 0, narrow, source=values[3:9], reduce=reduce)
        yield call(values[0], 0, make.put(0, "int64"), values[1], reduce)
        yield call(values[:3], 0, make.index(3, 0), values[:0], reduce, include_self=False)
        small = edge if extremum else call
        index = make.put([0, 2], "int64")
        yield small(make.small(2, 1, 3, 2), -2, index, make.small(2, 1, 2, 2), reduce)
        yield edge(make.delicate(2, 8), 0, make.put([0], "int64"), make.delicate(1, 8), reduce)

    return samples


def slices_with_zeros(make: Make) -> Iterator[Sample]:
    """None, one and several factors of a product are zero."""
    x, source = make.nonzero(3, 3), make.nonzero(4, 3)
    source = source * make.put([[0, 1, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]])
    index = (make.rng.permutation([0, 0, 0, 1]) + make.rng.integers(3)) % 3
    index = make.put(index, "int64")
    yield call(x, 0, index, source, "prod")
    yield call(x * make.put([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), 0, index, source, "prod")
    yield call(x, 0, index, source, "prod", include_self=False)
    yield call(x, 0, index, make.small(4, 3), "prod")


def index_reduce_refusals(make: Make) -> Iterator[Refusal]:
    x, index = make(3, 2), make.index(3, 2)
    for outside in (3, -1):
        yield Refusal(
            call(x, 0, make.put([outside], "int64"), make(1, 2), "prod"),
            rf"`index` must lie in \[0, 2\], got {outside}",
            IndexError,
        )
    yield Refusal(call(x, 0, index, make(2), "prod"), "`source` must be 2-d")
    yield Refusal(call(make(), 0, make.index(1, 2), make(2), "prod"), "`source` must be 0-d")
    yield Refusal(call(x, 0, index, make(3, 2), "prod"), r"`source` must have shape \[2, 2\]")
    matrix = call(x, 0, make.index(3, 2, 1), make(2, 2), "prod")
    yield Refusal(matrix, "must be a vector", IndexError)
    mixed = call(x, 0, index, make(2, 2, dtype="float16"), "prod")
    yield Refusal(mixed, "dtype of `input`", TypeError)
    yield Refusal(call(x, 0, index, make(2, 2), "sum"), "`reduce` must be 'prod', 'mean'")
    floats = call(x, 0, make.put([0.0, 1.0], "float32"), make(2, 2), "prod")
    yield Refusal(floats, "int32 or int64", TypeError)
    bools = make.mask(3, 2), 0, index, make.mask(2, 2), "amax"
    yield Refusal(call(*bools), "expected real number", TypeError)


def np_index_reduce(x, dim, index, source, reduce, include_self=True):
    source, index = np.atleast_1d(source), np.atleast_1d(index)
    column = [-1 if d == dim % source.ndim else 1 for d in range(source.ndim)]
    each = np.broadcast_to(index.reshape(column), source.shape)
    return np_scatter_reduce(x, dim, each, source, reduce, include_self)


def scatter_reduce_refusals(make: Make) -> Iterator[Refusal]:
    for refusal in source_refusals(make):
        x = refusal.sample.args
        yield Refusal(call(*x, "sum"), refusal.match, refusal.error)
    index = make.index(3, 2)
    yield Refusal(call(make(3), 0, index, make(2), "add"), "`reduce` must be", ValueError)
    for dtype, reduce in (("complex64", "amax"), ("bool", "mean")):
        x, src = make(3, dtype=dtype), make(2, dtype=dtype)
        yield Refusal(call(x, 0, index, src, reduce), f"`reduce` cannot be {reduce!r}", TypeError)


def np_scatter_reduce(x, dim, index, src, reduce, include_self=True):
    out = np.atleast_1d(np.array(x))
    brought: dict[tuple[int, ...], list] = {}
    if index.size == 0:
        return x
    index, src = np.atleast_1d(index), np.atleast_1d(src)
    for where in np.ndindex(index.shape):
        at = list(where)
        at[dim] = index[where]
        brought.setdefault(tuple(at), []).append(src[where])
    for at, values in brought.items():
        values = np.array([out[at], *values] if include_self else values)
        if reduce in ("sum", "mean"):
            total = ft.reduce(np.add, values)  # np.sum starts from 0.0, and so loses -0.0
            whole = total.dtype.kind in "iu"
            mean = total // len(values) if whole else total / len(values)
            out[at] = total if reduce == "sum" else mean
        else:
            name = {"amax": "max", "amin": "min"}.get(reduce, reduce)
            out[at] = getattr(values, name)().astype(out.dtype)  # products of narrow integers wrap
    return out.reshape(x.shape)


REAL = functx.sort.spec.accepts.value
NUMBERS = functx.scatter_reduce.spec.accepts.value[1:]
IN_ANY_ORDER = Tolerance(
    "of zeros of both signs the greatest is 0 in any order; NumPy's and PyTorch's is the first",
    signed_zeros=False,
)
BY_REDUCTION = {
    "amax": (EXACT, IN_ANY_ORDER),
    "amin": (EXACT, IN_ANY_ORDER),
    "sum": (FEW_TERMS,),
    "mean": (FEW_TERMS,),
    "prod": (Tolerance("each factor is rounded, of halves too", ulps=8),),
}
DTYPES = {"mean": NUMBERS, "amax": REAL, "amin": REAL}

NAN, INF = np.nan, np.inf


# Input, index, src, include_self; the gradients under cotangent 1, 10, 100.
SHARED = {
    "prod": [
        ([0, 2, 3], [0, 0, 1], [4, 5, 6], True, [20, 60, 100], [0, 0, 20]),
        ([7, 2, 3], [0, 0, 1], [0, 5, 6], True, [0, 60, 100], [35, 0, 20]),
        ([7, 2, 3], [0, 0, 1], [0, 0, 6], True, [0, 60, 100], [0, 0, 20]),
        ([7, 2, 3], [0, 0, 1], [0, 5, 6], False, [0, 0, 100], [5, 0, 10]),
    ],
    "amax": [
        ([1, 2, 3], [0, 0, 1], [1, 1, 2], True, [1 / 3, 5, 100], [1 / 3, 1 / 3, 5]),
        ([1, 2, 3], [0, 0, 1], [4, 4, 1], True, [0, 10, 100], [0.5, 0.5, 0]),
        ([1, 2, 3], [0, 0, 1], [4, 4, 1], False, [0, 0, 100], [0.5, 0.5, 10]),
        ([1, 2, 3], [0, 0, 1], [-INF, -INF, 1], False, [0, 0, 100], [0.5, 0.5, 10]),
        ([NAN, 2, 3], [0, 0, 1], [4, NAN, 1], True, [NAN, 10, 100], [NAN, NAN, 0]),
    ],
    "amin": [
        ([4, 2, 3], [0, 0, 1], [4, 4, 1], True, [1 / 3, 0, 100], [1 / 3, 1 / 3, 10]),
        ([4, 2, 3], [0, 0, 1], [INF, INF, 1], False, [0, 0, 100], [0.5, 0.5, 10]),
    ],
    "mean": [
        ([4, 2, 3], [0, 0, 1], [4, 4, 1], True, [1 / 3, 5, 100], [1 / 3, 1 / 3, 5]),
        ([4, 2, 3], [0, 0, 1], [4, 4, 1], False, [0, 0, 100], [0.5, 0.5, 10]),
    ],
    "sum": [],
}


def conventions_of(reduce: str):
    def conventions(make: Make) -> Iterator[Convention]:
        for x, index, src, include_self, to_x, to_src in SHARED[reduce]:
            yield Convention(
                f"ties and zeros of {x} and {src}",
                call(
                    make.put(x),
                    0,
                    make.put(index, "int64"),
                    make.put(src),
                    reduce,
                    include_self=include_self,
                ),
                through=lambda y: y[0] + 10 * y[1] + 100 * y[2],
                gradient=(to_x, to_src),
            )
        for outside in (2, -3):
            index = make.put([outside], "int64")
            yield Convention(
                f"{outside} is dropped in a compiled program",
                call(make.put([1, 2]), 0, index, make.put([9]), reduce, include_self=False),
                value=[1, 2],
                gradient=([1, 1], [0]),
                departure="PyTorch refuses",
            )

    return conventions


def zeros_conventions(make: Make) -> Iterator[Convention]:
    for zeros in range(4):
        factors = np.where(np.arange(4) < zeros, 0.0, [2, 3, 5, 7])
        index = make.put([0, 0, 0], "int64")
        yield Convention(
            f"{zeros} zeros, to third order",
            call(make.put(factors[:1]), 0, index, make.put(factors[1:]), "prod"),
            like=lambda x, dim, index, src, reduce: x * src[0] * src[1] * src[2],
            order=3,
        )


def gradient_departures(make: Make) -> Iterator[Departure]:
    at = make.put([np.nan, 2.0], "float64"), 0, make.put([0], "int64"), make.put([3.0], "float64")
    yield Departure(
        "gradient",
        "the derivative is the product of the others, where PyTorch divides by the element",
        call(*at, "prod"),
        r"'prod'.*PyTorch \(?-?nan",
    )
    x, src = make.put([1.0], "float64"), make.put([1.0, 1.0], "float64")
    same = make.put([0, 0], "int64")
    for reduce in ("amax", "amin"):
        yield Departure(
            "gradient",
            "an input that takes no part has no share, where PyTorch counts it if it is equal",
            call(x, 0, same, src, reduce, include_self=False),
            r"'am(ax|in)'.*include_self=False.*of array 1: ",
        )


def scatter_departures(make: Make) -> Iterator[Departure]:
    yield from gradient_departures(make)
    into, src = make.put([[2.0, 3.0]], "float64"), make.put([[0.0, 0.0]], "float64")
    partly = into, 0, make.put([[0]], "int64"), src
    yield Departure(
        "gradient",
        "what lies beyond `index` is not scattered, and has no gradient",
        call(*partly, "prod", include_self=False),
        r"\[1,1\]\[\[0\]\].*'prod', include_self=False.*of array 1: \(?-?0(\.0|j)?[-+0j)]* at",
    )


PRODUCTS = Gap(
    "extremal",
    "products of 1e20 leave the range of float32 before a small factor comes",
    at="(mixed|all) in array 1",
)
OPS = [
    *(
        OpInfo(
            functx.scatter_reduce,
            samples_of(reduce),
            reference=np_scatter_reduce,
            refusals=scatter_reduce_refusals,
            variant=reduce,
            dtypes=DTYPES.get(reduce),
            conventions=conventions_of(reduce),
            tolerances=BY_REDUCTION[reduce],
            kinked=True,
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin")
    ),
    OpInfo(
        functx.scatter_reduce,
        samples_with_zeros,
        reference=np_scatter_reduce,
        variant="zeros",
        tolerances=(IN_ANY_ORDER,),
        departures=(scatter_departures,),
        dtypes=("float32", "float64", "complex128"),
        conventions=zeros_conventions,
    ),
    *(
        OpInfo(
            functx.index_reduce,
            slices_of(reduce),
            reference=np_index_reduce,
            refusals=index_reduce_refusals,
            variant=reduce,
            gaps=(PRODUCTS,) if reduce == "prod" else (),
            conventions=conventions_of(reduce),
            tolerances=BY_REDUCTION[reduce],
            kinked=True,
        )
        for reduce in ("prod", "mean", "amax", "amin")
    ),
    OpInfo(
        functx.index_reduce,
        slices_with_zeros,
        reference=np_index_reduce,
        variant="zeros",
        gaps=(PRODUCTS,),
        tolerances=(IN_ANY_ORDER,),
        departures=(gradient_departures,),
        dtypes=("float32", "float64"),
        conventions=zeros_conventions,
    ),
]
