"""`conventions`: where the gradients of one function part under PyTorch's and JAX's conventions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, explain_unknown_keywords, fail, require_bool
from functx._core.context.grad_modes import without_grad_mode
from functx.testing.gradients.precision import in_double
from functx.testing.opchecking.failures import said_of
from functx.testing.opchecking.target import is_inexact, Target, target_of
from functx.testing.options import named_arguments

from .noting import recorded_with_both
from .points import distinct, given_points, made_points, NamedPoint
from .report import ConventionsLine, ConventionsReport
from .switching import SwitchedCall, SwitchedProgram
from .unmatched import judges_values, unmatched


_WHO = "conventions"


@explain_unknown_keywords(others="the keyword arguments of `f` go into kwargs={...}")
@without_grad_mode
def conventions(
    f: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    points: Mapping[str, tuple[Any, ...]] | Sequence[tuple[Any, ...]] | None = None,
    made_points: bool = True,
    mode: str = "reverse",
    rtol: float | None = None,
) -> ConventionsReport:
    """A report on where gradients of `f` part under PyTorch's and under JAX's conventions.

    `f` is recorded once, and differentiated twice at each point: as PyTorch would, by the rules of
    functx's operators, which also stand for JAX's functions that have kinks; and as JAX would,
    by JAX's own derivatives of the functions that mean what the operators do. The values are the
    same. For where gradients differ, each call's convention is switched alone, to find those that
    are responsible.

    - `f`: of functx's operators, of `jax.numpy`'s functions, or of both; JAX must be able to trace
      it. It returns a tree of arrays. A real scalar is differentiated as it is, other outputs with
      the cotangents 1, 2, 3, ... of their elements.
    - `args`, `kwargs`: what to call `f` with, trees of arrays and of anything else. Floating and
      complex arrays are differentiated.
    - `points`: more points, each a tuple of arguments of the same shapes as `args`; a dict names
      them.
    - `made_points`: whether to look at points made of the arguments, too: zeros, ones, ties,
      numbers that `f`'s code holds and those at which activations have kinks; real and imaginary
      numbers in complex arrays; singular matrices and repeated eigenvalues in square ones. Each is
      of all arrays, and where there are 2 to 16, of each alone.
    - `mode`: `"reverse"`, or `"forward"` for tangents of the outputs along the direction
      1, 2, 3, ..., in which complex derivatives are the same in both conventions.
    - `rtol`: the difference that counts, relative to the larger gradient of the argument; by
      default the root of the dtype's rounding.

    Left out are points at which a value is NaN, and made ones that `f`'s operators refuse.
    Operators that JAX has no function for count as the same in both; the report lists them.
    Derivatives that `f` itself takes, and its own derivative rules, stay as they are.

    Errors: TypeError if `f` cannot be called or a point is no tuple; ValueError if no argument is
    an array that has a derivative, if no output has one, for a point of other shapes, and for
    another mode.

    >>> from functx.testing import conventions
    >>> report = conventions(lambda x: functx.abs(x).sum(), jnp.asarray([1.0, -2.0]))
    >>> [(line.point, line.pytorch.tolist(), line.jax.tolist()) for line in report.lines][:1]
    [('zeros', [0.0, 0.0], [1.0, 1.0])]
    >>> bool(conventions(lambda x: functx.sin(x).sum(), jnp.asarray([1.0, -2.0])))
    False
    """
    require_bool(_WHO, "made_points", made_points)
    if mode not in ("reverse", "forward"):
        message = f"`mode` must be 'reverse' or 'forward', got {describe(mode)}"
        fail(_WHO, message, error=ValueError)
    _require_rtol(rtol)
    target = target_of(_WHO, f, args, named_arguments(_WHO, kwargs), None)
    if not target.differentiated:
        message = f"expected an array with a derivative, got {target.written()}"
        hint = "floating and complex arrays have derivatives"
        fail(_WHO, message, hint=hint, error=ValueError)
    return _Conventions(target, mode == "reverse", rtol).report(points, made_points)


def _require_rtol(rtol: Any) -> None:
    if rtol is None:
        return
    if isinstance(rtol, bool) or not isinstance(rtol, (int, float, np.integer, np.floating)):
        fail(_WHO, f"`rtol` must be a real number or None, got {describe(rtol)}", error=TypeError)
    if not 0 <= rtol < math.inf:
        message = f"`rtol` must be finite and not negative, got {describe(rtol)}"
        fail(_WHO, message, error=ValueError)


class _Conventions:
    """One function at one call, differentiated with the convention of each call as is asked."""

    def __init__(self, target: Target, reverse: bool, rtol: float | None) -> None:
        self.target, self.reverse, self.rtol = target, reverse, rtol
        self.moving = [i for i, x in enumerate(target.arrays) if is_inexact(x) and x.size]
        self.recorded = recorded_with_both(target, *target.arrays)
        self.kept = [i for i, y in enumerate(self.recorded.out_avals) if is_inexact(y)]
        if not self.kept:
            message = f"expected an output with a derivative from {target.written()}"
            fail(_WHO, message, error=ValueError)
        self.program = SwitchedProgram(self.recorded, reverse)
        count = len(self.program.calls)
        self.calls = [*self.program.calls, SwitchedCall("complex gradients")]
        self.pytorch, self.jax = np.zeros(count + 1, bool), np.ones(count + 1, bool)
        self.derivatives = jax.jit(self._derivatives)

    def report(self, points: Any, made: bool) -> ConventionsReport:
        lines, names, left_out = list[ConventionsLine](), list[str](), list[tuple[str, str]]()
        judging = judges_values(self.recorded)
        for point in distinct(self._points(points, made)):
            refused = self._refused(point) if judging and point.made else ""
            values, pytorch = self._at(point, self.pytorch)
            if refused or any(np.isnan(y).any() for y in values):
                left_out.append((point.name, refused or "a value being NaN"))
                continue
            names.append(point.name)
            _, by_jax = self._at(point, self.jax)
            lines += self._lines(point, pytorch, by_jax)
        return ConventionsReport(
            self.target.written(),
            tuple(lines),
            tuple(names),
            tuple(left_out),
            unmatched(self.recorded),
        )

    def _points(self, points: Any, made: bool) -> Iterator[NamedPoint]:
        yield NamedPoint("as given", self.target.arrays, False)
        yield from given_points(_WHO, self.target, points)
        if made:
            yield from made_points(self.target, self.recorded)

    def _refused(self, point: NamedPoint) -> str:
        try:
            self.target(*point.arrays)
        except Exception as error:
            said = said_of(_WHO, error).splitlines()[0]
            return f"{self.target.name} {said.partition(', got ')[0]}"
        return ""

    def _derivatives(self, by_jax: Any, arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        def function(*moved: Any) -> list[Any]:
            full = list(arrays)
            for i, x in zip(self.moving, moved, strict=True):
                full[i] = x
            results = self.program.run(lambda i: by_jax[i], full)
            return [results[i] for i in self.kept]

        xs = tuple(arrays[i] for i in self.moving)
        if not self.reverse:
            return jax.jvp(function, xs, tuple(_counted(xs)))
        values, pull = jax.vjp(function, *xs)
        gradients = pull(_counted(values))
        return values, [
            jnp.where(by_jax[-1], g, jnp.conj(g)) if jnp.iscomplexobj(g) else g for g in gradients
        ]

    def _at(self, point: NamedPoint, by_jax: np.ndarray) -> tuple[list[Any], list[np.ndarray]]:
        values, derivatives = self.derivatives(by_jax, point.arrays)
        return [*map(in_double, values)], [*map(in_double, derivatives)]

    def _lines(
        self, point: NamedPoint, pytorch: list[np.ndarray], by_jax: list[np.ndarray]
    ) -> Iterator[ConventionsLine]:
        parted = [k for k in range(len(pytorch)) if self._parts(k, pytorch, by_jax)]
        if not parted:
            return
        alone = [self._switched(point, self.pytorch, i) for i in range(len(self.calls))]
        others = list[list[np.ndarray]]()
        for k in parted:
            found = [i for i, g in enumerate(alone) if self._parts(k, pytorch, g)]
            if not found:  # one that hides another matters only once the other is switched
                others = others or [
                    self._switched(point, self.jax, i) for i in range(len(self.calls))
                ]
                found = [i for i, g in enumerate(others) if self._parts(k, by_jax, g)]
            off = _differences(pytorch[k], by_jax[k])
            index = tuple(map(int, np.unravel_index(np.argmax(off), off.shape)))
            calls = tuple(dict.fromkeys(self.calls[i] for i in found))
            yield ConventionsLine(
                point.name, self._what(k), float(off[index]), index, pytorch[k], by_jax[k], calls
            )

    def _switched(self, point: NamedPoint, most: np.ndarray, i: int) -> list[np.ndarray]:
        by_jax = most.copy()
        by_jax[i] = ~by_jax[i]
        return self._at(point, by_jax)[1]

    def _what(self, k: int) -> str:
        return self.target.paths[self.moving[k]] if self.reverse else f"output {self.kept[k]}"

    def _parts(self, k: int, a: list[np.ndarray], b: list[np.ndarray]) -> bool:
        """Whether two of the derivatives numbered `k` differ by more than rounding."""
        if not a[k].size:
            return False
        types = [x.dtype for x in self.target.arrays]
        dtype = types[self.moving[k]] if self.reverse else self._output_dtype(k)
        rtol = float(jnp.finfo(dtype).eps) ** 0.5 if self.rtol is None else self.rtol
        finite = [np.abs(x[np.isfinite(x)]) for x in (a[k], b[k])]
        scale = max((float(x.max()) for x in finite if x.size), default=0.0)
        return bool((_differences(a[k], b[k]) > rtol * scale).any())

    def _output_dtype(self, k: int) -> Any:
        return self.recorded.out_avals[self.kept[k]].dtype


def _counted(arrays: Sequence[Any]) -> list[Any]:
    """1, 2, 3, ... for the elements of each array; of a scalar 1."""
    return [jnp.arange(1, x.size + 1).reshape(x.shape).astype(x.dtype) for x in arrays]


def _differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far elements are apart; infinitely if one alone is NaN, or they are other infinities."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(a - b)
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))
