"""`Subject`: an entry under study: its samples, outputs, derivatives, and what it accepts."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import available, category
from functx._core.operators.roles import NUMBERS
from functx.testing.calls import Calls, filled, Given
from functx.testing.checks.cases import random_like, sized
from functx.testing.checks.programs import compiled
from functx.testing.opinfo import OpInfo, Sample

from .derivatives import inexact
from .program_dependence import compared, dependence


WIDE = ("float64", "complex128")


class Subject:
    """What planting needs to know of an entry, and of the other entries of its operator."""

    def __init__(self, info: OpInfo, siblings: Sequence[OpInfo] = ()):
        self.info, self.entries = info, (info, *siblings)
        self.calls = Calls(info.op)
        self._outputs: dict[int, Any] = {}
        self._derivatives: dict[int, tuple[Sample, _Derivative]] = {}
        self._has_slope: dict[int, tuple[Sample, bool]] = {}
        self._used: dict[int, tuple[Sample, frozenset[str]]] = {}
        self._drawn: dict[tuple[int, str], list[Sample]] = {}

    @ft.cached_property
    def dtype(self) -> str:
        """float32, or the widest dtype of an entry that does not take it."""
        return self.takes("float32", *reversed(self.info.accepted)) or self.info.accepted[-1]

    @ft.cached_property
    def wide(self) -> str | None:
        """The dtype in which derivatives are compared with finite differences."""
        return self.takes(*WIDE) if self.info.differentiable else None

    def takes(self, *dtypes: str) -> str | None:
        """The first of `dtypes` that the entry is checked in, and that is at hand."""
        here = (dtype for dtype in dtypes if dtype in self.info.accepted and representable(dtype))
        return next(here, None)

    def samples(self, dtype: str | None = None) -> list[Sample]:
        """The entry's samples."""
        return self._samples(self.info, dtype or self.dtype)

    def every_sample(self, dtype: str | None = None) -> Iterator[Sample]:
        """The samples of all entries of the operator."""
        dtype = dtype or self.dtype
        for info in self.entries:
            yield from self._samples(info, dtype if dtype in info.accepted else info.accepted[-1])

    def _samples(self, info: OpInfo, dtype: str) -> list[Sample]:
        at = self.entries.index(info), dtype
        if at not in self._drawn:
            self._drawn[at] = list(info.draw(dtype))
        return self._drawn[at]

    def given(self, sample: Sample) -> Given:
        """A sample's arguments by name, with a key if the operator draws."""
        return self.calls.arguments(sample.args, sample.kwargs) | self._key(sample)

    def _key(self, sample: Sample) -> Given:
        spec = self.info.spec
        if spec is None or not spec.random:
            return {}
        draws = spec.needs_key is None or spec.draws_key(*sample.args, **sample.kwargs)
        return self._a_key() if draws else {}

    def _a_key(self) -> Given:
        spec = self.info.spec
        return {spec.key_parameter: jax.random.key(7)} if spec and spec.random else {}

    def arrays(self, sample: Sample) -> dict[str, Any]:
        """A sample's arrays by the name of their parameter."""
        return self.calls.arrays(self.given(sample))

    @ft.cached_property
    def targets(self) -> list[str]:
        """The array parameters that some sample gives; of a sequence, the first and the last."""
        found: dict[str, None] = {}
        for sample in self.samples():
            found |= dict.fromkeys(self.arrays(sample))
        last = {name.partition("[")[0]: name for name in found if "[" in name}
        ends = set(last.values()) | {f"{name}[0]" for name in last}
        return [name for name in found if "[" not in name or name in ends]

    def with_arrays(self, sample: Sample, arrays: Mapping[str, Any]) -> Sample:
        """The sample with other arrays in some places."""
        given = self.calls.arguments(sample.args, sample.kwargs)
        return Sample(*self.calls.call_of(filled(given, arrays)))

    def output(self, sample: Sample, op: Callable[..., Any] | None = None) -> list[Any] | None:
        """The arrays that a call returns, or None if it is refused."""
        if op is None and id(sample) in self._outputs:
            return self._outputs[id(sample)][1]
        try:
            out = (op or self.info.op)(*sample.args, **{**sample.kwargs, **self._key(sample)})
            leaves = [np.asarray(y) for y in jax.tree.leaves(out)]
        except Exception:
            leaves = None
        if op is None:
            self._outputs[id(sample)] = sample, leaves
        return leaves

    def accepts(self, sample: Sample) -> bool:
        """Whether a call gives any array; nothing is computed."""
        try:
            given = self.given(sample)
            arrays = self.calls.arrays(given)
            out = jax.eval_shape(lambda xs: self.calls(filled(given, xs)), arrays)
        except jax.errors.JAXTypeError:
            return self.output(sample) is not None
        except Exception as error:
            return "depends on values" in str(error) and self.output(sample) is not None
        return bool(jax.tree.leaves(out))

    def shows(
        self, sample: Sample, op: Callable[..., Any], *, ulps: float = 0, refused: bool = True
    ) -> bool:
        """Whether a mutated operator returns something else, by more than `ulps`, or refuses.

        With `refused=False` that does not count: compiled programs refuse no values.
        """
        want = self.output(sample)
        got = None if want is None else self.output(sample, op)
        return want is not None and (got is not None or refused) and _differ(got, want, ulps)

    @ft.cached_property
    def used_arrays(self) -> list[str]:
        """The arrays on whose values the outputs depend in some sample."""
        every = frozenset().union(*map(self.used, self.samples()))
        return [name for name in self.targets if name in every]

    def used(self, sample: Sample) -> frozenset[str]:
        """The arrays on whose values the outputs of a sample depend."""
        if id(sample) not in self._used:
            self._used[id(sample)] = sample, self._find_used(sample)
        return self._used[id(sample)][1]

    def _find_used(self, sample: Sample) -> frozenset[str]:
        given = self.given(sized(self.info, sample))
        arrays = self.calls.arrays(given)
        names = sorted(arrays)
        reached = _reaching(lambda xs: self.calls(filled(given, xs)), arrays)
        return frozenset(names[i] for i in reached)

    def differs_among_lanes(self, sample: Sample) -> bool:
        """Whether an array that the outputs depend on holds other numbers in the last lane."""
        lanes = sample.lanes or (sample,)
        first, last = self.arrays(lanes[0]), self.arrays(lanes[-1])
        return any(not np.array_equal(first[name], last[name]) for name in self.used(sample))

    def ignores(self, option: str) -> bool:
        """Whether a number has no part in the outputs, in all samples that give it."""
        found = []
        for sample in self.every_sample():
            given = self.given(sample)
            note = self.calls.note(option) if given.get(option) is not None else ""
            if note in NUMBERS and self.calls.gives(given, option):
                given = given | self._a_key()  # whether it draws, the number may decide
                f = lambda value, given=given: self.calls(given | {option: value})
                found.append(not _reaching(f, jnp.asarray(given[option])))
        return bool(found) and all(found)

    # Derivatives.

    def active(self, sample: Sample) -> frozenset[str]:
        """The arrays on which the derivative of a sample's floating outputs depends."""
        return self._derivative(sample).active

    def kinks(self, sample: Sample, target: str) -> list[float] | None:
        """The numbers with which a derivative compares an array's values; None if it does not."""
        return self._derivative(sample).kinks.get(target)

    def has_slope(self, sample: Sample) -> bool:
        """Whether the derivative of a sample's floating outputs is not zero."""
        if id(sample) not in self._has_slope:
            slopes = self._slopes(sample) if self.active(sample) else []
            self._has_slope[id(sample)] = sample, any(np.any(np.asarray(y) != 0) for y in slopes)
        return self._has_slope[id(sample)][1]

    def _slopes(self, sample: Sample) -> list[Any]:
        given = self.given(sized(self.info, sample))
        xs = {name: jnp.asarray(x) for name, x in self.calls.arrays(given).items() if inexact(x)}
        dots = dict(zip(xs, random_like(list(xs.values()), seed=5), strict=True))
        return compiled(lambda xs, dots: self._pushed(given, xs, dots))(xs, dots)

    def _pushed(self, given: Given, xs: Any, dots: Any) -> list[Any]:
        """Tangents of a call's floating outputs."""

        def f(xs: Any) -> list[Any]:
            leaves = jax.tree.leaves(self.calls(filled(given, xs)))
            return [y for y in leaves if inexact(y)]

        return jax.jvp(f, (xs,), (dots,))[1]

    @ft.cached_property
    def active_arrays(self) -> list[str]:
        """The arrays on which the entry's derivative depends in some sample."""
        if self.wide is None:
            return []
        every = frozenset().union(*map(self.active, self.samples(self.wide)))
        return [name for name in self.targets if name in every]

    def _derivative(self, sample: Sample) -> _Derivative:
        if id(sample) not in self._derivatives:
            try:
                found = self._study(sample)
            except RuntimeError:  # the operator refuses to be differentiated: no derivative errs
                found = _Derivative(frozenset(), {})
            self._derivatives[id(sample)] = sample, found
        return self._derivatives[id(sample)][1]

    def _study(self, sample: Sample) -> _Derivative:
        given = self.given(sized(self.info, sample))
        xs = {name: jnp.asarray(x) for name, x in self.calls.arrays(given).items() if inexact(x)}
        names, kinks = sorted(xs), []

        def mark(eqn: Any, reached: frozenset[int]) -> frozenset[int]:
            numbers = compared(eqn)
            if numbers is None:
                return frozenset()
            kinks.append((numbers, [names[i] for i in reached if i < len(names)]))
            return frozenset([2 * len(names) + len(kinks) - 1])

        jaxpr = jax.make_jaxpr(lambda xs, dots: self._pushed(given, xs, dots))(xs, xs).jaxpr
        inputs = [frozenset([i]) for i in range(2 * len(names))]
        reached = frozenset().union(*dependence(jaxpr, inputs, mark))
        active = frozenset(name for i, name in enumerate(names, len(names)) if i in reached)
        found: dict[str, list[float]] = {}
        for i, (numbers, targets) in enumerate(kinks, 2 * len(names)):
            for target in targets if i in reached else ():
                found.setdefault(target, []).extend(numbers)
        return _Derivative(active, found)


def _reaching(f: Callable[..., Any], x: Any) -> frozenset[int]:
    """Which of the leaves of `x` the outputs of `f` depend on."""
    jaxpr = jax.make_jaxpr(f)(x).jaxpr
    inputs = [frozenset([i]) for i in range(len(jaxpr.invars))]
    return frozenset().union(*dependence(jaxpr, inputs, lambda eqn, reached: frozenset()))


@dataclasses.dataclass(frozen=True)
class _Derivative:
    active: frozenset[str]
    kinks: dict[str, list[float]]


def _differ(got: list[Any] | None, want: list[Any], ulps: float) -> bool:
    if got is None or len(got) != len(want):
        return True
    return any(_leaf_differs(g, w, ulps) for g, w in zip(got, want, strict=True))


def _leaf_differs(got: Any, want: Any, ulps: float) -> bool:
    if got.dtype != want.dtype or got.shape != want.shape:
        return True
    if category(want.dtype) < 2:
        return not np.array_equal(got, want)
    if ulps == 0:
        return _bits_differ(got.real, want.real) or _bits_differ(got.imag, want.imag)
    wide = np.complex128 if category(want.dtype) == 3 else np.float64
    got, want, eps = got.astype(wide), want.astype(wide), float(jnp.finfo(want.dtype).eps)
    with np.errstate(all="ignore"):
        far = np.abs(got - want) > ulps * eps * np.abs(want)
    return bool(far.any())


def _bits_differ(got: Any, want: Any) -> bool:
    got, want = got.astype(np.float64), want.astype(np.float64)
    same = np.array_equal(got, want, equal_nan=True)
    numbers = ~np.isnan(want)
    return not same or not np.array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


def representable(dtype: str) -> bool:
    """Whether arrays of a dtype can be made: with 64 bit off, some cannot."""
    return available(dtype) == jnp.dtype(dtype)
