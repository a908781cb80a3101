"""`opcheck`: every composition of transforms on a user's own function, at one call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import jax

from functx._core import explain_unknown_keywords
from functx._core.context.grad_modes import without_grad_mode
from functx.testing.checks.registry import IN_DOUBLE
from functx.testing.options import named_arguments, names_among, require_count, require_ulps

from . import making
from .differences import in_double, no_slope
from .failures import alike, in_words, is_disagreement, said_of
from .making import BY_DIFFERENCES, DerivativeModes, ErrorOrSkipped, FIRST, NAMES, PROBES
from .remedies import remedy_for
from .report import OpcheckLine, OpcheckReport, SmallestCase
from .shrinking import shrunk
from .target import finite, Target, target_of


_WHO = "opcheck"
_MODES = ("forward", "reverse")
_SECOND = ("second_gradient", "gradgradcheck")


@explain_unknown_keywords(others="the keyword arguments of `f` go into kwargs={...}")
@without_grad_mode
def opcheck(
    f: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    checks: Sequence[str] | None = None,
    modes: Sequence[Literal["forward", "reverse"]] = _MODES,
    ulps: float | None = None,
    attempts: int = 40,
) -> OpcheckReport:
    """A report on `f` at these arguments, called, compiled, batched, differentiated, and nested.

    It is called twice; under `jit`; with arguments stored otherwise; under `vmap`, each array
    batched alone and all of them; under `vjp`, `jvp` and `grad`, in nests of up to three with
    `vmap`, and in a `scan`; its first and second derivatives are held against finite differences,
    by `gradcheck` and `gradgradcheck` too. The smallest case is looked for of the
    first check in which something differs, or else raises.

    - `f`: any function of arrays that returns a tree of arrays: one with a rule of its own
      (`functx.Function.apply`, `jax.custom_vjp`, `jax.custom_jvp`), or an operator.
    - `args`, `kwargs`: trees of arrays, numbers, keys and anything else. Floating and complex
      arrays are differentiated; arrays of numbers are batched; what is none is passed on, NumPy's
      integers and bools too. `f` gets JAX's arrays. Choose arguments at which `f` is smooth, small
      ones.
    - `checks`: the names of those to make; see `functx.testing.CHECKS`, and `OpcheckLine.check`
      for others. By default all that make sense for any function; `strict` and `shard_map` are
      made on request. One that does not apply is left out, with the reason.
    - `modes`: the modes in which `f` has derivatives.
    - `ulps`: how far values may be off that are computed in two ways, in units in the last place
      of each and of the largest, and as many times as far as arguments that move by one move
      them; by default 64, of halves 4. Derivatives have tolerances of their own.
    - `attempts`: how many smaller cases are tried.

    Differences are taken in double precision, whatever the dtypes of the arguments and with 64
    bit off, too; they are left out if `f` computes in single precision all the same, or has a
    kink here.

    Errors: TypeError if `f` cannot be called; ValueError if no argument is an array, for unknown
    names or none, and for negative numbers. What `f` or its rules raise is a line of the report.

    >>> from functx.testing import opcheck
    >>> x = jnp.ones(2, "float32")
    >>> print(opcheck(functx.sinh, x, checks=["call", "jit", "gradient"]))
    opcheck of sinh(f32[2]): 3 checks, 0 failed, 0 left out
    call                passed
    jit                 passed
    gradient            passed    differences in double precision
    """
    chosen = names_among(_WHO, "checks", checks, NAMES)
    wanted = names_among(_WHO, "modes", modes, _MODES) or _MODES
    require_ulps(_WHO, ulps)
    require_count(_WHO, "attempts", attempts)
    target = target_of(_WHO, f, args, named_arguments(_WHO, kwargs), ulps)
    return _Opcheck(target, chosen, wanted).report(attempts)


class _Opcheck:
    """One call being checked; `lines` and `errors` fill up."""

    def __init__(
        self, target: Target, checks: tuple[str, ...] | None, modes: DerivativeModes
    ) -> None:
        self.target, self.checks, self.modes = target, checks, modes
        self.lines: list[OpcheckLine] = []
        self.errors: dict[str, tuple[Exception, Target]] = {}

    def report(self, attempts: int) -> OpcheckReport:
        self._all()
        smallest = self._smallest(attempts)
        return OpcheckReport(self.target.written(), tuple(self.lines), smallest)

    def _all(self) -> None:
        names = making.compositions(self.target, self.checks)
        strange = making.inapplicable(self.target, names)
        self._made([name for name in names if name not in strange])
        for name, why in strange.items():
            self._leave_out([name], f"does not apply: {why}")

    def _made(self, names: Sequence[str]) -> None:
        for check in FIRST:
            outcome = making.outcome_of(self.target, check, self.modes)
            if self._asked(check) or outcome is not True:
                self._enter(check, outcome)
            if outcome is not True:
                self._leave_out([*PROBES, *names, *BY_DIFFERENCES], f"see `{check}`")
                return
        refusal = making.refusal_to_trace(self.target)
        if refusal is not None:
            self._enter("jit", refusal)
            rest = [name for name in (*PROBES, *names) if name != "jit"]
            self._leave_out(rest, "it cannot be traced: see `jit`")
        else:
            self._compositions(names)
        self._differences(traceable=refusal is None)

    def _compositions(self, names: Sequence[str]) -> None:
        for mode in PROBES:
            if not self.target.differentiated:
                self._leave_out([mode], "no floating or complex array is given")
            elif self._asked(mode) or mode not in self.modes:
                outcome = making.outcome_of(self.target, mode, self.modes)
                if self._asked(mode) or outcome is not True:
                    self._enter(mode, outcome, quiet=mode not in self.modes)
        outcomes = making.composed(self.target, names)
        for name in names:
            self._enter(name, outcomes[name])

    def _differences(self, *, traceable: bool) -> None:
        names = [name for name in BY_DIFFERENCES if self._asked(name)]
        if not names:
            return
        if not self.target.differentiated:
            self._leave_out(names, "no floating or complex array is given")
            return
        with jax.enable_x64(True):
            target, note = in_double(self.target)
            why = note if target is None else no_slope(target)
            if target is None or why:
                self._leave_out(names, why)
                return
            for name in names:
                if name in IN_DOUBLE and not traceable:
                    self._leave_out([name], "it cannot be traced: see `jit`")
                elif name == "gradgradcheck" and "reverse" not in self.modes:
                    self._leave_out([name], "it is of reverse mode")
                else:
                    outcome = making.outcome_of(target, name, self.modes)
                    self._enter(name, outcome, at=target, note=note)

    def _asked(self, check: str) -> bool:
        return self.checks is None or check in self.checks

    def _leave_out(self, checks: Iterable[str], why: str) -> None:
        self.lines += [OpcheckLine(c, "left out", why) for c in checks if self._asked(c)]

    def _enter(
        self,
        check: str,
        outcome: ErrorOrSkipped,
        *,
        at: Target | None = None,
        note: str = "",
        quiet: bool = False,
    ) -> None:
        """A line for what came of a check; if `quiet`, it may fail."""
        if outcome is True:
            self.lines.append(OpcheckLine(check, "passed", note))
            return
        if outcome is False:
            self._leave_out([check], "nothing in it has a derivative")
            return
        known = None if is_disagreement(outcome) else self._known(outcome)
        if known is not None:
            self._leave_out([check], f"raises the same: see `{known}`")
            return
        self.errors[check] = outcome, at or self.target
        if quiet:
            self.lines.append(OpcheckLine(check, "left out", said_of(_WHO, outcome)))
            return
        what, remedy = in_words(_WHO, outcome)
        what = self.target.naming(what)
        remedy = remedy_for(check, outcome) if is_disagreement(outcome) else remedy
        remedy = remedy or remedy_for(check, outcome)
        self.lines.append(OpcheckLine(check, "failed", what, remedy))

    def _known(self, error: Exception) -> str | None:
        """The check before that raised the same."""
        return next((c for c, (before, _) in self.errors.items() if alike(before, error)), None)

    def _smallest(self, attempts: int) -> SmallestCase | None:
        failed = [line for line in self.lines if line.failed and line.check != "call"]
        failed.sort(key=lambda line: not is_disagreement(self.errors[line.check][0]))
        if not failed:
            return None
        line = failed[0]
        error, target = self.errors[line.check]
        last = error

        def still_fails(arrays: Sequence[Any]) -> bool:
            nonlocal last
            moved = target.at([jax.device_put(x) for x in arrays])
            if not _accepted(moved, like=target, check=line.check):
                return False
            outcome = making.outcome_of(moved, line.check, self.modes)
            if isinstance(outcome, bool) or not alike(outcome, error):
                return False
            last = outcome
            return True

        with jax.enable_x64(True) if line.check in BY_DIFFERENCES else contextlib.nullcontext():
            arrays = [jax.device_put(x) for x in shrunk(target.arrays, still_fails, attempts)]
        least = target.at(arrays)
        args, kwargs = least.call(arrays)
        said = least.naming(in_words(_WHO, last).what)
        return SmallestCase(line.check, args, kwargs, tuple(least.listed()), said)


def _accepted(target: Target, *, like: Target, check: str) -> bool:
    """Whether the function takes other arrays, and has a derivative there if it is looked at."""
    try:
        outputs = target(*target.arrays)
        if finite(like(*like.arrays)) and not finite(outputs):
            return False
        if check not in BY_DIFFERENCES:
            return True
        simple = all((x != 0).all() for x in target.arrays) or check not in _SECOND
        return simple and not no_slope(target)
    except Exception:
        return False
