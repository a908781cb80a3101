"""Points at which conventions differ, made of the arguments of a call: ties, kinks, zeros."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, fail
from functx._core.jax_compat import JaxprEqn, Literal
from functx._transforms.programs.labels import library_function, operator_of
from functx._transforms.programs.walking import equations
from functx.testing.gradients.precision import in_double
from functx.testing.opchecking.target import is_inexact, Target


_ALONE = 16  # arguments that are moved one at a time, too
_NUMBERS = 8  # of a program that are tried as values
# Where functions with bounds of their own have kinks: softshrink, hardtanh, hardswish, relu6.
_KINKS = (-1.0, 0.5, -0.5, 3.0, -3.0, 6.0)

PointChange = Callable[[np.ndarray], np.ndarray | None]


class NamedPoint(NamedTuple):
    """Values for the arrays of a call; `made` of what was given, or given itself."""

    name: str
    arrays: tuple[Any, ...]
    made: bool


def made_points(target: Target, program: Any) -> Iterator[NamedPoint]:
    """Points made of the call's arrays: of all that have derivatives, and of each alone."""
    moving = [i for i, x in enumerate(target.arrays) if is_inexact(x) and x.size]
    each = [[i] for i in moving] if 1 < len(moving) <= _ALONE else []
    for name, change in _changes(_numbers_in(program)):
        for which in (moving, *each):
            arrays = _changed(target.arrays, which, change)
            if arrays is not None:
                where = f" in {target.paths[which[0]]}" if which is not moving else ""
                yield NamedPoint(name + where, arrays, True)


def distinct(points: Iterator[NamedPoint]) -> list[NamedPoint]:
    """The points, each once."""
    found: dict[Any, NamedPoint] = {}
    for point in points:
        found.setdefault(tuple(np.asarray(x).tobytes() for x in point.arrays), point)
    return list(found.values())


def given_points(who: str, target: Target, points: Any) -> Iterator[NamedPoint]:
    """The caller's own points, refused where the program does not take them."""
    if points is None:
        return
    if isinstance(points, Mapping):
        named = list(points.items())
    elif isinstance(points, Sequence):
        named = [(f"points[{i}]", point) for i, point in enumerate(points)]
    else:
        what = "`points` must be a dict from names to points, or a list of points"
        fail(who, f"{what}, got {describe(points)}", error=TypeError)
    args, kwargs = target.call(target.arrays)
    for name, point in named:
        if not isinstance(point, tuple):
            what = f"a point must be the tuple of arguments to call `f` with, got {describe(point)}"
            fail(who, f"{what} for {name}", hint="(x,) is a tuple of one", error=TypeError)
        leaves, tree = jax.tree.flatten((point, kwargs))
        if tree != target.tree:
            what = f"the point {name} must have the structure of the arguments {describe(args)}"
            fail(who, f"{what}, got {describe(point)}", error=ValueError)
        arrays = tuple(leaves[i] for i in target.slots)
        for path, x, like in zip(target.paths, arrays, target.arrays, strict=True):
            if np.shape(x) != like.shape or not _casts(x, like):
                what = f"the point {name} must have {describe(like)} for `{path}`"
                fail(who, f"{what}, got {describe(x)}", error=ValueError)
        cast = [jnp.asarray(x, y.dtype) for x, y in zip(arrays, target.arrays, strict=True)]
        yield NamedPoint(str(name), tuple(cast), False)


def _casts(x: Any, like: Any) -> bool:
    return jnp.can_cast(jnp.result_type(x), like.dtype, "same_kind")


def _changes(numbers: Sequence[float]) -> Iterator[tuple[str, PointChange]]:
    yield "zeros", lambda x: np.zeros_like(x)
    yield "ones", lambda x: np.ones_like(x)
    yield "all equal", lambda x: np.full_like(x, x.flat[0])
    yield "tied pairs", _tied_pairs
    yield "whole numbers", lambda x: (np.arange(x.size) % 7 - 3).reshape(x.shape).astype(x.dtype)
    for number in dict.fromkeys([*numbers, *_KINKS]):
        yield f"all {number:g}", lambda x, number=number: np.full_like(x, number)
    yield "real axis", _of_complex(lambda x: np.real(x))
    yield "negative real axis", _of_complex(lambda x: -np.abs(x))
    yield "imaginary axis", _of_complex(lambda x: 1j * np.imag(x))
    yield "identity", _of_square(lambda x: np.eye(x.shape[-1]))
    yield "repeated eigenvalues", _of_square(_repeated)
    yield "singular matrix", _of_square(_singular)
    yield "symmetric", _of_square(lambda x: (x + np.conj(np.swapaxes(x, -2, -1))) / 2)


def _tied_pairs(x: np.ndarray) -> np.ndarray | None:
    if x.size < 2:
        return None
    flat = x.reshape(-1).copy()
    flat[1::2] = flat[: flat.size - 1 : 2]
    return flat.reshape(x.shape)


def _of_complex(change: PointChange) -> PointChange:
    return lambda x: change(x) if np.iscomplexobj(x) else None


def _of_square(change: PointChange) -> PointChange:
    def changed(x: np.ndarray) -> np.ndarray | None:
        square = x.ndim >= 2 and x.shape[-2] == x.shape[-1] > 1
        result = change(x) if square else None
        return None if result is None else np.broadcast_to(result, x.shape)

    return changed


def _repeated(x: np.ndarray) -> np.ndarray:
    """All eigenvalues 1 but the last."""
    return np.diag([1.0] * (x.shape[-1] - 1) + [2.0])


def _singular(x: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[..., -1, :] = result[..., 0, :]
    return result


def _changed(
    arrays: Sequence[Any], which: Sequence[int], change: PointChange
) -> tuple[Any, ...] | None:
    """The arrays with those that the change is for changed; None if there are none."""
    result, any_changed = list(arrays), False
    for i in which:
        changed = change(in_double(arrays[i]))  # NumPy does not compute in each dtype
        if changed is not None:
            result[i], any_changed = jnp.asarray(changed.astype(arrays[i].dtype)), True
    return tuple(result) if any_changed else None


def _numbers_in(program: Any) -> list[float]:
    """Numbers that the function's own code holds, such as bounds: kinks may be there."""
    found = dict[float, None]()
    for eqn in equations(program, _is_users):
        for x in eqn.invars:
            if isinstance(x, Literal) and np.ndim(x.val) == 0 and is_inexact(x.aval):
                value = np.asarray(x.val).astype(np.complex128)
                if value.imag == 0 and math.isfinite(value.real) and abs(value.real) < 1e4:
                    found[float(value.real)] = None
    return list(found)[:_NUMBERS]


def _is_users(eqn: JaxprEqn) -> bool:
    return operator_of(eqn) is None and not library_function(eqn)
