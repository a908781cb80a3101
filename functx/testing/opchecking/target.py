"""A user's function as one of the arrays in a call: trees, numbers and keys stay where they are."""

from __future__ import annotations

import dataclasses
import functools as ft
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from functx._core import category, describe, fail, foreign_hint, OpSpec
from functx._transforms.arguments import kind_of, leaves_with_paths, numbered
from functx.testing.checks.compare import beside, moved
from functx.testing.dtypes import HALVES
from functx.testing.opinfo import OpInfo, Sample
from functx.testing.samples import call
from functx.testing.tolerances import Tolerance


_HOST = (np.ndarray, np.generic)
_ARRAYS = (jax.Array, *_HOST)
_NUMBERS = (np.integer, np.bool_)  # of NumPy's, that stay as they are: shapes, dims, flags
_SHOWN = 16  # elements of an array that a report writes out
# How far values may be off that are computed in two ways: functions are of many steps.
_ULPS, _ULPS_OF_HALVES = 64.0, 4.0


@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """`func` at one call, as a function of its arrays; gives the arrays of its output.

    Operators take NumPy's arrays too; functions of a user get JAX's, whatever a check hands on.
    """

    func: Callable[..., Any]
    name: str
    arrays: tuple[Any, ...]
    paths: tuple[str, ...]
    leaves: tuple[Any, ...]
    slots: tuple[int, ...]  # of the arrays among the leaves
    tree: Any
    ulps: float | None = None

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *arrays: Any) -> tuple[jax.Array, ...]:
        if not isinstance(getattr(self.func, "spec", None), OpSpec):
            arrays = tuple(jnp.asarray(x) if isinstance(x, _HOST) else x for x in arrays)
        args, kwargs = self.call(arrays)
        outputs = jax.tree.leaves(self.func(*args, **kwargs))
        return tuple(jnp.asarray(y) for y in outputs if is_array(y))

    def call(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the call, with others for its arrays."""
        leaves = list(self.leaves)
        for slot, x in zip(self.slots, arrays, strict=True):
            leaves[slot] = x
        return self.tree.unflatten(leaves)

    def at(self, arrays: Sequence[Any]) -> Target:
        """The same function at other arrays."""
        return dataclasses.replace(self, arrays=tuple(arrays))

    def written(self) -> str:
        """The call, its arrays as `f32[2,3]`."""
        args, kwargs = self.call(self.arrays)
        return self.name + repr(Sample(args, kwargs))

    def listed(self) -> list[str]:
        """The arrays, a line for each: its path, shape and values."""
        return [f"{path}: {described(x)}" for path, x in zip(self.paths, self.arrays, strict=True)]

    def naming(self, message: str) -> str:
        """What `gradcheck` says of the arrays, with the paths that they have in the call."""
        names = {f"inputs[{i}]": path for i, path in enumerate(self.paths)}
        return re.sub(r"inputs\[\d+\]", lambda found: names.get(found[0], found[0]), message)

    @property
    def differentiated(self) -> bool:
        """Whether any of the arrays has a derivative."""
        return any(is_inexact(x) and x.size for x in self.arrays)

    def sample(self) -> Sample:
        """The call, and others like it: the lanes of a batch."""
        lanes = [call(*self.arrays), *(call(*self._others(seed)) for seed in (1, 2))]
        return dataclasses.replace(lanes[0], lanes=tuple(lanes))

    def info(self) -> OpInfo:
        """The entry that the checks of operators take."""
        dtype = self.sample_dtype
        ulps = default_ulps(dtype) if self.ulps is None else self.ulps
        reason = "what a function of many steps sums may cancel"
        near = Tolerance(reason, ulps=ulps, floor=ulps, scale=self._moved)
        samples = lambda make: iter((self.sample(),))
        return OpInfo(self, samples, tolerances=(near,), dtypes=(dtype,))

    @ft.cached_property
    def _moved(self) -> float:
        """How far results move where arguments do by an ulp, at most: here and in other lanes."""
        found = [0.0]
        for lane in self.sample().lanes:
            try:
                outputs = [np.asarray(y) for y in self(*lane.args)]
            except Exception:  # what is raised, the checks of calls say
                continue
            found += self.at(lane.args).moves(outputs)
        return max(found)

    def moves(self, outputs: Sequence[np.ndarray]) -> list[float]:
        """How far each of the `outputs` moves, at most, where every array does by an ulp, in ulps.

        So far they may be off that lose the digits of larger arguments. Of a mask of -1e9, none.
        """
        rng = np.random.default_rng(23)
        arrays = [beside(x, rng) if is_inexact(x) else x for x in self.arrays]
        try:
            others = [np.asarray(y) for y in self(*arrays)]
        except Exception:  # refused there: arguments that are given as they must be
            return [0.0] * len(outputs)
        if [y.shape for y in others] != [y.shape for y in outputs]:
            return [0.0] * len(outputs)
        return [
            moved(x, y, x.dtype) if is_inexact(x) else 0.0
            for x, y in zip(outputs, others, strict=True)
        ]

    @property
    def sample_dtype(self) -> str:
        """The dtype that the call is checked in: that of its first floating or complex array."""
        return call(*self.arrays).dtype

    def _others(self, seed: int) -> tuple[Any, ...]:
        """Arrays of the same shapes with other values, which the function takes if it can be."""
        rng = np.random.default_rng([seed, len(self.arrays)])
        finite = _finite(self, self.arrays)
        for change in (_between, _smaller, _scaled):
            others = tuple(change(np.asarray(x), rng) for x in self.arrays)
            if not finite or _finite(self, others):
                return tuple(map(jnp.asarray, others))
        return self.arrays


def target_of(
    who: str, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], ulps: float | None
) -> Target:
    """The call `func(*args, **kwargs)`, refused where it cannot be checked."""
    if not callable(func):
        fail(who, f"`f` must be callable, got {describe(func)}", error=TypeError)
    values = (*args, *(kwargs[name] for name in sorted(kwargs)))
    paths = (*numbered("args", len(args)), *(f"kwargs[{name!r}]" for name in sorted(kwargs)))
    named = leaves_with_paths(values, paths)
    for path, x in named:
        if isinstance(x, Tracer):
            message = f"`{path}` must be an array with values, got {describe(x)}"
            hint = f"{who} calls functions itself: call it outside of jit and of transforms"
            fail(who, message, hint=hint, error=TypeError)
        if hasattr(x, "detach") and foreign_hint(x):
            fail(who, f"`{path}` is a {describe(x)}", hint=foreign_hint(x), error=TypeError)
    leaves, tree = jax.tree.flatten((args, dict(kwargs)))
    slots = tuple(i for i, x in enumerate(leaves) if is_array(x) and not isinstance(x, _NUMBERS))
    if not slots:
        fail(
            who,
            f"expected an array among the arguments, got {describe(args)}",
            hint="numbers are passed on as they are; jnp.asarray(x) makes an array",
            error=ValueError,
        )
    arrays = tuple(jnp.asarray(leaves[i]) for i in slots)
    return Target(
        func,
        _name(func),
        arrays,
        tuple(named[i][0] for i in slots),
        tuple(leaves),
        slots,
        tree,
        ulps,
    )


def _name(func: Any) -> str:
    spec, owner = getattr(func, "spec", None), getattr(func, "__self__", None)
    name = getattr(spec, "name", None) or getattr(func, "__name__", type(func).__name__)
    return f"{owner.__name__}.{name}" if isinstance(owner, type) else name.strip("<>")


def is_array(x: Any) -> bool:
    """Whether `x` is an array of numbers; keys are none."""
    return isinstance(x, _ARRAYS) and kind_of(x) != "other"


def default_ulps(dtype: str) -> float:
    """How far values in a dtype may be off where nobody said."""
    return _ULPS_OF_HALVES if dtype in HALVES else _ULPS


def is_inexact(x: Any) -> bool:
    """Whether `x` has a derivative."""
    return category(x.dtype) >= 2


def described(x: Any) -> str:
    """`f32[2] [1.0, 2.0]`; of large arrays the type alone."""
    values = f" {np.asarray(x).tolist()}" if math.prod(x.shape) <= _SHOWN else ""
    return describe(x) + values


def finite(arrays: Sequence[Any]) -> bool:
    """Whether all numbers are."""
    wide = (np.asarray(x).astype(np.complex128) for x in arrays)
    return all(np.isfinite(x).all() for x in wide)


def _finite(target: Target, arrays: Sequence[Any]) -> bool:
    try:
        return finite(target(*arrays))
    except Exception:
        return False


def _between(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Any values between the extremes; of integers and bools, those there are, in any order."""
    if not x.size or not is_inexact(x):
        return rng.permuted(x.reshape(-1)).reshape(x.shape) if x.size > 1 else x
    parts = [np.real(x), np.imag(x)] if np.iscomplexobj(x) else [x.astype(np.float64)]
    if not all(np.isfinite(p).all() and p.min() < p.max() for p in parts):
        return _smaller(x, rng)
    drawn = [rng.uniform(p.min(), p.max(), x.shape) for p in parts]
    return np.asarray(drawn[0] + 1j * drawn[1] if len(drawn) > 1 else drawn[0]).astype(x.dtype)


def _smaller(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each number somewhat smaller; zeros somewhat larger."""
    if not is_inexact(x):
        return x
    by = rng.uniform(0.05, 0.3, x.shape)
    return np.asarray(np.where(x == 0, by, x * (1 - by)).astype(x.dtype))


def _scaled(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All numbers smaller alike, which keeps what relations they have."""
    return np.asarray((x * rng.uniform(0.7, 0.95)).astype(x.dtype)) if is_inexact(x) else x
