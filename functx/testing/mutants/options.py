"""Each option of the signature: a wrong value, a wrong derivative, no heed at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functx.testing.calls import Given, replaced

from .derivatives import inexact, scaled
from .mutant import Mutant, planted, touching, When, wrong
from .numpy_arithmetic import on_leaves
from .subject import Subject


def option_mutants(subject: Subject) -> Iterator[Mutant]:
    """Mistakes where an option is given, and where it has one of the values that it may have.

    They are decided over the signature: one that no sample gives survives. What no call gives on
    this device has neither value nor derivative; it must be refused.
    """
    calls = subject.calls
    for name in calls.options:
        yield from _mutants(subject, name, name, lambda given, n=name: calls.gives(given, n))
        given = [calls.arguments(s.args, s.kwargs).get(name) for s in subject.every_sample()]
        words = [v for v in given if isinstance(v, str) and calls.gives({name: v}, name)]
        for value in dict.fromkeys([*calls.values_of(name), *words]):
            when = lambda given, n=name, v=value: given.get(n) == v
            yield from _mutants(subject, name, f"{name}={value!r}", when)


def _mutants(subject: Subject, name: str, target: str, when: When) -> Iterator[Mutant]:
    calls, dtype, wide = subject.calls, subject.dtype, subject.wide
    by = 0.5 if subject.info.random else 0.05
    touches = touching(calls, when)

    def off(op: Any, given: Given) -> Any:
        return on_leaves(lambda y: wrong(y, by), op(given))

    def ignored(op: Any, given: Given) -> Any:
        return op({k: v for k, v in given.items() if k != name})

    likely = ("reference", "moments", "jit", "dtypes", "conventions")
    value = tuple((check, dtype) for check in likely)
    if subject.info.takes_here(name):
        yield Mutant("option's value", target, planted(calls, when, off), value, touches, True)
    reads = calls.reads(name) and calls.note(name) != "Device" and not subject.ignores(name)
    if target == name and reads:
        deaf = planted(calls, when, ignored)
        shown = lambda sample: touches(sample) and subject.shows(sample, deaf)
        refusing = (*value, ("refusals", dtype))  # an option may do no more than refuse
        yield Mutant("option ignored", target, deaf, refusing, shown, True)
    if wide is not None and subject.active_arrays and subject.info.takes_here(name):

        def doubled(op: Any, given: Given) -> Any:
            for place, x in calls.arrays(given).items():
                if inexact(x):
                    given = replaced(given, place, scaled(2.0, 2.0)(x))
            return op(given)

        touched = [s for s in subject.every_sample() if touches(s)]
        if not touched or any(map(subject.active, touched)):
            slope = (("gradient", wide), ("conventions", dtype))
            op = planted(calls, when, doubled)
            changes_derivative = lambda sample: touches(sample) and bool(subject.active(sample))
            yield Mutant("option's gradient", target, op, slope, changes_derivative, True)
