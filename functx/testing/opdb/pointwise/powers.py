from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge, held
from functx.testing.tail import Tail

from .operands import floating_without_numbers, PAIRS, quiet, unary, unbroadcastable


def pow_samples(make: Make) -> Iterator[Sample]:
    floating = category(make.dtype) >= 2
    base = lambda *shape: make(*shape, low=0.5) if floating else make(*shape)
    exponent = lambda *shape: make(*shape) if floating else make(*shape, low=0)
    for first, second in PAIRS:
        yield call(base(*first), exponent(*second))
    yield call(make.nonzero(2, 3), 2)
    yield call(base(3), 0.5)
    yield call(2, make(3) if floating else make(3, low=0))
    if floating:
        whole = make.nonzero(2, 3), make.put([[-2, 0, 1], [3, 4, 5]])
        # Beside whole exponents real powers of negative numbers are NaN.
        yield held(*whole) if category(make.dtype) == 2 else call(*whole)
        yield call(make.nonzero(3), -1)
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        yield edge(make(300, low=0.1, high=9), make(300, low=-9, high=9))
    if floating:
        yield edge(make.edges(), 3)
    else:
        greatest = 200 if make.dtype == np.uint8 else 100
        yield call(make.put([3, 7, 3]), make.put([5, 2, greatest]))  # wraps
    if make.dtype.kind == "i":
        yield call(make.put([1, -1, -1, 2, 0]), make.put([-2, -1, -2, -1, -1]))
        ends = np.iinfo(make.dtype)
        yield call(make.put([ends.min, ends.max, ends.max]), make.put([1, 1, 2]))


def float_power_samples(make: Make) -> Iterator[Sample]:
    floating = category(make.dtype) >= 2
    base = lambda *shape: make(*shape, low=0.5 if floating else 1)
    for first, second in PAIRS:
        yield call(base(*first), make(*second))
    yield call(base(2, 3), 2)
    yield call(base(3), -0.5)
    yield call(2, make(3))
    yield call(base(3), 0.5 + 1j)
    yield call(2j, make(3))
    yield call(base(3), make(3, dtype="int64"))
    if category(make.dtype) == 2:
        yield edge(make(300, low=0.1, high=9), make(300, low=-9, high=9))
        yield edge(make.put([0, -0.0, 0, -8, 1, np.nan]), make.put([-1, -1, 0, 3, np.nan, 0]))
        yield edge(*make.edge_pairs())
    if category(make.dtype) == 1:
        large = np.iinfo(make.dtype).max
        yield edge(make.put([large, 0, 3]), make.put([2, 0, 5]))


def float_power_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(2, 3), "`input` or `exponent` must be an array", TypeError)


@quiet
def np_float_power(x, exponent):
    x, exponent = (np.asarray(v, np.result_type(v, np.float64)) for v in (x, exponent))
    return np.float_power(x, exponent)


def float_power_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    base, exponent = make.put([0, 2, -1, -2], "int64"), make.put([-1, -3, -3, 3], "int64")
    yield Convention("integers", call(base, exponent), value=[np.inf, 0.125, -1, -8])
    bools = make.put([False, True], "bool"), make.put([False, False], "bool")
    yield Convention("bools", call(*bools), value=[1, 1])
    base, exponent = make.put([0.0, nan, 1, -8, 0.0]), make.put([0.0, 0, nan, 3, 2])
    value, gradient = [1, 1, 1, -512, 0], ([0, 0, nan, 192, 0], None)
    yield Convention("0 and NaN", call(base, exponent), value=value, gradient=gradient)
    base, exponent = make.put([0.0, 0, 0]), make.put([0.0, 1, -1])
    gradient = None, [0, 0, -np.inf]
    yield Convention("in the exponent", call(base, exponent), gradient=gradient)
    yield Convention("2, second derivative at 0", call(make.put(0.0), 2), hessian=2)


def hypot_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make.nonzero(*first), make.nonzero(*second))
    yield edge(*make.edge_pairs())
    yield edge(make(300, low=-9, high=9), make(300))


def hypot_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    x, y = make.put([3.0, 0, inf, nan, 1e200]), make.put([4.0, -2, nan, -inf, 1e200])
    value = [5, 2, inf, inf, np.sqrt(2) * 1e200]
    yield Convention("far out", call(x, y), value=value)
    x, y = make.put([0.0, 0, -2, 3e200]), make.put([0.0, -2, 0, 4e200])
    gradient = [nan, 0, -1, 0.6], [nan, -1, 0, 0.8]
    yield Convention("0 and far out", call(x, y), gradient=gradient)


def pow_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(2, 3), "`input` or `exponent` must be an array", TypeError)
    yield Refusal(call(make(2, dtype="int64"), -1), "`exponent` must not be negative")
    yield Refusal(call(make.mask(2), make.mask(2)), "expected arrays of numbers", TypeError)
    yield Refusal(call(make(2, dtype="int8"), 300), "`exponent` must fit int8, got 300")
    yield Refusal(call(make(2, dtype="float16"), 1e6), "`exponent` must fit float16")


@quiet
def np_pow(x, exponent):
    x, exponent = np.asarray(x), np.asarray(exponent)
    if x.dtype.kind not in "iu" or exponent.dtype.kind not in "iu":
        return np.power(x, exponent)
    powers = [_truncated_power(a, e) for a, e in np.broadcast(x, exponent)]
    width = np.iinfo(np.result_type(x, exponent)).bits
    wrapped = [(p + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) for p in powers]
    shape = np.broadcast_shapes(x.shape, exponent.shape)
    return np.array(wrapped, "int64").reshape(shape)


def _truncated_power(a, e):
    a, e = int(a), int(e)
    if e >= 0:
        return a**e
    return a ** (-e) if a in (1, -1) else 0


def pow_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    base, exponent = make.put([0.0, nan, 1, -8]), make.put([0.0, 0, nan, 3])
    yield Convention("1 beside NaN", call(base, exponent), value=[1, 1, 1, -512])
    base = make.put([-inf, -inf, -inf, -inf, -1, 0.5, -0.0, -0.0, -2, 2], "float32")
    exponent = make.put([3, 2, -3, 0.5, inf, -inf, -1, -2, 0.5, 200], "float32")
    value = [-inf, inf, -0.0, inf, 1, inf, -inf, inf, nan, inf]
    yield Convention("signs and infinities", call(base, exponent), value=value)
    small = call(make.put([2.0**-140], "float32"), make.put([0.5], "float32"))
    yield Convention("a subnormal base", small, value=[2.0**-70])
    yield Convention(
        "in the base",
        call(
            make.put([0.0, 0, 0, 0, -2, 0, nan, inf, -1]),
            make.put([0.0, 1, 2, 0.5, 3, -1, 0, 0, 0]),
        ),
        gradient=([0, 1, 0, inf, 12, -inf, 0, 0, 0], None),
    )
    yield Convention(
        "in the exponent",
        call(make.put([0.0, 0, 0, 0, 1, inf]), make.put([0.0, 1, 0.5, -1, 0, 0])),
        gradient=(None, [0, 0, 0, -inf, 0, inf]),
    )
    yield Convention("2, second derivative at 0", call(make.put(0.0), 2), hessian=2)
    yield Convention("1, second derivative at 0", call(make.put(0.0), 1), hessian=0)
    yield Convention("3, second derivative below 0", call(make.put(-2.0), 3), hessian=-12)
    yield Convention(
        "exponent 0",
        call(make.put(2.0), make.put(0.0)),
        hessian=[[0, 0.5], [0.5, np.log(2) ** 2]],
        departure="PyTorch's is not symmetric: in the base it is cut to 0, whatever the exponent",
    )
    at = make.put([0j, 1 + 1e-3j], "complex128"), make.put([1 + 1j, 90], "complex128")
    value = [0, 0.99599755456746288 + 0.0898825639417973325j]
    yield Convention("complex 0 and beside 1", call(*at), value=value)
    yield Convention(
        "complex 0 squared",
        call(make.put([0j], "complex128"), 2),
        gradient=[0],
        through=lambda z: z.real,
    )


def sqrt_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, 4.0, np.inf])
    yield Convention("0", call(at), value=[0, 2, np.inf], gradient=[np.inf, 0.25, 0])
    cut = make.put([complex(-4, 0.0), complex(-4, -0.0)], "complex128")
    through = lambda z: z.imag
    gradient = [-0.25, 0.25]
    yield Convention(
        "both sides of the cut", call(cut), value=[2j, -2j], gradient=gradient, through=through
    )


def rsqrt_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, 1.0, np.inf])
    yield Convention("0", call(at), value=[np.inf, 1, 0], gradient=[-np.inf, -0.5, 0])
    outside = make.put([-0.0, -1.0, -np.inf, np.nan])
    yield Convention("not above 0", call(outside), value=[-np.inf, np.nan, np.nan, np.nan])
    yield Convention("second derivative", call(make.put(4.0)), hessian=0.75 / 32)


def pow_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "value",
        "a power of -0.0 that is no odd integer is 0.0: PyTorch takes the root, and keeps the sign",
        call(make.put([-0.0], "float32"), 0.5),
        r", 0\.5\): 0\.0 at .*PyTorch -0\.0",
    )
    yield Departure(
        "value",
        "with an exponent of tens, one rounding of the logarithm is tens of the result",
        call(
            make.put(0.5476030959936482 + 0.6771729236634928j, "complex128"),
            make.put([-127, -128], "int8"),
        ),
        r"pow\(c\d+.*, [ci]\d+\[[\d,]*\]\S*?(?<![\d.e])\d\d+\D.*\): ",
    )


OPS = [
    OpInfo(
        functx.hypot,
        hypot_samples,
        reference=quiet(np.hypot),
        refusals=floating_without_numbers,
        dtypes=Accepts.FLOATING.value,
        conventions=hypot_conventions,
        gaps=(
            Gap(
                "extremal",
                "the slope of a cone at its tip, 0 / 0 in PyTorch too",
                at="zeros in all",
            ),
        ),
    ),
    OpInfo(
        functx.pow,
        pow_samples,
        reference=np_pow,
        refusals=pow_refusals,
        dtypes=Accepts.NUMBER.value,
        conventions=pow_conventions,
        departures=(pow_departures,),
        gaps=(
            Gap(
                "extremal",
                "a negative base has no real powers beside that of 0: the slope in the exponent is "
                "NaN, in PyTorch too",
                at="(zeros|mixed) in array 1|zeros in all",
            ),
        ),
    ),
    OpInfo(
        functx.float_power,
        float_power_samples,
        reference=np_float_power,
        refusals=float_power_refusals,
        conventions=float_power_conventions,
        gaps=(
            Gap(
                "extremal",
                "0, for which XLA's CPU takes subnormal numbers, has no slope to a complex power "
                "with a real part below 1: NaN in PyTorch too",
                at="(zeros|subnormal|mixed) in",
            ),
        ),
    ),
    OpInfo(
        functx.square,
        unary(),
        reference=lambda x: x * x if x.dtype != bool else 1 * x,
        tails=(Tail(lambda mp, x: x * x),),
    ),
    OpInfo(
        functx.sqrt,
        unary(low=0.1),
        reference=quiet(np.sqrt),
        conventions=sqrt_conventions,
        tails=(Tail(lambda mp, x: mp.sqrt(x), low=0),),
    ),
    OpInfo(
        functx.rsqrt,
        unary(low=0.1),
        reference=quiet(lambda x: 1 / np.sqrt(x)),
        conventions=rsqrt_conventions,
        tails=(Tail(lambda mp, x: 1 / mp.sqrt(x), low=0),),
    ),
]
