"""Reverse mode of eager code: a tape of what its calls keep, and of how to pull cotangents back."""

from __future__ import annotations

import contextvars
import dataclasses
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.interpreters import ad, batching, mlir

from functx._core.jax_compat import (
    at_line,
    current_trace,
    is_eager,
    line_here,
    set_current_trace,
    straight_to_eager,
    type_of,
)
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import along_curves
from functx._transforms.programs.labels import line_among
from functx._transforms.residuals.hooks import hooks_here
from functx._transforms.tangents import LeafType

from .layers import joined, Layer, LayerValue, MutableArrays, needs_jax, Process, split


def eager_vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """As `jax.vjp`: output and pullback, and what is beside the output with `has_aux`."""
    if not needs_jax(primals) and hooks_here() is None:
        try:
            return _on_tape(function, primals, has_aux)
        except MutableArrays:
            pass
    return jax.vjp(function, *primals, has_aux=has_aux)


def _on_tape(function: Callable[..., Any], primals: Any, has_aux: bool) -> Any:
    leaves, structure = jax.tree.flatten(primals)
    leaves = [jnp.asarray(x) if isinstance(x, np.ndarray) else x for x in leaves]
    tape = Tape(current_trace())
    inputs = [tape.part(x) if jnp.issubdtype(x.dtype, jnp.inexact) else x for x in leaves]
    try:
        with set_current_trace(tape):
            result = function(*structure.unflatten(inputs))
    finally:
        tape.invalidate()
        recorded = tape.taken()
    output, aux = result if has_aux else (result, None)
    outputs, output_structure = jax.tree.flatten(output)
    numbers = tuple(map(tape.number_of, outputs))
    kept, residuals, steps = _needed(recorded, numbers)
    pull = TapePullback(
        kept,
        residuals,
        steps,
        tuple(map(tape.number_of, inputs)),
        structure,
        tuple(map(LeafType.of, leaves)),
        numbers,
        output_structure,
    )
    output = output_structure.unflatten(map(tape.value_of, outputs))
    return (output, pull, jax.tree.map(tape.value_of, aux)) if has_aux else (output, pull)


@dataclasses.dataclass(frozen=True)
class TapeStep:
    """How to pull the cotangents of one call back, and the numbers of what they belong to.

    `line` is where the call was: where a pullback is recorded, its parts come from there.
    """

    pull: Callable[[Any, Any], Sequence[Any]]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: Any = dataclasses.field(compare=False)

    def pulled(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
        """The cotangents of the inputs, None where there is none."""
        if is_eager(current_trace()):
            return self.pull(residuals, cotangents)
        with at_line(self.line):
            return self.pull(residuals, cotangents)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class TapePullback:
    """What comes of a tape: cotangents of the output in, cotangents of the primals out."""

    kept: tuple[Any, ...]
    residuals: tuple[tuple[int, ...], ...] = dataclasses.field(metadata={"static": True})
    steps: tuple[TapeStep, ...] = dataclasses.field(metadata={"static": True})
    inputs: tuple[int | None, ...] = dataclasses.field(metadata={"static": True})
    input_structure: Any = dataclasses.field(metadata={"static": True})
    input_types: tuple[LeafType, ...] = dataclasses.field(metadata={"static": True})
    outputs: tuple[int | None, ...] = dataclasses.field(metadata={"static": True})
    output_structure: Any = dataclasses.field(metadata={"static": True})

    def __call__(self, cotangents: Any) -> Any:
        """One cotangent for each primal, in a tuple."""
        sums: dict[int, Any] = {}
        _collect(sums, self.outputs, self.output_structure.flatten_up_to(cotangents))
        for step, residuals in zip(reversed(self.steps), reversed(self.residuals), strict=True):
            own = [sums.pop(number, None) for number in step.outputs]
            if any(x is not None for x in own):
                _collect(sums, step.inputs, step.pulled([self.kept[i] for i in residuals], own))
        found = [
            sums[number] if number in sums else _no_cotangent(number, type_)
            for number, type_ in zip(self.inputs, self.input_types, strict=True)
        ]
        return self.input_structure.unflatten(found)


def _collect(sums: dict[int, Any], numbers: Sequence[int | None], cotangents: Any) -> None:
    for number, cotangent in zip(numbers, cotangents, strict=True):
        if number is not None and cotangent is not None:
            sums[number] = _add(sums[number], cotangent) if number in sums else cotangent


_add = straight_to_eager(jax.jit(lax.add))


def _no_cotangent(number: int | None, type_: LeafType) -> Any:
    if number is None:
        return np.zeros(type_.shape, jax.dtypes.float0)
    return jnp.zeros(type_.shape, type_.dtype)


class ResidualPlace(NamedTuple):
    """Where a residual of a call is found: among its arguments, its results, or beside them."""

    among: Literal["arguments", "moving", "others", "beside"]
    position: int


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True, eq=False)
class CallRule:
    """Which results of a call move, what is kept of it, and how cotangents are pulled back.

    `pull(residuals, cotangents)` takes and returns None where there is no cotangent.
    """

    moves: tuple[bool, ...]
    places: tuple[ResidualPlace, ...]
    pull: Callable[[Any, Any], Sequence[Any]]


class CallOnTape(NamedTuple):
    """What running a call gives: results that move and others, residuals that are neither."""

    moving: list[Any]
    others: list[Any]
    beside: list[Any]
    rule: CallRule


def with_residuals(process: Process, which: tuple[bool, ...], values: Sequence[Any]) -> CallOnTape:
    """Runs a call of which some arguments move, and finds how to pull cotangents back."""
    moves: tuple[bool, ...] = ()

    def of_moving(*moving: Any) -> tuple[list[Any], list[Any]]:
        nonlocal moves
        watched = iter([watch.bind(x, number=i) for i, x in enumerate(moving)])
        arguments = [next(watched) if m else x for m, x in zip(which, values, strict=True)]
        moves, results, others = split(process, arguments)
        return results, others

    moving = [x for m, x in zip(which, values, strict=True) if m]
    results, pull, others = jax.vjp(of_moving, *moving, has_aux=True)
    types = [jax.typeof(y).to_tangent_aval() for y in results]
    residuals, structure = jax.tree.flatten(pull)
    beside: list[Any] = []
    known = {"arguments": values, "moving": results, "others": others, "beside": beside}
    places = tuple([_place(x, known, beside) for x in residuals])

    def pulled(residuals: Any, cotangents: Any) -> list[Any]:
        pairs = zip(cotangents, types, strict=True)
        given = [ad.Zero(type_) if x is None else x for x, type_ in pairs]
        pull = structure.unflatten(residuals)
        reached: set[int] = set()
        token = _reached.set(reached)
        try:
            found = pull(given)
        except Exception as error:
            if all(x is not None for x in cotangents) or not _is_of_libraries(error):
                raise
            # Of JAX's rules some expect arrays: of sparse ones, and of `scan`, which gives its body
            # zeros of the stacked shape.
            found = pull(list(map(ad.instantiate_zeros, given)))
        finally:
            _reached.reset(token)
        return [x if i in reached else None for i, x in enumerate(found)]

    # What is compiled has tracers here, and its pullback is compiled too.
    tracers = [x for x in (*results, *moving) if isinstance(x, Tracer)]
    compiled = any(not isinstance(x, LayerValue) for x in tracers)
    rule = CallRule(moves, places, straight_to_eager(jax.jit(pulled)) if compiled else pulled)
    return CallOnTape(results, others, beside, rule)


def _is_of_libraries(error: Exception) -> bool:
    """Whether JAX's code or functx's raised an error that is being handled, and no user's rule."""
    inside = traceback.extract_tb(error.__traceback__)[1:]
    return line_among((f.filename, f.lineno or 0, f.name) for f in reversed(inside)) is None


def _place(residual: Any, known: dict[Any, Sequence[Any]], beside: list[Any]) -> ResidualPlace:
    """Where a residual is found; one that is nowhere else is put beside."""
    for among, values in known.items():
        for position, value in enumerate(values):
            if value is residual:
                return ResidualPlace(among, position)
    beside.append(residual)
    return ResidualPlace("beside", len(beside) - 1)


class Tape(Layer):
    """The trace of a function that is being differentiated. What moves is known by a number."""

    rule, shown, differentiates = staticmethod(with_residuals), "GradTracer", True

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.steps: list[TapeStep] = []
        self.residuals: list[Any] = []
        self.count = 0

    def part(self, value: Any) -> LayerValue:
        """A value that moves, with the next number."""
        self.count += 1
        return LayerValue(self, type_of(value), value, self.count)

    def number_of(self, x: Any) -> int | None:
        """The number of a value that moves, None of any other."""
        return x.known if self.takes_part(x) else None

    def arguments(self, tracers: Sequence[Any], values: list[Any]) -> tuple[Any, ...]:
        return (values,)

    def noted(self, tracers: Sequence[Any], values: list[Any], outcome: CallOnTape) -> list[Any]:
        results = list(map(self.part, outcome.moving))
        if results:
            inputs = tuple([x.known for x in tracers if self.takes_part(x)])
            outputs = tuple([y.known for y in results])
            self.steps.append(TapeStep(outcome.rule.pull, inputs, outputs, line_here()))
            moving, others, beside, rule = outcome
            known = {"arguments": values, "moving": moving, "others": others, "beside": beside}
            kept = [known[among][i] for among, i in rule.places]
            # An array of NumPy's may be written to before the cotangents come.
            owned = [np.array(x) if isinstance(x, np.ndarray) else x for x in kept]
            self.residuals.append(owned)
        return joined(outcome.rule.moves, results, outcome.others)

    def taken(self) -> list[tuple[TapeStep, list[Any]]]:
        """The steps with their residuals, which are no longer the tape's: JAX may keep traces."""
        recorded = list(zip(self.steps, self.residuals, strict=True))
        self.steps, self.residuals = [], []
        return recorded


def _needed(
    recorded: Sequence[tuple[TapeStep, list[Any]]], numbers: Sequence[int | None]
) -> tuple[tuple[Any, ...], tuple[tuple[int, ...], ...], tuple[TapeStep, ...]]:
    """The residuals and steps on which values with these numbers depend.

    First come the residuals, each array once, then which of them each step takes, then the steps.
    """
    needed, steps = set(numbers), []
    for step, residuals in reversed(recorded):
        if not needed.isdisjoint(step.outputs):
            needed.update(step.inputs)
            steps.append((step, residuals))
    steps.reverse()
    kept = {id(x): x for _, residuals in steps for x in residuals}
    positions = {i: position for position, i in enumerate(kept)}
    places = tuple([tuple([positions[id(x)] for x in residuals]) for _, residuals in steps])
    return tuple(kept.values()), places, tuple([step for step, _ in steps])


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
