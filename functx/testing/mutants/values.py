"""Wrong values at the edges: not finite, small, large, -0.0; and too few digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from functx._core import category
from functx.testing.calls import Calls, Given, replaced
from functx.testing.opinfo import Sample
from functx.testing.variations import poked, SMALL

from .derivatives import inexact
from .mutant import Mutant, planted, When
from .numpy_arithmetic import as_numpy, constant, on_leaves, where
from .subject import Subject


LARGE, OFF = 1e4, 1.001

ElementMask = Callable[[Any], Any]
# Where an element counts, and values to put into a sample so that the mistake must show.
EDGES: dict[str, tuple[ElementMask, Sequence[float]]] = {
    "NaN to 0": (lambda x: x != x, [math.nan]),
    "inf to 0": (lambda x: x == math.inf, [math.inf]),
    "-inf to 0": (lambda x: x == -math.inf, [-math.inf]),
}
BELOW, ABOVE = "0.1 % off below 0.001", "0.1 % off above 10000"
NEAR: dict[str, tuple[ElementMask, Sequence[float]]] = {
    BELOW: (
        lambda x: (abs(x) < SMALL) & (x != 0),
        [3e-4, -3e-4, 1e-5, -1e-6],
    ),
    ABOVE: (
        lambda x: (abs(x) > LARGE) & (abs(x) < math.inf),
        [3e4, -3e4, 1e6, -1e6],
    ),
}


def value_mutants(subject: Subject) -> Iterator[Mutant]:
    """For each floating-point array; of an operator of elements, element by element."""
    if subject.takes("float32", "float64") is None:
        return
    calls, cancelling = subject.calls, subject.info.cancelling
    for target in subject.targets:
        when = _real(calls, target)
        each = elementwise(subject, target)
        if not each:
            if not subject.info.finite_only:
                zeroed = _taken_for_zero(target, lambda x: ~(abs(x) < math.inf))
                infinite = [math.nan, math.inf]
                yield from _shown(subject, "not finite to 0", target, when, zeroed, infinite)
            below = _scaled(target, NEAR[BELOW][0], all_small=True)
            yield from _shown(subject, BELOW, target, when, below, [3e-4] * 100)
            continue
        for kind, (mask, values) in EDGES.items():
            yield from _shown(subject, kind, target, when, _zeroed(target, mask), values)
        for kind, (mask, values) in NEAR.items():
            yield from _shown(subject, kind, target, when, _scaled(target, mask), values)
        if cancelling is None or cancelling.elementwise:  # else no check looks at signs of zeros
            yield from _shown(subject, "-0.0 to 0.0", target, when, _without_sign, [-0.0])
        rounded, small = _rounded_against_one(target), [1e-3, -1e-4, 1e-5]
        yield from _shown(subject, "cancellation", target, when, rounded, small, ulps=64)
    yield from _coarse(subject)


def _real(calls: Calls, target: str) -> When:
    def when(given: Given) -> bool:
        x = calls.arrays(given).get(target)
        return x is not None and category(x.dtype) == 2

    return when


def _shown(
    subject: Subject,
    kind: str,
    target: str,
    when: When,
    mistake: Any,
    values: Sequence[float],
    *,
    ulps: float = 0,
) -> Iterator[Mutant]:
    """The mutant, if its mistake shows in some sample into which `values` were put."""
    op = planted(subject.calls, when, mistake)
    put = (_put(subject, sample, target, values) for sample in subject.samples())
    if not any(s is not None and subject.shows(s, op, ulps=ulps) for s in put):
        return
    dtype = subject.dtype
    cells = (("reference", dtype), ("reference", "float64"), ("conventions", dtype))
    touches = lambda sample: subject.shows(sample, op, ulps=ulps)
    yield Mutant(kind, target, op, cells, touches)


def _put(subject: Subject, sample: Sample, target: str, values: Sequence[float]) -> Sample | None:
    x = subject.arrays(sample).get(target)
    if x is None or x.size == 0 or category(x.dtype) != 2:
        return None
    return subject.with_arrays(sample, {target: poked(x, values)})


def _array(op: Calls, given: Given, target: str) -> Any:
    return as_numpy(op.arrays(given)[target])


def _leaves(change: Callable[[Any], Any], out: Any) -> Any:
    return on_leaves(lambda y: change(y) if inexact(y) else y, out)


def _zeroed(target: str, mask: ElementMask) -> Any:
    def mistake(op: Calls, given: Given) -> Any:
        at = mask(_array(op, given, target))
        return on_leaves(lambda y: where(at, constant(0, y), y), op(given))

    return mistake


def _taken_for_zero(target: str, mask: ElementMask) -> Any:
    def mistake(op: Calls, given: Given) -> Any:
        x = _array(op, given, target)
        return op(replaced(given, target, where(mask(x), constant(0, x), x)))

    return mistake


def _scaled(target: str, mask: ElementMask, *, all_small: bool = False) -> Any:
    def mistake(op: Calls, given: Given) -> Any:
        at = mask(_array(op, given, target))
        at = at.all() & (at.size > 0) if all_small else at
        return _leaves(lambda y: where(at, y * constant(OFF, y), y), op(given))

    return mistake


def _without_sign(op: Calls, given: Given) -> Any:
    return _leaves(lambda y: where(y == 0, constant(0, y), y), op(given))


def _rounded_against_one(target: str) -> Any:
    """Small results lose the digits that `1 + y - 1` loses."""

    def mistake(op: Calls, given: Given) -> Any:
        small = abs(_array(op, given, target)) < 0.1

        def rounded(y: Any) -> Any:
            eps = constant(jnp.finfo(y.dtype).eps, y)
            rest = lax.stop_gradient(y) if isinstance(y, Tracer) else y
            off = (rest / eps).round() * eps - rest
            return where(small & (abs(off) < math.inf) & (off != 0), y + off, y)

        return _leaves(rounded, op(given))

    return mistake


# Of each dtype the half: the bits of exponent and mantissa that are left.
HALF = {"float32": (8, 7), "float64": (8, 23)}
_HALF_DTYPES = {"float32": "bfloat16", "float64": "float32"}


def _coarse(subject: Subject) -> Iterator[Mutant]:
    """Results of half the width, from arguments of half the width."""
    for dtype in filter(subject.takes, HALF):

        def cut(x: Any, dtype: str = dtype) -> Any:
            if x.dtype != np.dtype(dtype):
                return x
            if isinstance(x, Tracer):
                return lax.reduce_precision(x, *HALF[dtype])
            return x.astype(jnp.dtype(_HALF_DTYPES[dtype])).astype(dtype)

        def mistake(op: Calls, given: Given, cut: Any = cut) -> Any:
            for target, x in op.arrays(given).items():
                given = replaced(given, target, cut(as_numpy(x)))
            return on_leaves(cut, op(given))

        op = planted(subject.calls, lambda given: True, mistake)
        touches = lambda sample, op=op: subject.shows(sample, op, ulps=64)
        if any(map(touches, subject.samples(dtype))):
            cells = (("reference", dtype), ("moments", dtype), ("conventions", subject.dtype))
            yield Mutant("half the digits", dtype, op, cells, touches)


def elementwise(subject: Subject, target: str) -> bool:
    """Whether each element of the array decides its own element of the result, and no other."""
    for sample in subject.samples():
        x = subject.arrays(sample).get(target)
        want = subject.output(sample)
        if x is None or want is None or not 1 < x.size <= 32 or category(x.dtype) != 2:
            continue
        if any(y.shape != x.shape for y in want):
            continue
        changed = False
        for i in range(x.size):
            other = np.array(x)
            other.flat[i] = other.flat[i - 1] * 0.5 + 0.25
            varied = subject.with_arrays(sample, {target: jnp.asarray(other)})
            got = subject.output(varied)
            if got is None:
                return False
            for y, w in zip(got, want, strict=True):
                same = (y == w) | (np.isnan(y) & np.isnan(w))
                moved = (~same).reshape(-1).nonzero()[0].tolist()
                if moved not in ([], [i]):
                    return False
                changed = changed or bool(moved)
        if changed:
            return True
    return False
