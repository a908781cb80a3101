from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, Tolerance

from .operands import (
    binary_and_number,
    PAIRS,
    quiet,
    real_only,
    unary,
    unary_nonzero,
    unbroadcastable,
)


def scaled_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3), alpha=2)
    if category(make.dtype) == 0:
        yield call(make(3), make(3), alpha=True)
    yield from binary_and_number(make)
    if category(make.dtype) >= 2:
        yield call(make(2), make(2), alpha=-0.5)


def scaled_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, integers, alpha=0.5), "`alpha` must not be floating", TypeError)
    yield Refusal(call(make(2), make(2), alpha=1j), "`alpha` must not be complex", TypeError)
    for dtype in ("int32", "float32", "complex64"):
        numbers = make(2, dtype=dtype)
        message = f"`alpha` must not be bool for {dtype} arrays"
        yield Refusal(call(numbers, numbers, alpha=True), message, TypeError)
    too_large = ("int8", 300), ("uint8", -300), ("int32", 2**40), ("float16", 70000)
    for dtype, alpha in (*too_large, ("float32", 1e39), ("complex64", 1e39)):
        narrow = make(2, dtype=dtype)
        message = f"`alpha` must fit {dtype}, got {str(alpha)[:2]}"
        yield Refusal(call(narrow, narrow, alpha=alpha), message)
    yield Refusal(call([1.0], make(1)), "`input` must be an array", TypeError)
    yield Refusal(call(make(2), make(2), out=make(2)), "`out` does not exist", TypeError)


def sub_refusals(make: Make) -> Iterator[Refusal]:
    yield from scaled_refusals(make)
    yield Refusal(call(make.mask(2), make.mask(2)), "expected number arrays, got bool", TypeError)


def rsub_samples(make: Make) -> Iterator[Sample]:
    yield from scaled_samples(make)
    yield call(make(2), 2, 3)


def rsub_refusals(make: Make) -> Iterator[Refusal]:
    yield from sub_refusals(make)
    yield Refusal(call(2, make(2)), "`input` must be an array, got 2", TypeError)
    yield Refusal(call(make(2), make(2), 3), "takes 2 positional arguments|too many", TypeError)


def bool_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make.mask(2)), "expected number arrays, got bool", TypeError)


def abs_samples(make: Make) -> Iterator[Sample]:
    yield from unary_nonzero(make)
    if category(make.dtype) == 1:
        yield edge(make.put([np.iinfo(make.dtype).min, 0]))


def addcmul_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3), make(2, 3), value=2)
    yield call(make(3), make(2, 1), make(1, 3))
    yield call(make(), make(), make())
    yield call(make(0, 3), make(3), make())
    yield call(make(2), make(2), make(2), value=True)
    if category(make.dtype) == 1:
        yield call(make(2), make(2), make(2), value=2.75)
    if category(make.dtype) >= 2:
        yield call(make(2), make(2), make(2), value=-1.5)


def addcmul_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make(3), make(2)), "shapes do not fit")
    yield Refusal(call(make(2), make(2), make(2), value=1j), "`value` must not be", TypeError)
    bytes_ = make(2, dtype="int8")
    for value in (300, 300.5, np.nan):
        at = call(bytes_, bytes_, bytes_, value=value)
        yield Refusal(at, f"`value` must fit int8, got {value}")
    mask = make.mask(2)
    yield Refusal(call(mask, mask, mask), "expected arrays of numbers", TypeError)


def lerp_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3), make(2, 3, low=0, high=1))
    yield call(make(2, 3), make(3), 0.4)
    yield call(make(3), make(2, 3), make(2, 1))
    yield call(make(2), make(2), 1)
    yield call(make(2), make(2), True)
    yield call(make(3), 2, 0.25)
    yield call(make(), make(), 0.75)
    yield call(make(0, 3), make(3), 0.5)
    yield call(make(2), make(2), make(low=0, high=1, dtype="float64"))
    yield call(make(2), make(2), make.put(False, bool))
    yield edge(make.put(np.full(8, -1)), make.delicate(8), 1)
    yield edge(make.delicate(8), make(8), make(8, low=0, high=1))


def lerp_refusals(make: Make) -> Iterator[Refusal]:
    wide = make(2, dtype="float64")
    yield Refusal(call(make(2), wide, 0.5), "must have the same dtype", TypeError)
    yield Refusal(call(make(2), make(2), wide), "must have the same dtype", TypeError)
    yield Refusal(call(make(2), make(2), 1j), "`weight` must be real", TypeError)
    yield Refusal(call(make(2), make(2), 1e39), "`weight` must fit float32")
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, integers, 0.5), "expected inexact arrays", TypeError)
    yield Refusal(call(make(2), make(3), 0.5), "shapes do not fit")


def np_add(x, y, *, alpha=1):
    return x | y if x.dtype == bool and np.asarray(y).dtype == bool else x + alpha * y


def np_lerp(x, end, weight):
    way = end - x
    return np.where(np.abs(weight) < 0.5, x + weight * way, end - way * (1 - weight))


def np_addcmul(x, a, b, *, value=1):
    return x + (int(value) if category(x.dtype) == 1 else value) * a * b


def np_mul(x, y):
    return x & y if x.dtype == bool and np.asarray(y).dtype == bool else x * y


def np_sign(x):
    return x if x.dtype == bool else np.sign(np.where(x == x, x, 0)).astype(x.dtype)


def abs_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, -0.0, -1.0, np.nan])
    yield Convention("0 and NaN", call(at), value=[0, 0, 1, np.nan], gradient=[0, 0, -1, 0])
    yield Convention("second derivative at 0", call(make.put([0.0])), hessian=[[0]])
    small = call(make.put([5e-310, -5e-310]))
    yield Convention("subnormal numbers", small, gradient=[1, -1])
    yield Convention("complex 0", call(make.put([0j], "complex128")), gradient=[0], singular=True)


def mask_conventions(make: Make) -> Iterator[Convention]:
    x, mask = make.put([np.nan, np.inf, 2, 2]), make.put([False, False, False, True], "bool")
    yield Convention("a mask over NaN", call(x, mask), value=[np.nan, np.nan, 0, 2])
    complex_ = make.put(np.array([np.nan, 2]) * (1 + 0j), "complex128")
    at = call(make.put([False, True], "bool"), complex_)
    yield Convention("of complex numbers", at, holds=lambda y: jnp.isnan(y) == jnp.isnan(complex_))


def copysign_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make.nonzero(*first), make.nonzero(*second))
    yield call(make.nonzero(2, 3), -2)
    yield call(make.nonzero(3), 0.5)
    yield call(make.nonzero(3), -0.0)
    yield edge(*make.edge_pairs())
    yield edge(make.delicate(8), make.delicate(8))


def copysign_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(2, make(2)), "`input` must be an array, got 2", TypeError)
    yield Refusal(call(make(2, dtype="complex64"), 2), "expected real arrays, got c64", TypeError)
    yield Refusal(call(make(2), 2j), "expected real numbers, got c128", TypeError)


def sgn_samples(make: Make) -> Iterator[Sample]:
    yield from unary_nonzero(make)
    if category(make.dtype) == 3:
        yield edge(make.put([3e20 + 4e20j, 3e-20 - 4e-20j]))


@quiet
def np_sgn(x):
    return np.where(x == 0, 0, x / np.abs(x)) if x.dtype.kind == "c" else np_sign(x)


def sgn_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, -0.0, 2.0, np.nan, np.inf])
    yield Convention("0 and NaN", call(at), value=[0, 0, 1, 0, 1])
    at = call(make.put([0j, 3 + 4j], "complex128"))
    gradient = [0, 0.128 - 0.096j]
    through = lambda z: z.real
    yield Convention("complex 0", at, value=[0, 0.6 + 0.8j], gradient=gradient, through=through)


def sgn_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "PyTorch's gradient of real numbers is a tensor without elements",
        call(make.put([2.0, -3], "float64")),
        "ZeroTensor",
    )


def copysign_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    x, y = make.put([1.0, -1, 0, -0.0, inf, 2]), make.put([-0.0, 0.0, -1, 1, -inf, nan])
    value, gradient = [-1, 1, -0.0, 0, -inf, 2], [-1, -1, 0, 0, -1, 1]
    yield Convention(
        "zeros, infinities and NaN",
        call(x, y),
        value=value,
        gradient=(gradient, [0] * 6),
        departure="PyTorch divides infinities",
    )
    unordered = call(make.put([nan, -nan]), make.put([1.0, -1.0]))
    yield Convention("NaN", unordered, value=[nan, nan], gradient=([nan, nan], None))
    small = call(make.put([5e-310, -5e-310]), make.put([-1.0, -5e-310]))
    yield Convention("subnormal numbers", small, gradient=([-1, 1], [0, 0]))


def addcmul_conventions(make: Make) -> Iterator[Convention]:
    x, mask = make.put([np.nan, np.inf, 2]), make.put([False, False, True], "bool")
    at = call(make.put([0, 0, 0]), mask, x)
    yield Convention("a mask over NaN", at, value=[np.nan, np.nan, 2])
    empty = call(make.put(np.zeros((0, 2))), make.put([1.0, 2.0]), make.put(-np.inf))
    gradient = np.zeros((0, 2)), [0, 0], 0
    yield Convention("nothing has no slope", empty, gradient=gradient)


def sign_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, -0.0, 2.0, np.nan])
    yield Convention("0 and NaN", call(at), value=[0, 0, 1, 0], gradient=[0, 0, 0, 0])


def lerp_conventions(make: Make) -> Iterator[Convention]:
    start, end, weight = make.put([1.0, 1.0]), make.put([3.0, 3.0]), make.put([0.5, 0.0])
    gradient = [0.5, 1], [0.5, 0], [2, 2]
    yield Convention("half way and at the start", call(start, end, weight), gradient=gradient)
    infinite = call(make.put([1.0]), make.put([np.inf]), 0.0)
    yield Convention("an infinite end", infinite, value=[np.nan])
    ends = make.put([1.0, np.inf, 1.0]), make.put([np.inf, 1.0, np.nan])
    gradient = [0.75, 0.75, 0.75], [0.25, 0.25, 0.25], [np.inf, -np.inf, np.nan]
    weights = make.put([0.25, 0.25, 0.25])
    yield Convention("slopes to infinity", call(*ends, weights), gradient=gradient)


def lerp_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "a 0-d weight takes the arrays' dtype, where PyTorch promotes them to a complex one",
        call(make(2, dtype="float32"), make(2, dtype="float32"), make(dtype="complex64")),
        "`weight` must be real beside",
    )
    integers = make(2, dtype="int32")
    yield Departure(
        "refused",
        "a 0-d weight takes the arrays' dtype, where PyTorch promotes integers to it",
        call(integers, integers, make(dtype="float32")),
        r"expected inexact arrays, got [biu]",
    )


PRODUCT = Tolerance("a product is rounded before the sum", floor=8, elementwise=True)

OPS = [
    OpInfo(
        functx.add,
        scaled_samples,
        reference=np_add,
        refusals=scaled_refusals,
        tolerances=(PRODUCT,),
    ),
    OpInfo(
        functx.sub,
        scaled_samples,
        reference=lambda x, y, *, alpha=1: x - alpha * y,
        refusals=sub_refusals,
        tolerances=(PRODUCT,),
    ),
    OpInfo(
        functx.rsub,
        rsub_samples,
        reference=lambda x, y, alpha=1: y - alpha * x,
        refusals=rsub_refusals,
        tolerances=(PRODUCT,),
    ),
    OpInfo(
        functx.mul,
        binary_and_number,
        reference=np_mul,
        refusals=unbroadcastable,
        conventions=mask_conventions,
    ),
    OpInfo(functx.neg, unary(), reference=np.negative, refusals=bool_refusals),
    OpInfo(
        functx.abs,
        abs_samples,
        reference=np.abs,
        refusals=bool_refusals,
        conventions=abs_conventions,
    ),
    OpInfo(
        functx.sign,
        unary_nonzero,
        reference=np_sign,
        refusals=real_only,
        conventions=sign_conventions,
    ),
    OpInfo(
        functx.positive, unary(), reference=lambda x: x, refusals=bool_refusals, tolerances=(EXACT,)
    ),
    OpInfo(
        functx.sgn,
        sgn_samples,
        reference=np_sgn,
        conventions=sgn_conventions,
        departures=(sgn_departures,),
    ),
    OpInfo(
        functx.copysign,
        copysign_samples,
        reference=np.copysign,
        refusals=copysign_refusals,
        conventions=copysign_conventions,
        kinked=True,
    ),
    OpInfo(
        functx.addcmul,
        addcmul_samples,
        reference=np_addcmul,
        refusals=addcmul_refusals,
        dtypes=Accepts.NUMBER.value,
        tolerances=(PRODUCT,),
        conventions=addcmul_conventions,
    ),
    OpInfo(
        functx.lerp,
        lerp_samples,
        reference=np_lerp,
        refusals=lerp_refusals,
        tolerances=(PRODUCT,),
        conventions=lerp_conventions,
        departures=(lerp_departures,),
    ),
]
