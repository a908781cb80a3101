"""Taylor mode: derivatives along curves by JAX's `jet`, against those by nested forward mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.jet import jet

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import Arrays, differentiable_case, random_like
from .compare import assert_close, DERIVATIVES
from .programs import Program, Steps


ORDER = 3


def check_jet(info: OpInfo, sample: Sample) -> Steps:
    """Derivatives along curves by `jet`, to third order, are those of nested `jvp`."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    f, xs = case.f, case.xs
    series = [random_like(xs, seed=40 + k) for k in range(ORDER)]

    def by_jet(xs: Arrays, series: list[Arrays]) -> Any:
        values, terms = jet(f, tuple(xs), [list(terms) for terms in zip(*series, strict=True)])
        return [[y, *dys] for y, dys in zip(values, terms, strict=True)]

    def by_jvp(xs: Arrays, series: list[Arrays]) -> Any:
        def along(t: jax.Array) -> Any:
            return f(*(_curve(t, curve) for curve in zip(xs, *series, strict=True)))

        ys = [along(jnp.zeros(()))]
        for _ in range(ORDER):
            along = _slope(along)
            ys.append(along(jnp.zeros(())))
        return [list(dys) for dys in zip(*ys, strict=True)]

    got, want = yield [Program(by_jet)(xs, series), Program(by_jvp)(xs, series)]
    assert_close(got, want, what=f"jet({case.what})", close=DERIVATIVES)


def _curve(t: jax.Array, coefficients: tuple[Any, ...]) -> jax.Array:
    """`x + t x' + t**2 / 2 x'' + ...`, in the dtype of `x`."""
    x, *terms = map(jnp.asarray, coefficients)
    power = t.astype(x.dtype)
    for k, term in enumerate(terms, 1):
        x = x + power * term
        power = power * t.astype(x.dtype) / (k + 1)
    return x


def _slope(along: Callable[[jax.Array], Any]) -> Callable[[jax.Array], Any]:
    return lambda t: functx.jvp(along, (t,), (jnp.ones_like(t),))[1]
