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
from functx.testing.calls import Calls
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
WILD = (np.nan, np.inf, -np.inf, -0.0, 3e4, -3e4, 1e6)
_TRIED = 6  # samples from which one is derived

Holds = Callable[[Arrays], bool]


def looked_at(info: OpInfo, dtype: str, *, device: Device | None = None) -> list[Sample]:
    """An entry's samples in a dtype, and those that are derived from them."""
    drawn = list(info.draw(dtype, device=device))
    return [*drawn, *derived(info, dtype, drawn)]


def derived(info: OpInfo, dtype: str, drawn: list[Sample]) -> Iterator[Sample]:
    """Calls like those of `drawn`, where none of them is such a call."""
    if info.moments is None and info.reference is None:
        return
    calls, samples = Calls(info.op), list(drawn)
    arrays = {id(s): calls.arrays(calls.arguments(s.args, s.kwargs)) for s in samples}
    for holds, vary in _wanted(info, dtype, list(arrays.values())):
        if any(holds(arrays[id(s)]) for s in samples):
            continue
        varied = (
            _filled(s, arrays[id(s)], new) for s in drawn[:_TRIED] for new in vary(arrays[id(s)])
        )
        sample = next((s for s in varied if _judged(info, s)), None)
        if sample is not None:
            arrays[id(sample)] = calls.arrays(calls.arguments(sample.args, sample.kwargs))
            samples.append(sample)
            yield sample


def _wanted(info: OpInfo, dtype: str, given: list[Arrays]) -> Iterator[tuple[Holds, Vary]]:
    """What an array may be, and how it comes to be so."""
    if dtype == sample_dtype(info):
        yield from _SHAPES
        names = [] if info.random else _floating(given)
        if names:
            yield (lambda arrays: all(_all_small(arrays, n) for n in names)), _shrunk
        for name in names:
            yield from _special(info, name)
    elif dtype in TELLING and not info.random:
        yield from _integers(info, dtype)


def _filled(sample: Sample, arrays: Arrays, new: Arrays) -> Sample:
    """The call with other arrays in some places, each where it was: by position or by name."""
    other = {id(x): new[name] for name, x in arrays.items() if name in new}
    put = lambda x: other.get(id(x), x)
    args, kwargs = jax.tree.map(put, (sample.args, dict(sample.kwargs)), is_leaf=_is_none)
    return Sample(args, kwargs, values_only=True, drawn=sample.drawn, derived=True)


def _is_none(x: Any) -> bool:
    return x is None


def _judged(info: OpInfo, sample: Sample) -> bool:
    """Whether the operator accepts a call and the reference says something of its values."""
    judge = info.reference or info.moments
    assert judge is not None
    try:
        jax.eval_shape(sample.over_arrays(info.op), *sample.arrays())
        expected(info, judge, sample)
    except Exception:
        return False
    return True


def _rank(holds: Callable[[int], bool]) -> Holds:
    return lambda arrays: any(holds(x.ndim) for x in list(arrays.values())[:1])


_SHAPES: list[tuple[Holds, Vary]] = [
    (_rank(lambda n: n == 0), flattened),
    (_rank(lambda n: n >= HIGH), raised),
    (lambda arrays: any(x.size == 0 for x in arrays.values()), emptied),
    (lambda arrays: len({x.shape for x in arrays.values()}) > 1, narrowed),
]


def _floating(given: list[Arrays]) -> list[str]:
    """The floating-point arrays that are given, by name; of a sequence, the first and the last."""
    names = list(dict.fromkeys(n for a in given for n, x in a.items() if category(x.dtype) == 2))
    last = {name.partition("[")[0]: name for name in names if "[" in name}
    return [n for n in names if "[" not in n or n.endswith("[0]") or n in last.values()]


def _all_small(arrays: Arrays, name: str) -> bool:
    sizes = np.abs(np.asarray(arrays.get(name, ())))
    return sizes.size > 0 and bool(((sizes < SMALL) & (sizes > 0)).all())


def _shrunk(arrays: Arrays) -> Iterator[Arrays]:
    """All floating arrays, since what is small beside large numbers may drown."""
    floating = {n: x for n, x in arrays.items() if category(x.dtype) == 2 and x.size}
    if floating and all(np.asarray(x).all() for x in floating.values()):
        yield {name: shrunk(x, SMALL / 2) for name, x in floating.items()}


def _special(info: OpInfo, name: str) -> Iterator[tuple[Holds, Vary]]:
    """Small values in one array; not finite and large ones, and signed zeros."""

    def alone(arrays: Arrays) -> Iterator[Arrays]:
        x = np.asarray(arrays.get(name, ()))
        if x.size and x.all():
            yield {name: shrunk(arrays[name], SMALL / 2)}

    def wild(arrays: Arrays) -> Iterator[Arrays]:
        if np.size(arrays.get(name, ())):
            yield {name: poked(arrays[name], WILD)}

    yield (lambda arrays: _all_small(arrays, name)), alone
    if info.spec is None or not info.spec.accepts.name.startswith("LAPACK"):
        yield (lambda arrays: not np.isfinite(np.asarray(arrays.get(name, ()))).all()), wild


def _integers(info: OpInfo, dtype: str) -> Iterator[tuple[Holds, Vary]]:
    promoting = () if info.spec is None else info.spec.promoting
    values = TELLING[dtype]

    def theirs(arrays: Arrays) -> Arrays:
        integers = {name: x for name, x in arrays.items() if x.dtype == dtype and x.size}
        return {n: x for n, x in integers.items() if not promoting or n.split("[")[0] in promoting}

    def vary(arrays: Arrays) -> Iterator[Arrays]:
        for name, x in theirs(arrays).items():
            yield {name: poked(x, values)}

    yield (lambda arrays: any(np.isin(values, x).any() for x in theirs(arrays).values())), vary
