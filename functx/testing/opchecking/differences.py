"""Where differences of a function's values say what its derivatives are: in double, off kinks."""

from __future__ import annotations

import jax
import numpy as np

from functx._core import describe
from functx.testing.checks.cases import random_like
from functx.testing.gradients.precision import narrow, narrowest, widened

from .failures import said_of
from .target import finite, is_inexact, Target


_STEP = 1e-4
_NOISE = 1e-7
_ELSEWHERE = "give other arguments"


def in_double(target: Target) -> tuple[Target | None, str]:
    """The target at the same numbers in double precision, to be called with 64 bit on.

    None where it does not compute in double precision, and why.
    """
    wide = target.at([widened(x) for x in target.arrays])
    if all(x.dtype == y.dtype for x, y in zip(wide.arrays, target.arrays, strict=True)):
        note = ""
    else:
        note = "differences in double precision"
    try:
        outputs = wide(*wide.arrays)
    except Exception as error:
        return None, f"in double precision, which differences need, it {said_of('opcheck', error)}"
    less = [y for y in outputs if narrow(y)]
    if less:
        return None, (
            f"differences need double precision, and of arguments in it the result is "
            f"{describe(less[0])}"
        )
    inner = narrowest(wide, wide.arrays)
    if inner is not None:
        return None, f"differences need double precision, and the function casts to {inner} inside"
    return wide, note


def no_slope(target: Target) -> str:
    """Why the function has no slope here: a kink, a jump, a result that is not finite; or "".

    Along some direction, the second difference over the step falls with the step if it has one.
    """
    try:
        return _bend(target)
    except Exception as error:
        return f"beside these arguments it {said_of('opcheck', error)}"


def _bend(target: Target) -> str:
    moving = [i for i, x in enumerate(target.arrays) if is_inexact(x)]
    directions = random_like([target.arrays[i] for i in moving], seed=29)

    def moved(step: float) -> list[np.ndarray]:
        arrays = list(target.arrays)
        for i, t in zip(moving, directions, strict=True):
            arrays[i] = jax.device_put(np.asarray(arrays[i]) + step * t)
        return [np.asarray(y) for y in target(*arrays) if is_inexact(y)]

    here = moved(0)
    if not finite(here):
        return f"a result is not finite here: {_ELSEWHERE}"
    bends = []
    for step in (_STEP, _STEP / 10):
        above, below = moved(step), moved(-step)
        if not finite([*above, *below]):
            return f"a result beside this one is not finite: {_ELSEWHERE}"
        around = zip(above, here, below, strict=True)
        bends.append([np.abs(a - 2 * h + b) / step for a, h, b in around])
    for far, near, y in zip(*bends, here, strict=True):
        if ((near > 0.5 * far) & (near > _NOISE * (1 + np.abs(y)))).any():
            return f"the function has a kink or a jump here: {_ELSEWHERE}"
    return ""
