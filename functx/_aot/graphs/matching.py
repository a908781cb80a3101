"""A computation found wherever a program does it, and replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from functx._transforms.programs.inlining import closed, inlined, Splice, spliced
from functx._transforms.programs.labels import title_of
from functx._transforms.programs.walking import opened

from .changing import pruned, require_types
from .comparing import computation
from .nodes import is_opened


def replaced(
    program: ClosedJaxpr,
    pattern: Callable[..., Any],
    replacement: Callable[..., Any],
    specs: Sequence[Any],
) -> ClosedJaxpr:
    """`program` with `replacement` wherever it computes what `pattern` does at some arrays."""
    for name, function in (("pattern", pattern), ("replacement", replacement)):
        if not callable(function):
            fail("replace", f"`{name}` must be callable, got {describe(function)}", error=TypeError)
    jaxpr, consts = opened(program)
    found = {id(eqn): inputs for eqn, inputs in _matches(jaxpr, pattern, specs)}
    # The last equation of a match reads what the pattern reads, until the replacement does.
    eqns = [eqn.replace(invars=found[id(eqn)]) if id(eqn) in found else eqn for eqn in jaxpr.eqns]
    last = {id(new) for old, new in zip(jaxpr.eqns, eqns, strict=True) if id(old) in found}

    def replace(eqn: JaxprEqn) -> Splice | None:
        return Splice(_instead(eqn, replacement)) if id(eqn) in last else None

    return pruned(spliced(closed(jaxpr.replace(eqns=eqns), consts), replace))


def _instead(eqn: JaxprEqn, replacement: Callable[..., Any]) -> ClosedJaxpr:
    def run(*operands: Any) -> list[Any]:
        result = replacement(*operands)
        require_types("replace", "`pattern`", [result], [x.aval for x in eqn.outvars])
        return [result]

    return jax.make_jaxpr(run)(*(x.aval for x in eqn.invars))


def _matches(
    jaxpr: Jaxpr, pattern: Callable[..., Any], specs: Sequence[Any]
) -> Iterator[tuple[JaxprEqn, list[Any]]]:
    """The last equation of each place that computes what the pattern does, and what that reads."""
    example = _Pattern(pattern, specs)
    makers = {x: eqn for eqn in jaxpr.eqns for x in eqn.outvars}
    taken: set[int] = set()
    for eqn in reversed(jaxpr.eqns):
        inputs = example.inputs_at(eqn, makers, exactly=False)
        if inputs is None or id(eqn) in taken:
            continue
        try:
            here = _Pattern(pattern, [x.aval for x in inputs])
        except (TypeError, ValueError):  # the pattern refuses these shapes
            continue
        inputs = here.inputs_at(eqn, makers, exactly=True)
        if inputs is not None:
            taken |= here.matched
            yield eqn, inputs


class _Pattern:
    """The equations of a pattern at arrays like `specs`."""

    def __init__(self, pattern: Callable[..., Any], specs: Sequence[Any]) -> None:
        program = jax.make_jaxpr(pattern)(*specs)
        flat = pruned(inlined(program, is_opened))
        self.jaxpr, consts = opened(flat)
        if consts:
            hint = "pass them as arguments"
            fail("replace", "`pattern` must not close over arrays", hint=hint, error=ValueError)
        self._makers = {x: eqn for eqn in self.jaxpr.eqns for x in eqn.outvars}
        outputs = self.jaxpr.outvars
        if len(outputs) != 1 or outputs[0] not in self._makers:
            message = f"`pattern` must compute one array, got {len(outputs)} outputs of "
            message += f"{len(self.jaxpr.eqns)} nodes"
            fail("replace", message, error=ValueError)
        self._last = self._makers[outputs[0]]
        self.matched: set[int] = set()

    def inputs_at(
        self, eqn: JaxprEqn, makers: dict[Any, JaxprEqn], exactly: bool
    ) -> list[Any] | None:
        """What the pattern's inputs are where `eqn` is its last equation, or None."""
        bound: dict[Any, Any] = {}
        self.matched.clear()
        if not self._equation(self._last, eqn, makers, bound, exactly):
            return None
        missing = any(x not in bound for x in self.jaxpr.invars)
        return None if missing else [bound[x] for x in self.jaxpr.invars]

    def _equation(self, own: Any, eqn: Any, makers: Any, bound: Any, exactly: bool) -> bool:
        if title_of(own) != title_of(eqn) or len(own.invars) != len(eqn.invars):
            return False
        if exactly and computation(own) != computation(eqn):
            return False
        self.matched.add(id(eqn))
        pairs = zip(own.invars, eqn.invars, strict=True)
        return all(self._atom(x, y, makers, bound, exactly) for x, y in pairs)

    def _atom(self, own: Any, x: Any, makers: Any, bound: Any, exactly: bool) -> bool:
        if isinstance(own, Literal):
            return isinstance(x, Literal) and bool(own.val == x.val)
        if own not in self._makers:  # an input
            return bound.setdefault(own, x) is x
        if isinstance(x, Literal) or x not in makers:
            return False
        mine, theirs = self._makers[own], makers[x]
        if mine.outvars.index(own) != theirs.outvars.index(x):
            return False
        return self._equation(mine, theirs, makers, bound, exactly)
