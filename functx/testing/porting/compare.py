"""`compare`: a ported function beside its PyTorch original, and at which operator they part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from functx._core import describe, explain_unknown_keywords
from functx._core.context.grad_modes import without_grad_mode
from functx.testing.checks.cases import random_like
from functx.testing.checks.compare import assert_close, Closeness, DERIVATIVES, magnitude
from functx.testing.opchecking.failures import said_of
from functx.testing.opchecking.target import default_ulps, is_inexact
from functx.testing.options import named_arguments, require_ulps

from .derivatives import gradients_of, tangents_of
from .parting import Alignment
from .report import Comparison, ComparisonLine
from .sides import as_ours, BothFunctions, sides_of
from .steps import Original, Port


_WHO = "compare"
_WHAT = ("call", "dtypes", "values", "gradients", "tangents")

Locate: TypeAlias = Callable[[Alignment, list[int]], tuple[str, str]]


class _Derivatives(NamedTuple):
    """How derivatives of a kind are asked for, on either side, and where those wrong come from."""

    what: str
    given: list[Any]
    names: list[str]
    theirs: Callable[[BothFunctions, list[int], list[Any]], tuple[Original, list[Any]]]
    ours: Callable[[list[int], list[Any], list[int]], list[Any]]
    locate: Locate


class Located(NamedTuple):
    """Both sides' steps, or why functx's are not known, and how to find where they part."""

    ours: Port | str
    theirs: Original
    locate: Locate


class _Parted(Exception):
    """What differs makes all else differ."""


@explain_unknown_keywords(others="the keyword arguments of both go into kwargs={...}")
@without_grad_mode
def compare(
    f_torch: Callable[..., Any],
    f_functx: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    ulps: float | None = None,
) -> Comparison:
    """A report on `f_functx` beside `f_torch`, which it is meant to be: values and derivatives.

    Both are called with the same arguments; dtypes, values, gradients for random cotangents and
    tangents for random directions are held against each other. Where they differ, the operators
    that both call are held against each other in order, and the first that differs is named.

    - `f_torch`, `f_functx`: functions, or modules, of tensors and of arrays. They return trees,
      in which tensors and arrays correspond in order, dicts by key.
    - `args`, `kwargs`: trees of NumPy's or JAX's arrays, or tensors, of numbers, dtypes and
      anything else, converted for each side. With 64 bit off, both get floating arrays in 32 bits;
      integers are int64 in PyTorch, as it wants them.
    - `ulps`: how far values may be off, in units in the last place of each and of the largest, and
      as many times as far as arguments that move by one move them; by default 64, of halves 4.
      Derivatives have tolerances of their own. In double precision
      (`functx.x64()`) much smaller differences are seen.

    Operators are matched by name, functx's names being PyTorch's, and by value. Where functions
    are written in different operators, the report says up to which they agree.

    Errors: ImportError without PyTorch; TypeError if one cannot be called; ValueError if no
    argument is an array. What the functions raise is a line of the report.

    >>> from functx.testing import compare
    >>> report = compare(torch.nn.GELU(), functx.nn.functional.gelu, x)  # doctest: +SKIP
    >>> report.raise_if_failed()  # doctest: +SKIP
    """
    require_ulps(_WHO, ulps)
    sides = sides_of(_WHO, f_torch, f_functx, args, named_arguments(_WHO, kwargs))
    return _Comparing(sides, ulps).report()


class _Comparing:
    """One call being compared; `lines` fills up."""

    def __init__(self, sides: BothFunctions, ulps: float | None) -> None:
        self.sides, self.target, self.ulps = sides, sides.target, ulps
        self.lines: list[ComparisonLine] = []
        self._scale = magnitude([x for x in self.target.arrays if is_inexact(x)])

    def report(self) -> Comparison:
        try:
            self._all()
        except _Parted as parted:
            done = [line.what for line in self.lines]
            why = f"see `{parted}`"
            self.lines += [ComparisonLine(w, "left out", why) for w in _WHAT if w not in done]
        return Comparison(self.target.written(), tuple(self.lines))

    def _all(self) -> None:
        try:
            theirs = Original(self.sides, self.sides.tensors())
        except Exception as error:
            self._enter("call", f"PyTorch's {said_of(_WHO, error)}")
        try:
            got = [np.asarray(y) for y in self.target(*self.target.arrays)]
        except Exception as error:
            self._enter("call", f"functx's {said_of(_WHO, error)}")
        want = [as_ours(self.sides.torch, y) for y in theirs.outputs]
        counts = f"functx's returns {len(got)} arrays, PyTorch's {len(want)}"
        self._enter("call", "" if len(got) == len(want) > 0 else counts)

        port = self._port()
        values = Located(port, theirs, Alignment.of_values)
        names = [f"output {i}" for i in range(len(want))]
        typed = zip(names, got, want, strict=True)
        self._enter_all("dtypes", [_in_types(*one) for one in typed], values)
        near = [self._near(x, scale) for x, scale in zip(want, self.target.moves(got), strict=True)]
        self._enter_all("values", _differences(names, got, want, near), values)
        self._derivatives(port, names, want)

    def _derivatives(self, port: Port | str, names: list[str], want: list[Any]) -> None:
        kept, moving = [i for i, y in enumerate(want) if is_inexact(y)], self.sides.moving
        if not kept or not moving or isinstance(port, str):
            why = port if isinstance(port, str) else "nothing in them has a derivative"
            self.lines += [ComparisonLine(w, "left out", why) for w in ("gradients", "tangents")]
            return
        gradients = _Derivatives(
            "gradients",
            random_like([want[i] for i in kept], seed=11),
            [f"the gradient of {self.target.paths[i]}" for i in moving],
            gradients_of,
            port.cotangents,
            lambda found, wrong: found.of_cotangents([moving[i] for i in wrong]),
        )
        tangents = _Derivatives(
            "tangents",
            random_like([self.target.arrays[i] for i in moving], seed=13),
            [f"the tangent of {names[i]}" for i in kept],
            tangents_of,
            port.tangents,
            Alignment.of_tangents,
        )
        for one in (gradients, tangents):
            self._hold(one, port, moving, kept)

    def _hold(self, one: _Derivatives, port: Port, moving: list[int], kept: list[int]) -> None:
        """What either side refuses to differentiate is a line, too."""
        try:
            called, want = one.theirs(self.sides, kept, one.given)
        except Exception as error:
            said = f"PyTorch's {said_of(_WHO, error)}"
            self.lines.append(ComparisonLine(one.what, "left out", said))
            return
        try:
            got = one.ours(moving, one.given, kept)
        except Exception as error:
            self._enter(one.what, f"functx's {said_of(_WHO, error)}", ends=False)
            return
        told = _differences(one.names, got, want, [DERIVATIVES] * len(want))
        self._enter_all(one.what, told, Located(port, called, one.locate), ends=False)

    def _port(self) -> Port | str:
        try:
            return Port(self.target)
        except Exception as error:
            return f"functx's cannot be traced: it {said_of(_WHO, error)}"

    def _enter_all(self, what: str, told: list[str], at: Located, *, ends: bool = True) -> None:
        """A line for all differences: the first of them, and where they come from."""
        wrong = [i for i, said in enumerate(told) if said]
        self._enter(
            what, told[wrong[0]] if wrong else "", lambda: self._where(at, wrong), ends=ends
        )

    def _where(self, at: Located, wrong: list[int]) -> tuple[str, str]:
        if isinstance(at.ours, str):
            return "", f"where they part cannot be told: {at.ours}"
        return at.locate(Alignment(at.theirs, at.ours, self._close), wrong)

    def _enter(
        self,
        what: str,
        said: str,
        where: Callable[[], tuple[str, str]] = lambda: ("", ""),
        *,
        ends: bool = True,
    ) -> None:
        """A line for what was said of a difference, "" if there is none."""
        if not said:
            self.lines.append(ComparisonLine(what, "passed"))
            return
        self.lines.append(ComparisonLine(what, "failed", said, *where()))
        if ends:
            raise _Parted(what)

    def _near(self, like: Any, scale: float) -> Closeness:
        ulps = default_ulps(like.dtype.name) if self.ulps is None else self.ulps
        return Closeness(ulps, ulps, scale)

    def _close(self, x: Any, y: Any) -> bool:
        """Whether values of two steps agree, in their dtypes too."""
        near = self._near(y, self._scale)
        [said] = _differences([""], [np.asarray(x)], [np.asarray(y)], [near])
        return not said


def _differences(
    names: Sequence[str],
    got: Sequence[Any],
    want: Sequence[Any],
    near: Sequence[Closeness],
) -> list[str]:
    """How each of functx's arrays differs from PyTorch's, in words; "" if it does not."""
    told = []
    for name, x, y, close in zip(names, got, want, near, strict=True):
        try:
            assert_close(x, y, what=name, close=close)
            told.append("")
        except AssertionError as error:
            told.append(str(error).replace(", expected ", ", PyTorch's "))
    return told


def _in_types(name: str, x: Any, y: Any) -> str:
    same = (x.shape, x.dtype) == (y.shape, y.dtype)
    return "" if same else f"{name} is {describe(x)}, PyTorch's {describe(y)}"
