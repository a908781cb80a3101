from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category, real_of
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


BYTES = "PyTorch subtracts bytes in their dtype, and so refuses them"


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 4))
    yield call(make(5), edge_order=2)
    yield call(make(2, 3), spacing=0.75)
    yield call(make(2, 3), spacing=2, dim=1)
    yield call(make(3, 3), spacing=make.nonzero(dtype=real_of(make.dtype)), edge_order=2)
    yield call(make(2, 3, 2), spacing=(2, 0.5, -1.25))
    yield call(make(3, 2), spacing=[0.5, 3], dim=(1, 0))
    yield call(make(2, 3), spacing=2j, dim=-1)
    yield call(make(2, 3, 0), dim=[0, 1])
    for edge_order in (1, 2):
        x, y = coordinates(make, 3), coordinates(make, 4)
        yield call(make(3, 4), spacing=(x, y), edge_order=edge_order)
        yield call(make(4, 2), spacing=[y], dim=0, edge_order=edge_order)
        yield call(make(4), spacing=[make.put([3, 1, 0, -4], "int32")], edge_order=edge_order)
    yield call(make(2, 4), spacing=(make.put([0.5, 1, 2, 5], "float64"),), dim=1)
    yield call(make(2, 0), dim=0, spacing=(coordinates(make, 2),))
    yield call(make(2, 40), spacing=None)


def coordinates(make: Make, n: int):
    dtype = make.dtype if category(make.dtype) > 1 else "float32"
    return make.distinct(n, dtype=real_of(dtype))


def refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    for edge_order in (0, 3):
        yield Refusal(call(x, edge_order=edge_order), f"must be 1 or 2, got {edge_order}")
    yield Refusal(call(make(1)), "`input` must have at least 2 samples along dimension 0")
    yield Refusal(call(make(3, 0)), "at least 2 samples along dimension 1")
    yield Refusal(call(x, edge_order=2), "at least 3 samples along dimension 0")
    yield Refusal(call(x, dim=2), "`dim` must lie in", IndexError)
    yield Refusal(call(x, dim=(0, -2)), "`dim` names a dimension twice")
    yield Refusal(call(x, spacing=(1, 2, 3)), "an element for each of 2 dimensions, got 3")
    yield Refusal(call(x, spacing=(1, 2), dim=1), "an element for each of 1 dimensions, got 2")
    yield Refusal(call(make(3), spacing=make(3)), "`spacing` must be a number or a sequence")
    yield Refusal(call(x, spacing=(1, None)), r"`spacing\[1\]` must be", TypeError)
    for shape in ((2,), (1,), (4,), (1, 3)):
        spacing = (1, make(*shape))
        yield Refusal(call(x, spacing=spacing), r"`spacing\[1\]` must be a vector of 3 coordinates")
    yield Refusal(call(x, spacing="2"), "`spacing` must be", TypeError)
    yield Refusal(call(make.mask(2)), "expected number", TypeError)


def np_gradient(x, *, spacing=None, dim=None, edge_order=1):
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    spacing = 1 if spacing is None else spacing
    each = spacing if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    return tuple(along(x, d, at, edge_order) for d, at in zip(dims, each, strict=True))


def along(x, dim, spacing, edge_order):
    whole = x.astype(np.int64) if x.dtype.kind in "iu" else x
    if np.iscomplexobj(spacing):
        whole = whole.astype("complex128")
    if x.size == 0:
        return whole.astype(np.result_type(whole, "float32"))
    return np.gradient(whole, spacing, axis=dim, edge_order=edge_order)


def conventions(make: Make) -> Iterator[Convention]:
    x = make.put([100, -100, -100], "int8")
    reason = "PyTorch's overflow in int8"
    yield Convention(
        "integers are subtracted in int64", call(x), value=([-200, -100, 0],), departure=reason
    )
    tripled = make.put([0, 100, -100], "int8")
    yield Convention(
        "and so are coordinates",
        call(make.put([0, 1, 4]), spacing=(tripled,)),
        value=([0.01, 0.035, -0.015],),
        departure=reason,
    )
    yield Convention(
        "an element of no result's stencil has no part in it",
        call(make.put([1, np.nan, 3])),
        value=([np.nan, 1, np.nan],),
    )
    yield Convention(
        "distances and coordinates mix",
        call(make.put([[1, 4], [2, 5]]), spacing=(0.5, make.put([0.0, 3]))),
        value=([[2, 2], [2, 2]], [[1, 1], [1, 1]]),
        departure="PyTorch refuses",
    )
    far, steep = make.put([-1e200, 0, 1]), make.put([0, 0, 1e200])
    for edge_order, first in ((1, 0), (2, -1e200)):
        yield Convention(
            f"a width times a slope is out of range, edge_order={edge_order}",
            call(steep, spacing=(far,), edge_order=edge_order),
            value=([first, 1e200, 1e200],),
        )
    yield Convention("no dimension", call(make.put(1)), value=())
    yield Convention("none of them", call(make.put([1, 2]), dim=()), value=())
    yield Convention("distance 0", call(make.put([1, 2]), spacing=0), value=([np.inf, np.inf],))


def departures(make: Make) -> Iterator[Departure]:
    whole = make.put([3, 1, 0, -4], "int32")
    yield Departure(
        "gradient",
        "positions that are integers count in the dtype of the result, in PyTorch in float32",
        call(make(4, dtype="float64"), spacing=[whole], edge_order=2),
        r"spacing=[\[(]+[iu]\d+\[",
    )
    yield Departure(
        "value",
        "a distance of 0 gives infinities, or NaN, by the order of steps",
        call(make.put([2, 126, 1], "int8"), spacing=make.put(0, "int8"), edge_order=2),
        r"spacing=\w+\[\]-?0\b.*: (?:-?inf|nan) at .*, PyTorch (?:-?inf|nan)",
    )


OPS = [
    OpInfo(
        functx.gradient,
        samples,
        reference=np_gradient,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=conventions,
        departures=(
            Departure("dtype", BYTES, answer="c64", match="complex", dtypes=frozenset({"uint8"})),
            Departure("dtype", BYTES, answer="f64", match="f64", dtypes=frozenset({"uint8"})),
            Departure("dtype", BYTES, answer="f32", dtypes=frozenset({"uint8"})),
            departures,
        ),
    ),
]
