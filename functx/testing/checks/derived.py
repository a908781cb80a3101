"""Samples that an entry's own lead to: what every operator meets and no entry should have to list.

Arrays of rank 0, of rank 4, empty or of unequal shapes; NaN; values below 0.001; subnormal ones,
where nothing is computed; integers that single precision rounds; unsigned ones above 127. Each
is derived where the entry has no such sample, the operator accepts it and the reference says
what is right.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from functx._core import category, Device
from functx.testing.calls import Calls
from functx.testing.opinfo import OpInfo, Sample
from functx.testing.variations import (
    emptied,
    flattened,
    HIGH,
    NamedArrays,
    narrowed,
    poked,
    raised,
    shrunk,
    SMALL,
    subnormal,
    Vary,
)

from .choosing_operators import chooses
from .forward import expected, sample_dtype


# Of dtypes of integers: values that another dtype on the way would change.
TELLING = {"int64": (2**24 + 1, 2**40 + 12345), "uint8": (200, 255)}
WILD = (np.nan, np.inf, 3e4, -np.inf, -0.0, -3e4, 1e6)
_TRIED = 8  # calls, until one tells something

Holds = Callable[[NamedArrays], bool]


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A call whose arrays `holds` is true of; `vary` makes such arrays of others.

    It is worth a sample if it `tells` something: results that a mistake could change.
    """

    holds: Holds
    vary: Vary
    tells: Callable[[np.ndarray], Any] = lambda result: True
    exact: bool = False


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
    wanted_here = [*_wanted(info, dtype, list(arrays.values())), *_subnormal(info, dtype, drawn)]
    for wanted in wanted_here:
        if any(wanted.holds(arrays[id(s)]) for s in samples):
            continue
        varied = (
            _filled(s, arrays[id(s)], new) for s in drawn for new in wanted.vary(arrays[id(s)])
        )
        tried = itertools.islice(varied, _TRIED)
        sample = next((s for s in tried if _judged(info, s, wanted.tells)), None)
        if sample is not None:
            sample = dataclasses.replace(sample, exact=wanted.exact)
            arrays[id(sample)] = calls.arrays(calls.arguments(sample.args, sample.kwargs))
            samples.append(sample)
            yield sample


def _wanted(info: OpInfo, dtype: str, given: list[NamedArrays]) -> Iterator[Wanted]:
    narrow = dtype == sample_dtype(info)
    if narrow:
        yield from _SHAPES
    if info.random:
        return
    if narrow or dtype == "float64":
        yield from _small(_floating(given))
    if narrow and not info.finite_only:
        yield from _wild(_floating(given))
    if dtype in TELLING:
        yield from _integers(info, dtype, given)


def _filled(sample: Sample, arrays: NamedArrays, new: NamedArrays) -> Sample:
    """The call with other arrays in some places, each where it was: by position or by name."""
    other = {id(x): new[name] for name, x in arrays.items() if name in new}
    filled = sample.with_arrays([other.get(id(x), x) for x in sample.arrays()])
    return dataclasses.replace(filled, values_only=True, derived=True)


def _judged(info: OpInfo, sample: Sample, tells: Callable[[np.ndarray], Any]) -> bool:
    """Whether the operator accepts a call and the reference says something of its values."""
    judge = info.reference or info.moments
    assert judge is not None
    op = info.with_key(jax.random.key(0)) if info.random else info.op
    try:
        jax.eval_shape(sample.over_arrays(op), *sample.arrays())
    except Exception as error:
        if not info.refuses(error):
            raise
        return False
    try:
        want = [np.asarray(y) for y in jax.tree.leaves(expected(info, judge, sample))]
    except (ValueError, IndexError, OverflowError):  # no shapes or numbers for its formula
        return False
    inexact = [y for y in want if category(y.dtype) >= 2]
    return not inexact or any(np.any(tells(y)) for y in inexact)


def _rank(holds: Callable[[int], bool]) -> Holds:
    return lambda arrays: any(holds(x.ndim) for x in list(arrays.values())[:1])


_SHAPES = [
    Wanted(_rank(lambda n: n == 0), flattened),
    Wanted(_rank(lambda n: n >= HIGH), raised),
    Wanted(lambda arrays: any(x.size == 0 for x in arrays.values()), emptied),
    Wanted(lambda arrays: len({x.shape for x in arrays.values()}) > 1, narrowed),
]


def _floating(given: list[NamedArrays]) -> list[str]:
    """The floating-point arrays that are given, by name; of a sequence, the first and the last."""
    names = list(dict.fromkeys(n for a in given for n, x in a.items() if category(x.dtype) == 2))
    last = {name.partition("[")[0]: name for name in names if "[" in name}
    return [n for n in names if "[" not in n or n.endswith("[0]") or n in last.values()]


def _all_small(arrays: NamedArrays, name: str) -> bool:
    sizes = np.abs(np.asarray(arrays.get(name, ())))
    with np.errstate(invalid="ignore"):  # halves warn of NaN
        return sizes.size > 0 and bool(((sizes < SMALL) & (sizes > 0)).all())


def _small(names: list[str]) -> Iterator[Wanted]:
    """All arrays at once, since small numbers may drown beside large ones; then each."""

    def those_of(names: list[str]) -> Vary:
        def vary(arrays: NamedArrays) -> Iterator[NamedArrays]:
            given = {name: arrays[name] for name in names if name in arrays}
            if given and all(x.size and np.asarray(x).all() for x in given.values()):
                yield {name: shrunk(x, SMALL / 2) for name, x in given.items()}

        return vary

    for some in ([names] if len(names) > 1 else []) + [[name] for name in names]:
        holds = lambda arrays, some=some: all(_all_small(arrays, name) for name in some)
        yield Wanted(holds, those_of(some), lambda y: (y != 0) & np.isfinite(y))


def _wild(names: list[str]) -> Iterator[Wanted]:
    """In each array: not finite, large, signed zeros; as many as it has elements, if need be."""
    for name in names:
        holds = lambda arrays, name=name: bool(np.isinf(arrays.get(name, 0)).any())
        for least in (len(WILD), 1):
            yield Wanted(holds, _poking(name, WILD, least), lambda y: ~np.isfinite(y))


def _subnormal(info: OpInfo, dtype: str, drawn: list[Sample]) -> Iterator[Wanted]:
    """In all arrays at once: subnormal numbers and both zeros, many of them equal."""

    def vary(arrays: NamedArrays) -> Iterator[NamedArrays]:
        inexact = {name: x for name, x in arrays.items() if category(x.dtype) >= 2}
        if any(x.size > 2 for x in inexact.values()):
            # Each in another order, so that they meet each other; then, where an argument's signs
            # are refused, without them.
            for signed in (True, False)[: len(inexact)]:
                many = enumerate(inexact.items())
                yield {name: subnormal(x, first=i, signed=signed) for i, (name, x) in many}

    # XLA's CPU moves bfloat16 by way of float32, some versions more often than others. What LAPACK
    # makes of subnormal numbers it computes, also where all that comes of it is an integer.
    if dtype != "bfloat16" and not info.finite_only and chooses(info, drawn):
        yield Wanted(lambda arrays: False, vary, exact=True)


def _poking(name: str, values: Sequence[float], least: int = 1) -> Vary:
    def vary(arrays: NamedArrays) -> Iterator[NamedArrays]:
        if np.size(arrays.get(name, ())) >= least:
            yield {name: poked(arrays[name], values)}

    return vary


def _integers(info: OpInfo, dtype: str, given: list[NamedArrays]) -> Iterator[Wanted]:
    """In each array that takes part in promotion, rather than to index."""
    promoting, values = () if info.spec is None else info.spec.promoting, TELLING[dtype]
    names = dict.fromkeys(n for arrays in given for n, x in arrays.items() if x.dtype == dtype)
    for name in names:
        if not promoting or name.partition("[")[0] in promoting:
            holds = lambda arrays, name=name: values[0] in np.asarray(arrays.get(name, 0))
            yield Wanted(holds, _poking(name, values))
