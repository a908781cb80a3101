"""Differences that an entry declares: how far results may be off, and what is known to fail."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Floor:
    """How much more than ulps of each element results that cancel may be off, and why.

    - `ulps`: how many units of the last place of the largest magnitude in the result and the
      floating arguments, or, where `elementwise`, of the magnitudes at the element.
    - `reason`: why results cancel: a fact.
    - `elementwise`: whether a reference allows `ulps` of the magnitudes at the element.
    - `of`: a function of the call's arguments, in NumPy, that gives these magnitudes.
    - `scale`: what counts in place of the arguments' largest magnitude.
    """

    ulps: float
    reason: str
    elementwise: bool = False
    of: Callable[..., Any] | None = None
    scale: float | None = None


@dataclasses.dataclass(frozen=True)
class Looser:
    """How far an element may be off on other platforms than the CPU, and why it is more there.

    - `ulps`: units of the element's last place, in place of the entry's own where that is less.
    - `reason`: what these platforms compute otherwise: a fact.
    - `devices`: the platforms: `"gpu"`, `"tpu"`.
    - `dtypes`: the dtypes in which it holds; empty: all of them.
    """

    ulps: float
    reason: str
    devices: frozenset[str] = frozenset({"gpu"})
    dtypes: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Gap:
    """A check that an operator is known to fail, and why. Fails the day it passes.

    - `check`: the check's name in `functx.testing.CHECKS`.
    - `reason`: a fact of mathematics or of a platform.
    - `dtypes`: the dtypes in which it fails; empty: all of them.
    - `devices`: the platforms on which it fails; empty: all of them.
    """

    check: str
    reason: str
    dtypes: frozenset[str] = frozenset()
    devices: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class FixedSizes:
    """Sizes with which, as symbols, no program can be exported, and why. Fails the day one is.

    - `argument`: the array, or the option, by name.
    - `reason`: why the sizes must be numbers: a fact.
    - `dims`: dimensions of the array, or places in the option; empty: all.
    - `along`: the option that names dimensions of the array, in place of `dims`.
    - `unless`: with `along`, the option that says other sizes for them, and -1 for none.
    - `given`: options, by name, with which alone the sizes must be numbers; empty: with any.
    """

    argument: str
    reason: str
    dims: tuple[int, ...] = ()
    along: str = ""
    unless: str = ""
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Extreme:
    """Extreme arguments at which float32 cannot give what float64 does. Fails the day it does.

    - `at`: a regular expression found in the check's name for the arguments: `"huge in array 0"`.
    - `reason`: why float32 cannot: a fact.
    """

    at: str
    reason: str


@dataclasses.dataclass(frozen=True)
class OwnDtypes:
    r"""Result dtypes that are not PyTorch's, or where PyTorch has none, and why.

    - `answer`: the result's dtype, `"f32"`, or a sign as in `functx.testing.dtype_facts`: `*` is
      the dtype that a sample was drawn in, `^` that of the arrays promoted, `\1` the first group
      of `cases`, `-` a refusal.
    - `reason`: why the dtype is not PyTorch's: a fact.
    - `cases`: a regular expression found in the cases in which it holds; empty: in all.
    - `dtypes`: the dtypes that samples are drawn in; empty: all of them.
    - `defaults`: the default dtypes in force; empty: all of them.
    """

    answer: str
    reason: str
    cases: str = ""
    dtypes: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()
