"""Other options in the place of a call's: by the role of the parameter, and by its annotation."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from functx._core.operators.roles import RoleKind
from functx.testing import ALL_DTYPES
from functx.testing.calls import Calls

from .arrays import cast, number, pick, reshaped, Rng


SMALL = (-3, -2, -1, 0, 1, 2, 3, 4, 5, 7)
FLOATS = (0.0, 1.0, 0.5, -1.0, 2.0, 0.1, 1e-5, 3.0, np.nan, np.inf, -np.inf, 2, -1, 0, True)


def options(calls: Calls, hidden: set[str]) -> list[str]:
    """The parameters that are no arrays, or may be left out, but for those that are `hidden`."""
    assert calls.spec is not None
    kinds = {name: role.kind for name, role in calls.spec.roles.items()}
    needed = {RoleKind.ARRAY, RoleKind.UNPROMOTED}
    return [
        name
        for name, p in calls.parameters.items()
        if name not in hidden
        and (kinds[name] not in needed or p.default is not inspect.Parameter.empty)
    ]


def option(rng: Rng, calls: Calls, name: str, given: dict[str, Any]) -> Any:
    """A value for the parameter `name` of a call, often like the one that it has."""
    assert calls.spec is not None
    role, note, now = calls.spec.roles[name], calls.note(name), given.get(name)
    arrays = calls.arrays(given)
    first = next(iter(arrays.values()), np.zeros((2, 3)))
    rank = first.ndim
    if role.optional and rng.random() < 0.1:
        return None
    match role.kind:
        case RoleKind.DIM:
            return dim(rng, rank)
        case RoleKind.DIMS:
            count = int(rng.integers(4))
            return dim(rng, rank) if count == 3 else tuple(dim(rng, rank) for _ in range(count))
        case RoleKind.SHAPE:
            return sizes(rng, now if now is not None else first.shape)
        case RoleKind.DTYPE:
            return str(pick(rng, ALL_DTYPES))
        case RoleKind.SCALAR:
            return number(rng)
        case RoleKind.ARRAY | RoleKind.UNPROMOTED:
            return _array(rng, note, now, first)
    return _plain(rng, calls, name, note, now)


def dim(rng: Rng, rank: int) -> int:
    """A dimension of `rank`, one in ten out of range."""
    if rank == 0 or rng.random() < 0.1:
        return int(rng.integers(-rank - 2, rank + 2))
    return int(rng.integers(-rank, rank))


def sizes(rng: Rng, now: Any) -> Any:
    """Sizes like those that a call has: one changed, one more, one less, in another order."""
    if isinstance(now, int) or not hasattr(now, "__len__"):
        return int(pick(rng, SMALL))
    now = [int(n) for n in now]
    drawn = rng.random()
    if drawn < 0.5 and now:
        now[int(rng.integers(len(now)))] = int(pick(rng, SMALL))
    elif drawn < 0.7:
        now.insert(int(rng.integers(len(now) + 1)), int(pick(rng, SMALL)))
    elif drawn < 0.85 and now:
        now.pop(int(rng.integers(len(now))))
    else:
        now = [now[i] for i in rng.permutation(len(now))]
    return tuple(now)


def _array(rng: Rng, note: str, now: Any, first: np.ndarray) -> Any:
    """An array of the shape of the first, broadcast against it, or of any other."""
    shape = first.shape if rng.random() < 0.5 else first.shape[int(rng.integers(3)) :]
    like = now if isinstance(now, np.ndarray) else first
    if note == "Mask":
        return rng.integers(0, 2, shape).astype(bool)
    if note == "Index":
        return rng.integers(-1, 3, shape)
    if rng.random() < 0.2:
        return number(rng)
    dtype = like.dtype.name if rng.random() < 0.7 else str(pick(rng, ALL_DTYPES))
    return cast(
        np.abs(reshaped(like, shape)) if like.dtype != bool else reshaped(like, shape), dtype
    )


def _plain(rng: Rng, calls: Calls, name: str, note: str, now: Any) -> Any:
    """A static option: another of its literals, a bool, a number, a sequence of numbers."""
    values = calls.values_of(name)
    types = note.replace("Sequence[", "").replace("tuple[", "").replace("]", "")
    default = calls.parameters[name].default
    if note.startswith("Literal[") or values or isinstance(default, str):
        if rng.random() < 0.05:
            return "nonsense"
        return pick(rng, [*values, default if default is not inspect.Parameter.empty else now])
    if types == "bool" or isinstance(now, bool):
        return bool(rng.integers(2))
    if isinstance(now, (tuple, list)) and rng.random() < 0.8:
        new = list(now)
        if new and rng.random() < 0.7:
            new[int(rng.integers(len(new)))] = _like(rng, pick(rng, new))
        elif new and rng.random() < 0.5:
            new.pop()
        else:
            new.append(_like(rng, new[0] if new else 1))
        return type(now)(new)
    return _like(rng, now) if now is not None else _like(rng, 1.0 if "float" in types else 1)


def _like(rng: Rng, now: Any) -> Any:
    if isinstance(now, (tuple, list)):
        return type(now)(_like(rng, x) for x in now)
    if isinstance(now, bool):
        return bool(rng.integers(2))
    if isinstance(now, str):
        return now if rng.random() < 0.9 else "nonsense"
    if isinstance(now, float):
        return pick(rng, FLOATS)
    return int(pick(rng, SMALL)) if isinstance(now, int) else now
