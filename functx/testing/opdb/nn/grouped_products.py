from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS


def samples(make: Make) -> Iterator[Sample]:
    ends = lambda *at: make.put(at, "int32")
    yield call(make(5, 4), make(2, 4, 8), offs=ends(2, 5))
    yield call(make(2, 3, 4), make(4, 8), offs=ends(3, 7))
    yield call(make(4, 8), make(8, 4), offs=ends(0, 3, 3, 7), out_dtype=make.dtype)
    yield call(make(2, 3, 4), make(2, 4, 8))
    yield call(make(5, 4), make(3, 4, 4), offs=ends(1, 1, 4))
    yield edge(make(300, 4), make(3, 4, 4), offs=ends(100, 130, 290))
    yield edge(make(4, 300), make(300, 4), offs=ends(127, 129, 257))
    yield edge(make(0, 4), make(2, 4, 4), offs=ends(0, 0))
    yield edge(make(4, 0), make(0, 4), offs=ends(0, 0))
    yield edge(make(3, 4), make(0, 4, 4), offs=make.put([], "int32"))


def refusals(make: Make) -> Iterator[Refusal]:
    one, many = make(4, 4), make(2, 4, 4)
    ends = lambda *at, dtype="int32": make.put(at, dtype)
    given = "`offs` must be given where one of the two is a matrix, and only there"
    yield Refusal(call(one, many), given)
    yield Refusal(call(many, many, offs=ends(1, 2)), given)
    yield Refusal(call(one, make(2, 3, 4), offs=ends(1, 2)), "as many columns as `mat_b` rows")
    yield Refusal(call(make(4), one, offs=ends(1, 2)), "must have 2 or 3 dimensions, got f32")
    yield Refusal(call(many, make(3, 4, 4)), "must be as many matrices, got f32")
    yield Refusal(call(one, many, offs=ends(1)), r"`offs` must be \[2\], an end for each group")
    yield Refusal(call(one, one, offs=make.put(1, "int32")), "`offs` must be of 1 dimension")
    yield Refusal(call(one, many, offs=ends(1, 5)), r"`offs` must lie in \[0, 4\], got 5")
    yield Refusal(call(many, one, offs=ends(-1, 4)), r"`offs` must lie in \[0, 4\], got -1")
    yield Refusal(call(one, one, offs=ends(3, 2)), "`offs` must not decrease, got 2")
    at = call(one, many, offs=ends(1, 2), bias=make(4))
    yield Refusal(at, "`bias` must be None", TypeError)
    at = call(many, many, out_dtype="float16")
    yield Refusal(at, r"`out_dtype` must be that of f32\[2,4,4\], got float16", TypeError)


def np_grouped(mat_a: Any, mat_b: Any, *, offs: Any = None, out_dtype: Any = None) -> Any:
    if offs is None:
        return mat_a @ mat_b
    groups = [slice(*ends) for ends in zip([0, *offs], offs, strict=False)]
    if mat_a.ndim == mat_b.ndim:
        out = np.zeros((len(offs), mat_a.shape[0], mat_b.shape[1]), mat_a.dtype)
        for i, here in enumerate(groups):
            out[i] = mat_a[:, here] @ mat_b[here]
        return out
    out = np.zeros((mat_a.shape[-2], mat_b.shape[-1]), mat_a.dtype)
    for i, here in enumerate(groups):
        if mat_a.ndim == 2:
            out[here] = mat_a[here] @ mat_b[i]
        else:
            out[:, here] = mat_a[i] @ mat_b[:, here]
    return out


def conventions(make: Make) -> Iterator[Convention]:
    """What no group holds counts for nothing, be it NaN."""
    nan, ends = np.nan, make.put([1, 2], "int32")
    rows, matrices = [[2.0], [3.0], [nan]], [[[5.0]], [[7.0]]]
    at = call(make.put(rows), make.put(matrices), offs=ends)
    gradient = [[5], [7], [0]], [[[2]], [[3]]]
    memory = "PyTorch leaves there what the memory held"
    value = [[10], [21], [0]]
    yield Convention("rows", at, value=value, gradient=gradient, departure=memory)
    columns = make.put([[2.0, 3.0, nan]])
    at = call(columns, make.put([[5.0], [7.0], [nan]]), offs=ends)
    gradient = [[5, 7, 0]], [[2], [3], [0]]
    what = "columns and rows"
    yield Convention(what, at, value=[[[10]], [[21]]], gradient=gradient, departure=memory)


OWN = (
    Departure("dtype", "PyTorch has no kernel for them", answer="*", dtypes=frozenset({"float64"})),
    Departure(
        "dtype",
        "PyTorch asks for rows of 16 bytes",
        answer="*",
        dtypes=frozenset({"float16", "bfloat16"}),
    ),
)

OPS = [
    OpInfo(
        F.grouped_mm,
        samples,
        reference=np_grouped,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=conventions,
        departures=OWN,
    ),
]
