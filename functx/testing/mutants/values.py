"""Wrong values at the edges: not finite, small, large, -0.0; and too few digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core import category
from functx.testing.opinfo import Sample

from .calls import Calls, Given, replaced
from .derivatives import inexact
from .mutant import Mutant, planted, When
from .subject import poked, Subject


SMALL, LARGE, OFF = 1e-3, 1e4, 1.001

Mask = Callable[[Any], Any]
# Where an element counts, and values to put into a sample so that the mistake must show.
EDGES: dict[str, tuple[Mask, Sequence[float]]] = {
    "NaN to 0": (jnp.isnan, [math.nan]),
    "inf to 0": (lambda x: x == math.inf, [math.inf]),
    "-inf to 0": (lambda x: x == -math.inf, [-math.inf]),
}
BELOW, ABOVE = "0.1 % off below 0.001", "0.1 % off above 10000"
NEAR: dict[str, tuple[Mask, Sequence[float]]] = {
    BELOW: (
        lambda x: (abs(x) < SMALL) & (x != 0),
        [3e-4, -3e-4, 1e-5, -1e-6],
    ),
    ABOVE: (
        lambda x: (abs(x) > LARGE) & jnp.isfinite(x),
        [3e4, -3e4, 1e6, -1e6],
    ),
}


def value_mutants(subject: Subject) -> Iterator[Mutant]:
    """For each floating-point array; of an operator of elements, element by element."""
    if subject.takes("float32", "float64") is None:
        return
    calls = subject.calls
    for target in subject.targets:
        when = _real(calls, target)
        each = elementwise(subject, target)
        if not each:
            deaf = _heard_as_zero(target, lambda x: ~jnp.isfinite(x))
            infinite = [math.nan, math.inf]
            yield from _shown(subject, "not finite to 0", target, when, deaf, infinite)
            below = _scaled_if_all(target, NEAR[BELOW][0])
            yield from _shown(subject, BELOW, target, when, below, [3e-4] * 100)
            continue
        for kind, (mask, values) in EDGES.items():
            yield from _shown(subject, kind, target, when, _zeroed(target, mask), values)
        for kind, (mask, values) in NEAR.items():
            yield from _shown(subject, kind, target, when, _scaled(target, mask), values)
        signless = lambda op, given: _leaves(_without_sign, op(given))
        yield from _shown(subject, "-0.0 to 0.0", target, when, signless, [-0.0])
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
    cells = (("reference", dtype), ("conventions", dtype))
    touches = lambda sample: subject.shows(sample, op, ulps=ulps)
    yield Mutant(kind, target, op, cells, touches)


def _put(subject: Subject, sample: Sample, target: str, values: Sequence[float]) -> Sample | None:
    x = subject.arrays(sample).get(target)
    if x is None or x.size == 0 or category(x.dtype) != 2:
        return None
    return subject.with_arrays(sample, {target: poked(x, values)})


def _leaves(change: Callable[[Any], Any], out: Any) -> Any:
    return jax.tree.map(lambda y: change(y) if inexact(y) else y, out)


def _zeroed(target: str, mask: Mask) -> Any:
    def mistake(op: Calls, given: Given) -> Any:
        at = mask(op.arrays(given)[target])
        zero = lambda y: jnp.where(at, jnp.zeros((), y.dtype), y)
        return jax.tree.map(zero, op(given))

    return mistake


def _heard_as_zero(target: str, mask: Mask) -> Any:
    def mistake(op: Calls, given: Given) -> Any:
        x = op.arrays(given)[target]
        return op(replaced(given, target, jnp.where(mask(x), jnp.zeros((), x.dtype), x)))

    return mistake


def _scaled(target: str, mask: Mask) -> Any:
    def mistake(op: Calls, given: Given) -> Any:
        at = mask(op.arrays(given)[target])
        return _leaves(lambda y: jnp.where(at, y * jnp.asarray(OFF, y.dtype), y), op(given))

    return mistake


def _scaled_if_all(target: str, mask: Mask) -> Any:
    def mistake(op: Calls, given: Given) -> Any:
        at = jnp.all(mask(op.arrays(given)[target]))
        return _leaves(lambda y: jnp.where(at, y * jnp.asarray(OFF, y.dtype), y), op(given))

    return mistake


def _without_sign(y: Any) -> Any:
    return jnp.where(y == 0, jnp.zeros((), y.dtype), y)


def _rounded_against_one(target: str) -> Any:
    """Small results lose the digits that `1 + y - 1` loses."""

    def mistake(op: Calls, given: Given) -> Any:
        small = abs(op.arrays(given)[target]) < 0.1

        def rounded(y: Any) -> Any:
            eps = jnp.asarray(jnp.finfo(y.dtype).eps, y.dtype)
            off = lax.stop_gradient(jnp.round(y / eps) * eps - y)
            return jnp.where(small & jnp.isfinite(off) & (off != 0), y + off, y)

        return _leaves(rounded, op(given))

    return mistake


def _coarse(subject: Subject) -> Iterator[Mutant]:
    """Results of half the width, from arguments of half the width."""
    for dtype, bits in (("float32", (8, 7)), ("float64", (8, 23))):
        if subject.takes(dtype) is None:
            continue
        cut = lambda x, dtype=dtype, bits=bits: (
            lax.reduce_precision(x, *bits) if x.dtype == jnp.dtype(dtype) else x
        )

        def mistake(op: Calls, given: Given, cut: Any = cut) -> Any:
            for target, x in op.arrays(given).items():
                given = replaced(given, target, cut(jnp.asarray(x)))
            return jax.tree.map(cut, op(given))

        op = planted(subject.calls, lambda given: True, mistake)
        touches = lambda sample, op=op: subject.shows(sample, op, ulps=64)
        if any(map(touches, subject.samples(dtype))):
            cells = (("reference", dtype), ("moments", dtype))
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
            other = jnp.ravel(x).at[i].set(jnp.ravel(x)[i - 1] * 0.5 + 0.25).reshape(x.shape)
            got = subject.output(subject.with_arrays(sample, {target: other}))
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
