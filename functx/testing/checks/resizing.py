"""A sample's call with other sizes: which of them may change, and together with which.

An operator says so itself: sizes that it takes one larger, it takes as symbols. Sizes that are
tied to a number by an option, or to each other, it refuses to change alone.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import itertools as it
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import jax
import numpy as np

from functx._core import category, Size
from functx._core.operators.roles import Role, RoleKind
from functx.testing.calls import Calls
from functx.testing.opinfo import FixedSizes, OpInfo, Sample

from .cases import sized


# A dimension of an array by its number, or an entry of an option that is a shape; None: all of it.
SizePlace = tuple[int | str, int | None]
SizePlaces = frozenset[SizePlace]
ChosenSizes = Mapping[SizePlace, Size]


class Resizable:
    """The call of a sample as a function of its arrays' sizes and of the options that are sizes."""

    def __init__(self, info: OpInfo, sample: Sample) -> None:
        self.info, self.sample = info, sized(info, sample)
        self._calls = Calls(info.op)
        self._given = self._calls.arguments(self.sample.args, self.sample.kwargs)
        if len(self._calls.arrays(self._given)) < len(self.sample.arrays()):
            # One of the operator's other signatures, in which an array stands for its shape.
            args, kwargs = self._calls.call_of(self._given)
            self.sample = dataclasses.replace(self.sample, args=args, kwargs=kwargs)
        self.arrays = self.sample.arrays()
        self.sizes = dict(self._places())
        names = {id(x): name for name, x in self._calls.arrays(self._given).items()}
        self._names = [names.get(id(x), "").partition("[")[0] for x in self.arrays]

    def _places(self) -> Iterator[tuple[SizePlace, int]]:
        for i, x in enumerate(self.arrays):
            yield from (((i, d), n) for d, n in enumerate(x.shape))
        for name, role in () if self.info.spec is None else self.info.spec.roles.items():
            if is_sized(role):
                value = self._given.get(name)
                if isinstance(value, (tuple, list)):
                    yield from (((name, k), n) for k, n in enumerate(value) if _is_size(n))
                elif _is_size(value):
                    yield (name, None), value

    def shapes(self, sizes: ChosenSizes) -> list[jax.ShapeDtypeStruct]:
        """The arrays' types, with other sizes in some places."""
        return [
            jax.ShapeDtypeStruct([sizes.get((i, d), n) for d, n in enumerate(x.shape)], x.dtype)
            for i, x in enumerate(self.arrays)
        ]

    def function(self, sizes: ChosenSizes) -> Callable[..., tuple[jax.Array, ...]]:
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

    def values(self, sizes: Mapping[SizePlace, int]) -> list[np.ndarray]:
        """The arrays with other sizes in some places: cut off, or repeated from the start.

        Of integers the last ones are repeated, so that ends that do not decrease still do not.
        """
        arrays = list(map(np.asarray, self.arrays))
        for (which, dim), n in sizes.items():
            if isinstance(which, int) and dim is not None:
                x = arrays[which]
                at = np.arange(n)
                of_integers = category(x.dtype) == 1
                at = np.minimum(at, x.shape[dim] - 1) if of_integers else at % x.shape[dim]
                arrays[which] = np.take(x, at, dim)
        return arrays

    def takes(self, sizes: ChosenSizes) -> bool:
        """Whether other sizes in some places are no mistake, and do not change ranks of results."""
        try:
            ranks = self._ranks(sizes)
        except Exception as error:
            if not self.info.refuses(error):
                raise
            return False
        return bool(sizes) and ranks == self._own_ranks

    def _ranks(self, sizes: ChosenSizes) -> list[int]:
        return [y.ndim for y in jax.eval_shape(self.function(sizes), *self.shapes(sizes))]

    @ft.cached_property
    def _own_ranks(self) -> list[int]:
        return self._ranks({})

    def may_change(self, places: Iterable[SizePlace]) -> bool:
        """Whether sizes that are larger by one there are no mistake."""
        return self.takes({place: self.sizes[place] + 1 for place in places})

    def groups(self) -> list[SizePlaces]:
        """The places whose sizes may change: each by itself, or together with what it is tied to.

        All may change at once. An array of one element broadcasts, and an empty one is empty:
        these sizes stay as they are.
        """
        found: list[SizePlaces] = []
        for place, n in self.sizes.items():
            if n > 1 and not any(place in group for group in found):
                taken = frozenset[SizePlace]().union(*found)
                alike = [p for p, m in self.sizes.items() if m == n and p != place]
                group = self._smallest(place, [p for p in alike if p not in taken])
                if group and (not found or self.may_change(taken | group)):
                    found.append(group)
        return found

    def _smallest(self, place: SizePlace, alike: list[SizePlace]) -> SizePlaces:
        """Of the sets with `place` and others of its size, one from which none can be left out."""
        few = [frozenset([place]), *(frozenset([place, other]) for other in alike)]
        every = frozenset([place, *alike])
        arrays = frozenset(p for p in every if isinstance(p[0], int) or p == place)
        sets = dict.fromkeys([*few, every, arrays])
        found = next((s for s in sets if self.may_change(s)), frozenset[SizePlace]())
        for other in found - {place} if len(found) > 2 else ():
            if self.may_change(found - {other}):
                found -= {other}
        return found

    def least_sizes(self, groups: Sequence[SizePlaces]) -> list[int]:
        """For each group 1, or its own size where the operator refuses 1."""
        if self.takes({place: 1 for places in groups for place in places}):
            return [1] * len(groups)
        one = lambda places: dict.fromkeys(places, 1)
        return [1 if self.takes(one(p)) else self.sizes[min(p, key=str)] for p in groups]

    def fixed(self, fixed: FixedSizes) -> SizePlaces:
        """The places that an entry says cannot be symbols."""
        return frozenset(place for place in self.sizes if self._is_fixed(place, fixed))

    def _option(self, name: str) -> Any:
        spec = self.info.spec
        return self._given.get(name, spec.parameters.defaults.get(name) if spec else None)

    def _is_fixed(self, place: SizePlace, fixed: FixedSizes) -> bool:
        which, at = place
        if any(self._option(name) != value for name, value in fixed.given.items()):
            return False
        if isinstance(which, str):
            return which == fixed.argument and (not fixed.dims or at in fixed.dims)
        ndim = self.arrays[which].ndim
        dims = self._along(fixed, ndim) if fixed.along else fixed.dims or range(ndim)
        return self._names[which] == fixed.argument and at in [d % ndim for d in dims if d < ndim]

    def _along(self, fixed: FixedSizes, ndim: int) -> list[int]:
        """The dimensions that an option names, but for those whose sizes another one says."""
        dims, told = (_several(self._option(name)) for name in (fixed.along, fixed.unless))
        if self._option(fixed.along) is None:
            dims = tuple(range(ndim))[-len(told) :]
        return [d for d, n in it.zip_longest(dims, told, fillvalue=-1) if n == -1]


def _several(value: Any) -> tuple[Any, ...]:
    """An option that is a number, several, or left out, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else () if value is None else (value,)


def is_sized(role: Role) -> bool:
    """Whether an option is a size that may be symbolic, or several."""
    option_type = role.option_type
    return role.kind is RoleKind.SHAPE or (option_type is not None and option_type.sizes)


def _is_size(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
