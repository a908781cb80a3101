"""Results in a dtype that PyTorch does not give."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from functx._core.numbers.weak_types import is_weak
from functx._core.operators.call import compiled
from functx._core.operators.tracing import trace_operator
from functx.testing.calls import Calls, Given
from functx.testing.dtypes import HALVES

from .derivatives import scaled, widens_cotangents
from .gradients import spoiled
from .mutant import Cells, Mutant, planted, touching, When
from .subject import Subject


NARROWER = {"int64": "int32", "float64": "float32", "complex128": "complex64"}
ANOTHER = {"float32": "float64", "bool": "int64", "complex64": "complex128", "int64": "float32"}


# In halves alone: off by a quarter, which is more than any rounding.
OF_HALVES = {
    "half's gradient, reverse": scaled(1.0, 1.25),
    "half's gradient, forward": scaled(1.25, 1.0),
    "half's gradient, both modes": scaled(1.25, 1.25),
}


def dtype_mutants(subject: Subject) -> Iterator[Mutant]:
    """64-bit results in 32 bits, halves and their gradients as float32, weak types, mixtures."""
    known: set[tuple[int, str]] = set()
    for dtype in dict.fromkeys([subject.dtype, subject.takes("float64", "complex128")]):
        if dtype is not None:
            yield from _narrowed(subject, dtype, known)
    half = subject.takes(*HALVES)
    if half is not None:
        cells = (("dtypes", half), ("dtypes", subject.dtype), ("reference", half))
        widen = lambda y: y.astype("float32") if y.dtype.name in HALVES else y
        yield from _changed(subject, "half as float32", half, half, widen, cells)
        yield from _gradients_of_halves(subject, half)
    weak = (("dtypes", subject.dtype),)
    yield from _changed(subject, "weak type", "", subject.dtype, _weak, weak, shown=False)
    yield from _of_weak_arrays(subject)
    yield from _mixtures(subject)


def _narrowed(subject: Subject, dtype: str, known: set[tuple[int, str]]) -> Iterator[Mutant]:
    outputs = [subject.output(sample) or [] for sample in subject.samples(dtype)]
    found = {(i, y.dtype.name): None for out in outputs for i, y in enumerate(out)}
    for i, name in found:
        if name in NARROWER and (i, name) not in known:
            known.add((i, name))
            cells = (("dtypes", dtype), ("dtypes", subject.dtype), ("reference", dtype))
            kind = f"{name} as {NARROWER[name]}"
            cast = lambda y, name=name: y.astype(NARROWER[name]) if y.dtype == name else y
            yield from _changed(subject, kind, f"output {i}", dtype, cast, cells, at=i)


def _changed(
    subject: Subject,
    kind: str,
    target: str,
    dtype: str,
    change: Callable[[Any], Any],
    cells: Cells,
    *,
    at: int | None = None,
    shown: bool = True,
) -> Iterator[Mutant]:
    def mistake(op: Calls, given: Given) -> Any:
        leaves, tree = jax.tree.flatten(op(given))
        return tree.unflatten(
            [change(y) if at in (None, i) and _typed(y) else y for i, y in enumerate(leaves)]
        )

    op = planted(subject.calls, lambda given: True, mistake)
    touches = (lambda sample: subject.shows(sample, op)) if shown else (lambda sample: True)
    if any(map(touches, subject.samples(dtype))):
        yield Mutant(kind, target, op, cells, touches)


def _gradients_of_halves(subject: Subject, half: str) -> Iterator[Mutant]:
    """Of each array that is a half in some sample, and differentiable there."""
    derived = (("halves", half), ("vjp", half), ("grad", half))
    for target in subject.active_arrays:

        def here(given: Given, target: str = target) -> bool:
            x = subject.calls.arrays(given).get(target)
            return x is not None and x.dtype.name in HALVES

        taken = (s for s in subject.samples(half) if not s.values_only and here(subject.given(s)))
        if any(target in subject.active(sample) for sample in taken):
            op = planted(subject.calls, here, spoiled(subject.calls, target, widens_cotangents))
            # The check looks at the entry's samples itself.
            cells, touches = (("dtypes", half),), lambda sample: True
            yield Mutant("half's gradient as float32", target, op, cells, touches)
            if subject.info.random:  # in float32 other numbers are drawn: nothing to hold it to
                continue
            touches = lambda sample, target=target: target in subject.active(sample)
            for kind, spoil in OF_HALVES.items():
                op = planted(subject.calls, here, spoiled(subject.calls, target, spoil))
                yield Mutant(kind, target, op, derived, touches)


def _typed(y: Any) -> bool:
    return not jnp.issubdtype(y.dtype, jax.dtypes.extended)


def _weak(y: Any) -> Any:
    """Gives way to other dtypes, as Python's numbers do."""
    return lax.convert_element_type_p.bind(y, new_dtype=y.dtype, weak_type=True, sharding=None)


def _of_weak_arrays(subject: Subject) -> Iterator[Mutant]:
    """Mistakes in calls with weakly typed arrays, which the check makes of the samples."""
    calls, spec = subject.calls, subject.calls.spec
    if spec is None:
        return

    def any_weak(given: Given) -> bool:
        return any(map(is_weak, calls.arrays(given).values()))

    def unguarded(_: Calls, given: Given) -> Any:
        arguments = {name: x for name, x in given.items() if name != "device"}
        return compiled(spec, ft.partial(trace_operator, spec))(**arguments)

    def weak(op: Calls, given: Given) -> Any:
        return jax.tree.map(lambda y: _weak(y) if _typed(y) else y, op(given))

    cells = (("weak", subject.dtype),)
    gives_arrays = lambda sample: bool(subject.arrays(sample))
    if any(map(gives_arrays, subject.samples())):
        for kind, mistake in (
            ("weak array as a number", unguarded),
            ("weak type of an argument kept", weak),
        ):
            yield Mutant(kind, "", planted(calls, any_weak, mistake), cells, gives_arrays)


def _mixtures(subject: Subject) -> Iterator[Mutant]:
    spec, calls = subject.calls.spec, subject.calls
    if spec is None:
        return

    def promoting(given: Given) -> list[Any]:
        arrays = calls.arrays(given)
        return [x for name, x in arrays.items() if name.partition("[")[0] in spec.promoting]

    def mixed(given: Given) -> bool:
        return len({x.dtype for x in promoting(given)}) > 1

    def with_point(given: Given) -> bool:
        return mixed(given) and len({x.ndim == 0 for x in promoting(given)}) > 1

    def with_number(given: Given) -> bool:
        numbers = [v for name in spec.promoting for v in [given.get(name)]]
        return bool(promoting(given)) and any(isinstance(v, (int, float)) for v in numbers)

    def mistake(op: Calls, given: Given) -> Any:
        other = lambda y: y.astype(ANOTHER.get(y.dtype.name, "float32"))
        return jax.tree.map(lambda y: other(y) if _typed(y) else y, op(given))

    cells = (("dtypes", subject.dtype), ("reference", subject.dtype))
    for kind, when in (
        ("mixed dtypes", mixed),
        ("mixed with a 0-d array", with_point),
        ("mixed with a number", with_number),
    ):
        if _mixes(subject, when, promoting):
            # The checks make mixtures of the samples themselves.
            touches = touching(calls, when) if kind.endswith("number") else (lambda sample: True)
            yield Mutant(kind, "", planted(calls, when, mistake), cells, touches, True)


def _mixes(subject: Subject, when: When, promoting: Callable[[Given], list[Any]]) -> bool:
    """Whether the operator accepts such a mixture."""
    for sample in subject.samples()[:4]:
        given = subject.calls.arguments(sample.args, sample.kwargs)
        for name, x in subject.calls.arrays(given).items():
            if not any(x is y for y in promoting(given)):
                continue
            for other in (x.astype("int16"), x.astype("int16").ravel()[:1].sum(), 2):
                varied = subject.with_arrays(sample, {name: other})
                if subject.accepts(varied) and when(subject.given(varied)):
                    return True
    return False
