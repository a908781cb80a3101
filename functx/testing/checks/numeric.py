"""Derivatives against finite differences, in double precision: what closes the circle.

Every other check of a derivative holds one mode against the other; these hold both
against the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayFunction, ArrayList, differentiable_case, random_like
from .own_rules import own_parts
from .programs import CheckProgram, CheckSteps, ProgramCall


STEP = 1e-5  # central differences are off by about STEP**2 and eps / STEP
TOLERANCE = 2e-5
NOISE = 1e-9  # of the values that are subtracted: some ulps over STEP


def check_gradient(info: OpInfo, sample: Sample) -> CheckSteps:
    """First derivatives, forward and reverse, equal central differences."""
    case = None if sample.held else differentiable_case(info, sample)
    if case is None:
        return False
    xs, tangents, weights = case.xs, _allowed(info, case.tangents, case.xs), case.cotangents
    values = [case.at(*xs), *_around(case.at, xs, tangents)]
    *found, tangent, pulled = yield [
        *values,
        case.pushed(*xs, *tangents),
        case.pulled(*xs, *weights),
    ]
    out, above, below = map(case.kept, found)
    if not _finite(out):
        weights = _where_finite(weights, out)
        [pulled] = yield [case.pulled(*xs, *weights)]
    _hold(case.what, weights, (above, below), tangent, pulled, tangents)


Nests: TypeAlias = Mapping[str, tuple[str, ...]]  # by the inner mode, the outer ones
NESTS: Nests = {"vjp": ("jvp", "vjp"), "jvp": ("jvp", "vjp")}


def check_second_gradient(info: OpInfo, sample: Sample) -> CheckSteps:
    """Second derivatives, in the four nests of modes, equal differences of first ones."""
    return (yield from _check_second_gradient(info, sample, NESTS))


FORWARD: Nests = {"vjp": ("jvp",), "jvp": ("jvp",)}


def check_second_gradient_once(info: OpInfo, sample: Sample) -> CheckSteps:
    """Second derivatives in the nests in which they may differ equal differences of first ones.

    Where a reverse rule is given, it and the forward rule are differentiated forward: in reverse,
    JAX transposes the same. Where none is, JAX derives all nests of one program, and one is held;
    that reverse over reverse can be traced, the check `strict` shows.
    """
    nests = FORWARD if "reverse" in own_parts(info, sample) else {"vjp": ("jvp",)}
    return (yield from _check_second_gradient(info, sample, nests))


def check_second_gradient_ruled(info: OpInfo, sample: Sample) -> CheckSteps:
    """The same; in all nests where a reverse rule is given."""
    nests = NESTS if "reverse" in own_parts(info, sample) else {"vjp": ("jvp",)}
    return (yield from _check_second_gradient(info, sample, nests))


def _check_second_gradient(info: OpInfo, sample: Sample, nests: Nests) -> CheckSteps:
    case = None if sample.held else differentiable_case(info, sample)
    if case is None:
        return False
    outer: dict[str, tuple[CheckProgram, ArrayList]] = {
        "vjp": (case.pulled, [*case.xs, *case.cotangents]),
        "jvp": (case.pushed, [*case.xs, *case.tangents]),
    }
    asked, given = [], []
    for inner, modes in nests.items():
        program, xs = outer[inner]
        directions, weights = random_like(xs, seed=1), random_like(_shapes(program, xs), seed=2)
        n = len(case.xs)
        directions = [*_allowed(info, directions[:n], xs[:n]), *directions[n:]]
        both = CheckProgram(_tangent_and_cotangent(program.f, modes))
        given.append((both, xs, directions, weights))
        asked += [program(*xs), *_around(program, xs, directions), both(xs, directions, weights)]
    results = yield asked
    for i, name in enumerate(nests):
        both, xs, directions, weights = given[i]
        out, above, below, (tangent, pulled) = results[4 * i : 4 * i + 4]
        if not _finite(out):
            weights = _where_finite(weights, out)
            [(tangent, pulled)] = yield [both(xs, directions, weights)]
        _hold(f"{name}({case.what})", weights, (above, below), tangent, pulled, directions)


def _allowed(info: OpInfo, directions: ArrayList, at: ArrayList) -> ArrayList:
    return directions if info.directions is None else list(map(info.directions, directions, at))


def _tangent_and_cotangent(f: ArrayFunction, modes: Sequence[str]) -> ArrayFunction:
    """In the modes that are asked for, None for the other."""

    def both(xs: ArrayList, directions: ArrayList, weights: ArrayList) -> Any:
        tangent = functx.jvp(f, tuple(xs), tuple(directions))[1] if "jvp" in modes else None
        return tangent, functx.vjp(f, *xs)[1](tuple(weights)) if "vjp" in modes else None

    return both


def _shapes(program: CheckProgram, xs: ArrayList) -> Sequence[Any]:
    return jax.eval_shape(program.f, *xs)


def _finite(out: Sequence[Any]) -> bool:
    return all(np.isfinite(y).all() for y in out)


def _around(
    program: Callable[..., ProgramCall], xs: ArrayList, directions: ArrayList
) -> Iterator[ProgramCall]:
    for sign in (1, -1):
        moved = zip(xs, directions, strict=True)
        yield program(*(np.asarray(x) + sign * STEP * t for x, t in moved))


def _where_finite(weights: ArrayList, out: Sequence[Any]) -> ArrayList:
    return [np.where(np.isfinite(y), w, 0) for w, y in zip(weights, out, strict=True)]


def _hold(
    what: str,
    weights: ArrayList,
    moved: tuple[Any, Any],
    tangent: Sequence[Any] | None,
    pulled: Sequence[Any] | None,
    directions: ArrayList,
) -> None:
    above, below = (map(np.asarray, outputs) for outputs in moved)
    with np.errstate(invalid="ignore"):  # infinities, whose weights are zero
        slope = [(up - down) / (2 * STEP) for up, down in zip(above, below, strict=True)]
    by_differences = _inner(weights, slope)
    # That of the differences: a derivative that is too large must not widen what it is held to.
    scale = _inner([np.abs(w) for w in weights], [np.abs(t) for t in slope])
    size = _inner([np.abs(w) for w in weights], [np.abs(y) for y in moved[0]])
    allowed = TOLERANCE * scale + NOISE * (1 + size)
    if tangent is not None:
        by_jvp = _inner(weights, tangent)
        assert abs(by_jvp - by_differences) <= allowed, (
            f"jvp of {what}: <w, J t> = {by_jvp}, by differences {by_differences}"
        )
    if pulled is not None:
        by_vjp = _inner(directions, pulled)
        assert abs(by_vjp - by_differences) <= allowed, (
            f"vjp of {what}: <J* w, t> = {by_vjp}, by differences {by_differences}"
        )


def _inner(a: Sequence[Any], b: Sequence[Any]) -> float:
    """The real inner product of two lists of arrays, where a is not 0."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        with np.errstate(all="ignore"):
            total += float(np.sum(np.where(x == 0, 0, np.real(np.conj(x) * y))))
    return total
