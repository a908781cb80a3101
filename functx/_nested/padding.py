"""A program of one sequence, recorded at symbolic sizes, run on padded arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import available, describe, fail
from functx._core.jax_compat import JaxprEqn
from functx._core.shapes.symbolic_sizes import known
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.labels import label_of, line_of
from functx._transforms.programs.nested import can_rebind
from functx._transforms.programs.walking import inner_programs, own_programs, type_of

from .elementwise import ELEMENTWISE_RULES
from .equations import CannotHonour, PaddedEquation, PaddingRule
from .indexing import INDEXING
from .loops import scanned, solved
from .moving import MOVING
from .ordering import ORDERING
from .own_rules import has_own_rules, is_own_tangent, program_of_tangent, ruled
from .products import PRODUCTS
from .reducing import REDUCING
from .reshaping import RESHAPING
from .sizes import LaneSizes
from .writing import WRITING


RULES: dict[str, PaddingRule] = {
    **ELEMENTWISE_RULES,
    **MOVING,
    **RESHAPING,
    **REDUCING,
    **ORDERING,
    **PRODUCTS,
    **INDEXING,
    **WRITING,
}


class PaddedRun(Visitor):
    """Runs equations of symbolic sizes by rules on padded arrays, and all others as they are.

    What has no rule is refused: padding would go into its results.
    """

    def __init__(self, who: str, sizes: LaneSizes, calls: tuple[JaxprEqn, ...] = ()):
        self.who, self.sizes, self._calls = who, sizes, calls

    def run(self, program: Any, operands: Sequence[Any]) -> list[Array]:
        """The padded arrays that a program returns."""
        return interpret(program, [*operands], self)

    def enters(self, eqn: JaxprEqn) -> bool:
        return can_rebind(eqn) and eqn.primitive.name != "shard_map"

    def __call__(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if not _is_ragged(eqn):
            return bind(eqn, operands)
        with self._inside(eqn), _wide_if_recorded_so(eqn):
            return self._results(eqn, operands)

    def _results(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        operands = [_as_array(x, atom) for x, atom in zip(operands, eqn.invars, strict=True)]
        equation = PaddedEquation(eqn, operands, self.sizes)
        if eqn.primitive.name == "scan" and not known(eqn.params["length"]):
            return scanned(equation, self.run)
        if eqn.primitive.name == "custom_linear_solve":
            return solved(equation, self.run)
        if self.enters(eqn):
            return self.nested(eqn, operands)
        if has_own_rules(eqn):
            return ruled(equation, self._run_at)
        if is_own_tangent(eqn):
            return self.run(program_of_tangent(eqn), operands)
        if eqn.primitive.name == "custom_vmap_call":  # the rule is for speed: values are the same
            return self.run(eqn.params["call"], operands)
        rule = RULES.get(eqn.primitive.name)
        if rule is None or eqn.effects:
            self._refuse(eqn, "it mixes elements in a way that padding would change")
        try:
            return rule(equation)
        except CannotHonour as objection:
            self._refuse(eqn, str(objection))

    def _run_at(self, sizes: LaneSizes, program: Any, operands: Sequence[Any]) -> list[Array]:
        """The same for sizes that a transform has put in the place of these."""
        return PaddedRun(self.who, sizes, self._calls).run(program, operands)

    @contextlib.contextmanager
    def _inside(self, eqn: JaxprEqn) -> Iterator[None]:
        outer, self._calls = self._calls, (*self._calls, eqn)
        try:
            yield
        finally:
            self._calls = outer

    def _refuse(self, eqn: JaxprEqn, reason: str) -> NoReturn:
        """Names the outermost operator that the equation belongs to, and the line that calls it."""
        name = eqn.primitive.name
        labels = (label_of(call) for call in self._calls)
        author = next((x for x in labels if x not in _PLAIN), name)
        line = next((x for x in map(line_of, self._calls) if x is not None), None)
        shapes = ", ".join(describe(type_of(x)) for x in eqn.invars)
        within = "" if author == name else f", in its primitive `{name}`"
        fail(
            self.who,
            f"`{author}` cannot be done along a ragged dimension{within}, of {shapes}: {reason}"
            + (f"; called at {line}" if line else ""),
            hint="write it with operators that the page on ragged batches lists, or do it sequence "
            "by sequence, over x.unbind()",
        )


# What runs programs of others, and has no name of its own in an error.
_PLAIN = {"jit", "pjit", "scan", "while", "cond", "checkpoint", "remat", "remat2"}


def _as_array(x: Any, atom: Any) -> Any:
    """The value of a literal as an array, too."""
    return x if isinstance(x, Array) else jnp.asarray(x, type_of(atom).dtype)


def _wide_if_recorded_so(eqn: JaxprEqn) -> contextlib.AbstractContextManager[Any]:
    """Operators compute in 64 bit for a while, also where 64 bit is off: rules do so, too."""
    types = map(type_of, (*eqn.invars, *eqn.outvars))
    dtypes = {x.dtype for x in types if jnp.issubdtype(x.dtype, jnp.number)}
    wide = any(available(dtype) != dtype for dtype in dtypes)
    return jax.enable_x64(True) if wide else contextlib.nullcontext()


def _is_ragged(eqn: JaxprEqn) -> bool:
    """Whether a symbolic size is in the equation, or in a program inside of it."""
    if any(map(_has_symbol, (*eqn.invars, *eqn.outvars))) or "dim" in eqn.params:
        return True
    if not known(eqn.params.get("length", 0)):
        return True
    programs = (*inner_programs(eqn), *own_programs(eqn))
    return any(_is_ragged(inner) for program in programs for inner in program.eqns)


def _has_symbol(x: Any) -> bool:
    return not known(*getattr(type_of(x), "shape", ()))
