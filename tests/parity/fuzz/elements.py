"""Differences that are meant of some elements: each says which, and excuses no others."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import torch

from functx._core import category
from functx.testing.dtype_facts import dtype_named

from .draws import Call, replaced, without_nan
from .gradients import apart, gradients, moving, pytorchs
from .judging import exact, Finding, off, with_zeros
from .outcomes import as_numpy, by_functx, by_pytorch
from .reaching import reached, Results, values
from .slopes import along_directions


Arrays: TypeAlias = list[np.ndarray]
Masks: TypeAlias = list[Any]  # of each result, or of each gradient
Excuse: TypeAlias = Callable[[Call, Arrays, Arrays, Results], Masks]  # functx's and PyTorch's


@dataclasses.dataclass(frozen=True)
class Elementwise:
    """A principle that covers elements of some kinds of findings."""

    kinds: tuple[str, ...]
    excuse: Excuse

    def __call__(self, call: Call, finding: Finding) -> bool:
        """Whether all elements that differ are among its own."""
        return covered(call, finding, [self])

    def masks(self, call: Call, kind: str) -> Masks:
        """Its elements."""
        both = _both(call, kind) if kind in self.kinds and call.info.gauge is None else None
        with np.errstate(all="ignore"):
            results = pytorchs if kind == "gradient" else values
            return [] if both is None else self.excuse(call, *both, results)


def covered(call: Call, finding: Finding, principles: Sequence[Elementwise]) -> bool:
    """Whether all elements that differ are among those of some principle."""
    if not any(finding.kind in each.kinds for each in principles):
        return False
    wrong = _apart(call, finding.kind)
    for each in principles:
        masks = each.masks(call, finding.kind)
        if len(masks) >= len(wrong):  # of results in any order the last is not compared
            wrong = [x & ~y for x, y in zip(wrong, masks, strict=False)]
    return not any(map(np.any, wrong))


def _of(*kinds: str) -> Callable[[Excuse], Elementwise]:
    return ft.partial(Elementwise, kinds)


def _both(call: Call, kind: str) -> tuple[Arrays, Arrays] | None:
    """functx's and PyTorch's results, or their gradients."""
    if kind == "gradient":
        return gradients(call)
    ours, theirs = by_functx(call, key=jax.random.key(call.seed)), by_pytorch(call)
    if ours.error is not None or theirs.error is not None:
        return None
    return list(map(as_numpy, ours.arrays)), list(map(as_numpy, theirs.arrays))


def _apart(call: Call, kind: str) -> Arrays:
    """Which elements are not PyTorch's."""
    if kind == "gradient":
        pairs = zip(*(gradients(call) or ((), ())), strict=True)
        return [apart(call, i, g, w) for i, (g, w) in enumerate(pairs)]
    return list(off(call, by_functx(call, key=jax.random.key(call.seed)), by_pytorch(call)))


# Of gradients.


@_of("gradient")
def nan_of_pytorch(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """Where PyTorch has NaN, also with ones for NaN elsewhere."""
    masks = [np.isnan(w) & ~np.isnan(g) for g, w in zip(ours, theirs, strict=True)]
    if not any(np.isnan(x).any() for x in moving(call)):
        return masks
    both = gradients(without_nan(call))
    pairs = zip(masks, *both, strict=True) if both else ()
    return [mask & np.isnan(w) & ~np.isnan(g) for mask, g, w in pairs]


def no_direction(call: Call, finding: Finding) -> bool:
    """Whether gradients are alike in what of them counts."""
    if finding.kind != "gradient" or call.info.directions is None:
        return False
    both = gradients(call)
    return both is not None and not any(
        apart(call, i, along_directions(call, g, x), along_directions(call, w, x)).any()
        for i, (g, w, x) in enumerate(zip(*both, moving(call), strict=True))
    )


@_of("gradient")
def at_nan(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """At NaN, and for PyTorch's NaN, where all are alike with ones for NaN."""
    nan = [np.isnan(x) for x in moving(call)]
    if not any(map(np.any, nan)) or any(map(np.any, _apart(without_nan(call), "gradient"))):
        return []
    masks = map(np.isnan, theirs)
    return [ft.reduce(np.logical_or, [n for n in nan if n.shape == m.shape], m) for m in masks]


@_of("gradient")
def at_infinity(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """Where PyTorch has an infinity that comes of one."""
    comes = reached(call, np.isinf, pytorchs)
    return [np.isnan(g) & np.isinf(w) & y for g, w, y in zip(ours, theirs, comes, strict=False)]


@_of("gradient")
def squares_out_of_range(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """Where PyTorch has 0 or no number, if it has lost a result that functx holds."""
    lost = lambda y: np.isinf(y) | (y == 0)
    for each in (call, without_nan(call, lambda x: ~np.isfinite(x))):  # which would hide it
        pairs = zip(*(_both(each, "value") or ((), ())), strict=True)
        if any((lost(w) & ~lost(g) & np.isfinite(g)).any() for g, w in pairs):
            return [~np.isfinite(w) | (w == 0) for w in theirs]
    return []


# Of results, too.


TRIES = 4
NUDGE = 4  # ulps; what does not magnify them is not excused
REACH = 4  # how much farther: both results are computed in many steps


@_of("value", "gradient")
def last_digits(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """Where PyTorch's results move as far when its inputs move by their last digits."""
    if not moving(call) or any(category(y.dtype) < 2 for y in (*ours, *theirs)):
        return []
    rng = np.random.default_rng(call.seed)
    moved = [found for _ in range(TRIES) if (found := results(_nudged(call, rng))) is not None]
    return [
        _within_reach(g, w, [each[i] for each in moved])
        for i, (g, w) in enumerate(zip(ours, theirs, strict=True))
    ]


def _within_reach(got: np.ndarray, want: np.ndarray, moved: Arrays) -> np.ndarray:
    reach = np.fmax.reduce([np.abs(y - want) for y in moved], initial=0)
    least = 2 * NUDGE * float(jnp.finfo(want.dtype).eps) * np.abs(want)
    return (reach > least) & (np.abs(got - want) <= REACH * reach)


def _nudged(call: Call, rng: np.random.Generator) -> Call:
    """The call with each floating number moved towards 0 by some ulps."""

    def nudged(x: np.ndarray) -> np.ndarray:
        less = rng.uniform(0, NUDGE, x.shape) * float(jnp.finfo(x.dtype).eps)
        return x * (1 - less)

    return replaced(call, np.isfinite, nudged)


@_of("gradient")
def subnormal(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """Where PyTorch has the same with zeros for subnormal numbers."""
    zeros = None if exact(call) else with_zeros(call)
    found = results(zeros) if zeros else None
    return [~apart(call, i, g, w) for i, (g, w) in enumerate(zip(ours, found or [], strict=False))]


@_of("value")
def cast_out_of_range(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """Where it comes of floats that an integer dtype, which the call names, does not hold."""
    leaves = jax.tree.leaves((call.args, call.kwargs))
    named = [dtype_named(x) for x in leaves if not isinstance(x, np.ndarray)]
    integers = [jnp.dtype(name) for name in named if name and category(jnp.dtype(name)) == 1]
    return reached(call, ft.partial(_outside, integers[0]), results) if integers else []


@_of("value")
def written_out_of_range(call: Call, ours: Arrays, theirs: Arrays, results: Results) -> Masks:
    """Where PyTorch has what its cast makes of floats that an integer dtype does not hold."""
    integers = {x.dtype for x in call.arrays if category(x.dtype) == 1}
    floating = [np.real(x).astype(np.float64) for x in call.arrays if category(x.dtype) >= 2]
    lost = [_lost(x, to) for x in floating for to in integers]
    return [np.isin(w, np.concatenate(lost)) for w in theirs] if lost else []


def _outside(dtype: np.dtype, x: np.ndarray) -> np.ndarray:
    ends, x = np.iinfo(dtype), np.real(x).astype(np.float64)
    return ~((x > ends.min - 1.0) & (x < ends.max + 1.0))


def _lost(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """What PyTorch makes of the numbers that an integer dtype does not hold."""
    return torch.from_numpy(x[_outside(dtype, x)]).to(getattr(torch, dtype.name)).numpy()
