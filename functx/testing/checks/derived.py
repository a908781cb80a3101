"""Samples that an entry's own lead to: what every operator meets and no entry should have to list.

Arrays of rank 0, of rank 4, empty or of unequal shapes; NaN; values below 0.001; integers that
single precision rounds; unsigned ones above 127. Each is derived where the entry has no such
sample, the operator accepts it and the reference says what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from functx._core import category, Device
from functx.testing.calls import Calls, filled, Given
from functx.testing.opinfo import OpInfo, Sample
from functx.testing.variations import (
    Arrays,
    emptied,
    flattened,
    HIGH,
    narrowed,
    poked,
    raised,
    shrunk,
    Vary,
)

from .forward import expected, sample_dtype


SMALL = 1e-3
# Of dtypes of integers: values that another dtype on the way would change.
TELLING = {"int64": (2**24 + 1, 2**25 + 3), "uint8": (200, 255)}
_TRIED = 6  # samples from which one is derived

Holds = Callable[[Arrays], bool]


def looked_at(info: OpInfo, dtype: str, *, device: Device | None = None) -> list[Sample]:
    """An entry's samples in a dtype, and those that are derived from them."""
    drawn = list(info.draw(dtype, device=device))
    return [*drawn, *derived(info, dtype, drawn)]


def derived(info: OpInfo, dtype: str, drawn: list[Sample]) -> Iterator[Sample]:
    """Calls like those of `drawn`, where none of them is such a call."""
    calls = Calls(info.op)
    given = [calls.arguments(s.args, s.kwargs) for s in drawn]
    if info.moments is None and info.reference is None:
        return
    if dtype == sample_dtype(info):
        for holds, vary in _SHAPES:
            yield from _first(info, calls, given, holds, vary)
        if info.random:
            return
        for target in _floating(calls, given):
            for holds, vary in _values(info, target):
                yield from _first(info, calls, given, holds, vary)
    elif dtype in TELLING and not info.random:
        for holds, vary in _integers(info, calls, dtype):
            yield from _first(info, calls, given, holds, vary)


def _first(
    info: OpInfo, calls: Calls, given: list[Given], holds: Holds, vary: Vary
) -> Iterator[Sample]:
    if any(holds(calls.arrays(g)) for g in given):
        return
    for g in given[:_TRIED]:
        for arrays in vary(calls.arrays(g)):
            args, kwargs = calls.call_of(filled(g, arrays))
            sample = Sample(args, kwargs, values_only=True, drawn="", derived=True)
            if _judged(info, calls, sample):
                yield sample
                return


def _judged(info: OpInfo, calls: Calls, sample: Sample) -> bool:
    """Whether the operator accepts a call and the reference says something of its values."""
    try:
        jax.eval_shape(sample.over_arrays(info.op), *sample.arrays())
        judge = info.reference or info.moments
        assert judge is not None
        want = expected(info, judge, sample)
    except Exception:
        return False
    leaves = [np.asarray(y) for y in jax.tree.leaves(want)]
    return bool(leaves)


def _rank(holds: Callable[[int], bool]) -> Holds:
    return lambda arrays: any(holds(x.ndim) for x in list(arrays.values())[:1])


_SHAPES: list[tuple[Holds, Vary]] = [
    (_rank(lambda n: n == 0), flattened),
    (_rank(lambda n: n >= HIGH), raised),
    (lambda arrays: any(x.size == 0 for x in arrays.values()), emptied),
    (lambda arrays: len({x.shape for x in arrays.values()}) > 1, narrowed),
]


def _floating(calls: Calls, given: list[Given]) -> list[str]:
    """The floating-point arrays that are given, by name; of a sequence, the first and the last."""
    found = [n for g in given for n, x in calls.arrays(g).items() if category(x.dtype) == 2]
    names = list(dict.fromkeys(found))
    last = {name.partition("[")[0]: name for name in names if "[" in name}
    return [n for n in names if "[" not in n or n.endswith("[0]") or n in last.values()]


def _values(info: OpInfo, target: str) -> Iterator[tuple[Holds, Vary]]:
    """Not finite and signed zeros, large, and small values in one array."""

    def holding(arrays: Arrays, test: Callable[[Any], Any]) -> bool:
        x = arrays.get(target)
        return x is not None and x.size > 0 and bool(test(np.abs(np.asarray(x))))

    wild = (np.nan, np.inf, -np.inf, -0.0, 3e4, -3e4, 1e6)

    def small(arrays: Arrays) -> Iterator[Arrays]:
        if holding(arrays, lambda x: (x > 0).all()):
            yield {target: shrunk(arrays[target], SMALL / 2)}

    def special(arrays: Arrays) -> Iterator[Arrays]:
        if holding(arrays, lambda x: True):
            yield {target: poked(arrays[target], wild)}

    yield lambda a: holding(a, lambda x: ((x < SMALL) & (x > 0)).all()), small
    if info.spec is None or not info.spec.accepts.name.startswith("LAPACK"):
        yield lambda a: holding(a, lambda x: (~np.isfinite(x)).any()), special


def _integers(info: OpInfo, calls: Calls, dtype: str) -> Iterator[tuple[Holds, Vary]]:
    promoting = () if info.spec is None else info.spec.promoting
    values = TELLING[dtype]

    def theirs(arrays: Arrays) -> Arrays:
        return {
            name: x
            for name, x in arrays.items()
            if x.dtype == dtype
            and x.size
            and (not promoting or name.partition("[")[0] in promoting)
        }

    def vary(arrays: Arrays) -> Iterator[Arrays]:
        for name, x in theirs(arrays).items():
            yield {name: poked(x, values)}

    holds = lambda arrays: any(
        bool(np.isin(values, np.asarray(x)).any()) for x in theirs(arrays).values()
    )
    yield holds, vary
