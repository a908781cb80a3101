"""What a sample shows of a signature, and so which samples a check needs to look at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from typing import Any

import jax
import numpy as np

from functx._core import category
from functx.testing.opinfo import OpInfo, Sample

from .forward import sample_dtype
from .own_rules import own_parts


Select = Callable[[OpInfo, Sequence[Sample]], list[Sample]]


def every(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """All samples."""
    return list(samples)


def whole_entry(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """One, for checks of what the entry states or of all its calls at once."""
    return list(samples[:1])


def telling(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """The samples that show what none before them does.

    That is an option or an optional array, by position or by name, an option's value other than
    the default, options together, a variant, a negative dimension, an array of rank 0 or of a
    higher rank, broadcasting, an empty array, another mixture of dtypes, an edge of the domain, a
    derivative that is held.
    """
    return _telling(info, samples, lambda sample: True)


def telling_of_options(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Of the telling samples those that show an option as none before them does.

    That is its first value, or the first of the kind that it has: each bool, each string.
    """
    return _telling(info, samples, lambda sample: False)


def telling_of_derivatives(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """The telling ones of those that derivatives are asked of."""
    return telling(info, _differentiated(samples))


def telling_of_own_derivatives(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Where a derivative is the operator's own the telling ones, elsewhere those of options.

    One that JAX derives from a program is right where the program's values are.
    """
    own = lambda sample: "derivative" in own_parts(info, sample)
    return _telling(info, _differentiated(samples), own)


def telling_of_reverse_rules(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Where a reverse rule is given, those of options and their values; else `first_of_sets`."""
    ruled = [s for s in _differentiated(samples) if "reverse" in own_parts(info, s)]
    found = _telling(info, ruled, lambda sample: True, _OF_SHAPES) + first_of_sets(info, samples)
    return [sample for sample in samples if any(sample is one for one in found)]


def telling_of_own_batching(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Where batching is the operator's own the telling ones, elsewhere those of options."""
    return _telling(info, samples, lambda sample: "batching" in own_parts(info, sample))


def _differentiated(samples: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in samples if not sample.values_only and not sample.held]


_OF_SHAPES = frozenset({"broadcasting", "empty", "negative", "rank", "rank 0"})
_OF_VALUES = frozenset({"given", "together"})


def _telling(
    info: OpInfo,
    samples: Sequence[Sample],
    own: Callable[[Sample], bool],
    left_out: Set[str] = frozenset(),
) -> list[Sample]:
    """The samples that show what none before them does; of those that are not `own`, of options.

    What they show is not known of those that are.
    """
    found: list[Sample] = []
    seen: dict[bool, set[Hashable]] = {True: set(), False: set()}
    for sample in samples:
        here = own(sample)
        without = left_out if here else _OF_SHAPES | _OF_VALUES
        shown = {f for f in features(info, sample) if _kind(f) not in without}
        if shown - seen[here]:
            found.append(sample)
        for known in {here, False}:
            seen[known] |= shown
    return found


def _kind(feature: Hashable) -> Any:
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
    """What the sample shows."""
    shown: set[Hashable] = {("differentiable", differentiable_arguments(info, sample))}
    given, named = arguments(info, sample), _by_name(info, sample)
    defaults = {name: _default(info, name) for name in given}
    for name, value in given.items():
        shown |= _argument_features(name, value, defaults[name], name in named)
    options = [name for name in given if _optional(info, name)]
    chosen = frozenset(name for name in options if not _same(given[name], defaults[name]))
    shown |= {("together", chosen)} if len(chosen) > 1 else set()
    arrays = sample.arrays()
    shown |= {("rank", rank) for x in arrays[:1] for rank in range(x.ndim + 1)}  # and all below
    shown |= {"empty"} if any(x.size == 0 for x in arrays) else set()
    shown |= {("dtypes", tuple(x.dtype.name for x in arrays if x.dtype != arrays[0].dtype))}
    if info.spec is not None:
        promoting = [given.get(name) for name in info.spec.promoting]
        shown |= {"broadcasting"} if len({x.shape for x in _arrays(promoting)}) > 1 else set()
    kinds = {"edge": sample.values_only, "held": sample.held}
    return shown | {kind for kind, is_one in kinds.items() if is_one}


def _argument_features(name: str, value: Any, default: Any, by_name: bool) -> set[Hashable]:
    arrays = _arrays(value)
    if arrays:
        shown: set[Hashable] = {("array", name), ("given", name, by_name)}
        return shown | {("rank 0", name) for x in arrays if x.ndim == 0}
    if _same(value, default):
        return set()
    shown = {("option", name, value if isinstance(value, (bool, str, type(None))) else "given")}
    shown |= {("given", name, by_name, repr(value))}
    numbers = value if isinstance(value, (tuple, list)) else (value,)
    shown |= {("kind", name, isinstance(value, (tuple, list)))}
    if any(isinstance(n, (int, float)) and not isinstance(n, bool) and n < 0 for n in numbers):
        shown |= {("negative", name)}
    return shown


def _by_name(info: OpInfo, sample: Sample) -> set[str]:
    """The parameters that the call gives by name."""
    names = sample.kwargs if info.spec is None else info.spec.parameters.renamed(sample.kwargs)
    return set(names)


def _optional(info: OpInfo, name: str) -> bool:
    return info.spec is None or name in info.spec.parameters.defaults


def _default(info: OpInfo, name: str) -> Any:
    return None if info.spec is None else info.spec.signature.parameters[name].default


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray):
        return False
    return type(value) is type(default) and bool(value == default)


def _arrays(value: Any) -> list[jax.Array]:
    return [x for x in jax.tree.leaves(value) if isinstance(x, jax.Array)]


def one_of_each_option(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """The first sample to give each option or optional array, and the first to leave it out."""
    options = () if info.spec is None else info.spec.parameters.defaults
    found, seen = list(samples[:1]), set[tuple[str, bool]]()
    for sample in samples:
        given = arguments(info, sample)
        shown = {(name, name in given) for name in options}
        found += [sample] if shown - seen and sample is not found[0] else []
        seen |= shown
    return found


def few(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Three that tell more than other values of options, of none at edges."""
    found = _telling(info, samples, lambda sample: True, _OF_VALUES)
    return [x for x in found if not x.values_only][:3]


def first_and_edge(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """The first sample that is not at an edge, and the first that is."""
    found = {sample.values_only: sample for sample in reversed(samples)}
    return [sample for sample in samples if any(sample is one for one in found.values())]


def all_in_one_dtype(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """All in float32, or the widest dtype of an entry that does not take it; less in others.

    In other dtypes it is what shows an option or an edge of the domain, and what is derived.
    Shapes, ranks and broadcasting are the same code in all dtypes.
    """
    if any(sample.drawn == sample_dtype(info) for sample in samples[:1]):
        return list(samples)
    told = _telling(info, samples, lambda sample: False)
    return [s for s in samples if s.derived or any(s is one for one in told)]


def few_eager(info: OpInfo, samples: Sequence[Sample]) -> list[Sample]:
    """Three telling samples, and those at edges: each is compiled by the pipeline of users."""
    return few(info, samples) + [x for x in samples if x.values_only]
