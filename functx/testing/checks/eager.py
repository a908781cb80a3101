"""Transforms that run call by call, without `jit`, beside the compiled program."""

from __future__ import annotations

import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayFunction, ArrayList, differentiable_case, DifferentiableCase, stacked
from .compare import assert_close, DERIVATIVES
from .composition import name_of, STEPS
from .programs import CheckProgram, CheckSteps


# Each mode on its own and over the other, and lanes inside of derivatives and outside.
STACKS = [
    ("jvp",),
    ("vjp",),
    ("vjp", "vjp"),
    ("jvp", "vjp"),
    ("vjp", "jvp"),
    ("vmap", "jvp"),
    ("vmap", "vjp"),
    ("vjp", "vmap"),
]


def check_eager(info: OpInfo, sample: Sample) -> CheckSteps:
    """Derivatives and lanes without `jit` are those of the same transforms, compiled."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    built = [_built(case, transforms) for transforms in STACKS]
    compiled = yield [CheckProgram(f)(*xs) for f, xs in built]
    for transforms, (f, xs), want in zip(STACKS, built, compiled, strict=True):
        got = f(*map(functx.asarray, xs))
        assert_close(got, want, what=f"eager {name_of(transforms, case)}", close=DERIVATIVES)
    return None


def _built(
    case: DifferentiableCase, transforms: tuple[str, ...]
) -> tuple[ArrayFunction, ArrayList]:
    """The transformed function, and what it takes."""
    f, lanes = case.f, case.lanes[:2]
    for name in reversed(transforms):
        if name == "vmap":
            f, lanes = functx.vmap(f), [stacked(lanes)]
        else:
            steps = [STEPS[name](f, xs) for xs in lanes]
            f, lanes = steps[0][0], [xs for _, xs in steps]
    return f, [np.asarray(x) for x in lanes[0]]
