from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import PAIRS
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import Tolerance

from .operands import no_complex, pairs_in_double


# The polynomial of degree 1 as a slope and an offset, and the step from two degrees to the next.
DegreeStep = Callable[[int, Any, Any, Any], Any]
FAMILIES: dict[str, tuple[tuple[int, int], DegreeStep]] = {
    "t": ((1, 0), lambda k, x, q, p: 2 * x * q - p),
    "u": ((2, 0), lambda k, x, q, p: 2 * x * q - p),
    "v": ((2, -1), lambda k, x, q, p: 2 * x * q - p),
    "w": ((2, 1), lambda k, x, q, p: 2 * x * q - p),
    "h": ((2, 0), lambda k, x, q, p: 2 * (x * q - (k - 1) * p)),
    "he": ((1, 0), lambda k, x, q, p: x * q - (k - 1) * p),
    "l": ((-1, 1), lambda k, x, q, p: ((2 * k - 1 - x) * q - (k - 1) * p) / k),
    "p": ((1, 0), lambda k, x, q, p: ((2 * k - 1) * x * q - (k - 1) * p) / k),
}
HIGHEST = 2**20  # of the degrees that are computed one by one
_VECTORS = 1000  # the degree from which on few elements have so high ones


def up_to(family: str, x: Any, n: Any) -> tuple[Any, Any]:
    """The polynomials of degrees `n`, and their slopes, by the recurrence."""
    (slope, offset), step = FAMILIES[family]
    before, last = np.ones_like(x), slope * x + offset
    below, rise = np.zeros_like(x), np.full_like(x, slope)
    for k in range(2, int(np.max(n, initial=0)) + 1):
        new = np.where(np.isinf(last), last * x * slope, step(k, x, last, before))
        rises = step(k, x, rise, below) + step(k, 1, last, 0) - step(k, 0, last, 0)
        before, last = np.where(k <= n, last, before), np.where(k <= n, new, last)
        below, rise = np.where(k <= n, rise, below), np.where(k <= n, rises, rise)
    return np.where(n <= 0, 1, last), np.where(n <= 0, 0, rise)


def by_definition(family: str, shifted: bool) -> Callable[..., Any]:
    """By the recurrence, or of high degrees one by one; by angles those of Chebyshev."""

    def reference(x, n):
        x, n = x.astype(np.longdouble), np.trunc(n)
        x = 2 * x - 1 if shifted else x
        out, _ = up_to(family, x, np.where(n <= _VECTORS, n, 0))
        for at in np.argwhere((n > _VECTORS) | np.isnan(n)):
            place = tuple(at)
            out[place] = of_high_degree(family, x[place], n[place])
        return np.where(n < 0, 0, out).astype(np.float64)

    return pairs_in_double(reference)


def conditioned(family: str, shifted: bool) -> Tolerance:
    """Near a root the argument's own last digit moves the result by many of its last digits."""

    def moved(x, n):
        x, n = x.astype(np.longdouble), np.trunc(n)
        _, slope = up_to(family, 2 * x - 1 if shifted else x, np.where(n <= _VECTORS, n, 0))
        return 2 * x * slope if shifted else x * slope

    reason = "rounding the argument changes the result by its slope"
    return Tolerance(reason, floor=4, elementwise=True, of=pairs_in_double(moved))


def of_high_degree(family: str, x: Any, n: float) -> Any:
    if np.isnan(x) or not n < np.inf:
        return np.nan
    sign = -1 if n % 2 and x < 0 else 1
    if np.isinf(x):
        return sign * x * x if family != "l" or n % 2 == 0 else -x
    if family in "tuvw":
        return by_angle(family, x, n, sign)
    if family == "p" and abs(x) == 1 or family == "l" and x == 0:
        return sign
    if n > HIGHEST:
        return np.nan
    (slope, offset), step = FAMILIES[family]
    x, exponent = float(x), 0
    before, last = 1.0, slope * x + offset
    for k in range(2, int(n) + 1):
        before, last = last, step(k, x, last, before)
        if abs(last) > 1e200:
            before, last, exponent = before * 1e-200, last * 1e-200, exponent + 1
    return last * np.inf if exponent > 1 else last * 1e200**exponent


def by_angle(family: str, x: Any, n: float, sign: int) -> Any:
    odd = {"t": 0, "u": 1, "v": 0.5, "w": 0.5}[family]
    count = (n + odd) / (odd or 1)
    if abs(x) == 1:
        flat = family == "t" or family == ("v" if x > 0 else "w")
        return sign * (1 if flat else count)
    even = family in "tv"
    if abs(x) < 1:
        angle = np.arccos(x)
        wave = np.cos if even else np.sin
        return wave((n + odd) * angle) / (wave(odd * angle) if odd else 1)
    rate = np.arccosh(abs(x))
    even = even if x > 0 or family in "tu" else not even
    wave = np.cosh if even else np.sinh
    return sign * wave((n + odd) * rate) / (wave(odd * rate) if odd else 1)


def of_degree(family: str, x, degree: int):
    (slope, offset), step = FAMILIES[family]
    before, last = 1 + 0 * x, slope * x + offset
    for k in range(2, degree + 1):
        before, last = last, step(k, x, last, before)
    return last


def samples_of(low: float, high: float) -> Callable[[Make], Iterator[Sample]]:
    """Arguments where the polynomials are orthogonal, and others."""

    def degrees(make: Make, *shape: int) -> Any:
        """With fractions, which are lost: at whole numbers differences tell no derivative."""
        if category(make.dtype) == 0:
            return make(*shape)
        fractions = make.rng.uniform(0.25, 0.75, shape) if category(make.dtype) == 2 else 0
        return make.put(make.rng.integers(0, 12, shape) + fractions)

    def samples(make: Make) -> Iterator[Sample]:
        for first, second in PAIRS:
            yield call(make(*first, low=low, high=high), degrees(make, *second))
        yield call(make(3, low=low, high=high), 4)
        yield call(2, degrees(make, 3))
        yield call(make(2, 3, low=low, high=high), make.put(make.rng.integers(0, 12, 3), "int32"))
        if category(make.dtype) == 2:
            yield call(make(4, low=low, high=high), make.put([9.5, 14.25, 30.75, 6.5]))
            yield call(make(4, low=high, high=high + 2), make.put([3.25, 4.75, 12.5, 2.25]))
            yield call(make(4, low=low - 2, high=low), make.put([0.5, 5.75, 11.25, -0.5]))
            yield edge(make(6, low=low, high=high), make.put([-1, -3.5, 40, 60, 25, 8]))
            yield edge(make.put([1e-3, -1e-4, 1e-5, 3e4, -3e4]), make.put([7, 11, 5, 4, 5]))
            near = [high - 1e-5, high + 1e-5, low + 1e-5, low - 1e-5, 1e-5, -1e-5]
            yield edge(make.put(near), make.put([8, 9, 20, 7, 30, 31]))
            yield edge(make.put([0.0, 1, -1, 0.5, np.nan, np.nan]), make.put([7, 11, 12, 13, 0, 3]))

    return samples


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(2, 3), "`input` or `n` must be an array", TypeError)
    yield Refusal(call(make(2), 2j), "expected .* numbers", TypeError)
    for refusal in no_complex(make):
        yield Refusal(call(*refusal.sample.args, make(2)), refusal.match, refusal.error)


def conventions_of(family: str, shifted: bool) -> Callable[[Make], Iterator[Convention]]:
    inf, nan = np.inf, np.nan
    reference = by_definition(family, shifted)
    down = family == "l"  # whose sign at infinity is that of its degree
    mirrored = 0.5 if shifted else 0.0

    def conventions(make: Make) -> Iterator[Convention]:
        at = call(make.put([0.25, nan, 0.25, nan, nan]), make.put([-1, -1, -0.75, 0, 1]))
        yield Convention("negative degrees and 0", at, value=[0, 0, 1, 1, nan])
        if family not in ("h", "he"):  # they are infinite there
            at = call(make.put([0.3125]), make.put([1e3]))
            yield Convention(
                "a high degree",
                at,
                value=reference(np.array([0.3125]), np.array([1e3])),
                floor=2**-52 * 1e3 * 4,  # a rounding for each degree, of numbers up to 2
            )
        if family not in "tuvw":
            at = call(make.put([0.25]), make.put([2.0**20 + 1]))
            why = "PyTorch counts on" if family in "pl" else ""
            yield Convention("too high a degree", at, value=[nan], departure=why)
        at = call(make.put([inf, inf, -inf, -inf, inf, -inf]), make.put([3, 4, 3, 4, 0, 9]))
        value = [-inf, inf, inf, inf, 1, inf] if down else [inf, inf, -inf, inf, 1, -inf]
        yield Convention(
            "infinities", at, value=value, departure="PyTorch subtracts one from another"
        )
        far = 1e4 if down else 100
        yield Convention(
            "beyond the range",
            call(make.put([mirrored + far, mirrored - far]), make.put([901, 901])),
            value=[-inf, inf] if down else [inf, -inf],
            departure="PyTorch subtracts infinities",
        )
        yield Convention(
            "degrees that are no numbers",
            call(make.put([0.5, 0.5]), make.put([nan, inf])),
            value=[nan, nan],
            departure="PyTorch makes integers of them, which are negative",
        )
        at = call(make.put([0.75, -0.5]), make.put([2.0, 2.5]))
        slopes = up_to(family, np.array([0.5, -2.0] if shifted else [0.75, -0.5]), 2.0)[1]
        yield Convention(
            "the degree has no slope",
            at,
            gradient=((2 if shifted else 1) * slopes, [0, 0]),
            departure="PyTorch has no derivatives",
        )
        yield Convention(
            "derivatives",
            call(make.put([0.3125, -0.75, 1, -1, 0, 2.5]), make.put([7.0] * 6)),
            like=lambda x, n: of_degree(family, 2 * x - 1 if shifted else x, 7) + 0 * n,
            order=3,
            ulps=64,  # the formula's terms cancel, each rounded
        )

    return conventions


def departures_of(family: str) -> Callable[[Make], Iterator[Departure]]:
    def departures(make: Make) -> Iterator[Departure]:
        halves = call(make.put([0.5], "float32"), make.put([2], "float16"))
        why = "a half is refused beside a wider array too, as it is alone"
        yield Departure("refused", why, halves, r"expected bool, .* arrays, got b?f16")
        if family in "tuvwpl":  # the others are NaN there anyway
            odd = call(make.put([0 if family == "l" else 1], "float32"), 1e39)
            why = "PyTorch makes a negative integer of what float32 cannot hold"
            yield Departure("value", why, odd, r": nan at .*, PyTorch 0")

    return departures


CHEBYSHEV = Gap(
    "extremal",
    "the slope is a recurrence of as many steps as the degree, 1e20 here",
    at="(huge|mixed) in array 1",
)


def entry(name: str, low: float, high: float) -> OpInfo:
    family, shifted = name.rpartition("_")[2], name.startswith("shifted")
    return OpInfo(
        getattr(functx.special, name),
        samples_of(low, high),
        reference=by_definition(family, shifted),
        refusals=refusals,
        tolerances=(
            Tolerance("it is computed in double precision", ulps=1, dtypes=frozenset({"float32"})),
            conditioned(family, shifted),
            Tolerance(
                "zeros have the sign of the recurrence's last difference", signed_zeros=False
            ),
        ),
        conventions=conventions_of(family, shifted),
        departures=(departures_of(family),),
        gaps=(CHEBYSHEV,) if "chebyshev" in name else (),
    )


OPS = [
    entry("chebyshev_polynomial_t", -1, 1),
    entry("chebyshev_polynomial_u", -1, 1),
    entry("chebyshev_polynomial_v", -1, 1),
    entry("chebyshev_polynomial_w", -1, 1),
    entry("shifted_chebyshev_polynomial_t", 0, 1),
    entry("shifted_chebyshev_polynomial_u", 0, 1),
    entry("shifted_chebyshev_polynomial_v", 0, 1),
    entry("shifted_chebyshev_polynomial_w", 0, 1),
    entry("hermite_polynomial_h", -3, 3),
    entry("hermite_polynomial_he", -3, 3),
    entry("laguerre_polynomial_l", 0, 4),
    entry("legendre_polynomial_p", -1, 1),
]
