"""Derivatives where a rule may choose a constant: at zeros, ones and equal elements.

A function that is continuous at a point, and has derivatives beside it that lead to one limit on
both sides, has that derivative at the point too. So derivatives beside a point say what a rule must
give at it, and whether there is anything to give: at a kink the limits differ, and conventions
decide. What depends on the direction otherwise than a polynomial does is nothing's derivative.
"""

from __future__ import annotations

import functools as ft
import itertools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayFunction, ArrayList, differentiable_case, random_like
from .own_rules import has_own_rules
from .programs import CheckProgram, CheckSteps


# Places beside a point, of two sizes: both lead to a limit, by a parabola through three.
_SIZES = np.array([[4e-2, 2e-2, 1e-2], [4e-3, 2e-3, 1e-3]]) / 4
_PLACES = np.concatenate([[0.0], *_SIZES, *-_SIZES])
_PARABOLA = np.array([1 / 3, -2.0, 8 / 3])  # its value at 0, of places that are 4, 2 and 1 apart
_DRAWN = 6  # how many directions are drawn, before sums and differences
_PAIRS = tuple(itertools.combinations(range(_DRAWN), 2))
_ALIKE, _NEAR = 1e-4, 1e-3  # how far limits of two sides may be apart, and what is found from both
_NESTS = {
    1: {"reverse": "r"},
    2: {"forward over reverse": "fr", "reverse over forward": "rf", "reverse over reverse": "rr"},
}


def check_limits(info: OpInfo, sample: Sample) -> CheckSteps:
    """At zeros, ones and equal elements, derivatives are the limits of those beside, if any."""
    case = None if sample.held else differentiable_case(info, sample)
    if case is None:
        return False
    along, nested = (
        CheckProgram(_along(case.f, 3 if has_own_rules(info) else 2)),
        CheckProgram(_nested(case.f)),
    )
    wrong: list[str] = []
    for name, xs in _points(case.xs):
        lines = _lines(info, xs)
        found = np.stack((yield [along(xs, line) for line in lines]))  # line, place, order, output
        limits, sure = _limits(found)
        here = found[:, 0]
        weights = np.linspace(0.5, 1.5, here.shape[-1])
        by_nests = yield [nested(xs, line, weights) for line in lines]
        for order in range(1, here.shape[1]):
            want, known = limits[:, order], sure[order]
            off = known & ~_near(here[:, order], want)
            if off.any():
                got, right = here[:, order][off][0], want[off][0]
                wrong.append(f"{name}: derivative {order} is {got}, beside the point {right}")
            if known.all():
                for nest in _NESTS.get(order, {}):
                    got = np.array([line[nest] for line in by_nests])
                    if not _near(got, want @ weights, np.abs(want) @ weights).all():
                        wrong.append(
                            f"{name}: {nest} gives {got}, beside the point {want @ weights}"
                        )
    assert not wrong, f"{case.what}: " + "; ".join(wrong[:4])
    return True


def _flat(f: ArrayFunction) -> ArrayFunction:
    """All outputs as one vector of real numbers."""

    def flat(*xs: Any) -> jax.Array:
        parts: list[jax.Array] = []
        for y in f(*xs):
            parts += [y.real.ravel(), y.imag.ravel()] if category(y.dtype) == 3 else [y.ravel()]
        return jnp.concatenate([part.astype("float64") for part in parts])

    return flat


def _along(f: ArrayFunction, order: int) -> ArrayFunction:
    """At each of the places along a line, the values and the derivatives, forward."""

    def along(xs: ArrayList, line: ArrayList) -> jax.Array:
        def at(place: jax.Array) -> jax.Array:
            moved: ArrayFunction = lambda t: [
                x + t.astype(x.dtype) * d.astype(x.dtype) for x, d in zip(xs, line, strict=True)
            ]
            g, found = lambda t: _flat(f)(*moved(t)), []
            for _ in range(order + 1):
                found.append(g(place))
                g = ft.partial(lambda g, t: jax.jvp(g, (t,), (jnp.ones_like(t),))[1], g)
            return jnp.stack(found)

        return jax.lax.map(at, jnp.asarray(_PLACES))

    return along


def _nested(f: ArrayFunction) -> ArrayFunction:
    """Derivatives along a line of a weighted sum, in the other nests of modes."""

    def nested(xs: ArrayList, line: ArrayList, weights: Any) -> dict[str, jax.Array]:
        def back(g: ArrayFunction) -> ArrayFunction:
            def value(*xs: Any) -> Any:
                slopes = jax.grad(g, tuple(range(len(xs))))(*xs)
                products = [jnp.real(s * d) for s, d in zip(slopes, line, strict=True)]
                return ft.reduce(jnp.add, map(jnp.sum, products))

            return value

        steps = {"r": back, "f": lambda g: lambda *xs: jax.jvp(g, xs, tuple(line))[1]}
        found: dict[str, jax.Array] = {}
        for name, nest in (item for nests in _NESTS.values() for item in nests.items()):
            g: ArrayFunction = lambda *xs: jnp.sum(_flat(f)(*xs) * weights)
            for mode in reversed(nest):
                g = steps[mode](g)
            found[name] = g(*xs)
        return found

    return nested


def _points(xs: ArrayList) -> Iterator[tuple[str, ArrayList]]:
    """Where rules choose, by name."""
    xs = list(map(np.asarray, xs))
    yield "zeros", [np.zeros_like(x) for x in xs]
    yield "ones", [np.ones_like(x) for x in xs]
    for i, x in enumerate(xs[:3]):
        others = lambda new, i=i: [*xs[:i], new, *xs[i + 1 :]]
        some = np.where(np.arange(x.size).reshape(x.shape) % 2 == 0, 0, x).astype(x.dtype)
        yield f"zeros in array {i}", others(some)
        if x.ndim > 1:
            yield f"equal rows in array {i}", others(np.broadcast_to(x[..., :1, :], x.shape))
        if i and (x.shape, x.dtype) == (xs[0].shape, xs[0].dtype):
            yield f"array {i} as array 0", others(xs[0])


def _lines(info: OpInfo, xs: ArrayList) -> list[ArrayList]:
    """Directions, and the sum and the difference of each two of them.

    Few directions may all lie where one piece of a function holds, as of a median of three.
    """
    drawn = [random_like(xs, seed) for seed in range(1, _DRAWN + 1)]
    if info.directions is not None:
        drawn = [list(map(np.asarray, map(info.directions, line, xs))) for line in drawn]
    return drawn + [
        [x + sign * y for x, y in zip(drawn[i], drawn[j], strict=True)]
        for sign in (1, -1)
        for i, j in _PAIRS
    ]


def _limits(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits by line, order and output; by order, line and output, whether there is one."""
    with np.errstate(all="ignore"):
        sides = found[:, 1:].reshape(len(found), 2, 2, 3, *found.shape[2:])  # side, size, place
        ends = np.einsum("lszp...,p->lsz...", sides, _PARABOLA)
        limits = ends[:, 0, 1]
        one = _near(ends[:, 0, 1], ends[:, 1, 1], tolerance=_ALIKE)
        one &= _near(ends[:, :, 0], ends[:, :, 1], tolerance=100 * _ALIKE).all(1)
        one[:, 0] &= _near(found[:, 0, 0], limits[:, 0], tolerance=_ALIKE)
        first, second = (limits[list(which)] for which in zip(*_PAIRS, strict=True))
        plus, minus = limits[_DRAWN:].reshape(2, len(_PAIRS), *limits.shape[1:])
        mixed = [first - second, plus - first - second, plus + minus - 2 * (first + second)]
        for order, left in enumerate(mixed):
            size = np.abs(limits[:, order]).max(0)
            one[:, order] &= _near(left[:, order], 0, size, tolerance=_NEAR).all(0)
    # What has no derivative of one order has none of a higher one.
    return limits, np.logical_and.accumulate(np.moveaxis(one, 1, 0), axis=0)


def _near(got: Any, want: Any, size: Any = None, tolerance: float = _NEAR) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.abs(got - want) <= tolerance * (1 + (np.abs(want) if size is None else size))
