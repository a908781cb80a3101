"""`Mutant`: an operator with one planted mistake, and where the checks should meet it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Set
from typing import Any

import numpy as np

from functx._core import category
from functx.testing.calls import Calls, Given
from functx.testing.opinfo import Sample

from .kinds import KINDS
from .numpy_arithmetic import as_arrays, constant


Cells = tuple[tuple[str, str], ...]  # (check, dtype), the likeliest first
When = Callable[[Given], bool]  # whether the mistake is in a call, by what tracing knows of it
Way = Callable[[Set[str]], bool]  # the same, by the names of the parameters that are given by name
Mistake = Callable[[Calls, Given], Any]  # of the right operator and a call


@dataclasses.dataclass(frozen=True, eq=False)
class Mutant:
    """`op` is the entry's operator with one mistake of a `kind`, planted in `target`.

    Only a sample that `touches` can show it. `shared` says that any entry of the operator
    may catch it: an option of `norm` is given by the samples of some variant.
    """

    kind: str  #: a name in `KINDS`
    target: str  #: the argument or option; empty for some kinds
    op: Callable[..., Any]  #: the operator with the mistake
    cells: Cells  #: checks and dtypes that should meet it, the likeliest first
    touches: Callable[[Sample], bool]  #: whether the mistake is in a sample
    shared: bool = False  #: whether any entry of the operator may catch it

    def __post_init__(self) -> None:
        assert self.kind in KINDS, self.kind

    @property
    def id(self) -> str:
        return f"{self.kind}: {self.target}" if self.target else self.kind


def anyhow(by_name: Set[str]) -> bool:
    """A `Way`: by position or by name."""
    return True


def planted(calls: Calls, when: When, mistake: Mistake, way: Way = anyhow) -> Callable[..., Any]:
    """The operator with a mistake in the calls that `when` and `way` pick, and else as it is."""

    def mutated(*args: Any, **kwargs: Any) -> Any:
        try:
            given = calls.arguments(args, kwargs)
            here = way(calls.by_name(kwargs)) and when(given)
        except Exception:  # a call that the operator refuses, in its own words
            here, given = False, {}
        if not here:
            return calls.op(*args, **kwargs)
        with np.errstate(all="ignore"):
            return as_arrays(mistake(calls, given))

    mutated.__name__ = getattr(calls.op, "__name__", "mutated")
    if calls.spec is not None:
        mutated.spec = calls.spec  # pyright: ignore[reportFunctionMemberAccess]
    return mutated


def touching(calls: Calls, when: When, way: Way = anyhow) -> Callable[[Sample], bool]:
    """Whether `when` and `way` pick a sample."""

    def touches(sample: Sample) -> bool:
        given = calls.arguments(sample.args, sample.kwargs)
        return way(calls.by_name(sample.kwargs)) and when(given)

    return touches


def wrong(y: Any, by: float = 0.05) -> Any:
    """Another value of the same shape and dtype; its derivative belongs to it."""
    kind = category(y.dtype)
    if kind == 0:
        return ~y
    if kind == 1:
        return y + constant(1, y)
    fixed = -0.742  # the one value that stays
    return y * constant(1 + by, y) - constant(by * fixed, y)
