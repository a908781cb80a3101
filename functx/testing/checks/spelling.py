"""One call written in several ways: by position, by name, with its defaults written out."""

from __future__ import annotations

import dataclasses
import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from functx.testing.calls import Calls, Given
from functx.testing.opinfo import OpInfo, Sample

from .cases import sized, whole_function, whole_program


Written = tuple[tuple[Any, ...], Given]  # what is given by position, and by name
Write = Callable[[Calls, Given], Written]
_PLACE = re.compile(r" at 0x[0-9a-f]+")  # of a function in memory


def spelled_in_ways(info: OpInfo) -> bool:
    """Whether a call may be written otherwise: by names that the operator brings into order."""
    return info.spec is not None and Calls(info.op).all_named


def check_spelling(info: OpInfo, sample: Sample) -> None:
    """A call is the same program by position, and by name with its defaults written out."""
    calls, sample = Calls(info.op), sized(info, sample)
    given = calls.arguments(sample.args, sample.kwargs)
    program, arrays = whole_program(info, sample)
    as_given = equations(program.trace(*arrays).jaxpr)
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
    return calls.spec is not None and calls.spec.form is not None


def _traced(calls: Calls) -> tuple[str, ...]:
    return () if calls.spec is None else calls.spec.parameters.traced


def _rewritten(info: OpInfo, sample: Sample, write: Write) -> list[str]:
    """The equations of the call, written in another way."""
    calls = Calls(info.op)

    def op(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = write(calls, calls.arguments(args, kwargs))
        return info.op(*args, **kwargs)

    op.spec = info.spec  # pyright: ignore[reportFunctionMemberAccess]
    f, arrays = whole_function(dataclasses.replace(info, op=op), sample)
    return equations(jax.make_jaxpr(f)(*arrays))


def equations(program: ClosedJaxpr) -> list[str]:
    """A program's equations as text; what it calls as a whole stands in the place of the call.

    The operands of a call are in the order in which its arguments were given.
    """
    numbers = itertools.count()
    names = {id(v): f"v{next(numbers)}" for v in program.jaxpr.invars}
    lines = list(_lines(program, names, numbers))
    return [*lines, f"return {_read(program.jaxpr.outvars, names)}"]


def _lines(program: ClosedJaxpr, names: dict[int, str], numbers: Iterator[int]) -> Iterator[str]:
    consts = zip(program.jaxpr.constvars, program.consts, strict=True)
    names.update((id(v), _constant(const)) for v, const in consts)
    for eqn in program.jaxpr.eqns:
        operands, inner = _read(eqn.invars, names), eqn.params.get("jaxpr")
        if eqn.primitive.name in ("jit", "pjit") and isinstance(inner, ClosedJaxpr):
            within = dict(zip(map(id, inner.jaxpr.invars), operands, strict=True))
            yield from _lines(inner, within, numbers)
            names.update(zip(map(id, eqn.outvars), _read(inner.jaxpr.outvars, within), strict=True))
        else:
            names.update((id(v), f"v{next(numbers)}") for v in eqn.outvars)
            types = ", ".join(str(v.aval) for v in eqn.outvars)
            params = _PLACE.sub("", str(eqn.params))
            yield f"{types} = {eqn.primitive.name}{params}({', '.join(operands)})"


def _read(atoms: Sequence[Any], names: Mapping[int, str]) -> list[str]:
    return [_constant(x.val) if isinstance(x, Literal) else names[id(x)] for x in atoms]


def _constant(value: Any) -> str:
    if jnp.issubdtype(jax.typeof(value).dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    value = np.asarray(value)
    return str(value) if value.ndim == 0 else f"{value.shape}:{zlib.crc32(value.tobytes())}"
