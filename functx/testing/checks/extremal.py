"""Extreme arguments: zeros, subnormal, tiny and huge numbers, infinities, NaN, and mixtures.

Single precision is held against double precision at the same arguments, values and Jacobians, so
that what overflows, underflows or cancels on the way shows; and reverse mode against forward mode.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import functx
from functx._core import Autocast, category
from functx.testing.opinfo import OpInfo, Sample

from .cases import ArrayList, differentiable_case, DifferentiableCase, widened
from .compare import magnitude
from .forward import expected
from .programs import CheckProgram, CheckSteps, ProgramCall


# What becomes of the sizes of elements, in turns; 1 leaves an element as it is.
SIZES = {
    "zeros": (0.0,),
    "subnormal": (1e-40, 3e-42, 1e-45),
    "tiny": (1e-20,),
    "huge": (1e20,),
    "infinite": (np.inf, 1.0),
    "NaN": (np.nan, 1.0, 1.0),
    "mixed": (1e20, 1e-20, 0.0, 1.0, 1e-40),
    "all": (np.inf, 1e20, 1e-20, np.nan, 0.0, 1.0),
}
RELATIVE, ABSOLUTE = 1e-4, 1e-5  # of an element; and of 1, or of the largest in its Jacobian
MOST = 16  # rows and columns of a Jacobian that are looked at
DOUBLED = {"float32": "float64", "complex64": "complex128"}
SINGLE = jnp.finfo("float32")
TINY, LARGEST = float(SINGLE.tiny), float(SINGLE.max)


def compares_precisions(info: OpInfo, dtype: str) -> bool:
    """Whether float32 can be held against float64: what draws, draws other numbers there.

    Of LAPACK's factorizations at extreme numbers nobody says what they are, and what decides
    shapes decides others.
    """
    plain = info.differentiable and not info.random and not info.finite_only
    plain &= info.spec is None or not info.spec.sizes_from_values
    return plain and dtype == "float32" and "float64" in info.accepted


def of_wide_range(info: OpInfo) -> bool:
    """Reductions, losses, what normalises, and what loses digits or overflows in halves."""
    if info.spec is None:
        return True
    reduces = bool(re.search(r"\b(reductions|masked)\b", info.op.__module__))
    stated = {"reduction", "eps"} & set(info.spec.signature.parameters)
    return reduces or bool(stated) or info.spec.autocast is Autocast.FLOAT32


def check_extremal(info: OpInfo, sample: Sample) -> CheckSteps:
    """At extreme arguments float32 agrees with float64, and reverse mode with forward mode."""
    narrow = differentiable_case(info, sample)
    wide = differentiable_case(info, widened(sample, DOUBLED))
    if narrow is None or wide is None or not all(x.size for x in (*narrow.xs, *narrow.outputs)):
        return False
    names, points = extreme_points(narrow.xs)
    beside = _views(points)
    few, many = yield [_jacobians(narrow, points), _jacobians(wide, beside)]
    got = list(map(np.asarray, few))
    want = [np.array(y).reshape(-1, len(names), *np.shape(y)[1:]) for y in many]
    said = _by_reference(info, sample, narrow, beside)
    wrong: dict[str, str] = {}
    allowed = (info.cancelling.floor or 0) if info.cancelling else 0
    for i, name in enumerate(names):
        views = Views(*(w[:, i] for w in want))
        finite = all(np.isfinite(x[i]).all() for x in points)
        for k in range(len(views.values)) if finite else ():
            by_reference = said(k * len(names) + i)
            known = np.isfinite(by_reference)
            views.values[k] = np.where(known, by_reference, views.values[k])
        scale = magnitude([*(x[i] for x in points), views.values[0]])
        floor = 2 * allowed * float(SINGLE.eps) * scale
        found = disagreement(Views(*(g[i] for g in got)), views, finite=finite, floor=floor)
        wrong |= {name: found} if found else {}
    for gap in info.gaps_at("extremal", "float32", jax.default_backend()):
        wrong = {name: found for name, found in wrong.items() if not re.search(gap.at, name)}
    for name, found in wrong.items():
        raise AssertionError(
            f"{narrow.what}, {name}: {found} ({len(wrong)} of {len(names)} points)"
        )


@dataclasses.dataclass(frozen=True)
class Views:
    """Values, and some rows and columns of the Jacobian by either mode.

    Of double precision there are several: the arguments are a little apart.
    """

    values: np.ndarray
    reverse: np.ndarray
    forward: np.ndarray


def extreme_points(xs: ArrayList) -> tuple[list[str], ArrayList]:
    """What the points are called, and the arrays at all of them, stacked: one array by one.

    Of several at once, products would leave the range of any dtype; zeros are in all of them too.
    """
    names, points = [], []
    for name, sizes in SIZES.items():
        for i in {0, 1, len(xs) - 1} & set(range(len(xs))):
            names.append(f"{name} in array {i}")
            points.append([resized(x, sizes) if k == i else x for k, x in enumerate(xs)])
    names.append("zeros in all")
    points.append([resized(x, (0.0,)) for x in xs])
    return names, [np.stack(list(map(np.asarray, own))) for own in zip(*points, strict=True)]


def resized(x: Any, sizes: Sequence[float]) -> np.ndarray:
    """`x` with elements of other sizes, of the same signs and phases."""
    x = np.asarray(x)
    turns = np.resize(sizes, x.size).reshape(x.shape)
    with np.errstate(all="ignore"):
        new = np.sign(x) * turns * (1 + np.minimum(np.abs(x), 1) / 4)
    return np.where(turns == 1, x, new).astype(x.dtype)


def _views(points: ArrayList) -> ArrayList:
    """The arguments, with zeros for subnormal numbers, and each an ulp up or down."""
    rng = np.random.default_rng(17)

    def views(x: np.ndarray) -> np.ndarray:
        x = x.astype({2: np.float64, 3: np.complex128}[category(x.dtype)])
        flushed = np.where(np.abs(x) < TINY, 0 * x, x)
        moved = [x * (1 + float(SINGLE.eps) * rng.choice([-1, 1], x.shape)) for _ in range(2)]
        return np.concatenate([x, flushed, *moved])

    with np.errstate(all="ignore"):
        return list(map(views, points))


def _jacobians(case: DifferentiableCase, points: ArrayList) -> ProgramCall:
    """At each point all values, and some rows and columns of the Jacobian, by either mode."""
    rows, columns = _directions(case.outputs), _directions(case.xs)

    def at(xs: ArrayList) -> Any:
        out, pull = functx.vjp(case.f, *xs)
        pulled = functx.vmap(lambda *cotangents: pull(cotangents))(*rows)
        pushed = functx.vmap(lambda *ts: functx.jvp(case.f, tuple(xs), ts)[1])(*columns)
        reverse, forward = _flat(pulled, 1), _flat(pushed, 1)
        return (
            _flat(out, 0, both=True),
            reverse[:, _picked(reverse.shape[1])],
            forward[:, _picked(forward.shape[1])].T,
        )

    return CheckProgram(lambda *xs: lax.map(at, list(xs)))(*points)


def _picked(size: int) -> np.ndarray:
    return np.unique(np.linspace(0, size - 1, min(MOST, size)).astype(int))


def _directions(shapes: Sequence[Any]) -> ArrayList:
    """Ones at some elements of arrays of these shapes, stacked."""
    sizes = [int(np.prod(x.shape)) for x in shapes]
    ones = np.eye(sum(sizes))[_picked(sum(sizes))]
    parts = np.split(ones, np.cumsum(sizes)[:-1], axis=1)
    pairs = zip(parts, shapes, strict=True)
    return [part.reshape(-1, *x.shape).astype(x.dtype) for part, x in pairs]


def _flat(arrays: Sequence[Any], kept: int, *, both: bool = False) -> jax.Array:
    """The real parts of all elements in a row, behind the `kept` dimensions; or both parts."""
    parts = [jnp.real(x) for x in arrays]
    parts += [jnp.imag(x) for x in arrays if both and jnp.iscomplexobj(x)]
    rows = [x.reshape(*x.shape[:kept], -1).astype("float64") for x in parts]
    return jnp.concatenate(rows, axis=kept)


def _by_reference(
    info: OpInfo, sample: Sample, case: DifferentiableCase, points: ArrayList
) -> Callable[[int], np.ndarray]:
    """What the reference says of the values at a point, NaN where it says nothing.

    At what is not finite, references say what NumPy makes of a formula.
    """
    arrays = sample.arrays()
    moving = [i for i, x in enumerate(arrays) if category(x.dtype) >= 2]
    silent = np.array(np.nan)

    def said(point: int) -> np.ndarray:
        if info.reference is None or info.gauge is not None:
            return silent
        new = dict(zip(moving, (x[point] for x in points), strict=True))
        put = [jax.device_put(new[k]) if k in new else x for k, x in enumerate(arrays)]
        try:
            found = expected(info, info.reference, sample.with_arrays(put))
        except Exception:
            return silent
        outputs = case.kept([np.asarray(y) for y in jax.tree.leaves(found)])
        parts = [np.real(y) for y in outputs]
        pairs = zip(outputs, case.outputs, strict=True)
        parts += [np.imag(y) for y, out in pairs if category(out.dtype) == 3]
        return np.concatenate([np.reshape(y, -1) for y in parts]).astype(np.float64)

    return said


def disagreement(got: Views, want: Views, *, finite: bool, floor: float = 0) -> str:
    """What single precision has otherwise than double, or one mode than the other, if anything.

    Values may be off by the `floor` besides.
    """
    kinds = {"values": "value", "reverse": "reverse-mode slope", "forward": "forward-mode slope"}
    overflows = max(_largest(getattr(want, kind)[0]) for kind in kinds) > LARGEST
    for kind, said in kinds.items():
        g, w = getattr(got, kind), getattr(want, kind)
        ok = agrees(g, w, floor if kind == "values" else ABSOLUTE * max(1, _largest(w[0])))
        if kind != "values":  # inf - inf, and 0 inf
            ok |= np.isnan(g) & (overflows | ((w[0] == 0) & (not finite)))
        if not ok.all():
            return f"{said} {_first(~ok, g)}, in float64 {_first(~ok, w[0])}"
    if finite and not overflows:
        undefined = _undefined(got, want)
        if undefined.any():
            return f"slope {_first(undefined, got.reverse)}, in both modes, of a finite value"
    ok = modes_agree(got.reverse, got.forward)
    # Sums of products hand on what is 0 times infinity in one mode alone.
    one_is_nan = [np.isnan(own.reverse) ^ np.isnan(own.forward) for own in (got, want)]
    ok |= one_is_nan[0] & (overflows | one_is_nan[1].any(axis=0))
    if not ok.all():
        return f"in reverse mode {_first(~ok, got.reverse)}, in forward mode " + str(
            _first(~ok, got.forward)
        )
    return ""


def _undefined(got: Views, want: Views) -> np.ndarray:
    """Where a slope is NaN though all values are finite, and no other slope is infinite."""
    slopes = (got.reverse, got.forward, want.reverse[0], want.forward[0])
    if np.isnan(want.values).any() or any(np.isinf(y).any() for y in (want.values, *slopes)):
        return np.zeros(got.reverse.shape, bool)
    return np.isnan(got.reverse) & np.isnan(got.forward)


def agrees(got: np.ndarray, views: np.ndarray, floor: float) -> np.ndarray:
    """Where single precision gives what one of the views does, or may round to it.

    Nothing is said where the views, an ulp apart, do not agree that there is a number.
    """
    want = views[0]
    with np.errstate(all="ignore"):
        rounded = views.astype(np.float32)
        ok = np.any((got == rounded) | (np.isnan(got) & np.isnan(rounded)), axis=0)
        moved = np.abs(views - want).max(axis=0)
        allowed = RELATIVE * np.abs(want) + 4 * moved + floor + 4 * TINY
        ok |= np.abs(got - want) <= allowed
        ok |= (np.abs(want) > LARGEST / 8) & ~(np.abs(got) < LARGEST / 16)
        ok |= ~np.isfinite(want) & ~np.isfinite(got)
    return ok | (np.isnan(views).any(axis=0) & ~np.isnan(views).all(axis=0))


def modes_agree(reverse: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Where both modes say the same, in single precision.

    Where one says NaN, which is 0 times infinity, the other may say 0 or infinity.
    """
    with np.errstate(all="ignore"):
        allowed = RELATIVE * np.abs(forward) + ABSOLUTE * max(1, _largest(forward))
        near = np.abs(reverse - forward) <= allowed
        near |= reverse.astype(np.float32) == forward.astype(np.float32)
    near |= np.isnan(reverse) & np.isnan(forward)
    for one, other in ((reverse, forward), (forward, reverse)):
        near |= np.isnan(one) & ((other == 0) | np.isinf(other))
    return near


def _first(where: np.ndarray, values: np.ndarray) -> str:
    at = tuple(int(k) for k in np.argwhere(where)[0])
    return f"{values[at]} at {list(at)}"


def _largest(x: np.ndarray) -> float:
    return float(np.max(np.abs(x), initial=0, where=np.isfinite(x)))
