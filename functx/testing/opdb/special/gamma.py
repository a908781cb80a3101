from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.special

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import floating_without_numbers, quiet
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import AT_ROOTS, Tolerance

from .operands import pairs_in_double


_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_LINEAR = 1e-100  # below which the upper function is a multiple of $a$


def np_lower(a, x):
    """SciPy's; in the tail, where it loses digits, the power series."""
    out = scipy.special.gammainc(a, x)
    tail = (a > 0) & (a < 1e4) & (x > 0) & (x < np.maximum(a, 1) / 2)
    wide_a, wide_x = np.where(tail, a, 20).astype("g"), np.where(tail, x, 1).astype("g")
    term = total = np.ones_like(wide_a)
    for k in range(1, 90):
        term = term * wide_x / (wide_a + k)
        total = total + term
    out = np.where(tail, np_scale(wide_a, wide_x) * total / wide_a, out)
    return np_ends(a, x, np.where((a < _LINEAR) & (a > 0) & (x > 0), 1, out), 0.0, 1.0)


def np_upper(a, x):
    """SciPy's; in the tail, where it loses digits, the continued fraction."""
    out = scipy.special.gammaincc(a, x)
    tail = (a > 0) & (a < 1e4) & (x > np.maximum(np.where(a < 10, a, 2 * a), 0.5)) & (x < 1e5)
    wide_a, wide_x = np.where(tail, a, 20).astype("g"), np.where(tail, x, 60).astype("g")
    below = wide_x
    for k in range(200, 0, -1):
        below = wide_x + (k - wide_a) / (1 + k / below)
    out = np.where(tail, np_scale(wide_a, wide_x) / below, out)
    small = (a < _LINEAR) & (a > 0) & (x > 0)
    return np_ends(a, x, np.where(small, a * scipy.special.exp1(np.abs(x)), out), 1.0, 0.0)


def np_scale(a, x):
    r"""$x^a e^{-x} / \Gamma(a)$, for $a > 10$ by Stirling."""
    small, large = np.minimum(a, 10), np.maximum(a, 10)
    rest = sum(c / large ** (2 * k + 1) for k, c in enumerate(_STIRLING))
    power = np.exp(large * (np.log(x / large) + 1) - x - rest)
    moderate = small * x**small * np.exp(-x) / scipy.special.gamma(1 + small.astype(float))
    return np.where(a > 10, np.sqrt(large / (2 * np.pi)) * power, moderate)


def np_ends(a, x, out, left, right):
    """Where SciPy has NaN of large numbers that have values."""
    lost = np.isnan(out) & (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    return np.where(lost, np.where(x < a, left, right), out)


def incomplete_samples(make: Make) -> Iterator[Sample]:
    a, x = [[0.125, 4, 30], [20, 1.5, 12]], [[0.5, 0.75, 25], [24, 2, 12.125]]
    apart = make(2, 3, low=1, high=1.05)  # so that lanes differ
    yield call(make.put(a) * apart, make.put(x) * apart)
    for first, second in [((2, 1, 2, 1), (2, 3)), ((), (2,)), ((0, 3), (3,))]:
        yield call(make(*first, low=0.3, high=5), make(*second, low=0.3, high=5))
    first, second = [1e-3, 0.5, 80, 300, 2e3], [1e-3, 1e-6, 100, 300, 1.9e3]
    ends = [0.0, 0, -1, 1, 0], [0.0, 2, 1, -1, np.inf]
    yield edge(make.put([*first, *ends[0]]), make.put([*second, *ends[1]]))
    yield edge(*make.edge_pairs())


def incomplete_conventions(lower: bool) -> Callable[[Make], Iterator[Convention]]:
    """Of the lower function, or of the upper one, whose derivatives have the other sign."""
    inf, nan = np.inf, np.nan
    sign = 1 if lower else -1

    def of(value):
        return np.asarray(value) if lower else 1 - np.asarray(value)

    def conventions(make: Make) -> Iterator[Convention]:
        a, x = (
            [0.0, 0, 1, inf, inf, 1, 0, -1, 1, nan, 1],
            [0.0, 1, 0, 1, inf, inf, inf, 1, -1, 1, nan],
        )
        value = [nan, 1, 0, 0, nan, 1, 1, nan, nan, nan, nan]
        yield Convention("ends", call(make.put(a), make.put(x)), value=of(value))
        at = call(make.put([nan, nan, inf]), make.put([0.0, inf, nan]))
        ends = "PyTorch looks for ends before it looks for NaN"
        yield Convention("NaN beside ends", at, value=[nan, nan, nan], departure=ends)
        at = call(make.put([1e307, 1e154]), make.put([1e154, 1e307]))
        yield Convention(
            "large", at, value=of([0, 1]), departure="PyTorch has NaN, but the limit is known"
        )
        if lower:
            a, x = [0.5, 2.5, 9.75, 1000, 40, 60], [2.0**-20, 1.5, 0.125, 930, 12, 2.0**-6]
            value = [0.0011019324300718147, 0.300014164121372491, 6.91725168459118633e-16]
            value += [0.012008463910231249, 1.55871131023646085e-10, 5.0390900286160349e-191]
        else:
            a, x = [2.0**-40, 2.5, 0.5, 1000, 2.0**-40, 94], [0.5, 1.5, 40, 1100, 7, 270]
            value = [5.09111118641547036e-13, 0.699985835878627509, 3.74409738420289876e-19]
            value += [0.00105932325392997735, 1.05030023051417869e-16, 9.4666579004989979e-36]
        at = call(make.put(a), make.put(x))
        yield Convention("where the function is small", at, value=value, ulps=16)
        slopes = {
            (1.25, 3.0): (
                [-0.123701766696446315, 0.0722895937717350072],
                [-0.109270810191312647, 0.0958607595901697206, -0.0662654609574237566],
            ),
            (0.75, 0.5): (
                [-0.583428458336615281, 0.58860840932438218],
                [0.333649013238507157, 0.231154585821619832, -0.88291261398657327],
            ),
            (100.0, 90.0): (
                [-0.0246119168439799096, 0.0259120282501575565],
                [0.00259549291127458085, -0.00260032858551645646, 0.00259120282501575565],
            ),
        }
        none = "PyTorch has no derivative in `input`"
        a, x = zip(*slopes, strict=True)
        firsts, seconds = zip(*slopes.values(), strict=True)
        in_a, mixed, in_x = (np.diag(d) for d in zip(*seconds, strict=True))
        yield Convention(
            "slopes in both",
            call(make.put(a), make.put(x)),
            gradient=tuple(sign * np.transpose(firsts)),
            hessian=sign * np.block([[in_a, mixed], [mixed, in_x]]),
            ulps=32,
            departure=none,
        )
        at = call(make.put([0.0, 0]), make.put([0.5, 3]))
        # The exponential integral.
        value = sign * np.array([-0.559773594776160812, -0.0130483810941970374])
        zeros = [0, 0]
        yield Convention("slopes at 0", at, gradient=(value, zeros), ulps=16, departure=none)
        at = call(make.put([0.5, 1, 2, 3]), make.put([0.0, 0, 0, inf]))
        in_x = sign * np.array([inf, 1, 0, 0])
        yield Convention("slopes at ends", at, gradient=([0, 0, 0, 0], in_x), departure=none)
        at = call(make.put([2, 3, 40], "int64"), make.put([0.5, 3, 20]))
        first = [0.303265329856316712, 0.224041807655387781, 0.0000555514137566475932]
        second = [0.303265329856316712, -0.0746806025517959132, 0.0000527738430688152915]
        yield Convention(
            "slopes beside integers",
            at,
            gradient=sign * np.array(first),
            hessian=sign * np.diag(second),
        )
        at = call(make.put([1, 3], "int64"), make.put([0.0, inf]))
        product = "PyTorch multiplies 0 and infinity"
        yield Convention("ends in x", at, gradient=sign * np.array([1, 0]), departure=product)

    return conventions


@quiet
def np_multivariate(x, p):
    each = scipy.special.gammaln(x[..., None] - np.arange(p) / 2)
    each = np.where(np.isinf(each), np.inf, each)
    return p * (p - 1) / 4 * np.log(np.pi) + each.sum(-1)


def multivariate_samples(make: Make) -> Iterator[Sample]:
    for p in (1, 3, 5, 2):
        low = p / 2
        yield call(make(2, 3, low=low, high=low + 5), p)
        yield call(make(low=low, high=low + 5), p)
    yield call(make(2, 0, 3), 2)
    yield call(make(2, 1, 2, 2, low=2, high=6), p=3)
    if category(make.dtype) == 2:
        yield call(make.put([-0.25, -1.625, 0.125, 30.25]), 2)
        yield edge(make.edges(), 1)
        yield edge(make.edges(1.5), 2)


def multivariate_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), 0), "`p` must be at least 1, got 0")
    yield Refusal(call(make(2), 2.0), r"`p` must be an int, got 2\.0", TypeError)
    yield Refusal(call(make(2), True), "`p` must be an int, got True", TypeError)
    yield Refusal(call(2.0, 1), r"must be an array, got 2\.0", TypeError)
    for dtype in ("bool", "complex64"):
        refusal = "expected integer or floating|expected real number arrays, got"
        yield Refusal(call(make(2, dtype=dtype), 1), refusal, TypeError)


def multivariate_conventions(make: Make) -> Iterator[Convention]:
    inf = np.inf
    at = call(make.put([1.0, 0.5, 0, -1, inf, -inf, np.nan]), 3)
    yield Convention("poles and ends", at, value=[inf, inf, inf, inf, inf, inf, np.nan])
    slope = sum(scipy.special.digamma(2.5 - j / 2) for j in range(3))
    second = sum(scipy.special.polygamma(1, 2.5 - j / 2) for j in range(3))
    at, bends = call(make.put([2.5, 2.5]), 3), np.diag([second] * 2)
    yield Convention("slopes", at, gradient=[slope] * 2, hessian=bends, ulps=32)


OF_SCIPY = Tolerance(
    "SciPy is off by as much between the tails; conventions hold more",
    ulps=32,
    dtypes=frozenset({"float64"}),
)

OPS = [
    OpInfo(
        functx.igamma,
        incomplete_samples,
        reference=pairs_in_double(np_lower),
        refusals=floating_without_numbers,
        dtypes=Accepts.FLOATING.value,
        tolerances=(OF_SCIPY,),
        conventions=incomplete_conventions(lower=True),
    ),
    OpInfo(
        functx.igammac,
        incomplete_samples,
        reference=pairs_in_double(np_upper),
        refusals=floating_without_numbers,
        dtypes=Accepts.FLOATING.value,
        tolerances=(OF_SCIPY,),
        conventions=incomplete_conventions(lower=False),
    ),
    OpInfo(
        functx.mvlgamma,
        multivariate_samples,
        reference=np_multivariate,
        refusals=multivariate_refusals,
        tolerances=(AT_ROOTS,),
        conventions=multivariate_conventions,
    ),
]
