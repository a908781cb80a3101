"""Runs a recorded function with each call's derivative by PyTorch's convention or by JAX's.

The values are the same in both, those of the function itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.jax_compat import ClosedJaxpr, JaxprEqn
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.labels import (
    label_of,
    library_function,
    line_of,
    of_operators_code,
    operator_of,
)
from functx._transforms.programs.walking import type_of
from functx.testing.opchecking.target import is_inexact

from .noting import BesideRules, both_of
from .pytorch_rules import pytorch_rule


CallKey = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class SwitchedCall:
    """A call whose derivative has two conventions.

    - `name`: the operator, `"functx.max"`; JAX's function or primitive, `"jax abs"`; or
      `"complex gradients"`, which PyTorch conjugates.
    - `file`, `line`: where it is called; `""` and 0 where that is not known.
    """

    name: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.name} at {Path(self.file).name}:{self.line}" if self.file else self.name


@dataclasses.dataclass(frozen=True)
class CallRules:
    """What a call computes, and two functions of the same values, for their derivatives."""

    value: Callable[..., Sequence[Any]]
    pytorch: Callable[..., Sequence[Any]]
    jax: Callable[..., Sequence[Any]]


class SwitchedProgram:
    """A recorded program, and the calls in it that have two conventions, in order.

    `reverse`: whether it is to be differentiated in reverse mode.
    """

    def __init__(self, program: ClosedJaxpr, reverse: bool) -> None:
        self.program, self.reverse = program, reverse
        self.rules: dict[tuple[int, bool], CallRules | None] = {}
        self._numbers: dict[CallKey, int] = {}
        self.calls: list[SwitchedCall] = []
        types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in program.in_avals]
        jax.eval_shape(lambda *xs: self.run(lambda i: jnp.bool_(False), xs), *types)

    def run(self, by_jax: Callable[[int], Any], arrays: Sequence[Any]) -> list[Any]:
        """The results; `by_jax(i)` says whether the call `i` has JAX's derivative."""
        return interpret(self.program, arrays, _Switching(self, by_jax))

    def number(self, stack: Sequence[JaxprEqn], eqn: JaxprEqn) -> int:
        """The call's place in `calls`, where it is entered when it is first met."""
        key = (*map(id, stack), id(eqn))
        if key not in self._numbers:
            self._numbers[key] = len(self.calls)
            self.calls.append(_called(stack, eqn))
        return self._numbers[key]


class _Switching(Visitor):
    """Gives calls that have two conventions the derivative that is asked for."""

    def __init__(self, program: SwitchedProgram, by_jax: Callable[[int], Any]) -> None:
        self.program, self.by_jax = program, by_jax
        self.stack: list[JaxprEqn] = []  # the equations inside of which this runs

    def enters(self, eqn: JaxprEqn) -> bool:
        return self._rules(eqn) is None and super().enters(eqn)

    def nested(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        self.stack.append(eqn)
        try:
            return super().nested(eqn, operands)
        finally:
            self.stack.pop()

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        rules = self._rules(eqn)
        if rules is None:
            return bind(eqn, operands)
        number = self.program.number(self.stack, eqn)
        return switched(rules, self.by_jax(number), operands, self.program.reverse)

    def _rules(self, eqn: JaxprEqn) -> CallRules | None:
        rules, ours = self.program.rules, self._is_functxs(eqn)
        if (id(eqn), ours) not in rules:  # the program keeps its equations, and so their ids
            rules[id(eqn), ours] = _rules_of(eqn, ours)
        return rules[id(eqn), ours]

    def _is_functxs(self, eqn: JaxprEqn) -> bool:
        """Whether an operator or a rule runs the equation: that follows PyTorch as it stands.

        What JAX's functions are made of is of who called the function.
        """
        chain = [*self.stack, eqn]
        caller = next((e for e in chain if library_function(e)), eqn)
        return any(map(operator_of, chain)) or of_operators_code(caller)


def _rules_of(eqn: JaxprEqn, is_functxs: bool) -> CallRules | None:
    both = both_of(eqn)
    if both is not None:
        return _beside(both)
    rule = None if is_functxs else pytorch_rule(eqn)
    types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in map(type_of, eqn.invars)]
    results = [type_of(y) for y in eqn.outvars]
    if rule is None or not any(map(is_inexact, types)) or not any(map(is_inexact, results)):
        return None
    try:
        found = jax.eval_shape(rule, *types)
    except Exception:  # an operator that takes no such arguments means something else
        return None
    if [(y.shape, y.dtype) for y in found] != [(y.shape, y.dtype) for y in results]:
        return None
    itself = lambda *operands: _all_results(eqn, operands)
    return CallRules(itself, rule, itself)


def _beside(both: BesideRules) -> CallRules:
    """Of an equation that has two of each result; the second are read by nothing."""

    def twice(rule: Callable[..., Sequence[Any]]) -> Callable[..., list[Any]]:
        return lambda *operands: [*rule(*operands)] * 2

    return CallRules(twice(both.functx), twice(both.functx), twice(both.jax))


def _all_results(eqn: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
    """As `bind`, with zeros for what no equation reads."""
    types = map(type_of, eqn.outvars)
    results = zip(bind(eqn, operands), types, strict=True)
    return [jnp.zeros(t.shape, t.dtype) if y is None else y for y, t in results]


def switched(rules: CallRules, by_jax: Any, operands: Sequence[Any], reverse: bool) -> list[Any]:
    """The call's results, differentiated as its rule for JAX is if `by_jax`, else PyTorch's.

    Where both are the same but for rounding it is always PyTorch's: what follows might blow up
    the last digits, and they are no convention.
    """

    @jax.custom_jvp
    def call(by_jax: Array, *operands: Array) -> list[Array]:
        return [*rules.value(*operands)]

    def derivative(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        by_jax, *operands = primals
        results = call(by_jax, *operands)
        moving = [i for i, x in enumerate(operands) if is_inexact(x)]
        xs = [operands[i] for i in moving]
        functions = [_of_moving(rule, moving, operands) for rule in (rules.jax, rules.pytorch)]
        fixed = [*map(lax.stop_gradient, xs)]
        differ = lax.cond(
            by_jax, lambda: _derivatives_differ(functions, fixed, reverse), lambda: jnp.bool_(False)
        )
        pushed = lax.cond(
            differ,
            *(lambda xs, dots, f=f: jax.jvp(f, tuple(xs), tuple(dots))[1] for f in functions),
            xs,
            [tangents[i + 1] for i in moving],
        )
        following: Iterator[Any] = iter(pushed)
        return results, [
            next(following) if is_inexact(y) else np.zeros(y.shape, jax.dtypes.float0)
            for y in results
        ]

    call.defjvp(derivative)
    return call(by_jax, *map(jnp.asarray, operands))


def _of_moving(
    rule: Callable[..., Sequence[Any]], moving: Sequence[int], operands: Sequence[Any]
) -> Callable[..., list[Any]]:
    """The rule as a function of the operands that have derivatives, of the results that do."""

    def function(*moved: Array) -> list[Any]:
        full = [*map(lax.stop_gradient, operands)]
        for i, x in zip(moving, moved, strict=True):
            full[i] = x
        return [y for y in map(jnp.asarray, rule(*full)) if is_inexact(y)]

    return function


def _derivatives_differ(
    functions: Sequence[Callable[..., list[Any]]], xs: Sequence[Array], reverse: bool
) -> Array:
    """Whether two functions have other derivatives at a point, in directions of no pattern.

    In reverse mode a cotangent of 0 is tried as well: one may make NaN of it where the other is 0.
    """
    found: list[list[Array]] = []
    for f in functions:
        values, tangents = jax.jvp(f, tuple(xs), tuple(map(_direction, xs)))
        found.append([*tangents])
        if reverse:
            _, pull = jax.vjp(f, *xs)
            found[-1] += [*pull([*map(_direction, values)]), *pull([*map(jnp.zeros_like, values)])]
    apart = [_apart(a, b) for a, b in zip(*found, strict=True)]
    return jnp.any(jnp.stack(apart))


def _direction(x: Array) -> Array:
    numbers = jnp.cos(7.0 * jnp.arange(1.0, x.size + 1)).reshape(x.shape)
    return numbers.astype(x.dtype) * (1 + 0.5j if jnp.iscomplexobj(x) else 1)


def _apart(a: Array, b: Array) -> Array:
    """Whether arrays differ by more than rounding, the root of the last digit."""
    same = (a == b) | (jnp.isnan(a) & jnp.isnan(b))
    sizes = [jnp.where(jnp.isfinite(x), jnp.abs(x), 0).max(initial=0) for x in (a, b)]
    allowed = float(jnp.finfo(a.dtype).eps) ** 0.5 * jnp.maximum(*sizes)
    return jnp.any(~same & ~(jnp.abs(a - b) <= allowed))


def _called(stack: Sequence[JaxprEqn], eqn: JaxprEqn) -> SwitchedCall:
    chain = [*stack, eqn]
    operators = [name for name in map(operator_of, chain) if name is not None]
    library = [name for name in map(library_function, chain) if name]
    # Lines inside of operators and of JAX's functions are those of whoever called them first.
    whole = (i for i, e in enumerate(chain) if operator_of(e) or library_function(e))
    last = next(whole, len(chain) - 1)
    lines = [line for line in map(line_of, chain[: last + 1]) if line is not None]
    if operators:
        name = f"functx.{operators[-1]}"
    else:
        name = f"jax {library[0] if library else label_of(eqn)}"
    return SwitchedCall(name, lines[-1].file, lines[-1].line) if lines else SwitchedCall(name)
