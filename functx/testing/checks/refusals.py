"""Bad input is refused in the operator's name: what entries declare, and what anyone might pass."""

from __future__ import annotations

import re
from collections.abc import Iterator

import jax
import jax.numpy as jnp

import functx
from functx._core.operators.roles import NUMBERS
from functx.testing.calls import Calls, filled
from functx.testing.opinfo import OpInfo, Refusal, Sample

from .forward import sample_dtype


def refusals(info: OpInfo) -> Iterator[Refusal]:
    """Those that an entry declares, and those that every operator with arrays has."""
    make = info.make(sample_dtype(info))
    yield from info.refusals(make)
    first = next(info.samples(make), None)
    if first is not None:
        yield from _lists(info, first)
        yield from _rows(info, first)


def _lists(info: OpInfo, sample: Sample) -> Iterator[Refusal]:
    """Nested lists, as NumPy takes, in the place of each array."""
    if info.spec is None:
        return
    calls = Calls(info.op)
    given = calls.arguments(sample.args, sample.kwargs)
    for name, x in calls.arrays(given).items():
        if isinstance(x, jax.Array):
            args, kwargs = calls.call_of(filled(given, {name: x.tolist() if x.ndim else [0.0]}))
            words = "(an array|a sequence of arrays|an array or a sequence of arrays)"
            what = rf"`{name.partition('[')[0]}(\[0\])?` must be {words}, got"
            yield Refusal(Sample(args, kwargs), what, TypeError)


def _rows(info: OpInfo, sample: Sample) -> Iterator[Refusal]:
    """Arrays of rank 1 in the place of each number."""
    if info.spec is None:
        return
    calls = Calls(info.op)
    given = calls.arguments(sample.args, sample.kwargs)
    for name in filter(lambda name: calls.note(name) in NUMBERS, calls.parameters):
        args, kwargs = calls.call_of(given | {name: jnp.ones(1, bool)})
        what = f"`{name}` must be a number or a 0-d array, got"
        yield Refusal(Sample(args, kwargs), what, TypeError)


def check_refusals(info: OpInfo, sample: Sample) -> None:
    """Bad input gets the declared error, worded in the operator's name."""
    for refusal in refusals(info):
        what = f"{info.id}{refusal.sample!r}"
        try:
            with functx.debug.checking():  # what is looked at on request only
                info.op(*refusal.sample.args, **refusal.sample.kwargs)
        except refusal.error as error:
            message = str(error)
            assert re.search(refusal.match, message), f"{what}: {message!r} lacks {refusal.match!r}"
            if info.spec is not None:
                assert message.startswith(f"{info.name}: "), (
                    f"{what}: {message!r} names no operator"
                )
        else:
            raise AssertionError(f"{what}: accepted, expected {refusal.error.__name__}")
