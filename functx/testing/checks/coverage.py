"""What a sample shows of a signature, and so which samples a check needs to look at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import numpy as np

from functx._core import category
from functx.testing.opinfo import OpInfo, Sample


Select = Callable[[OpInfo, Sequence[Sample]], list[Sample]]


def every(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """All samples."""
    return list(samples)


def whole_entry(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """One, for checks of what the entry states or of all its calls at once."""
    return list(samples[:1])


def telling(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """The samples that show what none before them does.

    That is an option, an optional array or a variant with its first value other than the
    default, a negative dimension, an array of rank 0 or of a higher rank, broadcasting, an empty
    array, another mixture of dtypes, an edge of the domain, a derivative that is held.
    """
    found, seen, highest = [], set(), -1
    for sample in samples:
        new = features(info, sample) - seen
        rank = max((x.ndim for x in sample.arrays()[:1]), default=-1)
        if new or rank > highest:
            found.append(sample)
        seen |= new
        highest = max(highest, rank)
    return found


def telling_of_options(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Of the telling samples those that show more than other ranks, shapes and signs of numbers."""
    found, seen = [], set()
    for sample in samples:
        new = {f for f in features(info, sample) if _kind(f) not in _OF_SHAPES} - seen
        if new:
            found.append(sample)
        seen |= new
    return found


_OF_SHAPES = {"broadcasting", "empty", "negative", "rank 0"}


def _kind(feature: Hashable) -> Hashable:
    return feature[0] if isinstance(feature, tuple) else feature


def first_of_sets(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """For each set of differentiable arguments, the first sample that gives them."""
    found: dict[frozenset[str], Sample] = {}
    for sample in samples:
        whole = all(x.size for x in sample.arrays())
        if whole and not sample.values_only:
            found.setdefault(differentiable_arguments(info, sample), sample)
    return list(found.values())


def first_whole(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """The first of `first_of_sets`."""
    return first_of_sets(info, samples)[:1]


def differentiable_arguments(info: OpInfo, sample: Sample) -> frozenset[str]:
    """The names of the arguments that hold floating or complex arrays, a sequence or many."""
    found: set[str] = set()
    for name, value in arguments(info, sample).items():
        inexact = [x for x in _arrays(value) if category(x.dtype) >= 2]
        found |= {name} if inexact else set()
        found |= {f"{name}[]"} if inexact and isinstance(value, (tuple, list)) else set()
        found |= {f"{name}[2]"} if len(inexact) > 2 else set()
    return frozenset(found)


def arguments(info: OpInfo, sample: Sample) -> dict[str, Any]:
    """The arguments of a call by name; of an undeclared function, by position where need be."""
    if info.spec is not None:
        return info.spec.arguments(sample.args, sample.kwargs)
    return {**{str(i): x for i, x in enumerate(sample.args)}, **sample.kwargs}


def features(info: OpInfo, sample: Sample) -> set[Hashable]:
    """What the sample shows, besides its rank."""
    shown: set[Hashable] = {("differentiable", differentiable_arguments(info, sample))}
    given = arguments(info, sample)
    for name, value in given.items():
        shown |= _argument_features(name, value, _default(info, name))
    arrays = sample.arrays()
    shown |= {"empty"} if any(x.size == 0 for x in arrays) else set()
    shown |= {("dtypes", tuple(x.dtype.name for x in arrays if x.dtype != arrays[0].dtype))}
    if info.spec is not None:
        promoting = [given.get(name) for name in info.spec.promoting]
        shown |= {"broadcasting"} if len({x.shape for x in _arrays(promoting)}) > 1 else set()
    kinds = {"edge": sample.values_only, "held": sample.held}
    return shown | {kind for kind, is_one in kinds.items() if is_one}


def _argument_features(name: str, value: Any, default: Any) -> set[Hashable]:
    arrays = _arrays(value)
    if arrays:
        shown: set[Hashable] = {("array", name)}
        return shown | {("rank 0", name) for x in arrays if x.ndim == 0}
    if _same(value, default):
        return set()
    shown = {("option", name, value if isinstance(value, (bool, str, type(None))) else "given")}
    numbers = value if isinstance(value, (tuple, list)) else (value,)
    shown |= {("kind", name, isinstance(value, (tuple, list)))}
    if any(isinstance(n, (int, float)) and not isinstance(n, bool) and n < 0 for n in numbers):
        shown |= {("negative", name)}
    return shown


def _default(info: OpInfo, name: str) -> Any:
    return None if info.spec is None else info.spec.signature.parameters[name].default


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray):
        return False
    return type(value) is type(default) and bool(value == default)


def _arrays(value: Any) -> list[jax.Array]:
    return [x for x in jax.tree.leaves(value) if isinstance(x, jax.Array)]


def few(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Three telling samples, of none at edges."""
    return [x for x in telling(info, samples) if not x.values_only][:3]


def few_eager(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Three telling samples, and those at edges: each is compiled by the pipeline of users."""
    return few(info, samples) + [x for x in samples if x.values_only]
