"""Values and derivatives far out, where they are small: against mpmath, relative to themselves.

Neither differences nor double precision see there what an operator loses: a derivative that is made
of its output, $y (1 - y)$ with $y$ rounded to 1, is 0 in any precision, and so is what is compared
with it to so many digits of 1.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import importlib.util
import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample
from functx.testing.tail import Tail

from .cases import ArrayFunction
from .programs import CheckProgram, CheckSteps, ProgramCall


# Sizes, from where all is smooth to where squares leave the range. No whole numbers, which may be
# poles, and no multiples of each other.
SIZES = (
    *(3.1e-8, 1.37e-3, 0.0413, 0.271, 0.63, 1.37, 2.59, 4.13, 6.37, 8.81, 12.7, 17.3, 23.9, 31.3),
    *(38.9, 47.3, 61.7, 83.9, 109.7, 173.3, 347.3, 701.9, 4.3e3, 7.7e5, 1.3e10, 3.7e15, 1.9e22),
)
FURTHER = {"float32": (2.3e30,), "float64": (2.3e30, 3.1e70, 1.7e140, 2.9e200)}
# What is left to an end of the domain, as a share of a distance of 1 or less.
NEAR_ENDS = (0.37, 0.11, 0.023, 3.1e-3, 2.9e-4, 1.7e-5, 3.3e-7, 2.9e-13, 1.7e-25)
NESTS: dict[str, str] = {
    "value": "",
    "forward": "f",
    "reverse": "r",
    "forward over forward": "ff",
    "reverse over reverse": "rr",
    "third, forward": "fff",
    "third, reverse": "rrr",
}


def has_tails(info: OpInfo, dtype: str) -> bool:
    """Whether the entry says what is exact, in single and double precision, and mpmath is there."""
    there = importlib.util.find_spec("mpmath") is not None
    return bool(info.tails) and dtype in ("float32", "float64") and there


def check_tails(info: OpInfo, sample: Sample) -> CheckSteps:
    """Far out, values and derivatives have their digits, however small they are."""
    points = [points_of(tail, sample.drawn) for tail in info.tails]
    found = yield [_asked(info, t, x) for t, x in zip(info.tails, points, strict=True)]
    wrong: list[str] = []
    for tail, xs, got in zip(info.tails, points, found, strict=True):
        truths = [exact_derivatives(tail, x, sample.drawn) for x in xs.tolist()]
        wrong += complaints(tail, xs, got, truths)
    assert not wrong, f"{info.id}{' '.join(['', *wrong[:1]])} ({len(wrong)} of them)"


def points_of(tail: Tail, dtype: str) -> np.ndarray:
    """Where a function of one number is looked at."""
    low, high = tail.low, tail.high
    sizes = np.array([*SIZES, *FURTHER[dtype]])
    found = [sizes, -sizes]
    width = min(high - low, 2.0)
    shares = 0.5 * width * np.array(NEAR_ENDS)
    found += [low + shares] if math.isfinite(low) else []
    found += [high - shares] if math.isfinite(high) else []
    points = np.unique(np.concatenate(found).astype(dtype))
    return points[(points > low) & (points < high)]


def _asked(info: OpInfo, tail: Tail, points: np.ndarray) -> ProgramCall:
    function = ft.partial(tail.of, info.op) if tail.of is not None else info.op

    def results(xs: Any) -> dict[str, Any]:
        return {
            name: jax.vmap(_nested(function, nest))(xs)
            for name, nest in NESTS.items()
            if len(nest) <= tail.order
        }

    return CheckProgram(results)(points)


def _nested(function: ArrayFunction, nest: str) -> ArrayFunction:
    for mode in reversed(nest):
        function = {"f": _forward, "r": _reverse}[mode](function)
    return function


def _forward(f: ArrayFunction) -> ArrayFunction:
    return lambda x: functx.jvp(f, (x,), (jnp.ones_like(x),))[1]


def _reverse(f: ArrayFunction) -> ArrayFunction:
    return lambda x: functx.vjp(f, x)[1](jnp.ones_like(x))[0]


@dataclasses.dataclass(frozen=True)
class Truth:
    """A value or derivative, and how much more it moves than the argument, both relatively."""

    value: Any  # a number of mpmath
    condition: float


def exact_derivatives(tail: Tail, x: float, dtype: str) -> list[Truth | None]:
    """The value and the derivatives up to the tail's order, None where there is none.

    By differences, of so many digits that enough are left.
    """
    of_powers = 2 * max(math.log10(abs(x)), 0)  # that exponents such as the square have before 1
    for digits in (5 * _STEP + _KEPT, _most_digits(dtype)):
        mp = _context(int(digits + of_powers))
        at = mp.mpf(x)
        ends = [abs(at - end) for end in (tail.low, tail.high) if math.isfinite(end)]
        step = min([abs(at), *ends]) * mp.mpf(10) ** -_STEP
        half = (tail.order + 2) // 2
        try:
            values = [mp.mpf(tail.exact(mp, at + k * step)) for k in range(-half, half + 1)]
        except (ValueError, TypeError, ZeroDivisionError, OverflowError, mp.NoConvergence):
            values = [mp.nan]
        if not all(map(mp.isfinite, values)):
            return [None] * (tail.order + 1)
        differences = [_difference(values, n) for n in range(tail.order + 2)]
        noise = max(map(abs, values)) * mp.mpf(10) ** (_KEPT - digits)
        if all(abs(y) > noise for y in differences):
            break
    found = [y / step**n for n, y in enumerate(differences)]
    return [
        Truth(y, float(min(abs(at * more / y), mp.mpf(10) ** 9)) if y else 0.0)
        for y, more in zip(found, found[1:], strict=False)
    ]


_STEP = 15  # digits of the argument, or of its distance from an end, that a step leaves
_KEPT = 20  # digits of a derivative


def _most_digits(dtype: str) -> int:
    """So many that all of the least number in the range are right."""
    return int(-math.log10(float(np.finfo(dtype).tiny))) + 5 * _STEP + 2 * _KEPT


@ft.cache
def _context(digits: int) -> Any:
    import mpmath  # noqa: PLC0415  # not a dependency: of this check alone

    mp = mpmath.MPContext()
    mp.dps = digits
    return mp


def _difference(values: Sequence[Any], n: int) -> Any:
    """The central difference of order `n` of values at steps of 1; of odd ones at two steps."""
    middle = len(values) // 2
    if n == 0:
        return values[middle]
    even, odd = n // 2, n % 2
    # The even part is the second difference repeated, the odd one half a step to either side.
    row = list(values)
    for _ in range(even):
        row = [row[i - 1] - 2 * row[i] + row[i + 1] for i in range(1, len(row) - 1)]
    middle = len(row) // 2
    return (row[middle + 1] - row[middle - 1]) / 2 if odd else row[middle]


def complaints(
    tail: Tail, points: np.ndarray, got: dict[str, Any], truths: Sequence[Sequence[Truth | None]]
) -> Iterator[str]:
    """What is wrong, the nests of modes in order."""
    limits = np.finfo(points.dtype)
    for name, ys in got.items():
        order = len(NESTS[name])
        for x, y, truth in zip(points.tolist(), np.asarray(ys).tolist(), truths, strict=True):
            want = truth[order]
            if want is None:
                continue
            off = _off(y, want.value, limits)
            if off > tail.ulps + want.condition:
                what = f"{tail.what}: " if tail.what else ""
                yield f"{what}{name} at {x}: {y}, exactly {float(want.value)}, off by {off:.2g} ulp"


def _off(got: float, want: Any, limits: Any) -> float:
    """In units of the last place; what is subnormal may be 0, and what is too large infinite."""
    if abs(want) > float(limits.max) / 16:
        return 0 if abs(got) > float(limits.max) / 64 and (got > 0) == (want > 0) else math.inf
    if not math.isfinite(got):
        return math.inf
    error, tiny = abs(want - got), float(limits.tiny)
    return 0 if error <= 4 * tiny else float(error / (abs(want) * float(limits.eps)))
