"""Derivative rules inside `lax.scan`, where partial evaluation could lose them."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayList, differentiable_case, inner, random_like
from .compare import assert_close, beside, DERIVATIVES, magnitude, moved
from .composition import scalarised
from .programs import CheckProgram, CheckSteps


def check_hessian_in_scan(info: OpInfo, sample: Sample) -> CheckSteps:
    """A Hessian-vector product through two scanned steps equals that of the unrolled loop."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    f, xs, tangents = scalarised(case.f), case.xs, random_like(case.xs, seed=17)

    def step(xs: ArrayList) -> ArrayList:
        value = f(*xs)
        return [x * (1 + 0.1 * (value / (1 + abs(value))).astype(x.dtype)) for x in xs]

    def scanned(*xs: jax.Array) -> jax.Array:
        last, _ = jax.lax.scan(lambda carry, _: (step(carry), None), list(xs), length=2)
        return inner(last, last)

    def unrolled(*xs: jax.Array) -> jax.Array:
        last = step(step(list(xs)))
        return inner(last, last)

    def both(xs: ArrayList) -> Any:
        args = tuple(range(len(xs)))
        return [
            functx.jvp(functx.grad(g, args), tuple(xs), tuple(tangents))[1]
            for g in (scanned, unrolled)
        ]

    program, halves = CheckProgram(both), jnp.finfo(xs[0].dtype).bits == 16
    rng = np.random.default_rng(23)
    points = [xs, [beside(x, rng) for x in xs]] if halves else [xs]
    [(got, want), *others] = yield list(map(program, points))
    # Both steps mix all arguments and tangents, each rounded, and what one step has rounded the
    # other magnifies: in halves, by whole multiples where a variance is little more than its `eps`.
    scale = magnitude([*xs, *tangents, *want])
    for _, other in others:
        scale = max(scale, *(moved(x, y, x.dtype) for x, y in zip(want, other, strict=True)))
    close = dataclasses.replace(DERIVATIVES, scale=scale)
    assert_close(got, want, what=f"hessian in scan of {case.what}", close=close)
