"""Derivatives along curves by `jet`, and Laplacians, against those by nested forward mode."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.jet import jet

import functx.curvature
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayList, differentiable_case, random_like
from .compare import assert_close, beside, DERIVATIVES, moved
from .programs import CheckProgram, CheckSteps


Curve = Callable[[jax.Array], Any]

ORDER = 3
DIRECTIONS = 3


# Of a function, a point and the derivatives of a curve through it: of each output the value and the
# derivatives along the curve.
AlongCurve = Callable[[Callable[..., Any], ArrayList, list[ArrayList]], Any]


def check_jet(info: OpInfo, sample: Sample) -> CheckSteps:
    """Derivatives along curves by JAX's `jet`, to third order, are those of nested `jvp`."""

    def by_jet(f: Callable[..., Any], xs: ArrayList, series: list[ArrayList]) -> Any:
        values, terms = jet(f, tuple(xs), [list(terms) for terms in zip(*series, strict=True)])
        return [[y, *dys] for y, dys in zip(values, terms, strict=True)]

    return (yield from _check("jet", _ruled(info), sample, by_jet))


def check_taylor(info: OpInfo, sample: Sample) -> CheckSteps:
    """Derivatives along curves by functx's `jet`, to third order, are those of nested `jvp`."""

    def by_jet(f: Callable[..., Any], xs: ArrayList, series: list[ArrayList]) -> Any:
        output, derivatives = functx.curvature.jet(f, tuple(xs), [*map(tuple, series)])
        return [list(dys) for dys in zip(output, *derivatives, strict=True)]

    return (yield from _check("taylor", info, sample, by_jet))


def _check(what: str, info: OpInfo, sample: Sample, along_curve: AlongCurve) -> CheckSteps:
    case = differentiable_case(info, sample)
    if case is None:
        return False
    f, xs = case.f, case.xs
    series = [random_like(xs, seed=40 + k) for k in range(ORDER)]

    def by_jet(xs: ArrayList, series: list[ArrayList]) -> Any:
        return along_curve(f, xs, series)

    def by_jvp(xs: ArrayList, series: list[ArrayList]) -> Any:
        along: Curve = lambda t: f(*(_curve(t, c) for c in zip(xs, *series, strict=True)))
        ys = [along(jnp.zeros(()))]
        for _ in range(ORDER):
            along = _slope(along)
            ys.append(along(jnp.zeros(())))
        return [list(dys) for dys in zip(*ys, strict=True)]

    slow, rng = CheckProgram(by_jvp), np.random.default_rng(47)
    [got, want, other] = yield [
        CheckProgram(by_jet)(xs, series),
        slow(xs, series),
        slow([beside(x, rng) for x in xs], series),
    ]
    # Third derivatives are sums that cancel: what an ulp of the arguments moves, rounding does too.
    apart = zip(jax.tree.leaves(want), jax.tree.leaves(other), strict=True)
    scale = max(moved(x, y, x.dtype) for x, y in apart)
    close = dataclasses.replace(DERIVATIVES, scale=scale)
    assert_close(got, want, what=f"{what}({case.what})", close=close)


def _ruled(info: OpInfo) -> OpInfo:
    """The entry with a gauge that `jet` goes through, in which JAX may have no rules."""
    gauge = info.gauge
    if gauge is None:
        return info
    slope = lambda primals, output, tangents: jax.jvp(gauge, primals, tangents)[1]
    return dataclasses.replace(info, gauge=derivative_rules(gauge, jvp=slope))


def _curve(t: jax.Array, coefficients: tuple[Any, ...]) -> jax.Array:
    """`x + t x' + t**2 / 2 x'' + ...`, in the dtype of `x`."""
    x, *terms = map(jnp.asarray, coefficients)
    power = t.astype(x.dtype)
    for k, term in enumerate(terms, 1):
        x = x + power * term
        power = power * t.astype(x.dtype) / (k + 1)
    return x


def _slope(along: Curve) -> Curve:
    return lambda t: functx.jvp(along, (t,), (jnp.ones_like(t),))[1]


def check_laplacian(info: OpInfo, sample: Sample) -> CheckSteps:
    """The Laplacian along random directions is the sum of second derivatives by nested `jvp`."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    ways = [random_like(case.xs, seed=60 + i) for i in range(DIRECTIONS)]
    slow, rng = CheckProgram(_by_second_derivatives(case.f)), np.random.default_rng(67)
    [got, want, other] = yield [
        CheckProgram(_by_laplacian(case.f))(case.xs, ways),
        slow(case.xs, ways),
        slow([beside(x, rng) for x in case.xs], ways),
    ]
    # What an ulp of the arguments moves, rounding does too.
    scale = max(moved(x, y, x.dtype) for x, y in zip(want, other, strict=True))
    close = dataclasses.replace(DERIVATIVES, scale=scale)
    assert_close(got, want, what=f"laplacian of {case.what}", close=close)


def _in_plane(f: Callable[..., Any], xs: ArrayList, ways: list[ArrayList], at: jax.Array) -> Any:
    """`f` in the plane through `xs` that the `ways` span, so that products of inputs bend it."""
    moved = []
    for x, *steps in zip(xs, *ways, strict=True):
        moved.append(sum((at[i].astype(v.dtype) * v for i, v in enumerate(steps)), x))
    return f(*moved)


def _by_laplacian(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(xs: ArrayList, ways: list[ArrayList]) -> Any:
        along = lambda at: _in_plane(f, xs, ways, at)
        return list(functx.curvature.laplacian(along)(jnp.zeros(DIRECTIONS)))

    return run


def _by_second_derivatives(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(xs: ArrayList, ways: list[ArrayList]) -> Any:
        def second(direction: jax.Array) -> Any:
            along = lambda at: _in_plane(f, xs, ways, at)
            first = lambda at: jax.jvp(along, (at,), (direction,))[1]
            return jax.jvp(first, (jnp.zeros(DIRECTIONS),), (direction,))[1]

        each = [second(direction) for direction in jnp.eye(DIRECTIONS)]
        return [sum(ys) for ys in zip(*each, strict=True)]

    return run
