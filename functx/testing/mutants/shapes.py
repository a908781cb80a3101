"""Wrong results for shapes: rank 0, high rank, empty, unequal; and for dimensions below 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from functx.testing.calls import Calls, Given
from functx.testing.opinfo import Sample
from functx.testing.variations import emptied, flattened, HIGH, narrowed, raised, Vary

from .mutant import Mutant, planted, touching, When, wrong
from .numpy_arithmetic import on_leaves
from .subject import Subject


def shape_mutants(subject: Subject) -> Iterator[Mutant]:
    """For each kind of shape that the operator accepts, in whatever samples."""
    calls, dtype = subject.calls, subject.dtype
    by = 0.5 if subject.info.random else 0.05
    off = lambda op, given: on_leaves(lambda y: wrong(y, by), op(given))
    likely = ("reference", "moments", "jit", "keys", "conventions")
    cells = tuple((check, dtype) for check in likely)
    for name in _dims(calls):
        when = lambda given, n=name: _negative(given.get(n))
        op = planted(calls, when, off)
        yield Mutant("negative dim", name, op, cells, touching(calls, when), True)
    for kind, when, variations, mistake in (
        ("rank 0", _rank(calls, lambda n: n == 0), flattened, off),
        ("rank 4 and more", _rank(calls, lambda n: n >= HIGH), raised, off),
        ("empty", _any_empty(calls), emptied, _raises),
        ("broadcasting", _unequal(calls), narrowed, off),
    ):
        op = planted(calls, when, mistake)
        varied = _varied(subject, when, variations)
        # Results that are empty or NaN whatever the call show no mistake.
        if any(subject.accepts(s) and subject.shows(s, op) for s in varied):
            yield Mutant(kind, "", op, cells, touching(calls, when), True)


def _dims(calls: Calls) -> list[str]:
    return [name for name in calls.parameters if calls.note(name) in ("Dim", "Dims")]


def _negative(dim: Any) -> bool:
    several = dim if isinstance(dim, (tuple, list)) else (dim,)
    return any(isinstance(d, int) and d < 0 for d in several)


def _rank(calls: Calls, holds: Callable[[int], bool]) -> When:
    def when(given: Given) -> bool:
        arrays = list(calls.arrays(given).values())
        return bool(arrays) and holds(arrays[0].ndim)

    return when


def _any_empty(calls: Calls) -> When:
    return lambda given: any(x.size == 0 for x in calls.arrays(given).values())


def _unequal(calls: Calls) -> When:
    def when(given: Given) -> bool:
        arrays = calls.arrays(given)
        return len({arrays[name].shape for name in arrays}) > 1

    return when


def _raises(op: Any, given: Given) -> Any:
    raise RuntimeError("planted: refuses empty arrays")


def _varied(subject: Subject, when: When, variations: Vary) -> Iterator[Sample]:
    """Samples as they are where they have the shape in question, then variations of each."""
    samples = list(subject.every_sample())
    given = {id(s): subject.calls.arguments(s.args, s.kwargs) for s in samples}
    yield from (s for s in samples if when(given[id(s)]))
    for sample in samples[:4]:
        for arrays in variations(subject.calls.arrays(given[id(sample)])):
            yield subject.with_arrays(sample, arrays)
