"""Functions with own derivative rules: the function and its rules, each padded."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.function_primitives import (
    function_call,
    function_tangent,
    RuledCall,
    tangent_run,
)
from functx._core.rules.tangent_types import inexact, tangent_type
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.labels import label_of
from functx._transforms.programs.walking import type_of

from .equations import PaddedEquation
from .sizes import LaneSizes


# What runs a program on padded arrays, for a lane of these sizes.
RunsPadded = Callable[[LaneSizes, Any, Sequence[Any]], list[Array]]

JAXS_OWN = ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")


def has_own_rules(eqn: Any) -> bool:
    """Whether the equation calls a function that says what its derivative is."""
    return eqn.primitive is function_call or eqn.primitive.name in JAXS_OWN


def is_own_tangent(eqn: Any) -> bool:
    """Whether the equation is the derivative of such a function."""
    return eqn.primitive is function_tangent


def ruled(equation: PaddedEquation, run: RunsPadded) -> Sequence[Array]:
    """The padded function, whose rules are the padded programs of the function's own rules."""
    eqn, names = equation.eqn, equation.sizes
    types, out_types = [*map(_type, eqn.invars)], [*map(_type, eqn.outvars)]
    count, moving = len(types), [i for i, x in enumerate(types) if inexact(x)]
    moved = [tangent_type(types[i]) for i in moving]
    covering = [tangent_type(y) for y in out_types if inexact(y)]
    rules = _RecordedRules(eqn, types, out_types, moving)

    def inside(program: Any, arrays: Sequence[Any], lengths: Sequence[Any]) -> list[Array]:
        return run(names.with_arrays(lengths), program, arrays)

    def forward(*operands: Any) -> tuple[Array, ...]:
        return tuple(inside(rules.forward(), operands[:count], operands[count:]))

    def tangent(primals: Any, outputs: Any, tangents: Any) -> Any:
        program, places = rules.tangent(moved)
        given = [*primals[:count], *outputs, *(tangents[i] for i in moving)]
        return _at(places, inside(program, given, primals[count:]), len(out_types))

    def cotangent(primals: Any, outputs: Any, cotangents: Any) -> Any:
        program, places = rules.cotangent(covering)
        given = [*primals[:count], *outputs, *(ct for ct in cotangents if ct is not None)]
        return _at(places, inside(program, given, primals[count:]), len(primals))

    function = derivative_rules(
        forward,
        jvp=tangent if rules.has_tangent else None,
        vjp=cotangent if rules.has_cotangent else None,
        name=label_of(eqn),
    )
    return list(function(*equation.operands, *equation.sizes.arrays))


def _at(places: Sequence[int], found: Sequence[Any], count: int) -> tuple[Any, ...]:
    given = dict(zip(places, found, strict=True))
    return tuple(given.get(i) for i in range(count))


def _type(x: Any) -> Any:
    return type_of(x).strip_weak_type()


class _RecordedRules:
    """Programs, at symbolic sizes, of a function and of its derivative in both modes.

    Each takes the primals and the outputs before what moves, and comes with the places of its
    results among all outputs or operands.
    """

    def __init__(self, eqn: Any, types: list[Any], out_types: list[Any], moving: list[int]):
        self._eqn, self._types, self._out_types, self._moving = eqn, types, out_types, moving
        call = eqn.params.get("call")
        self._linear: Any = None
        if isinstance(call, RuledCall):
            self._linear = call.linear(tuple(moving))
            self._of = call.of
        # of others JAX's transforms tell: `custom_vjp` has no forward mode
        self.has_tangent = self._linear is not None or eqn.primitive.name == "custom_jvp_call"
        reverse = not isinstance(call, RuledCall) or call.has_reverse
        self.has_cotangent = reverse and eqn.primitive.name != "custom_jvp_call"

    def forward(self) -> Any:
        call = self._eqn.params.get("call")
        return self._eqn.params["call_jaxpr"] if call is None else call.trace(*self._types)

    def tangent(self, moved: Sequence[Any]) -> tuple[Any, list[int]]:
        inexact_outputs = [i for i, y in enumerate(self._out_types) if inexact(y)]

        def by_rule(primals: Any, outputs: Any, tangents: Any) -> Any:
            if self._linear is not None:
                return self._linear.apply(*self._looked_at(primals, outputs), tuple(tangents))
            points = [primals[i] for i in self._moving]
            results = jax.jvp(ft.partial(self._called, primals), points, list(tangents))[1]
            return [results[i] for i in inexact_outputs]

        program, _ = _recorded(by_rule, self._types, self._out_types, moved)
        return program, inexact_outputs

    def cotangent(self, covering: Sequence[Any]) -> tuple[Any, list[int]]:
        def by_rule(primals: Any, outputs: Any, cotangents: Any) -> Any:
            if self._linear is not None:
                return self._linear.transpose(*self._looked_at(primals, outputs), tuple(cotangents))

            def moved(*points: Any) -> list[Any]:
                return [y for y in self._called(primals, *points) if inexact(y)]

            _, pull = jax.vjp(moved, *(primals[i] for i in self._moving))
            return pull(list(cotangents))

        program, found = _recorded(by_rule, self._types, self._out_types, covering)
        return program, [i for i, x in zip(self._moving, found, strict=True) if x is not None]

    def _looked_at(self, primals: Any, outputs: Any) -> tuple[Any, Any]:
        return (
            () if self._of == "output" else tuple(primals),
            () if self._of == "primals" else tuple(outputs),
        )

    def _called(self, primals: Sequence[Any], *points: Any) -> list[Any]:
        given = [*primals]
        for i, x in zip(self._moving, points, strict=True):
            given[i] = x
        return bind(self._eqn, given)


def _recorded(function: Callable[..., Any], *types: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The program of `function`, and its results, None for those that it does not return."""
    specs = [[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in part] for part in types]
    found: list[Any] = []

    def flat(*args: Any) -> list[Any]:
        found[:] = list(function(*args))
        return [x for x in found if x is not None]

    program = jax.make_jaxpr(flat)(*specs)
    return program, found


def program_of_tangent(eqn: Any) -> Any:
    """The program of the derivative of a function with own rules."""
    run = ft.partial(tangent_run, **eqn.params)
    return jax.make_jaxpr(run)(*(type_of(x) for x in eqn.invars))
