"""Samples of products that are added to an array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS


def addmm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2), make(2, 3), make(3, 2))
    yield call(make(2), make(2, 3), make(3, 2), beta=2, alpha=3)
    yield call(make(), make(2, 3), make(3, 2), beta=0)
    yield call(make(2, 1), make(2, 0), make(0, 2), alpha=2)
    yield call(make(1, 2), make(3, 1), make(1, 2), beta=3)
    yield call(make(2), make(2, 2), make(2, 2), beta=True, alpha=False)
    if category(make.dtype) == 1:
        yield call(make(2), make(2, 2), make(2, 2), beta=1.5, alpha=2.75)


def addmv_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2), make(2, 3), make(3))
    yield call(make(1), make(2, 3), make(3), beta=2, alpha=3)
    yield call(make(), make(2, 3), make(3), beta=0)
    yield call(make(2), make(2, 0), make(0), alpha=2)
    yield call(make(0), make(0, 2), make(2), beta=3)
    yield call(make(2), make(2, 2), make(2), beta=True, alpha=False)
    yield edge(make.delicate(8), make(8, 2), make(2))
    if category(make.dtype) == 1:
        yield call(make(2), make(2, 2), make(2), beta=1.5, alpha=2.75)


def baddbmm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2, 2), make(2, 2, 3), make(2, 3, 2))
    yield call(make(2, 1), make(2, 2, 3), make(2, 3, 2), beta=2, alpha=3)
    yield call(make(), make(1, 2, 3), make(1, 3, 2), beta=0)
    yield call(make(1, 1, 2), make(2, 2, 0), make(2, 0, 2), alpha=2)
    yield call(make(2), make(0, 1, 2), make(0, 2, 2), beta=3)
    yield call(make(2), make(1, 2, 2), make(1, 2, 2), beta=True, alpha=False)
    if category(make.dtype) == 1:
        yield call(make(2), make(1, 2, 2), make(1, 2, 2), beta=1.5, alpha=2.75)


def addbmm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2), make(2, 2, 3), make(2, 3, 2))
    yield call(make(2, 1), make(2, 2, 3), make(2, 3, 2), beta=2, alpha=3)
    yield call(make(), make(1, 2, 3), make(1, 3, 2), beta=0)
    yield call(make(1, 2), make(2, 2, 0), make(2, 0, 2), alpha=2)
    yield call(make(2), make(0, 1, 2), make(0, 2, 2), beta=3)
    yield call(make(2), make(1, 2, 2), make(1, 2, 2), beta=True, alpha=False)
    if category(make.dtype) == 1:
        yield call(make(2), make(1, 2, 2), make(1, 2, 2), beta=1.5, alpha=2.75)


def addr_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2), make(3))
    number = True if make.dtype == bool else 2
    yield call(make(3), make(2), make(3), beta=number, alpha=number)
    yield call(make(2, 1), make(2), make(3), alpha=0)
    yield call(make(2, 1), make(2), make(3), beta=0)
    yield call(make(), make(0), make(2))
    yield call(make(), make(1), make(1), alpha=number)
    yield call(make(2, 3, high=250), make(2, dtype="int32"), make(3, dtype="bool"))
    yield edge(make.delicate(2, 8), make(2), make(8))


def coefficient_refusals(args: Callable[[str], tuple[Any, ...]]) -> Iterator[Refusal]:
    complex_ = call(*args("float32"), alpha=1j)
    yield Refusal(complex_, "`alpha` must not be complex", TypeError)
    for name in ("alpha", "beta"):
        too_large = call(*args("int8"), **{name: 300})
        yield Refusal(too_large, f"`{name}` must fit int8, got 300")
        infinite = call(*args("int8"), **{name: np.inf})
        yield Refusal(infinite, f"`{name}` must fit int8, got inf")


def addmm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3, 2), make(2, 3), make(3, 2)), "`input` must broadcast")
    yield Refusal(call(make(1, 2, 2), make(2, 3), make(3, 2)), "`input` must broadcast")
    yield Refusal(call(make(2), make(3), make(3, 2)), "`mat1` must have 2 dimensions")
    yield Refusal(call(make(2), make(2, 2), make(3, 2)), "`mat2` must have 2 rows")
    yield from coefficient_refusals(lambda dtype: (make(2, 2, dtype=dtype),) * 3)
    half = make(2, 2, dtype="float16")
    yield Refusal(call(half, half, half, alpha=1e39), "`alpha` must fit float32")


def addmv_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), make(2, 3), make(3)), "`input` must broadcast")
    yield Refusal(call(make(1, 2), make(2, 3), make(3)), "`input` must broadcast")
    yield Refusal(call(make(2), make(2), make(2)), "`mat` must have 2 dimensions")
    yield Refusal(call(make(2), make(2, 2), make(2, 1)), "`vec` must have 1 dimension")
    yield Refusal(call(make(2), make(2, 2), make(3)), "`vec` must have 2 elements")
    parts = lambda dtype: (make(2, dtype=dtype), make(2, 2, dtype=dtype), make(2, dtype=dtype))
    yield from coefficient_refusals(parts)
    yield Refusal(call(*parts("float16"), alpha=70000), "`alpha` must fit float16, got 70000")
    mixed = call(make(2, dtype="int32"), make(2, 2, dtype="int8"), make(2, dtype="int8"))
    yield Refusal(mixed, "same dtype", TypeError)


def batch_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 2, 2)
    yield Refusal(call(make(3), x, x), "`input` must broadcast")
    yield Refusal(call(make(1, 1, 1, 1), x, x), "`input` must broadcast")
    yield Refusal(call(make(2), make(2, 2), x), "`batch1` must have 3 dimensions")
    yield Refusal(call(make(2), x, make(2, 2)), "`batch2` must have 3 dimensions")
    yield Refusal(call(make(2), x, make(1, 2, 2)), "must be as many matrices")
    yield Refusal(call(make(2), x, make(2, 3, 2)), "`batch2` must have 2 rows")
    parts = lambda dtype: (make(2, dtype=dtype), *(make(2, 2, 2, dtype=dtype) for _ in "ab"))
    yield from coefficient_refusals(parts)
    yield Refusal(call(*parts("float16"), alpha=1e39), "`alpha` must fit float32")


def addbmm_refusals(make: Make) -> Iterator[Refusal]:
    yield from batch_refusals(make)
    x = make(2, 2, 2)
    yield Refusal(call(make(1, 2, 2), x, x), "`input` must broadcast")


def addr_refusals(make: Make) -> Iterator[Refusal]:
    x, y = make(2), make(3)
    yield Refusal(call(y, y, x), "`input` must broadcast")
    yield Refusal(call(make(1, 2, 3), x, y), "`input` must broadcast")
    yield Refusal(call(make(), make(2, 1), y), "`vec1` must have 1 dimension")
    yield Refusal(call(make(), x, make()), "`vec2` must have 1 dimension")
    whole = call(*(make(2, dtype="int64") for _ in "abc"), alpha=0.5)
    yield Refusal(whole, "`alpha` must not be floating", TypeError)
    yield Refusal(call(*(make(2, dtype="int8") for _ in "abc"), beta=300), "`beta` must fit int8")
    yield Refusal(call(make(2, dtype="int64"), x, x, beta=True), "`beta` must", TypeError)


def np_sum(product: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def reference(input: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        if category(input.dtype) < 2:
            beta, alpha = int(beta), int(alpha)
        return beta * input + alpha * product(a, b)

    return reference


def np_addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    common = np.result_type(input, vec1, vec2)
    if common.kind == "b":
        return (input & bool(beta)) | (np.logical_and.outer(vec1, vec2) & bool(alpha))
    return beta * input.astype(common) + alpha * np.multiply.outer(vec1, vec2).astype(common)


def addmm_conventions(make: Make) -> Iterator[Convention]:
    nothing, x = make.put(np.full((2, 2), np.nan)), make.put(np.eye(2))
    yield Convention(
        "beta=0 ignores NaN",
        call(nothing, x, x, beta=0),
        value=np.eye(2),
        gradient=(np.zeros((2, 2)), None, None),
    )
    yield Convention(
        "alpha=0 ignores NaN", call(x, nothing, x, alpha=0), value=np.eye(2), gradient=None
    )
    large = make.put([[300.0]], "float16")
    yield Convention("halves are scaled wide", call(large, large, large, alpha=1e-3), value=[[390]])
    small = make.put([[1e-4]], "float16")
    yield Convention("by any float32", call(large, small, small, alpha=1e9), value=[[310]], ulps=2)
    z = make.put(np.full((2, 2), 3.0))
    coefficients = {"alpha": make.put(0.0), "beta": make.put(0.0)}
    yield Convention(
        "coefficients of 0 have gradients",
        call(z, x, x, **coefficients),
        gradient=(None, None, None, 2, 12),
        departure="PyTorch's coefficients are numbers",
    )


def zero_conventions(*shapes: tuple[int, ...]):
    """Of an array and a product whose elements are 1 and, with two terms, 2."""

    def conventions(make: Make) -> Iterator[Convention]:
        x, a, b = (make.put(np.ones(shape)) for shape in shapes)
        nothing, none = (make.put(np.full(shape, np.nan)) for shape in shapes[:2])
        yield Convention(
            "beta=0 ignores NaN",
            call(nothing, a, b, beta=0, alpha=0.5),
            value=np.ones(shapes[0]),
            gradient=(np.zeros(shapes[0]), None, None),
        )
        yield Convention(
            "alpha=0 ignores NaN",
            call(x, none, b, alpha=0),
            value=np.ones(shapes[0]),
            departure="PyTorch lets it pass in small batches" if len(shapes[0]) == 3 else "",
        )

        large = (make.put(np.full([1] * len(shape), 300.0), "float16") for shape in shapes)
        value = np.full([1] * len(shapes[0]), 390)
        yield Convention("halves are scaled wide", call(*large, alpha=1e-3), value=value)

    return conventions


def addr_conventions(make: Make) -> Iterator[Convention]:
    nothing, x = make.put(np.full((2, 2), np.nan)), make.put([1.0, 2.0])
    yield Convention(
        "beta=0 ignores NaN",
        call(nothing, x, x, beta=0),
        value=[[1, 2], [2, 4]],
        gradient=(np.zeros((2, 2)), [3, 3], [3, 3]),
    )
    lost = call(make.put(np.eye(2)), make.put([np.nan, 1.0]), x, alpha=0)
    yield Convention("alpha=0 does not", lost, value=[[np.nan, np.nan], [0, 1]])
    large = make.put([300.0], "float16")
    yield Convention("halves are scaled wide", call(large, large, large, alpha=1e-3), value=[[390]])
    coefficients = {"alpha": make.put(0.0), "beta": make.put(0.0)}
    yield Convention(
        "coefficients of 0 have gradients",
        call(make.put(np.full((2, 2), 3.0)), x, x, **coefficients),
        gradient=(np.zeros((2, 2)), None, None, 9, 12),
        departure="PyTorch's coefficients are numbers",
    )


def infinite_departures(*shapes: tuple[int, ...]):
    def departures(make: Make) -> Iterator[Departure]:
        x, a, b = (make.put(np.ones(shape), "float64") for shape in shapes)
        signs = make.put([1, -2] if b.ndim == 1 else [[1, -2], [3, -4]], "float64")
        yield Departure(
            "gradient",
            "an infinite factor meets the terms of a sum, and in PyTorch the sum",
            call(x, a, b * signs, alpha=np.inf),
            r"(alpha|beta)=-?(inf|nan)\b.*: nan at",
        )

    return departures


def baddbmm_departures(make: Make) -> Iterator[Departure]:
    yield from infinite_departures((1, 2, 2), (1, 2, 2), (1, 2, 2))(make)
    x = make.put(np.ones((1, 2, 2)), "float64")
    yield Departure(
        "value",
        "a product times 0 is 0 in matrices of any size, as of `addmm`",
        call(x, np.nan * x, x, alpha=0),
        r"alpha=(-?0(\.0)?|False)\b.*PyTorch \(?nan",
    )


OPS = [
    OpInfo(
        functx.addmm,
        addmm_samples,
        reference=np_sum(np.matmul),
        refusals=addmm_refusals,
        tolerances=(SUMS,),
        conventions=addmm_conventions,
        departures=(infinite_departures((2, 2), (2, 2), (2, 2)),),
    ),
    OpInfo(
        functx.addmv,
        addmv_samples,
        reference=np_sum(np.matmul),
        refusals=addmv_refusals,
        tolerances=(SUMS,),
        conventions=zero_conventions((2,), (2, 2), (2,)),
        departures=(infinite_departures((2,), (2, 2), (2,)),),
    ),
    OpInfo(
        functx.baddbmm,
        baddbmm_samples,
        reference=np_sum(np.matmul),
        refusals=batch_refusals,
        tolerances=(SUMS,),
        conventions=zero_conventions((1, 2, 2), (1, 2, 2), (1, 2, 2)),
        departures=(baddbmm_departures,),
    ),
    OpInfo(
        functx.addbmm,
        addbmm_samples,
        reference=np_sum(lambda a, b: np.einsum("bmk,bkn->mn", a, b)),
        refusals=addbmm_refusals,
        tolerances=(SUMS,),
        conventions=zero_conventions((2, 2), (1, 2, 2), (1, 2, 2)),
        departures=(infinite_departures((2, 2), (1, 2, 2), (1, 2, 2)),),
    ),
    OpInfo(
        functx.addr,
        addr_samples,
        reference=np_addr,
        refusals=addr_refusals,
        tolerances=(SUMS,),
        conventions=addr_conventions,
    ),
]
