"""One call written in several ways: by position, by name, with its defaults written out."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import jax

from functx.testing.calls import Calls, Given
from functx.testing.opinfo import OpInfo, Sample

from .cases import sized, whole_function, whole_program
from .compare import assert_close, closeness
from .program_text import text_of


Written = tuple[tuple[Any, ...], Given]  # what is given by position, and by name
Write = Callable[[Calls, Given], Written]


def spelled_in_ways(info: OpInfo) -> bool:
    """Whether a call may be written otherwise: by names that the operator brings into order."""
    return info.spec is not None and Calls(info.op).all_named


def check_spelling(info: OpInfo, sample: Sample) -> None:
    """A call is the same program by position, and by name with its defaults written out."""
    if info.unmeasured(sample):
        _hold_default_sizes(info, sample)
    calls, sample = Calls(info.op), sized(info, sample)
    given = calls.arguments(sample.args, sample.kwargs)
    program, arrays = whole_program(info, sample)
    as_given = text_of(program.trace(*arrays).jaxpr)
    for write in (by_position, by_name):
        written = Sample(*write(calls, given))
        if _shape(written) == _shape(sample):
            continue
        got = _rewritten(info, sample, write)
        adds = calls.arguments(written.args, written.kwargs).keys() - given.keys()
        # A number that is traced is a constant of the program where it is left out.
        alike = adds.isdisjoint(_traced(calls))
        want = as_given if alike else _rewritten(info, sample, _names_for(write))
        both = itertools.zip_longest(want, got)
        differing = next((pair for pair in both if pair[0] != pair[1]), None)
        assert differing is None, (
            f"{info.id}{written!r} is another program than {info.id}{sample!r}: it has "
            f"`{differing[1]}` in the place of `{differing[0]}`"
        )


def _hold_default_sizes(info: OpInfo, sample: Sample) -> None:
    """Sizes that values decide, which no program has: the eager call, by name with its defaults."""
    f, arrays = whole_function(info, sample)
    got = _respelled(info, sample, by_name)(*arrays)
    what = f"{info.id}{sample!r}, by name with its defaults written out"
    assert_close(got, f(*arrays), what=what, close=closeness(info, sample))


def _shape(sample: Sample) -> tuple[int, set[str]]:
    return len(sample.args), set(sample.kwargs)


def by_position(calls: Calls, given: Given) -> Written:
    """As many as may be; what is left out before them is written out."""
    if _of_several(calls):
        return calls.call_of(given)
    names = [n for n, p in calls.parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    last = max((i for i, name in enumerate(names) if name in given), default=-1)
    first = names[: last + 1]
    args = tuple(given.get(name, calls.parameters[name].default) for name in first)
    return args, {n: x for n, x in given.items() if n not in first}


def by_name(calls: Calls, given: Given) -> Written:
    """All of them, and what is left out; of several signatures, the options."""
    options = [name for name in calls.options if name not in _traced(calls)]
    left_out = {n: calls.parameters[n].default for n in options if n not in given}
    if not _of_several(calls):
        return (), {**given, **left_out}
    args, kwargs = calls.call_of({n: x for n, x in given.items() if n not in calls.options})
    kwargs |= {n: x for n, x in given.items() if n in calls.options}
    try:
        calls.arguments(args, {**kwargs, **left_out})
    except Exception:  # another of the signatures has no such option
        return args, kwargs
    return args, {**kwargs, **left_out}


def _names_for(write: Write) -> Write:
    """The same arguments by name."""
    return lambda calls, given: ((), calls.arguments(*write(calls, given)))


def _of_several(calls: Calls) -> bool:
    """Whether other arguments may mean another of an operator's signatures."""
    return calls.spec is not None and calls.spec.other_signatures is not None


def _traced(calls: Calls) -> tuple[str, ...]:
    return () if calls.spec is None else calls.spec.parameters.traced


def _rewritten(info: OpInfo, sample: Sample, write: Write) -> list[str]:
    """The program of the call, written in another way."""
    _, arrays = whole_function(info, sample)
    return text_of(jax.make_jaxpr(_respelled(info, sample, write))(*arrays))


def _respelled(info: OpInfo, sample: Sample, write: Write) -> Callable[..., Any]:
    """The call as a function of its arrays, written in another way."""
    calls = Calls(info.op)

    def op(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = write(calls, calls.arguments(args, kwargs))
        return info.op(*args, **kwargs)

    op.spec = info.spec  # pyright: ignore[reportFunctionMemberAccess]
    return whole_function(dataclasses.replace(info, op=op), sample)[0]
