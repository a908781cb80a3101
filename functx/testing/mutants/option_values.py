"""Mistakes in what an option does at one value, given in one way, and beside another option."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax

from functx.testing.calls import Given, is_array, replaced
from functx.testing.opinfo import Sample

from .batching import mixes_lanes
from .derivatives import bent, inexact, scaled, WrongIdentity
from .mutant import anyhow, Mutant, planted, touching, Way, When, wrong
from .numpy_arithmetic import on_leaves
from .subject import Subject


# Of every differentiable array at once.
SPOILS: dict[str, tuple[WrongIdentity, str]] = {
    "one value: gradient, reverse": (scaled(1.0, 2.0), "gradient"),
    "one value: gradient, forward": (scaled(2.0, 1.0), "gradient"),
    "one value: second order": (bent(1.0, 1.0), "second_gradient"),
}


def option_value_mutants(subject: Subject) -> Iterator[Mutant]:
    """Each option at each value that samples give, by position and by name; in pairs; in each way.

    An array is one value. The ways are those of the signature, whatever samples give.
    """
    calls = subject.calls
    values: dict[tuple[str, str, bool], None] = {}
    pairs: dict[tuple[str, str], None] = {}
    for sample in subject.every_sample():
        given, named = calls.arguments(sample.args, sample.kwargs), calls.by_name(sample.kwargs)
        takes = subject.info.takes_here
        chosen = [name for name in calls.options if calls.gives(given, name) and takes(name)]
        values |= {(name, _text(given[name]), name in named): None for name in chosen}
        pairs |= dict.fromkeys(itertools.combinations(chosen, 2))
    for name, text, by_name in values:
        when = lambda given, n=name, t=text: n in given and _text(given[n]) == t
        way = _by_name(name) if by_name else _by_position(name)
        target = f"{name}={text} by {'name' if by_name else 'position'}"
        yield from _at_a_value(subject, target, when, way)
    for pair in pairs:
        both = lambda given, pair=pair: all(calls.gives(given, name) for name in pair)
        yield from _together(subject, " and ".join(pair), both)
    yield from _written(subject)


def _text(value: Any) -> str:
    return "array" if any(map(is_array, jax.tree.leaves(value))) else repr(value)


def _by_name(name: str) -> Way:
    return lambda named: name in named


def _by_position(name: str) -> Way:
    return lambda named: name not in named


def _at_a_value(subject: Subject, target: str, when: When, way: Way) -> Iterator[Mutant]:
    yield from _changed(subject, "one value: result", target, when, way)
    for kind, (spoil, check) in SPOILS.items():
        yield from _spoiled(subject, kind, target, spoil, check, when, way)
    touches = touching(subject.calls, when, way)

    def shows_mixing(sample: Sample) -> bool:
        if sample.values_only or not touches(sample):
            return False
        numbers = any(inexact(y) and y.size for y in subject.output(sample) or ())
        return numbers and subject.differs_among_lanes(sample)

    if any(map(shows_mixing, subject.every_sample())):
        mixed = _spoiling(lambda x: mixes_lanes(x, [], "alone"))
        op = planted(subject.calls, when, mixed, way)
        yield Mutant("one value: lanes", target, op, (("vmap", subject.dtype),), shows_mixing, True)


def _together(subject: Subject, target: str, when: When) -> Iterator[Mutant]:
    yield from _changed(subject, "two options: result", target, when, anyhow)
    twice = scaled(2.0, 2.0)
    yield from _spoiled(subject, "two options: gradient", target, twice, "gradient", when, anyhow)


def _changed(subject: Subject, kind: str, target: str, when: When, way: Way) -> Iterator[Mutant]:
    op = planted(subject.calls, when, _off(subject), way)
    touches = touching(subject.calls, when, way)
    if any(touches(s) and subject.shows(s, op) for s in subject.every_sample()):
        likely = ("reference", "moments", "jit", "dtypes", "conventions")
        cells = tuple((check, subject.dtype) for check in likely)
        yield Mutant(kind, target, op, cells, touches, True)


def _written(subject: Subject) -> Iterator[Mutant]:
    """By name, by position, and as the default is written out: one of them gives another result."""
    calls, cells = subject.calls, (("spelling", subject.dtype),)
    if calls.spec is None or not calls.all_named:
        return  # Python binds the arguments
    for name in calls.options:
        here = lambda given, n=name: n in given
        positional = calls.parameters[name].kind is not calls.parameters[name].KEYWORD_ONLY
        ways = {"by name": _by_name(name), "by position": _by_position(name)}
        for written, way in ways.items() if positional else ():
            op = planted(calls, here, _off(subject), way)
            # The check writes samples in other ways itself.
            touches = touching(calls, here)
            yield Mutant("written in a way", f"{name} {written}", op, cells, touches, True)
        # A number that is traced is a constant of the program where it is left out.
        if name not in calls.spec.parameters.traced and calls.spec.other_signatures is None:
            default = lambda given, n=name: n in given and not calls.gives(given, n)
            op = planted(calls, default, _off(subject))
            target = f"{name}={calls.parameters[name].default!r}"
            yield Mutant("written in a way", target, op, cells, lambda sample: True, True)


def _off(subject: Subject) -> Any:
    by = 0.5 if subject.info.random else 0.05
    return lambda op, given: on_leaves(lambda y: wrong(y, by), op(given))


def _spoiled(
    subject: Subject, kind: str, target: str, spoil: WrongIdentity, check: str, when: When, way: Way
) -> Iterator[Mutant]:
    """If there is a sample of which derivatives are asked, and one is not zero."""
    calls, wide = subject.calls, subject.wide
    touches = touching(calls, when, way)

    def changes_derivative(sample: Sample) -> bool:
        asked = not sample.values_only and not sample.held
        return asked and touches(sample) and bool(subject.active(sample))

    if wide is not None and any(
        changes_derivative(s) and subject.has_slope(s) for s in subject.every_sample(wide)
    ):
        op = planted(calls, when, _spoiling(spoil, inexact), way)
        cells = ((check, wide), ("conventions", subject.dtype))
        yield Mutant(kind, target, op, cells, changes_derivative, True)


def _spoiling(spoil: Callable[[Any], Any], chosen: Callable[[Any], bool] = lambda x: True) -> Any:
    def mistake(op: Any, given: Given) -> Any:
        for place, x in op.arrays(given).items():
            given = replaced(given, place, spoil(x)) if chosen(x) else given
        return op(given)

    return mistake
