"""A call of an operator and a seed: one of its entry's samples, changed here and there.

The seeds of one block of `VALUES` differ in values alone, so that they share a program.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import inspect
import zlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category, describe
from functx._core.operators.roles import RoleKind
from functx.testing import ALL_DTYPES, OpInfo, Sample
from functx.testing.calls import Calls, filled
from functx.testing.dtype_facts import not_pytorchs

from .arrays import Arrays, cast, conditioned, number, pick, recast, revalued, Rng, SHAPES
from .options import option, options


VALUES = 4  # seeds in a block
COUNTED = 2**16  # the most that an array counts, where a result is as large as that


@dataclasses.dataclass(frozen=True)
class Call:
    """Positional and keyword arguments, arrays as NumPy's."""

    info: OpInfo
    seed: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __repr__(self) -> str:
        named = [f"{k}={shown(v)}" for k, v in self.kwargs.items()]
        return f"{self.info.name}({', '.join([*map(shown, self.args), *named])})"

    @property
    def sample(self) -> Sample:
        """With arrays as JAX's."""
        args, kwargs = jax.tree.map(to_jax, (self.args, self.kwargs))
        return Sample(args, kwargs)

    @property
    def arrays(self) -> list[np.ndarray]:
        leaves = jax.tree.leaves((self.args, self.kwargs))
        return [x for x in leaves if isinstance(x, np.ndarray)]


def to_call(info: OpInfo, sample: Sample, seed: int = 0) -> Call:
    """A sample of the database as a call."""
    args, kwargs = jax.tree.map(to_numpy, (sample.args, dict(sample.kwargs)))
    return Call(info, seed, args, kwargs)


def replaced(call: Call, chosen: Callable[[Any], Any], other: Callable[[Any], Any]) -> Call:
    """The call with others in the places of the `chosen` elements of its floating arrays."""
    inexact = lambda x: isinstance(x, np.ndarray) and category(x.dtype) >= 2
    put = lambda x: np.where(chosen(x), other(x), x).astype(x.dtype) if inexact(x) else x
    args, kwargs = jax.tree.map(put, (call.args, call.kwargs))
    return dataclasses.replace(call, args=args, kwargs=kwargs)


def without_nan(call: Call, gone: Callable[[Any], Any] = np.isnan) -> Call:
    """The call with ones for NaN, or for what else is `gone`."""
    return replaced(call, gone, np.ones_like)


def to_jax(x: Any) -> Any:
    return jax.device_put(x) if isinstance(x, np.ndarray) else x


def to_numpy(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, jax.Array) else x


def shown(x: Any) -> str:
    """An argument, with the values of small arrays, and NaN and what is great in large ones."""
    if isinstance(x, np.ndarray):
        if x.size <= 8:
            return f"{describe(x)}{x.tolist()}"
        return describe(x) + "".join(f"[.. {each} ..]" for each in _notable(x))
    if isinstance(x, (tuple, list)):
        inner = ", ".join(map(shown, x))
        return f"[{inner}]" if isinstance(x, list) else f"({inner}{',' * (len(x) == 1)})"
    return repr(x)


def _notable(x: np.ndarray) -> list[str]:
    if category(x.dtype) < 2:
        return []
    sizes = np.maximum(np.abs(np.real(x)), np.abs(np.imag(x))).astype(np.float64)
    greatest = np.max(sizes, initial=0, where=np.isfinite(sizes))
    return ["nan"] * bool(np.isnan(x).any()) + [f"{greatest:.2g}"] * bool(greatest > 1e15)


def _survived(args: Any, kwargs: Any) -> Any:
    """No least integer beside -1: the processor halts PyTorch where it divides one by the other."""
    signed = lambda x: isinstance(x, np.ndarray) and x.dtype.kind == "i" and x.dtype.itemsize > 2
    leaves = jax.tree.leaves((args, kwargs))
    if not any(np.any(x == -1) for x in leaves if isinstance(x, (np.ndarray, int, float))):
        return args, kwargs
    least = lambda x: np.asarray(np.maximum(x, np.iinfo(x.dtype).min + 1)) if signed(x) else x
    return jax.tree.map(least, (args, kwargs))


class Drawing:
    """The calls of one entry of the database."""

    def __init__(self, info: OpInfo):
        assert info.spec is not None
        self.info, self.calls = info, Calls(info.op)
        self._options = options(self.calls, not_pytorchs(info))
        self._samples = ft.cache(self._drawn)

    def _drawn(self, dtype: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        drawn = self.info.samples(self.info.make(dtype))
        whole = [jax.tree.map(to_numpy, (s.args, dict(s.kwargs))) for s in drawn]
        small = [s for s in whole if all(np.size(x) <= 64 for x in jax.tree.leaves(s))]
        return small or whole

    def __call__(self, seed: int) -> Call:
        """The call that a seed stands for."""
        entropy = zlib.crc32(self.info.id.encode())
        structure = np.random.default_rng([entropy, seed // VALUES])
        values = np.random.default_rng([entropy, seed, 1])
        args, kwargs = self._structure(structure)
        if seed % VALUES or self.info.finite_only or structure.random() < 0.7:
            args, kwargs = self._values(values, (args, kwargs))
        args, kwargs = _survived(*self._placed(*self._held(args, kwargs)))
        return Call(self.info, seed, args, kwargs)

    def _structure(self, rng: Rng) -> tuple[tuple[Any, ...], dict[str, Any]]:
        accepted = list(self.info.accepted)
        double = [name for name in ("float64", "complex128") if name in accepted]
        dtype = pick(rng, double if double and rng.random() < 0.25 else accepted)
        samples = self._samples(dtype)
        if not samples:
            return (), {}
        args, kwargs = pick(rng, samples)
        changes = int(pick(rng, (0, 1, 1, 1, 2, 2, 3)))
        given = self.calls.arguments(args, kwargs)
        own = given.keys() & not_pytorchs(self.info)
        if changes == 0 and not own:
            return args, kwargs
        given = {name: value for name, value in given.items() if name not in own}
        for _ in range(changes):
            given = self._changed(rng, given)
        return self._call(given)

    def _changed(self, rng: Rng, given: dict[str, Any]) -> dict[str, Any]:
        arrays: Arrays = self.calls.arrays(given)
        drawn = rng.random()
        if drawn < 0.35 and arrays:
            return filled(given, pick(rng, SHAPES)(rng, arrays))
        if drawn < 0.55 and arrays:
            return filled(given, recast(rng, arrays))
        if drawn < 0.65 and arrays:
            return self._with_a_number(rng, given, arrays)
        if not self._options:
            return given
        name = pick(rng, self._options)
        may_go = self.calls.parameters[name].default is not inspect.Parameter.empty
        if name in given and may_go and rng.random() < 0.2:
            return {k: v for k, v in given.items() if k != name}
        return given | {name: option(rng, self.calls, name, given)}

    def _with_a_number(self, rng: Rng, given: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """One array as a 0-d one, or as a Python number."""
        name = pick(rng, arrays)
        x = arrays[name]
        if rng.random() < 0.4:
            dtype = pick(rng, [x.dtype.name, *ALL_DTYPES])
            return filled(given, {name: cast(x.reshape(-1)[:1].sum().reshape(()), dtype)})
        return filled(given, {name: number(rng)})

    def _call(self, given: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What must be given by position, the rest by name, where names are PyTorch's too."""
        if self.calls.spec.other_signatures is not None:
            return self.calls.call_of(given)
        args, kwargs = [], dict(given)
        for name, p in self.calls.parameters.items():
            if p.default is not p.empty or p.kind is p.KEYWORD_ONLY or name not in kwargs:
                break
            args.append(kwargs.pop(name))
        return tuple(args), kwargs

    def _values(self, rng: Rng, call: Any) -> Any:
        """The call with other values in its arrays; positions and masks mostly keep theirs."""
        args, kwargs = call
        leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=lambda x: x is None)
        fixed, kept = self._fixed(args, kwargs), self._kept(args, kwargs)
        for i, x in enumerate(leaves):
            if id(x) in kept:
                continue
            share = 1 if self.info.finite_only else 0.2 if id(x) in fixed else 0.8
            if isinstance(x, np.ndarray) and rng.random() < share:
                if self.info.finite_only:
                    leaves[i] = conditioned(rng, x)
                else:
                    leaves[i] = revalued(rng, x, tame=id(x) in fixed and rng.random() < 0.7)
        return tree.unflatten(leaves)

    def _placed(self, args: Any, kwargs: Any) -> Any:
        """Points that lie somewhere: PyTorch's gradient at NaN reads any memory, and dies."""
        grid = dict(zip(self.calls.parameters, args, strict=False)).get("grid", kwargs.get("grid"))
        if not isinstance(grid, np.ndarray) or category(grid.dtype) != 2:
            return args, kwargs
        placed = np.clip(np.nan_to_num(grid.astype(np.float64)), -1e6, 1e6).astype(grid.dtype)
        return jax.tree.map(lambda x: placed if x is grid else x, (args, kwargs))

    def _kept(self, args: Any, kwargs: Any) -> set[int]:
        """Pivots: for others LAPACK writes to any memory."""
        given = {**dict(zip(self.calls.parameters, args, strict=False)), **kwargs}
        return {id(x) for name, x in given.items() if name.endswith("pivots")}

    def _held(self, args: Any, kwargs: Any) -> Any:
        """Class numbers and counts for which there is memory."""
        assert self.info.spec is not None
        wide = lambda x: id(x) in fixed and x.dtype.itemsize > 2
        fixed = self._fixed(args, kwargs) if self.info.spec.sizes_from_values else set()
        small = lambda x: np.asarray(np.minimum(x, COUNTED), x.dtype) if wide(x) else x
        return jax.tree.map(small, (args, kwargs))

    def _fixed(self, args: Any, kwargs: Any) -> set[int]:
        """The arrays that are positions, masks or the like."""
        try:
            given = self.calls.arguments(args, kwargs)
        except Exception:
            return set()
        roles = self.calls.spec.roles
        named = [x for k, x in given.items() if roles[k].kind is RoleKind.UNPROMOTED]
        whole = [x for x in jax.tree.leaves(named) if isinstance(x, np.ndarray)]
        return {id(x) for x in whole if category(jnp.dtype(x.dtype)) < 2}
