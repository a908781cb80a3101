from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import PAIRS, without_numbers
from functx.testing.opdb.reductions.dimensions import dims_refusals
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import AT_ROOTS, SUMS

from .masked_calls import (
    bools_accepted,
    BOOLS_MASKED,
    kept,
    mask_refusals,
    NO_IDENTITY,
    nothing_left,
    of_numbers,
    over_kept,
    over_several,
    some_in_each_row,
    unheard,
)


def logsumexp_samples(make: Make) -> Iterator[Sample]:
    yield from over_several(make)
    yield call(make(2, 0), -1, mask=make.mask(2, 1))
    two = make.put([True, False, True], bool)
    yield call(make(2, 3, dtype="float64"), 1, dtype="complex128", mask=two)
    yield call(make(2, 3, dtype="uint8"), dtype="float32", mask=make.mask(2, 1))
    yield edge(make.put([[250, 250, 1], [3, 90, 3]], "uint8"), 1, mask=make.mask(2, 3))


def refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield from mask_refusals(make)


def np_logsumexp(x, dim=None, keepdim=False, dtype=None, mask=None):
    wide = x if x.dtype.kind in "fc" else x.astype(np.float32).astype(np.float64)

    def of_row(row):
        if np.iscomplexobj(row):
            return np.log(np.sum(np.exp(row)))
        return np.logaddexp.reduce(row)

    out = over_kept(of_row, wide, dim, keepdim, mask)
    if x.dtype.kind in "ui" and dtype is None:
        limits, out = np.iinfo(x.dtype), np.float32(out)
        below, above = out < limits.min, out >= float(limits.max)
        whole = np.where(below | above, 0, out).astype(x.dtype)
        out = np.where(below, limits.min, np.where(above, limits.max, whole))
    return out


def logsumexp_conventions(make: Make) -> Iterator[Convention]:
    inf = np.inf
    yield from unheard(2, make=make, slope=1)
    yield of_numbers(make, value=2)
    yield nothing_left(-inf, make=make)
    mask = make.put([True, False, True], bool)
    tied = call(make.put([1, 5, 1]), 0, mask=mask)
    quarter = np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 1]]) / 4
    yield Convention("a tie", tied, gradient=[0.5, 0, 0.5], hessian=quarter)
    yield Convention(
        "infinity",
        call(make.put([inf, 1, 2]), 0, mask=mask),
        value=inf,
        gradient=[0, 0, 0],
        departure="PyTorch's gradient is NaN",
    )


def logsumexp_departures(make: Make) -> Iterator[Departure]:
    yield from bools_accepted(make)
    yield Departure(
        "value",
        "what is masked out is not there, where PyTorch counts it as the least integer",
        call(make.put([0, 9, 9], "uint8"), mask=make.put([True, False, False], bool)),
        r"logsumexp\([ui]\d+\[.*mask=(?!None)",
    )
    yield Departure(
        "value",
        "what is more than the greatest integer is cast to that, where PyTorch's becomes any",
        call(make.put([2**31 - 1] * 2, "int32"), 0),
        r": (127|255|32767|2147483647|9223372036854775807) at",
    )
    yield Departure(
        "accepted",
        "PyTorch loses the dimensions of integers where it is given an empty list of them",
        call(make.put([[1, 2]], "int8"), dim=[]),
        "doesn't match the broadcast shape",
    )


def logaddexp_samples(make: Make) -> Iterator[Sample]:
    near = lambda *shape: make(*shape, low=-1, high=1)
    masks = lambda *shape: {"input_mask": make.mask(*shape), "other_mask": make.mask(*shape)}
    yield call(near(2, 4), near(2, 4), **masks(2, 4))
    yield call(near(2, 4), near(2, 4), input_mask=some_in_each_row(make, 2, 4))
    yield call(near(2, 4), near(2, 4), other_mask=some_in_each_row(make, 4))
    yield call(near(2, 3), near(2, 3), input_mask=make.put([2, 0, -1], "int64"))
    yield call(near(2, 3), near(2, 3), other_mask=make.put([2, 0, -1], "int64"))
    for first, second in PAIRS:
        yield call(near(*first), near(*second))
    yield call(near(4), near(2, 4), **masks(4))
    yield call(near(), near(), **masks())
    wide = make(2, 4, dtype="float64", low=-1, high=1)
    yield call(wide, near(2, 4), dtype="complex128", **masks(2, 1))
    if category(make.dtype) == 2:
        yield edge(near(2, 4), make(2, 4, dtype="float32", low=-1, high=1), **masks(2, 4))
        integers = make.put([[5, 9, 2], [1, 3, 4]], "int32")
        rows = make.put([[0.5] * 3, [2.25] * 3])
        mask = make.put([True, False, True], bool)
        yield call(integers, rows, input_mask=mask)
        yield call(integers, rows, input_mask=mask, other_mask=make.put([[True], [False]], bool))
        yield call(rows, integers, other_mask=mask)
        yield call(rows, make.put(2, "int16"))
        yield edge(*make.edge_pairs(), **masks(1))
        far = make.put([0.0, 300.0, -300.0, 1.0]), make.put([-20.0, 300.0, -310.0, 1.0])
        yield call(*far, input_mask=make.put([True, True, True, False], bool))
        x, y = make.put([np.inf, -np.inf, np.nan, 1]), make.put([-np.inf, np.inf, 2, np.nan])
        yield edge(x, y, input_mask=make.put([True, False, False, True], bool))
        yield edge(x, y, other_mask=make.put([False, True, True, False], bool))


def logaddexp_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, integers), "expected a floating common dtype", TypeError)
    for name in ("input_mask", "other_mask"):
        for shape in ((2,), (1, 2, 3)):
            at = call(make(2, 3), make(2, 3), **{name: make.mask(*shape)})
            yield Refusal(at, rf"`{name}` must broadcast to \w+\[2,3\], got bool")
    at = call(make(3), make(2, 3), input_mask=make.mask(2, 3))
    yield Refusal(at, r"`input_mask` must broadcast to \w+\[3\], got bool\[2,3\]")


def np_logaddexp(x, y, dtype=None, input_mask=None, other_mask=None):
    left, right = kept(x, input_mask), kept(y, other_mask)
    real = np.result_type(x, y).kind == "f"
    both = np.logaddexp(x, y) if real else np.log(np.exp(x) + np.exp(y))
    out = np.where(left & right, both, np.where(left, x, np.where(right, y, -np.inf)))
    if x.dtype.kind == "i" and dtype is None:
        out = np.where(out == -np.inf, np.iinfo(x.dtype).min, out).astype(x.dtype)
    return out


def logaddexp_conventions(make: Make) -> Iterator[Convention]:
    one, two = make.put([True, False], bool), make.put([False, True], bool)
    for hidden in (np.nan, np.inf, -np.inf):
        hide = call(make.put([1, hidden]), make.put([hidden, 2]), input_mask=one, other_mask=two)
        yield Convention(
            f"{hidden} is masked out",
            hide,
            value=[1, 2],
            gradient=([1, 0], [0, 1]),
            hessian=np.zeros((4, 4)),
            departure="PyTorch's second derivative is NaN",
        )
        nothing = make.put([hidden, 3])
        yield Convention(
            f"{hidden} is all there is, and masked out",
            call(nothing, nothing, input_mask=one & two, other_mask=one & two),
            value=[-np.inf, -np.inf],
            gradient=([0, 0], [0, 0]),
            hessian=np.zeros((4, 4)),
        )
    beside = call(make.put([-np.inf, 5]), make.put([5, -np.inf]), input_mask=one, other_mask=two)
    yield Convention(
        "minus infinity beside what is masked out",
        beside,
        value=[-np.inf, -np.inf],
        gradient=([1, 0], [0, 1]),
        departure="PyTorch's gradient is NaN",
    )
    numbers = make.put([0.0, np.nan])
    zeros = make.put([0, 0])
    yield Convention(
        "a mask of numbers", call(zeros, zeros, input_mask=numbers), value=[0, np.log(2)]
    )
    yield Convention(
        "another mask of numbers", call(zeros, zeros, other_mask=numbers), value=[0, np.log(2)]
    )
    tied = call(zeros, zeros, input_mask=one)
    yield Convention("a tie", tied, gradient=([0.5, 0], [0.5, 1]))
    tied, bend = call(zeros[:1], zeros[:1], input_mask=one[:1]), np.array([[1, -1], [-1, 1]]) / 4
    yield Convention("the bend of a tie", tied, hessian=bend)


_UNORDERED = "PyTorch asks for the least complex number, where the logarithm of 0 has a real part"
_COMPLEX = frozenset({"complex64", "complex128"})
COMPLEX_MASKED = (
    Departure("dtype", NO_IDENTITY, answer=r"\1", match=r"^\((bool), \*.*mask="),
    Departure("dtype", NO_IDENTITY, answer="*", match=r"^\(\*, bool.*mask="),
    Departure("dtype", _UNORDERED, answer=r"\1", match=r"^\((c64), \*.*mask="),
    Departure("dtype", _UNORDERED, answer="*", match=r"^\(\*, c64.*mask="),
    Departure(
        "dtype", _UNORDERED, answer=r"\1", match=r"^(?=.*mask=).*dtype=([\w*]+)", dtypes=_COMPLEX
    ),
    Departure(
        "dtype", _UNORDERED, answer=r"\1", match=r"^\((?!.*dtype=)([^,\[]+).*mask=", dtypes=_COMPLEX
    ),
)


def logaddexp_departures(make: Make) -> Iterator[Departure]:
    mask = make.put([True, False], bool)
    yield Departure(
        "accepted",
        _UNORDERED,
        call(make.put([1, 2], "complex64"), make.put([1, 2], "complex64"), input_mask=mask),
        r"torch\.iinfo\(\) requires an integer",
    )
    yield Departure(
        "accepted",
        NO_IDENTITY,
        call(make.put([0, 1], bool), make.put([1, 2], "float32"), input_mask=mask),
        "identity of .* on torch.bool",
    )
    yield Departure(
        "value",
        "the result is rounded to the common dtype before it is cast, by both, but not alike",
        call(make.put([0.13664304], "float32"), make.put([1.0], "float32"), dtype="complex128"),
        r"logaddexp\(f32\[.*dtype='(float64|complex128)'",
    )


OPS = [
    OpInfo(
        functx.masked.logsumexp,
        logsumexp_samples,
        reference=np_logsumexp,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=logsumexp_conventions,
        departures=(*BOOLS_MASKED, logsumexp_departures),
        tails=(Tail(lambda mp, x: mp.log1p(mp.exp(x)), lambda op, x: op(jnp.stack([x, 0 * x]))),),
    ),
    OpInfo(
        functx.masked.logaddexp,
        logaddexp_samples,
        reference=np_logaddexp,
        refusals=logaddexp_refusals,
        dtypes=Accepts.INEXACT.value,
        tolerances=(AT_ROOTS,),
        conventions=logaddexp_conventions,
        departures=(*COMPLEX_MASKED, logaddexp_departures),
    ),
]
