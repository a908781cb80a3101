"""Index sets through a recorded program: what each element of its results depends on."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import Any

import jax

from functx._core import fail
from functx._core.jax_compat import JaxprEqn
from functx._core.rules.function_primitives import function_call, function_tangent, tangent_run
from functx._transforms.programs.interpreting import interpret, Visitor
from functx._transforms.programs.labels import label_of
from functx._transforms.programs.walking import CALLS, CHECKPOINTS, equations

from . import loops
from .elementwise import ELEMENTWISE_RULES
from .equations import computed, DependenceRule, TracedEquation, TracedValue, UNKNOWN, value_of
from .indexing import INDEXING
from .moving import MOVING
from .products import PRODUCTS
from .row_sets import everything, Rows, TooManyEntries
from .summing import SUMMING
from .windows import program_of_correlation, WINDOWS


RULES: dict[str, DependenceRule] = {
    **ELEMENTWISE_RULES,
    **MOVING,
    **INDEXING,
    **SUMMING,
    **PRODUCTS,
    **WINDOWS,
}
# The operands that a rule follows, where these are not all. The others are indices and matrices,
# which no derivative that is linear in its tangents makes of them; if one does, all depends on all.
_SCATTERS = [name for name in INDEXING if name.startswith("scatter")]
FOLLOWED: dict[str, frozenset[int]] = {
    **dict.fromkeys(("gather", "dynamic_slice", "select_and_scatter_add"), frozenset({0})),
    **dict.fromkeys(_SCATTERS, frozenset({0, 2})),
    "dynamic_update_slice": frozenset({0, 1}),
    "select_and_gather_add": frozenset({0}),
    "triangular_solve": frozenset({1}),
}
# What runs a program, and the parameter that holds it.
_PROGRAMS = {
    **dict.fromkeys((*CALLS, *CHECKPOINTS, "composite", "closed_call", "core_call"), "jaxpr"),
    "custom_vmap_call": "call",
    **dict.fromkeys(("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"), "call_jaxpr"),
}
# Primitives of sparse arrays, which JAX runs by other primitives.
_BY_OTHERS = "bcoo_", "bcsr_", "coo_", "csr_"


class DependenceTracing(Visitor):
    """Gives each result of an equation its sets of inputs, by a rule or by the equation's programs.

    Of a primitive that has neither, all results depend on all operands; `coarse` collects what
    these are called.
    """

    def __init__(self, who: str, inputs: int):
        self.who, self.inputs = who, inputs
        self.coarse: dict[str, None] = {}

    def run(self, program: Any, operands: Sequence[Any]) -> list[TracedValue]:
        """The values that a program returns."""
        return [*map(value_of, interpret(program, [*operands], self))]

    def __call__(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        values = [*map(value_of, operands)]
        if not eqn.effects and all(x.is_known for x in values):
            return computed(eqn, values)
        if all(x.rows is None for x in values):
            return [UNKNOWN] * len(eqn.outvars)
        try:
            return self._results(eqn, values)
        except TooManyEntries as error:
            fail(
                self.who,
                f"the pattern of what `{label_of(eqn)}` returns has {error} entries",
                hint="the function is dense there, as far as it can be told; functx.jacfwd and "
                "functx.jacrev make dense derivatives",
            )

    def _results(self, eqn: JaxprEqn, values: list[TracedValue]) -> Sequence[TracedValue]:
        name = eqn.primitive.name
        if name in loops.LOOPS:
            return loops.LOOPS[name](self, eqn, values)
        program = _program(eqn)
        if program is not None:
            return self.run(program, values)
        return self._by_rule(RULES.get(name), eqn, values)

    def _by_rule(
        self, rule: DependenceRule | None, eqn: JaxprEqn, values: list[TracedValue]
    ) -> Sequence[TracedValue]:
        equation = TracedEquation(eqn, values, self.inputs)
        followed = FOLLOWED.get(eqn.primitive.name)
        if rule is not None and followed is not None and not followed >= {*equation.dependent}:
            rule = all_of_all
        if rule is None:
            program = _program_of_implementation(equation)
            if program is not None:
                return self.run(program, values)
            self.coarse[label_of(eqn)] = None
            rule = all_of_all
        results = rule(equation)
        return [*map(TracedValue, results if isinstance(results, list) else [results])]


def all_of_all(equation: TracedEquation) -> list[Rows]:
    """The rule of what nothing is known of."""
    parts = [x for x in equation.rows if x is not None]
    return [everything(parts, math.prod(shape)) for shape in equation.out_shapes]


def _program(eqn: JaxprEqn) -> Any:
    """The program that an equation runs once, on its operands, or None."""
    types = [x.aval for x in eqn.invars]
    if eqn.primitive is function_call:
        return eqn.params["call"].trace(*types)
    if eqn.primitive is function_tangent:
        return jax.make_jaxpr(ft.partial(tangent_run, **eqn.params))(*types)
    program = eqn.params.get(_PROGRAMS.get(eqn.primitive.name, ""))
    takes_all = program is not None and len(program.in_avals) == len(types)
    return program if takes_all else None


def _program_of_implementation(equation: TracedEquation) -> Any:
    """The program that a primitive is implemented by, of those known to have one, or None."""
    eqn = equation.eqn
    if eqn.primitive.name == "correlation":
        return program_of_correlation(equation)
    if not eqn.primitive.name.startswith(_BY_OTHERS):
        return None
    run = ft.partial(eqn.primitive.impl, **eqn.params)
    program = jax.make_jaxpr(run)(*(x.aval for x in eqn.invars))
    itself = any(inner.primitive is eqn.primitive for inner in equations(program))
    return None if itself else program
