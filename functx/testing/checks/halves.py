"""Derivatives in halves beside those in single precision, of the same numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from functx._core import category
from functx.testing.dtypes import HALVES
from functx.testing.opinfo import OpInfo, Sample

from .cases import differentiable_case, widened
from .compare import assert_close, beside, Closeness, moved
from .programs import CheckSteps


ROUNDED = Closeness(3, 3)  # what is computed in float32 and rounded, or in few steps in a half
NUDGES = 3  # of all arguments at once: what one moves, another may move back


def in_a_half(info: OpInfo, dtype: str) -> bool:
    """Whether a half can be held against float32: what draws, draws other numbers there."""
    plain = info.differentiable and not info.random
    return plain and dtype in HALVES and "float32" in info.accepted


def check_halves(info: OpInfo, sample: Sample) -> CheckSteps:
    """In halves, tangents and cotangents are those of float32, rounded."""
    half = differentiable_case(info, sample)
    single = differentiable_case(info, widened(sample, dict.fromkeys(HALVES, "float32")))
    if half is None or single is None:
        return False
    cotangents = [ct.astype(y.dtype) for ct, y in zip(half.cotangents, single.outputs, strict=True)]
    alone = [
        [dot if i == k else np.zeros_like(dot) for i, dot in enumerate(half.tangents)]
        for k in range(len(half.xs))
    ]
    rng = np.random.default_rng(23)
    points = [single.xs]
    if info.cancelling is not None:  # of many steps, each rounded: as much as of its arguments
        points += [_in_single([beside(x, rng) for x in half.xs]) for _ in range(NUDGES)]
    results = yield [
        half.pulled(*half.xs, *half.cotangents),
        *(half.pushed(*half.xs, *dots) for dots in alone),
        *(
            request
            for xs in points
            for request in (
                single.pulled(*xs, *cotangents),
                *(single.pushed(*xs, *_in_single(dots)) for dots in alone),
            )
        ),
    ]
    names = ["vjp", *(f"jvp in array {k}" for k in range(len(alone)))]
    n = len(names)
    parts = [results[i : i + n] for i in range(0, len(results), n)]
    for name, got, want, *others in zip(names, *parts, strict=True):
        for i, (g, w, *nudged) in enumerate(zip(got, want, *others, strict=True)):
            g, rounded = _rounded(g, sample.drawn), _rounded(w, sample.drawn)
            scale = max((moved(w, other, g.dtype) for other in nudged), default=0)
            close = dataclasses.replace(ROUNDED, scale=scale)
            assert_close(g, rounded, what=f"{name} of {half.what}, array {i}", close=close)


def _in_single(arrays: Sequence[Any]) -> list[Any]:
    return [x.astype("float32") if x.dtype.name in HALVES else x for x in arrays]


def _rounded(x: Any, dtype: str) -> np.ndarray:
    """In a half, a wider array's too: what comes to it has come through one."""
    x = np.asarray(x)
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(dtype) if category(x.dtype) == 2 else x
