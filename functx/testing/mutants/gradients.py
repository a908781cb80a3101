"""Wrong derivatives of each array, in each mode, at first and second order; wrong batching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax

from functx.testing.calls import Calls, Given, replaced
from functx.testing.checks.tails import has_tails

from .batching import Fault, mixes_lanes, mixes_tangents
from .derivatives import bent, beside_1, flat_at_zero, inexact, scaled, WrongIdentity
from .mutant import Mistake, Mutant, planted, touching, When
from .subject import Subject


FIRST = {
    "gradient, reverse": scaled(1.0, 2.0),
    "gradient, forward": scaled(2.0, 1.0),
    "gradient, both modes": scaled(2.0, 2.0),
    "gradient zero": scaled(0.0, 0.0),
}
FAULTS: list[tuple[str, Fault, int]] = [("lanes, alone", "alone", 0), ("lanes, last", "last", 1)]
SECOND = {
    "second order, reverse": bent(0.0, 1.0),
    "second order, forward": bent(1.0, 0.0),
    "second order, both modes": bent(1.0, 1.0),
}
LINEARITY = {"second order, cotangents of 0": flat_at_zero()}


def _present(calls: Calls, target: str) -> When:
    def when(given: Given) -> bool:
        x = calls.arrays(given).get(target)
        return x is not None and inexact(x)

    return when


def spoiled(calls: Calls, target: str, spoil: WrongIdentity) -> Mistake:
    """A mistake: the operator of an array that went through `spoil`."""
    return lambda op, given: op(replaced(given, target, spoil(calls.arrays(given)[target])))


def gradient_mutants(subject: Subject) -> Iterator[Mutant]:
    """Each differentiable array's derivative off by a factor, or bent at second order."""
    calls, wide = subject.calls, subject.wide
    if wide is None:
        return
    narrow = subject.dtype
    first = (("gradient", wide), ("vjp", narrow), ("grad", narrow), ("conventions", narrow))
    second = (
        ("second_gradient", wide),
        ("vjp_vjp", narrow),
        ("vjp_jvp", narrow),
        ("hessian_in_scan", narrow),
        ("conventions", narrow),
    )
    zero = (("pullback_at_zero", narrow),)
    for target in subject.active_arrays:
        when = _present(calls, target)
        for spoils, cells in ((FIRST, first), (SECOND, second), (LINEARITY, zero)):
            for kind, spoil in spoils.items():
                op = planted(calls, when, spoiled(calls, target, spoil))
                yield Mutant(kind, target, op, cells, _moving(subject, target))


def slope_mutants(subject: Subject) -> Iterator[Mutant]:
    """Of an entry that says what is exact far out: slopes that are made beside 1."""
    info, calls = subject.info, subject.calls
    cells = tuple(("tails", dtype) for dtype in ("float32", "float64") if has_tails(info, dtype))
    if not cells:
        return
    spoils = {mode: beside_1(mode) for mode in ("reverse", "forward")}

    def before(given: Given) -> Given:
        for target, x in calls.arrays(given).items():
            given = replaced(given, target, spoils["reverse"](x)) if inexact(x) else given
        return given

    mistakes: dict[str, Mistake] = {
        "slopes beside 1, reverse": lambda op, given: op(before(given)),
        "slopes beside 1, forward": lambda op, given: jax.tree.map(
            lambda y: spoils["forward"](y) if inexact(y) else y, op(given)
        ),
    }
    for kind, mistake in mistakes.items():
        yield Mutant(kind, "", planted(calls, _always, mistake), cells, lambda sample: True)


def _always(given: Given) -> bool:
    return True


def _moving(subject: Subject, target: str) -> Callable[[Any], bool]:
    return lambda sample: target in subject.active(sample)


def batching_mutants(subject: Subject) -> Iterator[Mutant]:
    """Each array's lanes in a wrong order: mapped alone, at the last dimension, or its tangents."""
    calls, dtype = subject.calls, subject.dtype
    likely = (("vmap", dtype), ("vmap_vjp", dtype), ("vmap_jvp", dtype))
    for target in subject.used_arrays:
        for kind, fault, rank in FAULTS:
            when = _ranked(calls, target, rank)
            if not _takes(subject, target, rank):
                continue
            op = planted(calls, when, _mixed(target, fault))
            yield Mutant(kind, target, op, likely, touching(calls, when))
    derived = ("vmap_vjp", "vmap_jvp", "vmap_pullback", "vmap_grad")
    cells = tuple((check, dtype) for check in derived)
    for target in subject.active_arrays:
        mistake = spoiled(calls, target, mixes_tangents)
        op = planted(calls, _present(calls, target), mistake)
        yield Mutant("lanes of derivatives", target, op, cells, _moving(subject, target))


def _ranked(calls: Calls, target: str, least: int) -> When:
    def when(given: Given) -> bool:
        x = calls.arrays(given).get(target)
        return x is not None and x.ndim >= least

    return when


def _takes(subject: Subject, target: str, least: int) -> bool:
    """Whether the operator accepts an array of that rank in this place."""
    for sample in subject.samples():
        x = subject.arrays(sample).get(target)
        if x is None:
            continue
        ranked = x if x.ndim >= least else x.reshape((1,) * least)
        if ranked is x or subject.accepts(subject.with_arrays(sample, {target: ranked})):
            return True
    return False


def _mixed(target: str, fault: Fault) -> Mistake:
    def mistake(op: Calls, given: Given) -> Any:
        arrays = op.arrays(given)
        x = arrays.pop(target)
        return op(replaced(given, target, mixes_lanes(x, list(arrays.values()), fault)))

    return mistake
