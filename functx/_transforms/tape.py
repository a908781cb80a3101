"""Reverse mode of eager code: what a function calls is differentiated call by call.

`jax.vjp` records the derivatives of calls as equations, and transposes these one by one, anew each
time. On a tape, each call runs a compiled program that returns its results and what its derivative
keeps, and notes a second program, which pulls cotangents back. Both are looked up by the primitive,
its parameters and which arguments move; JAX looks them up further, by types and settings.

Inside of JAX's transforms, under settings that look into single calls, and for functions that put
what moves into mutable arrays, reverse mode is JAX's own.
"""

from __future__ import annotations

import contextvars
import dataclasses
import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.interpreters import ad, batching, mlir

from functx._core.jax_compat import (
    compiled_alone,
    current_trace,
    DifferentiatingTrace,
    is_eager,
    is_reference,
    set_current_trace,
    trace_of,
)
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import along_curves

from .residuals.hooks import hooks_here
from .tangents import LeafType


__all__ = ["eager_vjp"]


def eager_vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """As `jax.vjp`: output and pullback, and what is beside the output with `has_aux`."""
    if _needs_jax(primals):
        return jax.vjp(function, *primals, has_aux=has_aux)
    try:
        return _on_tape(function, primals, has_aux)
    except MutableArrays:
        return jax.vjp(function, *primals, has_aux=has_aux)


class MutableArrays(Exception):
    """Raised where a function that is being differentiated puts what moves in a mutable array."""


def _needs_jax(primals: Any) -> bool:
    trace, config = current_trace(), jax.config
    return (
        not (is_eager(trace) or isinstance(trace, Tape))
        or config.jax_disable_jit  # pyright: ignore[reportAttributeAccessIssue]
        or config.jax_debug_nans
        or config.jax_debug_infs
        or config.jax_check_tracer_leaks
        or hooks_here() is not None
        or not all(map(_has_place, jax.tree.leaves(primals)))
    )


def _has_place(x: Any) -> bool:
    if isinstance(x, jax.Array):
        return not isinstance(x, Tracer) or type(x) is Moving
    return isinstance(x, np.ndarray) and x.dtype != jax.dtypes.float0


def _on_tape(function: Callable[..., Any], primals: Any, has_aux: bool) -> Any:
    leaves, structure = jax.tree.flatten(primals)
    leaves = [jnp.asarray(x) if isinstance(x, np.ndarray) else x for x in leaves]
    tape = Tape(current_trace())
    inputs = [tape.moving(x) if jnp.issubdtype(x.dtype, jnp.inexact) else x for x in leaves]
    try:
        with set_current_trace(tape):
            result = function(*structure.unflatten(inputs))
    finally:
        tape.invalidate()
    output, aux = result if has_aux else (result, None)
    outputs, output_structure = jax.tree.flatten(output)
    numbers = tuple(map(tape.number_of, outputs))
    pull = TapePullback(
        *tape.needed_by(numbers),
        tuple(map(tape.number_of, inputs)),
        structure,
        tuple(map(LeafType.of, leaves)),
        numbers,
        output_structure,
    )
    output = output_structure.unflatten(map(tape.value_of, outputs))
    return (output, pull, jax.tree.map(tape.value_of, aux)) if has_aux else (output, pull)


class Step(NamedTuple):
    """How to pull the cotangents of one call back, and the numbers of what they belong to."""

    pull: Callable[[Any, Any], Sequence[Any]]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class TapePullback:
    """What comes of a tape: cotangents of the output in, cotangents of the primals out."""

    kept: tuple[Any, ...]
    residuals: tuple[tuple[int, ...], ...] = dataclasses.field(metadata={"static": True})
    steps: tuple[Step, ...] = dataclasses.field(metadata={"static": True})
    inputs: tuple[int | None, ...] = dataclasses.field(metadata={"static": True})
    input_structure: Any = dataclasses.field(metadata={"static": True})
    input_types: tuple[LeafType, ...] = dataclasses.field(metadata={"static": True})
    outputs: tuple[int | None, ...] = dataclasses.field(metadata={"static": True})
    output_structure: Any = dataclasses.field(metadata={"static": True})

    def __call__(self, cotangents: Any) -> Any:
        """One cotangent for each primal, in a tuple."""
        sums: dict[int, Any] = {}
        given = self.output_structure.flatten_up_to(cotangents)
        _collect(sums, self.outputs, given)
        for step, residuals in zip(reversed(self.steps), reversed(self.residuals), strict=True):
            own = [sums.pop(number, None) for number in step.outputs]
            if any(x is not None for x in own):
                _collect(sums, step.inputs, step.pull([self.kept[i] for i in residuals], own))
        found = [
            sums[number] if number in sums else _no_cotangent(number, type_)
            for number, type_ in zip(self.inputs, self.input_types, strict=True)
        ]
        return self.input_structure.unflatten(found)


def _collect(sums: dict[int, Any], numbers: Sequence[int | None], cotangents: Any) -> None:
    for number, cotangent in zip(numbers, cotangents, strict=True):
        if number is not None and cotangent is not None:
            sums[number] = _add(sums[number], cotangent) if number in sums else cotangent


_add = jax.jit(lax.add)


def _no_cotangent(number: int | None, type_: LeafType) -> Any:
    if number is None:
        return np.zeros(type_.shape, jax.dtypes.float0)
    return jnp.zeros(type_.shape, type_.dtype)


class Moving(Tracer):
    """A value that moves with the primals: what it is, and its number on the tape."""

    __slots__ = ("number", "primal")

    def __init__(self, trace: Tape, primal: Any, number: int) -> None:
        super().__init__(trace, jax.typeof(primal))
        self.primal, self.number = primal, number

    def full_lower(self) -> Any:
        return self

    def to_concrete_value(self) -> Any:
        primal = self.primal
        return primal.to_concrete_value() if isinstance(primal, Tracer) else primal

    def _short_repr(self) -> str:
        return f"GradTracer(primal={self.primal})"


class Tape(DifferentiatingTrace):
    """The trace of a function that is being differentiated."""

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.steps: list[Step] = []
        self.residuals: list[Any] = []
        self.count = 0

    def moving(self, primal: Any) -> Moving:
        """A value that moves, with the next number."""
        self.count += 1
        return Moving(self, primal, self.count)

    def number_of(self, x: Any) -> int | None:
        return x.number if type(x) is Moving and trace_of(x) is self else None

    def value_of(self, x: Any) -> Any:
        return x.primal if type(x) is Moving and trace_of(x) is self else x

    def process_primitive(self, primitive: Primitive, tracers: Any, params: Any, /) -> Any:
        numbers = tuple(map(self.number_of, tracers))
        run = _compiled(primitive, params, numbers)
        if run is None:
            process = lambda values: primitive.bind(*values, **params)
            results = self.processed(process, tracers, primitive.multiple_results)
        else:
            values = list(map(self.value_of, tracers))
            with set_current_trace(self.parent_trace):
                results = self.noted(numbers, values, run(*values))
        return results if primitive.multiple_results else results[0]

    def process_function(self, process: Callable[[Any], Any], tracers: Any) -> list[Any]:
        return self.processed(process, tracers, True)

    def processed(
        self, process: Callable[[Any], Any], tracers: Any, multiple_results: bool
    ) -> list[Any]:
        """The results of a call whose derivative is found now, and is not kept for another."""
        numbers = tuple(map(self.number_of, tracers))
        values = list(map(self.value_of, tracers))
        with set_current_trace(self.parent_trace):
            if all(number is None for number in numbers):
                results = process(values)
                return results if multiple_results else [results]
            moves = tuple([number is not None for number in numbers])
            outcome = _with_residuals(process, multiple_results, moves, values)
            return self.noted(numbers, values, outcome)

    def noted(
        self, numbers: tuple[int | None, ...], arguments: Sequence[Any], outcome: Outcome
    ) -> list[Any]:
        """The results of a call, in order; those that move are written down."""
        rule, results = outcome.rule, [self.moving(y) for y in outcome.moving]
        if results:
            inputs = tuple([number for number in numbers if number is not None])
            self.steps.append(Step(rule.pull, inputs, tuple([y.number for y in results])))
            known = {"arguments": arguments, **outcome._asdict()}
            self.residuals.append([known[among][position] for among, position in rule.places])
        moving, others = iter(results), iter(outcome.others)
        return [next(moving if moves else others) for moves in rule.moves]

    def needed_by(self, numbers: Sequence[int | None]) -> tuple[Any, Any, Any]:
        """Of the steps on which values with these numbers depend: residuals, each array once,
        which of them each step takes, and the steps."""
        needed, steps = set(numbers), []
        for step, residuals in zip(reversed(self.steps), reversed(self.residuals), strict=True):
            if not needed.isdisjoint(step.outputs):
                needed.update(step.inputs)
                steps.append((step, residuals))
        steps.reverse()
        kept = {id(x): x for _, residuals in steps for x in residuals}
        positions = {i: position for position, i in enumerate(kept)}
        places = tuple([tuple([positions[id(x)] for x in residuals]) for _, residuals in steps])
        return tuple(kept.values()), places, tuple([step for step, _ in steps])

    def stage_value(self, value: Any) -> Any:
        return value


class Place(NamedTuple):
    """Where a residual of a call is found: among its arguments, its results, or beside them."""

    among: Literal["arguments", "moving", "others", "beside"]
    position: int


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True, eq=False)
class Rule:
    """Which results of a call move, what is kept of it, and how cotangents are pulled back.

    `pull(residuals, cotangents)` takes and returns None where there is no cotangent.
    """

    moves: tuple[bool, ...]
    places: tuple[Place, ...]
    pull: Callable[[Any, Any], Sequence[Any]]


class Outcome(NamedTuple):
    """What running a call gives: results that move and others, residuals that are neither."""

    moving: list[Any]
    others: list[Any]
    beside: list[Any]
    rule: Rule


def _compiled(
    primitive: Primitive, params: dict[str, Any], numbers: tuple[int | None, ...]
) -> Callable[..., Any] | None:
    """What runs a call with residuals, compiled, if it can be kept for other calls."""
    moves = tuple([number is not None for number in numbers])
    if not any(moves) or not compiled_alone(primitive):
        return None
    try:
        return _program(primitive, tuple(params.items()), moves)
    except TypeError:  # a parameter that is not hashable
        return None


@ft.lru_cache(maxsize=4096)
def _program(
    primitive: Primitive, params: tuple[tuple[str, Any], ...], moves: tuple[bool, ...]
) -> Callable[..., Any]:
    process = lambda values: primitive.bind(*values, **dict(params))
    name = dict(params).get("name", primitive.name)

    def forward(*values: Any) -> Outcome:
        outcome = _with_residuals(process, primitive.multiple_results, moves, values)
        pull = outcome.rule.pull
        pull.__name__ = f"{name}_pullback"
        return outcome._replace(rule=dataclasses.replace(outcome.rule, pull=jax.jit(pull)))

    forward.__name__ = f"{name}_with_residuals"
    return jax.jit(forward)


def _with_residuals(
    process: Callable[[Any], Any],
    multiple_results: bool,
    moves: tuple[bool, ...],
    values: Sequence[Any],
) -> Outcome:
    """Runs a call, some of whose arguments move."""
    moving_results: tuple[bool, ...] = ()

    def of_moving(*moving: Any) -> tuple[list[Any], list[Any]]:
        nonlocal moving_results
        watched = iter([watch.bind(x, number=i) for i, x in enumerate(moving)])
        arguments = [next(watched) if m else v for m, v in zip(moves, values, strict=True)]
        results = process(arguments)
        results = list(results) if multiple_results else [results]
        if any(is_reference(jax.typeof(x)) for x in (*arguments, *results)):
            raise MutableArrays
        trace = current_trace()
        moving_results = tuple([trace_of(y) is trace for y in results])
        return (
            [y for y, m in zip(results, moving_results, strict=True) if m],
            [y for y, m in zip(results, moving_results, strict=True) if not m],
        )

    moving = [v for m, v in zip(moves, values, strict=True) if m]
    results, pull, others = jax.vjp(of_moving, *moving, has_aux=True)
    types = [jax.typeof(y).to_tangent_aval() for y in results]
    residuals, structure = jax.tree.flatten(pull)
    beside: list[Any] = []
    known = {"arguments": values, "moving": results, "others": others, "beside": beside}
    places = tuple([_place(x, known) for x in residuals])

    def pulled(residuals: Any, cotangents: Any) -> list[Any]:
        zeros = [
            ad.Zero(type_) if x is None else x for x, type_ in zip(cotangents, types, strict=True)
        ]
        reached: set[int] = set()
        token = _reached.set(reached)
        try:
            found = structure.unflatten(residuals)(zeros)
        except AttributeError:  # some rules of JAX's expect arrays
            found = structure.unflatten(residuals)(list(map(ad.instantiate_zeros, zeros)))
        finally:
            _reached.reset(token)
        return [x if i in reached else None for i, x in enumerate(found)]

    return Outcome(results, others, beside, Rule(moving_results, places, pulled))


def _place(residual: Any, known: dict[Any, Sequence[Any]]) -> Place:
    """Where a residual is found; one that is nowhere else is put beside."""
    for among, values in known.items():
        for position, value in enumerate(values):
            if value is residual:
                return Place(among, position)
    known["beside"].append(residual)
    return Place("beside", len(known["beside"]) - 1)


# The identity of cotangents, which notes that one has come: that of an argument which none reaches
# is None, not zeros, which times infinity would be NaN further back.
_reached: contextvars.ContextVar[set[int]] = contextvars.ContextVar("reached")
watch = Primitive("functx_watch", __name__)


def _watch_jvp(primals: Any, tangents: Any, *, number: int) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    return x, t if type(t) is ad.Zero else watch.bind(t, number=number)


def _watch_transposed(cotangent: Any, x: Any, *, number: int) -> list[Any]:
    if type(cotangent) is not ad.Zero:
        _reached.get().add(number)
    return [cotangent]


watch.def_impl(lambda x, *, number: x)
watch.def_abstract_eval(lambda x, *, number: x)
ad.primitive_jvps[watch] = _watch_jvp
ad.primitive_transposes[watch] = _watch_transposed
batching.defvectorized(watch)
mlir.register_lowering(watch, lambda ctx, x, *, number: [x])
along_curves(watch)
