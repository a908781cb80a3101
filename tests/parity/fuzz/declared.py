"""Differences that are meant: of one operator, beside its entry; of a kind, here."""

from __future__ import annotations

import dataclasses
import functools as ft
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category
from functx._core.operators.roles import RoleKind
from functx.testing import Departure, OpInfo
from functx.testing.dtype_facts import DtypeCase, REFUSED

from .draws import Call, to_call
from .elements import (
    at_infinity,
    at_nan,
    cast_out_of_range,
    covered,
    Elementwise,
    last_digits,
    nan_of_pytorch,
    no_direction,
    squares_out_of_range,
    subnormal,
    written_out_of_range,
)
from .judging import Finding
from .outcomes import by_functx, by_pytorch
from .slopes import pytorchs_is_no_derivative


def reason(call: Call, finding: Finding) -> str | None:
    """Why a difference is meant, if it is."""
    for departure in stated(call.info):
        if covers(departure, finding):
            return departure.reason
    for applies, why in PRINCIPLES:
        if applies(call, finding):
            return why
    return _own_dtypes(call, finding) or _together(call, finding)


def _together(call: Call, finding: Finding) -> str | None:
    """The reason where each element that differs has one, though not all the same."""
    elementwise = [(each, why) for each, why in PRINCIPLES if isinstance(each, Elementwise)]
    if covered(call, finding, [each for each, _ in elementwise]):
        return "; ".join(why for each, why in elementwise if finding.kind in each.kinds)
    return None


@ft.cache
def stated(info: OpInfo) -> list[Departure]:
    """The departures on an operator's entries."""
    from .running import ENTRIES

    alike = [other for other in ENTRIES.values() if other.name == info.name]
    return [d for other in alike for d in other.call_departures()]


def covers(departure: Departure, finding: Finding) -> bool:
    """Whether this is such a difference."""
    return departure.kind == finding.kind and bool(re.search(departure.match, finding.line))


def _own_dtypes(call: Call, finding: Finding) -> str | None:
    """The reason for a result dtype that the entry declares as functx's own."""
    kinds = {True: ("refused",), False: ("dtype", "accepted", "structure")}
    names = {x.dtype.name for x in call.arrays}
    for own in call.info.dtype_departures:
        if finding.kind not in kinds[own.answer == REFUSED]:
            continue
        for name in names & set(own.dtypes) if own.dtypes else names:
            if re.search(own.match, DtypeCase(call.sample).key(call.info, name)):
                return own.reason
    return None


OF_TYPES = "TypeError|AttributeError|failed to match any schema"


def _numbers(call: Call, finding: Finding) -> bool:
    if finding.kind != "accepted" or not re.search(OF_TYPES, finding.what):
        return False
    spec = call.info.spec
    assert spec is not None
    given: dict[str, Any] = spec.arguments(call.args, call.kwargs)
    kinds = RoleKind.ARRAY, RoleKind.UNPROMOTED
    arrays = [given.get(name) for name, role in spec.roles.items() if role.kind in kinds]
    flat = [y for x in arrays for y in (x if isinstance(x, (list, tuple)) else [x])]
    return any(isinstance(x, (bool, int, float, complex)) for x in flat)


def _zero_d(call: Call, finding: Finding) -> bool:
    spec = call.info.spec
    if finding.kind != "accepted" or not re.search(OF_TYPES, finding.what):
        return False
    assert spec is not None
    given: dict[str, Any] = spec.arguments(call.args, call.kwargs)
    options = [given.get(k) for k, role in spec.roles.items() if role.kind is not RoleKind.ARRAY]
    return any(isinstance(x, np.ndarray) and x.ndim == 0 for x in options)


OF_DTYPES = "dtype|scalar type|Integral inputs|Expected a long tensor|can't be cast to"
OF_ELEMENTS = "at least one element|tensor of 0 elements"
OF_SHAPES = (
    r"must be \[|must have the shape \[|must hold a position for each|must both be given|"
    r"elements in each channel|needs more than one value per channel"
)
OF_VALUES = (
    r"expected [\w, ]+ arrays, got|must be int32 or int64|must not hold|must lie in|same dtype|"
    r"must hold integers|"
    r"one for each channel|must have the dtype of|must be floating(?: or complex)?, got|"
    r"must be a number dtype|must be a dtype of numbers, got bool|does not take|"
    r"must broadcast(?: to|, got)|`reduce` cannot be|must not be floating for|"
    r"needs a dimension of heads|must divide those of|must fit \w+, got|must not be complex for"
)


def _nothing_computed(call: Call, finding: Finding) -> bool:
    empty = any(x.size == 0 for x in call.arrays)
    if finding.kind == "accepted":
        return empty and bool(re.search(f"{OF_DTYPES}|{OF_ELEMENTS}", finding.what))
    if finding.kind == "dtype":
        return empty and bool(re.search(r"float\d+, PyTorch u?int\d+$", finding.what))
    if empty and finding.kind == "refused" and re.search(OF_SHAPES, finding.what):
        return True
    none_drawn = not call.arrays and 0 in jax.tree.leaves((call.args, call.kwargs))
    small = empty or none_drawn or any(x.ndim == 0 for x in call.arrays)
    return small and finding.kind == "refused" and bool(re.search(OF_VALUES, finding.what))


def _no_factorization(call: Call, finding: Finding) -> bool:
    return finding.kind == "accepted" and "_LinAlgError" in finding.what


def _too_large(call: Call, finding: Finding) -> bool:
    return finding.kind == "refused" and ", the widest integer, got " in finding.what


def _would_wrap(call: Call, finding: Finding) -> bool:
    said = re.search(r"must fit u?int\d+, got -?\d+", finding.what)
    return finding.kind == "refused" and bool(said)


def _real_by_value(call: Call, finding: Finding) -> bool:
    said = re.search("must be real for|must not be complex|must be a real number", finding.what)
    leaves = jax.tree.leaves((call.args, call.kwargs))
    numbers = [x for x in leaves if isinstance(x, (np.ndarray, complex)) and np.ndim(x) == 0]
    complexes = [x for x in numbers if category(np.asarray(x).dtype) == 3]
    return finding.kind == "refused" and bool(said) and any(np.imag(x) == 0 for x in complexes)


def _narrower_positions(call: Call, finding: Finding) -> bool:
    said = re.search(r"int64|\b[Ll]ong\b", finding.what)
    narrower = any(x.dtype == np.int32 for x in call.arrays)
    return finding.kind == "accepted" and narrower and bool(said)


def _no_derivative(call: Call, finding: Finding) -> bool:
    return finding.kind == "gradient" and pytorchs_is_no_derivative(call)


def _of_probabilities(call: Call, finding: Finding) -> bool:
    said = r"^(?:Value|Runtime)Error: .*must lie in \[0, 1\], got"
    return finding.kind == "refused" and bool(re.search(said, finding.what))


def _in_some_ways(call: Call, finding: Finding) -> bool:
    """Whether PyTorch refuses the dtype, too, in another of the entry's calls."""
    said = r"^TypeError: .*(expected [\w, ]+ arrays?, got|needs a floating array, got)"
    if finding.kind != "refused" or not re.search(said, finding.what):
        return False
    others = {x.dtype for x in call.arrays} - {jnp.dtype(name) for name in call.info.accepted}
    drawn = list(call.info.samples(call.info.make(call.info.accepted[-1])))
    return bool(others) and all(
        any(by_pytorch(_cast(to_call(call.info, sample), dtype)).error for sample in drawn)
        for dtype in others
    )


def _cast(call: Call, dtype: Any) -> Call:
    """The call with its floating arrays in another dtype."""
    inexact = lambda x: isinstance(x, np.ndarray) and category(x.dtype) >= 2
    with np.errstate(all="ignore"):
        cast = lambda x: x.astype(dtype) if inexact(x) else x
        args, kwargs = jax.tree.map(cast, (call.args, call.kwargs))
    return dataclasses.replace(call, args=args, kwargs=kwargs)


def _drawn(call: Call, finding: Finding) -> bool:
    """Whether functx draws: the value is another for another key."""
    assert call.info.spec is not None
    if finding.kind != "value" or not call.info.spec.random:
        return False
    keys = jax.random.split(jax.random.key(call.seed), 8)
    first, *others = (by_functx(call, key=key).arrays for key in keys)
    same = lambda other: all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(first, other, strict=True)
    )
    return not all(map(same, others))


Applies = Callable[[Call, Finding], bool]
PRINCIPLES: list[tuple[Applies, str]] = [
    (_numbers, "Python numbers are taken for arrays, but where a signature says `ArrayOnly`"),
    (_zero_d, "0-d arrays are taken for numbers that are traced"),
    (_nothing_computed, "PyTorch checks dtypes and values in loops that run over nothing here"),
    (_no_factorization, "what LAPACK cannot do gives NaN; `debug.checked` reports it"),
    (_too_large, "no array holds an integer of more than 64 bits; a float, 2.0**64, is taken"),
    (_would_wrap, "an integer that the arrays' dtype cannot hold is refused, and does not wrap"),
    (_real_by_value, "which dtypes are taken does not depend on values: 1 + 0j is complex"),
    (_of_probabilities, "what must be a probability is one, whether it is looked at or not"),
    (_in_some_ways, "which dtypes are taken does not depend on the other arguments"),
    (_narrower_positions, "positions are int32 where 64 bit is off"),
    (nan_of_pytorch, "where a derivative exists it is no NaN"),
    (
        no_direction,
        "the gradients are the same along Hermitian directions, and there are no others",
    ),
    (at_nan, "where a value is NaN there is no derivative"),
    (at_infinity, "what infinities leave of a derivative depends on the order of steps"),
    (_no_derivative, "a derivative that exists is what difference quotients say"),
    (squares_out_of_range, "a norm that its dtype holds is no infinity, nor is its gradient 0"),
    (last_digits, "no result is better than the last digits of what it is computed from"),
    (_drawn, "a call that draws has no one value"),
    (subnormal, "XLA's arithmetic takes subnormal numbers for zeros on CPUs"),
    (cast_out_of_range, "what becomes of floats outside an integer dtype is undefined in PyTorch"),
    (written_out_of_range, "floats written into integers are cast as all are"),
]
