"""Reverse rules at a cotangent of zero, where a test for zeros would bend them."""

from __future__ import annotations

from typing import Any

import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import differentiable_case
from .compare import assert_close, DERIVATIVES
from .programs import CheckProgram, CheckSteps


def check_pullback_at_zero(info: OpInfo, sample: Sample) -> CheckSteps:
    """A pullback is linear: its own derivative, at a cotangent of zero too, is the pullback."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    n = len(case.xs)

    def at_zero(*args: Any) -> Any:
        pullback = lambda *cotangents: functx.vjp(case.f, *args[:n])[1](cotangents)
        zeros = tuple(np.zeros_like(c) for c in case.cotangents)
        return functx.jvp(pullback, zeros, tuple(args[n:]))[1]

    args = [*case.xs, *case.cotangents]
    got, want = yield [CheckProgram(at_zero)(*args), case.pulled(*args)]
    assert_close(got, want, what=f"pullback at zero of {case.what}", close=DERIVATIVES)
