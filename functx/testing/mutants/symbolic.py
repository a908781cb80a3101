"""Mistakes in programs that are exported with symbolic sizes, and in no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functx._core import known
from functx.testing.calls import Calls, Given
from functx.testing.checks.resizing import Resizable
from functx.testing.checks.symbolic import chooses_by_size, symbols, takes_sizes

from .mutant import Mutant, planted, wrong
from .numpy_arithmetic import on_leaves
from .subject import Subject


def symbolic_mutants(subject: Subject) -> Iterator[Mutant]:
    """Of an operator some of whose arrays may have other sizes."""
    info, calls = subject.info, subject.calls
    changes = lambda sample: bool(symbols(Resizable(info, sample)))
    plain = (sample for sample in subject.every_sample() if not sample.values_only)
    if not takes_sizes(info) or not any(map(changes, plain)):
        return
    when = lambda given: bool(_symbolic(calls, given))
    frozen = planted(calls, when, _frozen)
    yield Mutant("size frozen", "", frozen, (("symbolic", subject.dtype),), changes, True)
    if chooses_by_size(info):
        off = planted(calls, when, lambda op, given: on_leaves(wrong, op(given)))
        cells = (("symbolic_values", subject.dtype),)
        yield Mutant("wrong with symbols", "", off, cells, changes, True)


def _symbolic(calls: Calls, given: Given) -> list[Any]:
    shapes = [x.shape for x in calls.arrays(given).values()]
    sizes = [value if isinstance(value, tuple) else (value,) for value in given.values()]
    return [n for several in (*shapes, *sizes) for n in several if not known(n)]


def _frozen(calls: Calls, given: Given) -> Any:
    return on_leaves(lambda y: y * (int(_symbolic(calls, given)[0]) > 0), calls(given))
