"""Derivatives against finite differences, in double precision: what closes the circle.

Every other check of a derivative holds one mode against the other; these hold both
against the function itself.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import Arrays, Case, differentiable_case, Function, inner, random_like
from .programs import compiled


STEP = 1e-5  # central differences are off by about STEP**2 and eps / STEP
TOLERANCE = 2e-5


def check_gradient(info: OpInfo, sample: Sample) -> bool:
    """First derivatives, forward and reverse, equal central differences."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    _hold(case.f, case.xs, case.what, _tolerance(info, case))
    return True


def check_second_gradient(info: OpInfo, sample: Sample) -> bool:
    """Second derivatives, forward and reverse over reverse, equal differences of first ones."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    n, cotangents = len(case.xs), random_like(case.outputs, seed=5)

    def pulled(*args: jax.Array) -> Any:
        return functx.vjp(case.f, *args[:n])[1](tuple(args[n:]))

    _hold(pulled, [*case.xs, *cotangents], f"vjp({case.what})", _tolerance(info, case))
    return True


def _hold(f: Function, xs: Arrays, what: str, tolerance: float) -> None:
    tangents = random_like(xs, seed=1)
    shapes = jax.eval_shape(f, *xs)
    cotangents = tuple(random_like(shapes, seed=2))

    def products(xs: Arrays) -> tuple[Any, ...]:
        moved = [
            f(*(x + sign * STEP * t for x, t in zip(xs, tangents, strict=True))) for sign in (1, -1)
        ]
        slope = [(up - down) / (2 * STEP) for up, down in zip(*moved, strict=True)]
        out, tangent = functx.jvp(f, tuple(xs), tuple(tangents))
        used = [jnp.where(jnp.isfinite(y), w, 0) for w, y in zip(cotangents, out, strict=True)]
        pulled = functx.vjp(f, *xs)[1](tuple(used))
        scale = inner([jnp.abs(w) for w in used], [jnp.abs(t) for t in tangent])
        return inner(used, slope), inner(used, tangent), inner(tangents, pulled), scale

    by_differences, by_jvp, by_vjp, scale = map(float, compiled(products)(xs))
    allowed = tolerance * (1 + scale)
    assert abs(by_jvp - by_differences) <= allowed, (
        f"jvp of {what}: <w, J t> = {by_jvp}, by differences {by_differences}"
    )
    assert abs(by_vjp - by_differences) <= allowed, (
        f"vjp of {what}: <J* w, t> = {by_vjp}, by differences {by_differences}"
    )


def _tolerance(info: OpInfo, case: Case) -> float:
    name = np.dtype(case.xs[0].dtype).name
    return max(TOLERANCE, 100 * info.tolerances.get(name, 0))
