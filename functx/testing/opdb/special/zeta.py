from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import PAIRS, real_only
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import AT_ROOTS

from .operands import no_complex, pairs_in_double


def summed(s, q):
    """Of negative `q` that are not whole: terms one by one, to the positive ones."""
    terms = math.ceil(-q)
    each = (q + np.arange(terms)).astype(np.longdouble)
    odd = s % 2 == 1
    powers = np.where(odd, np.sign(each), 1) * np.exp(-s * np.log(np.abs(each)))
    return float(powers.sum() + np.longdouble(scipy.special.zeta(s, q + terms)))


def np_zeta(s, q):
    out = scipy.special.zeta(s, np.where(q > 0, q, 1))
    steep = np.where(q < 1, np.inf, np.where(q == 1, 1.0, 0.0))
    out = np.where(s > 1e5, steep, out)
    out = np.where((q == np.inf) & (s > 1), 0, out)
    out = np.where((q <= 0) & (s > 1), np.inf, out)
    left = (q < 0) & (q != np.rint(q)) & (s > 1)
    sums = [
        summed(*at) if inside and at[0] == np.rint(at[0]) < 100 else np.nan
        for inside, *at in zip(left.flat, s.flat, q.flat, strict=True)
    ]
    out = np.where(left, np.reshape(sums, q.shape), out)
    return np.where(s == 1, np.inf, np.where((s > 1) & (q == q), out, np.nan))


def zeta_samples(make: Make) -> Iterator[Sample]:
    for sample, (first, second) in zip([call] + [edge] * len(PAIRS), PAIRS, strict=False):
        yield sample(make(*first, low=1.5, high=6), make(*second, low=0.3, high=6))
    yield call(make(3, low=1.25), 2)
    yield edge(2, make(3, low=0.5))
    if category(make.dtype) == 2:
        yield call(make.put([1.125, 9, 30, 2.5]), make.put([0.0625, 40, 0.75, 900]))
        below = [2.0, 3, 4, 5, 2, 3], [-0.5, -2.25, -7.75, -0.125, -20.5, -1.5]
        far = [3.0, 2, 4, 3, 2], [-100.25, -30.75, -2.5, 0, -4]
        outside = [1.0, 0.5, -2, 2.5, np.inf], [2.0, 2, 2, -1.5, 2]
        huge = [2e4, 1, 0.5], [1.0, np.inf, np.inf]
        pairs = zip(below, far, outside, huge, strict=True)
        yield edge(*(make.put(sum(parts, start=[])) for parts in pairs))
        yield edge(make.edges(), make.put(2.5))
        yield edge(make.put(2.5), make.edges())


def zeta_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(2, 3), "`input` or `other` must be an array", TypeError)
    yield Refusal(call(make(2), 2j), "expected .* numbers", TypeError)
    for refusal in no_complex(make):
        yield Refusal(call(*refusal.sample.args, make(2)), refusal.match, refusal.error)


def zeta_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    s, q = make.put([1.0, 1, 1, 0.5, 2, 3, 2.5]), make.put([1.0, nan, -1, 2, 0, -2, -0.5])
    yield Convention("poles", call(s, q), value=[inf, inf, inf, nan, inf, inf, nan])
    s, q = make.put([inf, inf, inf, 2, 3]), make.put([2.0, 1, 0.5, inf, inf])
    yield Convention(
        "infinities",
        call(s, q),
        value=[0, 1, inf, 0, 0],
        departure="PyTorch has NaN for limits of 0",
    )
    s, q = make.put([2.0, 3, 3, 4]), make.put([-1.5, -1.5, -1e4 - 0.25, -0.75])
    value = [9.379246644989124, 0.1181020258208637, -62.01255335560039, 259.62418449535856]
    yield Convention("below 0", call(s, q), value=value)
    at = call(make.put([1 + 2.0**-30, 40, 300]), make.put([3.0, 25, 1e-3]))
    value = [1073741823.0772157, 1.5336966067945482e-56, np.inf]
    yield Convention("near the pole, steep, and beyond the range", at, value=value)
    at = call(make.put(2.0), make.put(3.0))
    slopes = (-0.76426145917585743, -0.15411380631918857)
    hessian = [
        [1.8691669808193507, 0.14590878747169309],
        [0.14590878747169309, 0.11893940226682915],
    ]
    none = "PyTorch has no derivative in the exponent"
    yield Convention("slopes in both", at, gradient=slopes, hessian=hessian, departure=none)
    at = call(make.put(2.0), make.put(-1.5))
    slopes = (nan, -0.2362040516417274)
    yield Convention("slopes in both below 0", at, gradient=slopes, departure=none)
    at = call(make.put(2, "int64"), make.put([3.0, -1.5]))
    second = [[0.11893940226682915, 0], [0, 194.59427621918762]]
    slopes = [-0.15411380631918857, -0.2362040516417274]
    yield Convention("slopes beside a whole exponent", at, gradient=slopes, hessian=second)


def unsigned_exponents(make: Make) -> Iterator[Departure]:
    at = call(make.put(2, "uint8"), make.put([3.0, 0.5], "float64"))
    why = "PyTorch negates the exponent in its own dtype"
    yield Departure("gradient", why, at, r"of array 0: -\d.*, PyTorch \d")


def np_polygamma(n, x):
    wide = x.astype(np.float64)
    if n == 0:
        out = np.where(np.isinf(wide) & (wide < 0), np.nan, scipy.special.digamma(wide))
    else:
        out = np_zeta(np.full(wide.shape, n + 1.0), wide) * float(math.factorial(n))
        out = out if n % 2 else -out
        out = np.where((wide == -np.inf) & (n == 1), np.nan, out)
    return out.astype(x.dtype)


def polygamma_samples(make: Make) -> Iterator[Sample]:
    for n in (1, 2, 0, 3, 4):
        yield call(n, make(2, 3, low=0.5, high=5))
        yield call(n, make(low=0.5, high=5))
    yield call(2, make(2, 0, 3))
    yield call(1, make(2, 1, 2, 2, low=0.5))
    if category(make.dtype) == 2:
        yield call(1, make.put([-0.5, -1.625, -9.25, 30.5]))
        yield call(2, make.put([-0.375, -1.625, -9.25, 30.5]))
        yield call(11, make.put([3.0, 0.25, 8, 60]))
        for n in (1, 2):
            yield edge(n, make.edges())


def polygamma_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(-1, make(2)), "`n` must not be negative, got -1")
    yield Refusal(call(2.0, make(2)), r"`n` must be an int, got 2\.0", TypeError)
    yield Refusal(call(True, make(2)), "`n` must be an int, got True", TypeError)
    yield Refusal(call(1, 2.0), r"must be an array, got 2\.0", TypeError)
    for refusal in real_only(make):
        yield Refusal(call(1, *refusal.sample.args), refusal.match, refusal.error)


def polygamma_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    poles = make.put([0.0, -0.0, -1, -2, nan])
    yield Convention("poles, odd", call(3, poles), value=[inf, inf, inf, inf, nan])
    yield Convention("poles, even", call(2, poles), value=[-inf, -inf, -inf, -inf, nan])
    ends = make.put([inf, -inf])
    yield Convention("ends of the first", call(1, ends), value=[0, nan])
    yield Convention(
        "ends of the second", call(2, make.put(inf)), value=-0.0, departure="PyTorch has NaN"
    )
    value = [-4.4065316410386234e241, -9.3326215443944153e157]
    at = call(100, make.put([0.1484375, 1.0]))
    yield Convention("of order 100", at, value=value)
    at = call(171, make.put([20.0]))
    yield Convention(
        "of order 171, a power of a rounded number",
        at,
        value=[2.073563430060801e85],
        ulps=171,
        departure="PyTorch's factorial is infinite",
    )
    at = call(make.put([1.0]), 1)
    yield Convention("order of the method", at, value=[math.pi**2 / 6])
    slope = -2 * scipy.special.zeta(3, 2.5)
    at = call(1, make.put(2.5))
    yield Convention("slope", at, gradient=slope, hessian=6 * scipy.special.zeta(4, 2.5))


OPS = [
    OpInfo(
        functx.special.zeta,
        zeta_samples,
        reference=pairs_in_double(np_zeta),
        refusals=zeta_refusals,
        tolerances=(AT_ROOTS,),
        conventions=zeta_conventions,
        departures=(unsigned_exponents,),
    ),
    OpInfo(
        functx.polygamma,
        polygamma_samples,
        reference=np_polygamma,
        refusals=polygamma_refusals,
        tolerances=(AT_ROOTS,),
        conventions=polygamma_conventions,
    ),
]
