"""How far special functions are from the truth, in ulps, and how far PyTorch's are.

`python -m benchmarks ulps [--markdown]`. Needs PyTorch, and mpmath, which comes with it: functions
are held against mpmath's, in 50 digits and more where they cancel. An ulp is the distance of the
exact value from the next number; of functions that oscillate it is that of the amplitude, beyond
where they begin to.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import mpmath as mp
import numpy as np

import functx

from .tables import Table


POINTS = 300  # of each interval
DIGITS = 50
Interval = tuple[float, float]
Exact = Callable[..., Any]


class Case(NamedTuple):
    """A function of `functx.special`, the same exactly, and where it is looked at."""

    name: str
    exact: Exact
    intervals: tuple[Interval, ...]
    amplitude: Exact | None = None  # of what oscillates, where it does so
    arrays: int = 1
    first: tuple[int, ...] = ()  # arguments before the arrays
    last: tuple[int, ...] = ()  # and after them

    @property
    def label(self) -> str:
        """The name, and the arguments that are no arrays."""
        numbers = ", ".join(map(str, (*self.first, *self.last)))
        return f"`{self.name}`" + f" of {numbers}" * bool(numbers)

    def called(self, library: Any, arrays: Any) -> Any:
        """The values of one library's function."""
        return getattr(library.special, self.name)(*self.first, *arrays, *self.last)


def airy_amplitude(x):
    return mp.hypot(mp.airyai(x), mp.airybi(x)) if x < -2 else None


def cylinder_amplitude(n: int) -> Exact:
    return lambda x: mp.hypot(mp.besselj(n, x), mp.bessely(n, x)) if x > 2 else None


def sine_amplitude(scale: Any) -> Exact:
    return lambda x: 1 / abs(scale * x) if abs(scale * x) > 1.5 else None


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def ndtri(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def spherical(x):
    return mp.sin(x) / x


def cases() -> Iterator[Case]:
    """Those that oscillate first."""
    yield Case("airy_ai", mp.airyai, ((-1e4, -4.5), (-4.5, 2), (2, 100)), airy_amplitude)
    waves = (1e-3, 3), (3, 8), (8, 1e3), (1e3, 1e9)
    for kind, function in ("j", mp.besselj), ("y", mp.bessely):
        for n in range(2):
            exact = of_order(function, n)
            yield Case(f"bessel_{kind}{n}", exact, waves, cylinder_amplitude(n))
    yield Case("spherical_bessel_j0", spherical, ((1e-3, 8), (8, 1e9)), sine_amplitude(1))
    rising, falling = ((1e-3, 2), (2, 80)), ((1e-3, 2), (2, 80))
    for n in range(2):
        first, second = of_order(mp.besseli, n), of_order(mp.besselk, n)
        yield Case(f"i{n}", first, rising)
        yield Case(f"i{n}e", scaled(first, -1), (*rising, (80, 1e6)))
        yield Case(f"modified_bessel_i{n}", first, rising)
        yield Case(f"modified_bessel_k{n}", second, falling)
        yield Case(f"scaled_modified_bessel_k{n}", scaled(second, 1), (*falling, (80, 1e6)))
    yield Case("digamma", mp.digamma, ((-20, -1e-3), (1e-3, 3), (3, 1e6)))
    yield Case("gammaln", log_gamma, ((-20, -1e-3), (1e-3, 3), (3, 1e6)))
    for n in range(1, 4):
        yield Case(
            "polygamma", of_order(mp.psi, n), ((-20, -1e-3), (1e-3, 3), (3, 1e6)), first=(n,)
        )
    yield Case("multigammaln", multivariate_log_gamma, ((1.001, 3), (3, 1e6)), last=(3,))
    yield Case("gammainc", lower_gamma, ((1e-3, 1), (1, 30), (30, 1e3)), arrays=2)
    yield Case("gammaincc", upper_gamma, ((1e-3, 1), (1, 30), (30, 1e3)), arrays=2)
    yield Case("zeta", mp.zeta, ((1.001, 3), (3, 30)), arrays=2)
    yield from polynomials(20)
    yield Case("erf", mp.erf, ((1e-6, 1), (1, 5)))
    yield Case("erfc", mp.erfc, ((-5, 0), (0, 3), (3, 26)))
    yield Case("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), ((-9, 0), (0, 5), (5, 1e6)))
    yield Case("erfinv", mp.erfinv, ((1e-6, 0.9), (0.9, 1)))
    yield Case("ndtr", ndtr, ((-12, -1), (-1, 5)))
    yield Case("log_ndtr", lambda x: mp.log(ndtr(x)), ((-1e3, -1), (-1, 8)))
    yield Case("ndtri", ndtri, ((1e-30, 0.1), (0.1, 1)))
    yield Case("entr", lambda x: -x * mp.log(x), ((1e-30, 0.5), (0.5, 2), (2, 1e6)))
    yield Case("exp2", lambda x: mp.mpf(2) ** x, ((-120, 120),))
    yield Case("expit", lambda x: 1 / (1 + mp.exp(-x)), ((-80, 0), (0, 30)))
    yield Case("expm1", mp.expm1, ((-30, -1), (-1, 1), (1, 80)))
    yield Case("log1p", mp.log1p, ((-1, -0.1), (-0.1, 0.1), (0.1, 1e6)))
    yield Case("logit", lambda p: mp.log(p / (1 - p)), ((1e-30, 0.1), (0.1, 1)))
    yield Case("sinc", mp.sincpi, ((1e-3, 1), (1, 1e3)), sine_amplitude(mp.pi))
    pairs = (1e-6, 0.5), (0.5, 2), (2, 1e6)
    yield Case("xlog1py", lambda x, y: x * mp.log1p(y), pairs, arrays=2)
    yield Case("xlogy", lambda x, y: x * mp.log(y), pairs, arrays=2)


def polynomials(n: int) -> Iterator[Case]:
    """All of one degree, relative to the value and to what rounding the argument makes of it."""
    chebyshev = {
        "t": lambda x: mp.chebyt(n, x),
        "u": lambda x: mp.chebyu(n, x),
        "v": lambda x: mp.chebyu(n, x) - mp.chebyu(n - 1, x),
        "w": lambda x: mp.chebyu(n, x) + mp.chebyu(n - 1, x),
    }
    for kind, exact in chebyshev.items():
        yield polynomial(f"chebyshev_polynomial_{kind}", exact, n, (-1, 1), (1, 10))
    for kind, exact in chebyshev.items():
        shifted = of_shifted(exact)
        yield polynomial(f"shifted_chebyshev_polynomial_{kind}", shifted, n, (0, 1), (1, 10))
    root = mp.sqrt(2)
    others = {
        "hermite_polynomial_h": lambda x: mp.hermite(n, x),
        "hermite_polynomial_he": lambda x: mp.hermite(n, x / root) / root**n,
        "laguerre_polynomial_l": lambda x: mp.laguerre(n, 0, x),
        "legendre_polynomial_p": lambda x: mp.legendre(n, x),
    }
    for name, exact in others.items():
        yield polynomial(name, exact, n, (-1, 1), (1, 10))


def polynomial(name: str, exact: Exact, n: int, *intervals: Interval) -> Case:
    def size(x):
        return abs(exact(x)) + abs(x * mp.diff(exact, x))

    return Case(name, exact, intervals, size, last=(n,))


def of_shifted(function: Exact) -> Exact:
    return lambda x: function(2 * x - 1)


def lower_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def upper_gamma(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def multivariate_log_gamma(x):
    terms = (log_gamma(x - mp.mpf(j) / 2) for j in range(3))
    return mp.fsum(terms) + mp.mpf(3) / 2 * mp.log(mp.pi)


def of_order(function: Exact, n: int) -> Exact:
    return lambda x: function(n, x)


def scaled(function: Exact, sign: int) -> Exact:
    return lambda x: function(x) * mp.exp(sign * x)


def log_gamma(x):
    return mp.log(abs(mp.gamma(x))) if x < 3 else mp.loggamma(x)


def points(interval: Interval, seed: int, dtype: Any) -> np.ndarray:
    """At random: equally likely in each power of ten, where there are several, else everywhere."""
    low, high = interval
    draw = np.random.default_rng(seed)
    if low * high > 0 and max(high / low, low / high) > 10:
        least, most = sorted((abs(low), abs(high)))
        sizes = np.exp(draw.uniform(np.log(least), np.log(most), POINTS))
        return np.asarray(np.copysign(sizes, low), dtype)
    return np.asarray(draw.uniform(low, high, POINTS), dtype)


def largest_error(case: Case, interval: Interval, dtype: Any) -> tuple[float, float]:
    """functx's and PyTorch's, in ulps."""
    import torch  # noqa: TID251  compared with, never used by functx

    seed = zlib.crc32(case.name.encode())
    arrays = [points(interval, seed + i, dtype) for i in range(case.arrays)]
    ours, theirs = case.called(functx, arrays), case.called(torch, map(torch.tensor, arrays))
    worst = np.zeros(2)
    for *at, one, other in zip(*arrays, np.asarray(ours), theirs.numpy(), strict=True):
        exact, ulp = truth(case, [mp.mpf(float(x)) for x in at], dtype)
        if ulp:
            errors = [float(abs(mp.mpf(float(x)) - exact) / ulp) for x in (one, other)]
            worst = np.maximum(worst, np.where(np.isnan(errors), np.inf, errors))
    return worst[0], worst[1]


def truth(case: Case, at: list[Any], dtype: Any) -> tuple[Any, float]:
    """The exact value, and its ulp: 0 where it is not a normal number."""
    limits = np.finfo(dtype)
    exact = case.exact(*at)
    size = case.amplitude(*at) if case.amplitude else None
    size = abs(exact) if size is None else size
    if not (limits.tiny < size < limits.max and mp.isfinite(exact)):
        return exact, 0.0
    return exact, float(np.spacing(dtype(float(size))))


def tables(seconds: float) -> list[Table]:
    """One, whatever the time."""
    rows = []
    with jax.enable_x64(True), mp.workdps(DIGITS):
        for case in cases():
            for low, high in case.intervals:
                errors = [largest_error(case, (low, high), d) for d in (np.float32, np.float64)]
                cells = [shown(error) for pair in errors for error in pair]
                rows.append([case.label, f"{low:g} to {high:g}", *cells])
    note = f"The largest of the errors at {POINTS} random points, in ulps, against {DIGITS} digits."
    header = ["function", "on", "float32", "PyTorch", "float64", "PyTorch"]
    return [Table("Errors of special functions", note, header, rows)]


def shown(error: float) -> str:
    return f"{error:.2g}" if error < 1e3 or np.isinf(error) else f"{error:.0e}"


if __name__ == "__main__":
    print(tables(0)[0].as_text())
