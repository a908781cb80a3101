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
import torch

from functx._core import category
from functx._core.roles import Kind
from functx.testing import Departure, OpInfo
from functx.testing.dtype_facts import Case, dtype_named, REFUSED

from .draws import Call, to_call, without_nan
from .gradients import apart, gradients, moving
from .judging import exact, far, Finding
from .outcomes import as_numpy, by_functx, by_pytorch
from .slopes import along_directions, pytorchs_is_no_derivative


def reason(call: Call, finding: Finding) -> str | None:
    """Why a difference is meant, if it is."""
    for departure in stated(call.info):
        if covers(departure, finding):
            return departure.reason
    for applies, why in PRINCIPLES:
        if applies(call, finding):
            return why
    return _own_dtypes(call, finding)


@ft.cache
def stated(info: OpInfo) -> list[Departure]:
    """The departures on an operator's entries."""
    from .running import ENTRIES

    alike = [other for other in ENTRIES.values() if other.name == info.name]
    return [d for other in alike for d in other.departures(other.make(other.accepted[-1]))]


def covers(departure: Departure, finding: Finding) -> bool:
    """Whether this is such a difference."""
    return departure.kind == finding.kind and bool(re.search(departure.match, finding.line))


def _own_dtypes(call: Call, finding: Finding) -> str | None:
    """The reason for a result dtype that the entry declares as functx's own."""
    kinds = {True: ("refused",), False: ("dtype", "accepted", "structure")}
    names = {x.dtype.name for x in call.arrays}
    for own in call.info.own_dtypes:
        if finding.kind not in kinds[own.answer == REFUSED]:
            continue
        for name in names & set(own.dtypes) if own.dtypes else names:
            if re.search(own.cases, Case(call.sample).key(call.info, name)):
                return own.reason
    return None


OF_TYPES = "TypeError|AttributeError|failed to match any schema"


def _numbers(call: Call, finding: Finding) -> bool:
    if finding.kind != "accepted" or not re.search(OF_TYPES, finding.what):
        return False
    spec = call.info.spec
    assert spec is not None
    given: dict[str, Any] = spec.arguments(call.args, call.kwargs)
    kinds = Kind.ARRAY, Kind.OTHER
    arrays = [given.get(name) for name, role in spec.roles.items() if role.kind in kinds]
    flat = [y for x in arrays for y in (x if isinstance(x, (list, tuple)) else [x])]
    return any(isinstance(x, (bool, int, float, complex)) for x in flat)


def _zero_d(call: Call, finding: Finding) -> bool:
    spec = call.info.spec
    if finding.kind != "accepted" or not re.search(OF_TYPES, finding.what):
        return False
    assert spec is not None
    given: dict[str, Any] = spec.arguments(call.args, call.kwargs)
    options = [given.get(k) for k, role in spec.roles.items() if role.kind is not Kind.ARRAY]
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
    return finding.kind == "refused" and "does not fit the widest integer" in finding.what


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


def _nan_of_pytorch(call: Call, finding: Finding) -> bool:
    said = r"^of array (\d+): [^ ]*(?:\d|inf)j?\)? at \[([\d, ]*)\], PyTorch \(?-?nan"
    found = re.search(said, finding.what)
    if finding.kind != "gradient" or not found:
        return False
    if not any(np.isnan(x).any() for x in call.arrays if category(x.dtype) >= 2):
        return True
    both = gradients(without_nan(call))  # there may be NaN elsewhere
    i, at = int(found[1]), tuple(int(k) for k in found[2].split(",") if k)
    return both is not None and bool(np.isnan(both[1][i][at]) and not np.isnan(both[0][i][at]))


def _no_direction(call: Call, finding: Finding) -> bool:
    if finding.kind != "gradient" or call.info.directions is None:
        return False
    both = gradients(call)
    return both is not None and not any(
        apart(call, along_directions(call, g, x), along_directions(call, w, x))
        for g, w, x in zip(*both, moving(call), strict=True)
    )


def _no_derivative(call: Call, finding: Finding) -> bool:
    return finding.kind == "gradient" and pytorchs_is_no_derivative(call)


def _at_nan(call: Call, finding: Finding) -> bool:
    """Whether gradients differ at NaN, or for PyTorch's NaN, and are alike with ones for NaN."""
    if finding.kind != "gradient" or not any(np.isnan(x).any() for x in moving(call)):
        return False
    without, both = gradients(without_nan(call)), gradients(call)
    if (
        without is None
        or both is None
        or any(apart(call, *pair) for pair in zip(*without, strict=True))
    ):
        return False
    nan = [np.isnan(x) for x in moving(call)]
    for g, w in zip(*both, strict=True):
        beside = [np.broadcast_to(n, g.shape) for n in nan if n.shape == g.shape]
        excused = np.logical_or.reduce([np.isnan(w), *beside])
        if apart(call, np.where(excused, 0, g), np.where(excused, 0, w)):
            return False
    return True


def _at_infinity(call: Call, finding: Finding) -> bool:
    said = re.search(r"^of array \d+: -?nan at .*, PyTorch -?inf \(", finding.what)
    infinite = any(np.isinf(x).any() for x in moving(call))
    return finding.kind == "gradient" and infinite and bool(said)


def _last_digits(call: Call, finding: Finding) -> bool:
    """Whether PyTorch's results move as far when its inputs move by their last digits."""
    if finding.kind not in ("value", "gradient") or not moving(call):
        return False
    both = _both(call, finding.kind)
    if both is None or any(category(y.dtype) < 2 for pair in both for y in pair):
        return False
    rng = np.random.default_rng(call.seed)
    moved = [_both(_nudged(call, rng), finding.kind) for _ in range(TRIES)]
    differ = apart if finding.kind == "gradient" else ft.partial(far, call.info)
    with np.errstate(all="ignore"):
        for i, (g, w) in enumerate(zip(*both, strict=True)):
            others = [pair[1][i] for pair in moved if pair is not None]
            reach = np.fmax.reduce([np.abs(y - w) for y in others], initial=0)
            eps = float(jnp.finfo(w.dtype).eps)
            excused = (reach > 2 * NUDGE * eps * np.abs(w)) & (np.abs(g - w) <= REACH * reach)
            if differ(call, np.where(excused, 0, g), np.where(excused, 0, w)):
                return False
    return True


TRIES = 4
NUDGE = 4  # ulps; what does not magnify them is not excused
REACH = 4  # how much farther: both results are computed in many steps


def _both(call: Call, kind: str) -> tuple[list[np.ndarray], list[np.ndarray]] | None:
    """functx's and PyTorch's results, or their gradients."""
    if kind == "gradient":
        return gradients(call)
    ours, theirs = by_functx(call, key=jax.random.key(call.seed)), by_pytorch(call)
    if ours.error is not None or theirs.error is not None:
        return None
    return list(map(as_numpy, ours.arrays)), list(map(as_numpy, theirs.arrays))


def _nudged(call: Call, rng: np.random.Generator) -> Call:
    """The call with each floating number moved towards 0 by some ulps."""

    def nudge(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or category(x.dtype) < 2:
            return x
        less = rng.uniform(0, NUDGE, x.shape) * float(jnp.finfo(x.dtype).eps)
        return np.asarray(x * (1 - less), x.dtype)

    args, kwargs = jax.tree.map(nudge, (call.args, call.kwargs))
    return dataclasses.replace(call, args=args, kwargs=kwargs)


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


def _written_out_of_range(call: Call, finding: Finding) -> bool:
    said = re.search(r"^(?:output \d+: )?-?\d+ at .*, PyTorch (-?\d+) \(", finding.what)
    if finding.kind != "value" or not said:
        return False
    integers = {x.dtype for x in call.arrays if category(x.dtype) == 1}
    floating = [np.real(x) for x in call.arrays if category(x.dtype) >= 2]
    return any(int(said[1]) in _lost(x.astype(np.float64), to) for x in floating for to in integers)


def _lost(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """What PyTorch makes of the numbers that an integer dtype does not hold."""
    ends = np.iinfo(dtype)
    outside = ~((x > ends.min - 1.0) & (x < ends.max + 1.0))
    return torch.from_numpy(x[outside]).to(getattr(torch, dtype.name)).numpy()


def _cast_out_of_range(call: Call, finding: Finding) -> bool:
    if finding.kind != "value" or not any(category(x.dtype) >= 2 for x in call.arrays):
        return False
    options = [x for x in jax.tree.leaves((call.args, call.kwargs)) if dtype_named(x)]
    named = [dtype_named(x) for x in options if not isinstance(x, np.ndarray)]
    return any(category(jnp.dtype(name)) < 2 for name in named)


def _squares_out_of_range(call: Call, finding: Finding) -> bool:
    if finding.kind != "gradient":
        return False
    left = lambda y: np.isinf(y) | (y == 0)
    for each in (call, without_nan(call, lambda x: ~np.isfinite(x))):  # which would hide it
        both = by_functx(each, key=jax.random.key(call.seed)), by_pytorch(each)
        pairs = zip(*(map(as_numpy, outcome.arrays) for outcome in both), strict=True)
        if any((left(theirs) & ~left(ours) & np.isfinite(ours)).any() for ours, theirs in pairs):
            return True
    return False


def _subnormal(call: Call, finding: Finding) -> bool:
    if finding.kind not in ("value", "gradient") or exact(call):
        return False
    inexact = [x for x in call.arrays if category(x.dtype) >= 2]
    parts = [part for x in inexact for part in (np.real(x), np.imag(x))]
    tiny = [float(jnp.finfo(x.dtype).tiny) for x in inexact for _ in range(2)]
    sizes = [np.abs(part.astype(np.float64)) for part in parts]
    return any(((x > 0) & (x < least)).any() for x, least in zip(sizes, tiny, strict=True))


Applies = Callable[[Call, Finding], bool]
PRINCIPLES: list[tuple[Applies, str]] = [
    (_numbers, "Python numbers are taken wherever arrays are"),
    (_zero_d, "and 0-d arrays wherever numbers are that are traced"),
    (_nothing_computed, "PyTorch checks dtypes and values in loops that run over nothing here"),
    (_no_factorization, "what LAPACK cannot do gives NaN; `debug.checked` reports it"),
    (_too_large, "no array holds an integer of more than 64 bits: 2.0**64 is a number for it"),
    (_real_by_value, "which dtypes are taken does not depend on values: 1 + 0j is complex"),
    (_of_probabilities, "what must be a probability is one, whether it is looked at or not"),
    (_in_some_ways, "which dtypes are taken does not depend on the other arguments"),
    (_narrower_positions, "positions are int32 where 64 bit is off"),
    (_nan_of_pytorch, "where a derivative exists it is no NaN"),
    (
        _no_direction,
        "the gradients are the same along Hermitian directions, and there are no others",
    ),
    (_at_nan, "where a value is NaN there is no derivative"),
    (_at_infinity, "what infinities leave of a derivative depends on the order of steps"),
    (_no_derivative, "a derivative that exists is what difference quotients say"),
    (_squares_out_of_range, "a norm that its dtype holds is no infinity, nor is its gradient 0"),
    (_last_digits, "no result is better than the last digits of what it is computed from"),
    (_drawn, "a call that draws has no one value"),
    (_subnormal, "XLA's arithmetic takes subnormal numbers for zeros on CPUs"),
    (_cast_out_of_range, "what becomes of floats outside an integer dtype is undefined in PyTorch"),
    (_written_out_of_range, "and of those written into integers, which PyTorch casts first"),
]
