"""A sample's call with other sizes: which of them may change, and together with which.

An operator says so itself: sizes that it takes one larger, it takes as symbols. Sizes that are
tied to a number by an option, or to each other, it refuses to change alone.
"""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from functx._core import Size
from functx._core.roles import Kind
from functx.testing.calls import Calls
from functx.testing.opinfo import OpInfo, Sample

from .cases import sized


# A dimension of an array by its number, or an entry of an option that is a shape; None: all of it.
Place = tuple[int | str, int | None]
Places = frozenset[Place]
Sizes = Mapping[Place, Size]


class Resizable:
    """The call of a sample as a function of its arrays' sizes and of the options that are sizes."""

    def __init__(self, info: OpInfo, sample: Sample) -> None:
        self.info, self.sample = info, sized(info, sample)
        self._calls = Calls(info.op)
        self._given = self._calls.arguments(self.sample.args, self.sample.kwargs)
        self.arrays = self.sample.arrays()
        self.sizes = dict(self._places())

    def _places(self) -> Iterator[tuple[Place, int]]:
        for i, x in enumerate(self.arrays):
            yield from (((i, d), n) for d, n in enumerate(x.shape))
        for name, role in () if self.info.spec is None else self.info.spec.roles.items():
            if role.kind is Kind.SHAPE or (role.takes is not None and role.takes.sizes):
                value = self._given.get(name)
                if isinstance(value, (tuple, list)):
                    yield from (((name, k), n) for k, n in enumerate(value) if _is_size(n))
                elif _is_size(value):
                    yield (name, None), value

    def shapes(self, sizes: Sizes) -> list[jax.ShapeDtypeStruct]:
        """The arrays' types, with other sizes in some places."""
        return [
            jax.ShapeDtypeStruct([sizes.get((i, d), n) for d, n in enumerate(x.shape)], x.dtype)
            for i, x in enumerate(self.arrays)
        ]

    def function(self, sizes: Sizes) -> Callable[..., tuple[jax.Array, ...]]:
        """The operator as a function of the arrays, with other sizes in some options."""
        op = self.info.with_key(jax.random.key(7)) if self.info.random else self.info.op
        sample, given = self.sample, dict(self._given)
        for name in {name for name, _ in sizes if isinstance(name, str)}:
            value = given[name]
            several = isinstance(value, (tuple, list))
            given[name] = (
                tuple(sizes.get((name, k), n) for k, n in enumerate(value))
                if several
                else sizes[name, None]
            )
            args, kwargs = self._calls.call_of(given)
            sample = dataclasses.replace(sample, args=args, kwargs=kwargs)
        call = sample.over_arrays(op)
        return lambda *arrays: tuple(jax.tree.leaves(self.info.determined(call(*arrays))))

    def values(self, sizes: Mapping[Place, int]) -> list[np.ndarray]:
        """The arrays with other sizes in some places: cut off, or repeated from the start."""
        return [
            ft.reduce(lambda y, d: _resized(y, d, sizes.get((i, d))), range(x.ndim), np.asarray(x))
            for i, x in enumerate(self.arrays)
        ]

    def takes(self, sizes: Sizes) -> bool:
        """Whether other sizes in some places are no mistake."""
        try:
            jax.eval_shape(self.function(sizes), *self.shapes(sizes))
        except Exception as error:
            if not self.info.refuses(error):
                raise
            return False
        return bool(sizes)

    def may_change(self, places: Iterable[Place]) -> bool:
        """Whether sizes that are larger by one there are no mistake."""
        return self.takes({place: self.sizes[place] + 1 for place in places})

    def leading(self) -> Places:
        """The dimensions that change with the first array's first one, or none if it may not.

        These are the leading ones of its size; if the operator does not take that, the first one
        alone, or all of this size.
        """
        n = next((n for n in self.sizes.values() if n > 1), None)
        first = next((x.shape[0] for x in self.arrays if x.ndim), n)
        alike = frozenset(place for place, n in self.sizes.items() if n == first)
        ahead = frozenset(place for place in alike if not place[1])
        choices = (ahead, _of_arrays(ahead), frozenset(sorted(_of_arrays(ahead))[:1]))
        return self._first_taken(first, (*choices, alike, _of_arrays(alike)))

    def together(self) -> list[Places]:
        """For each size, the dimensions that may change with it; and one after the other, all."""
        groups: list[Places] = []
        for n in dict.fromkeys(self.sizes.values()):
            alike = frozenset(place for place, m in self.sizes.items() if m == n)
            group = self._first_taken(n, (alike, _of_arrays(alike)))
            if group and self.may_change(frozenset().union(*groups, group)):
                groups.append(group)
        return groups

    def _first_taken(self, size: Any, choices: Iterable[Places]) -> Places:
        if size is None or size < 2:  # an array of one element broadcasts, an empty one is empty
            return frozenset()
        return next((p for p in dict.fromkeys(choices) if self.may_change(p)), frozenset())


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _of_arrays(places: Places) -> Places:
    return frozenset(place for place in places if isinstance(place[0], int))


def _resized(x: np.ndarray, dim: int, size: int | None) -> np.ndarray:
    return x if size is None else np.take(x, np.arange(size) % x.shape[dim], dim)
