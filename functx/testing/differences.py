"""What an entry is known to fail, and where functx differs from PyTorch, each with the reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .samples import Sample


@dataclasses.dataclass(frozen=True)
class Gap:
    """A check that an operator is known to fail, and why. Fails the day it passes.

    - `check`: the check's name in `functx.testing.CHECKS`.
    - `reason`: a fact of mathematics or of a platform.
    - `dtypes`: the dtypes in which it fails; empty: all of them.
    - `devices`: the platforms on which it fails; empty: all of them.
    - `at`: a regular expression found in the check's names for the points at which it fails, and is
      let pass; empty: the whole check fails. `extremal` alone has such points: `"huge in array 0"`.
    """

    check: str
    reason: str
    dtypes: frozenset[str] = frozenset()
    devices: frozenset[str] = frozenset()
    at: str = ""


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


KINDS_OF_DEPARTURES = (
    "accepted",
    "refused",
    "structure",
    "shape",
    "dtype",
    "value",
    "gradient",
)


@dataclasses.dataclass(frozen=True, eq=False)
class Departure:
    r"""Where functx answers otherwise than PyTorch, and why. Fails the day it does not.

    A call shows it, or `answer` says it of the dtypes of results.

    - `kind`: what is otherwise, as the fuzzer beside PyTorch calls it: accepted, refused,
      structure, shape, dtype, value, gradient.
    - `reason`: why functx answers otherwise: a fact.
    - `sample`: a call that shows it.
    - `match`: a regular expression found in the fuzzer's line about such a call; beside `answer`,
      in the cases of the check `dtypes` in which the answer holds; empty: in all.
    - `answer`: the result's dtype where it is not PyTorch's, or where PyTorch has none: `"f32"`, or
      a sign as in `functx.testing.dtype_facts`: `*` is the dtype that a sample was drawn in, `^`
      that of the arrays promoted, `\1` the first group of `match`, `-` a refusal.
    - `dtypes`: the dtypes of samples for which `answer` holds; empty: all of them.
    - `defaults`: the default dtypes with which `answer` holds; empty: all of them.
    """

    kind: str
    reason: str
    sample: Sample | None = None
    match: str = ""
    answer: str = ""
    dtypes: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.kind not in KINDS_OF_DEPARTURES:
            known = ", ".join(KINDS_OF_DEPARTURES)
            raise ValueError(f"`kind` of a Departure must be one of {known}, got {self.kind!r}")
        if (self.sample is None) != bool(self.answer):
            raise ValueError("a Departure has either a `sample` or an `answer`")
