"""Which of two gradients is the derivative: by difference quotients of PyTorch's own results."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from functx._core import category

from .arrays import ordinary
from .draws import Call
from .gradients import by_functx, by_pytorch, moving
from .outcomes import as_numpy, by_pytorch as results


Arrays = list[np.ndarray]

LARGE = 100  # beside which a step is lost
STEP = 1e-5
NEAR = 1e-6  # of the sum of sizes: quotients of numbers of ordinary size
DIRECTIONS = 3


def along_directions(call: Call, gradient: Any, at: Any) -> Any:
    """What of a gradient counts where an array can move in some directions only."""
    directions = call.info.directions
    return gradient if directions is None else np.asarray(directions(gradient, at))


def pytorchs_is_no_derivative(call: Call) -> bool:
    """Whether functx's gradient is the derivative of PyTorch's result and PyTorch's own is not.

    Asked of the call with ordinary numbers for large ones and for what is not finite. Where the
    derivative is a convention, it is neither's.
    """
    rng = np.random.default_rng(call.seed)
    call = _with(call, [_ordinary(rng, x) for x in moving(call)])
    found = by_pytorch(call)
    if found is None:
        return False
    kept, cotangents, theirs = found
    ours = [np.asarray(g) for g in by_functx(call, kept, cotangents)]
    apart = False
    for _ in range(DIRECTIONS):
        along = [along_directions(call, ordinary(rng, x), x) for x in moving(call)]
        above, below = (_slope(call, kept, cotangents, along, sign) for sign in (1, -1))
        if above is None or below is None or not _near(above, below, 1e-2, along, ours):
            return False
        slope = (above + below) / 2
        if not _near(slope, _inner(along, ours), NEAR, along, ours):
            return False
        apart |= not _near(slope, _inner(along, theirs), NEAR, along, ours)
    return apart


def _ordinary(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(np.abs(x) < LARGE, x, ordinary(rng, x)), x.dtype)


def _with(call: Call, arrays: Arrays) -> Call:
    """The call with others in the places of its floating arrays."""
    leaves, tree = jax.tree.flatten((call.args, call.kwargs), is_leaf=lambda x: x is None)
    left = iter(arrays)
    moves = lambda x: isinstance(x, np.ndarray) and category(x.dtype) >= 2
    args, kwargs = tree.unflatten([next(left) if moves(x) else x for x in leaves])
    return dataclasses.replace(call, args=args, kwargs=kwargs)


def _slope(
    call: Call, kept: list[int], cotangents: Arrays, along: Arrays, sign: int
) -> float | None:
    pairs = zip(moving(call), along, strict=True)
    moved = [np.asarray(x + sign * STEP * t, x.dtype) for x, t in pairs]
    pair = results(_with(call, moved)), results(call)
    if any(outcome.error is not None for outcome in pair):
        return None
    there, here = ([as_numpy(outcome.arrays[i]) for i in kept] for outcome in pair)
    with np.errstate(all="ignore"):
        rise = [np.nan_to_num(y - x, posinf=0, neginf=0) for x, y in zip(here, there, strict=True)]
    return sign * _inner(cotangents, rise) / STEP


def _inner(left: Arrays, right: Arrays) -> float:
    pairs = zip(left, right, strict=True)
    return float(sum(np.real(np.conj(a) * b).sum() for a, b in pairs))


def _near(a: float, b: float, share: float, along: Arrays, ours: Arrays) -> bool:
    size = _inner(list(map(np.abs, along)), list(map(np.abs, ours)))
    return abs(a - b) <= share * (1 + size)
