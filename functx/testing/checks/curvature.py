"""Laplacians by one pass forward, against sums of second derivatives by nested forward mode."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx.curvature import laplacian
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayFunction, ArrayList, differentiable_case, random_like
from .compare import assert_close, beside, DERIVATIVES, moved
from .programs import CheckProgram, CheckSteps


DIRECTIONS = 3


def check_laplacian(info: OpInfo, sample: Sample) -> CheckSteps:
    """The Laplacian along random directions is the sum of second derivatives by nested `jvp`."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    ways = [random_like(case.xs, seed=60 + i) for i in range(DIRECTIONS)]
    slow, rng = CheckProgram(_nested(case.f)), np.random.default_rng(67)
    [got, want, other] = yield [
        CheckProgram(_forward(case.f))(case.xs, ways),
        slow(case.xs, ways),
        slow([beside(x, rng) for x in case.xs], ways),
    ]
    # What an ulp of the arguments moves, rounding does too.
    scale = max(moved(x, y, x.dtype) for x, y in zip(want, other, strict=True))
    close = dataclasses.replace(DERIVATIVES, scale=scale)
    assert_close(got, want, what=f"laplacian of {case.what}", close=close)


def _along(f: ArrayFunction, xs: ArrayList, ways: list[ArrayList], at: jax.Array) -> Any:
    """`f` in the plane through `xs` that the `ways` span, so that products of inputs bend it."""
    moved = []
    for x, *steps in zip(xs, *ways, strict=True):
        moved.append(sum((at[i].astype(v.dtype) * v for i, v in enumerate(steps)), x))
    return f(*moved)


def _forward(f: ArrayFunction) -> ArrayFunction:
    def run(xs: ArrayList, ways: list[ArrayList]) -> Any:
        along = lambda at: _along(f, xs, ways, at)
        return list(laplacian(along)(jnp.zeros(DIRECTIONS)))

    return run


def _nested(f: ArrayFunction) -> ArrayFunction:
    def run(xs: ArrayList, ways: list[ArrayList]) -> Any:
        def second(direction: jax.Array) -> Any:
            along = lambda at: _along(f, xs, ways, at)
            first = lambda at: jax.jvp(along, (at,), (direction,))[1]
            return jax.jvp(first, (jnp.zeros(DIRECTIONS),), (direction,))[1]

        each = [second(direction) for direction in jnp.eye(DIRECTIONS)]
        return [sum(ys) for ys in zip(*each, strict=True)]

    return run
