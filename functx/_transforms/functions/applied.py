"""One call of a `Function`, as a function of arrays that says what its derivative reads."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, core

from functx._core import fail
from functx._core.context.grad_modes import apply_grad_mode, without_grad_mode
from functx._core.context.user_contexts import autocast_region
from functx._core.rules.residuals import (
    ActiveInputs,
    ResidualSource,
    Results,
    run_saving,
    RunRecord,
    SavingFunction,
)
from functx._core.rules.tangent_maps import BatchDims, Leaves, TangentMap
from functx._core.rules.tangent_types import ArrayType, inexact
from functx._transforms.concretization import rewording

from .context import attributes_of, FunctionContext, Notes, notes_of
from .derivative import CallDerivative, OutputLayout, Saved
from .lanes import lanes_of
from .layout import CallLayout, layout_of, strong_array
from .rules import FunctionRules
from .trees import flat, is_made_array


F = TypeVar("F", bound=Callable[..., Any])


def applied(rules: FunctionRules, args: tuple[Any, ...], passed: int) -> Any:
    """The result of the function with these `rules` for `args`."""
    layout, operands = layout_of(rules, args, passed)
    return AppliedFunction(layout).result(operands)


def in_region_of_call(method: F) -> F:
    """`method` of an `AppliedFunction` in the autocast region of the call: it may run later."""

    @ft.wraps(method)
    def run(self: AppliedFunction, *args: Any) -> Any:
        __tracebackhide__ = True
        if autocast_region.value == self.region:
            return method(self, *args)
        with autocast_region(self.region):
            return method(self, *args)

    return run  # pyright: ignore[reportReturnType]


class AppliedFunction:
    """One call of a `Function`, whose arguments are laid out as `layout` says."""

    def __init__(self, layout: CallLayout) -> None:
        self.region = autocast_region.value
        self.layout, self.rules, self.name = layout, layout.rules, layout.name
        self.output: OutputLayout | None = None
        self.asks = False
        self.records: dict[ActiveInputs, RunRecord] = {}

    def result(self, operands: Sequence[Array]) -> Any:
        """What `forward` returns for `operands`, differentiated by the rules."""
        program = SavingFunction(
            self.name,
            len(operands),
            self.rules.backward is not None,
            self.run,
            self.again,
            lambda active_inputs: self.records[active_inputs if self.asks else ()],
            lambda: self.asks,
            None if self.rules.vmap is None else ft.partial(self.lanes, self.rules.vmap),
        )
        outputs = apply_grad_mode(run_saving(program, operands))
        assert self.output is not None
        return self.output.filled(outputs)

    def context(self, active_inputs: ActiveInputs) -> FunctionContext:
        """A new `ctx` for `forward` or `setup_context`."""
        return FunctionContext(Notes(self.name, self.layout.needs(active_inputs)))

    @without_grad_mode
    @in_region_of_call
    def run(self, active_inputs: ActiveInputs, leaves: Leaves) -> Results:
        """Runs `forward`: the outputs, and the other arrays that the rules read."""
        leaves = distinct(leaves)
        args, ctx = self.layout.arguments(leaves), self.context(active_inputs)
        with rewording(self.name, "forward"):
            if self.rules.setup is None:
                output = self.rules.forward(ctx, *args)
            else:
                output = self.rules.forward(*args)
        found, structure = flat(output)
        arrays = [y for y in found if is_made_array(y)]
        outputs = tuple(map(strong_array, arrays))
        self.note_output(structure, found, outputs)
        if self.rules.setup is not None:
            return outputs, self.again(active_inputs, leaves, outputs)
        return outputs, self.note(active_inputs, ctx, leaves, arrays)

    @without_grad_mode
    @in_region_of_call
    def again(self, active_inputs: ActiveInputs, leaves: Leaves, outputs: Leaves) -> Leaves:
        """The other arrays that the rules read, where the outputs are known."""
        if self.rules.setup is None:
            return self.run(active_inputs, leaves)[1]
        assert self.output is not None
        leaves, outputs = distinct(leaves), distinct(outputs, leaves)
        ctx = self.context(active_inputs)
        with rewording(self.name, "setup_context"):
            self.rules.setup(ctx, self.layout.arguments(leaves), self.output.filled(outputs))
        return self.note(active_inputs, ctx, leaves, outputs)

    @in_region_of_call
    def lanes(self, rule: Callable[..., Any], size: int, dims: BatchDims, leaves: Leaves) -> Leaves:
        """The outputs of all lanes, by the function's own rule."""
        full: list[int | None] = [None] * len(self.layout.static)
        for i, dim in zip(self.layout.slots, dims, strict=True):
            full[i] = dim
        found, structure = lanes_of(
            self.name, rule, size, self.layout.tree.unflatten(full), self.layout.arguments(leaves)
        )
        outputs = tuple([strong_array(y) for y in found if is_made_array(y)])
        lane = [jax.typeof(y).update(shape=y.shape[1:]) for y in outputs]
        self.note_output(structure, found, lane)
        return outputs

    def note_output(self, structure: Any, found: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Remembers what the first run returned, without the arrays."""
        if self.output is None:
            given = iter(arrays)
            types = tuple([_type(next(given)) if is_made_array(y) else None for y in found])
            static = tuple([None if is_made_array(y) else y for y in found])
            self.output = OutputLayout(structure, types, static)

    def note(
        self,
        active_inputs: ActiveInputs,
        ctx: FunctionContext,
        leaves: Leaves,
        outputs: Sequence[Any],
    ) -> Leaves:
        """Remembers what the rules read, without the arrays; returns the arrays that are new."""
        notes, rules = notes_of(ctx), self.rules
        self.asks = self.asks or notes.asked
        found, structure = flat(
            (
                notes.backward if rules.backward is not None else (),
                notes.forward if rules.jvp is not None else (),
                attributes_of(ctx),
            )
        )
        known = {id(y): ResidualSource("output", i) for i, y in enumerate(outputs)}
        known |= {id(x): ResidualSource("input", i) for i, x in enumerate(leaves)}
        extras: list[Any] = []
        residuals: dict[ResidualSource, int] = {}
        places: list[Any] = []
        for x in found:
            if is_made_array(x):
                if id(x) not in known:
                    known[id(x)] = ResidualSource("extra", len(extras))
                    extras.append(x)
                x = residuals.setdefault(known[id(x)], len(residuals))
            places.append(x)
        saved = Saved(structure, tuple(places), tuple(map(is_made_array, found)), notes.materialize)
        marked = {id(y) for y in notes.marked}
        active = tuple([inexact(y) and id(y) not in marked for y in outputs])
        linear = ft.partial(self.linear, saved, active)
        record = RunRecord(active, tuple(residuals), len(extras), linear)
        self.records.setdefault(active_inputs if self.asks else (), record)
        return tuple(map(strong_array, extras))

    def linear(
        self, saved: Saved, active: tuple[bool, ...], active_inputs: ActiveInputs
    ) -> TangentMap:
        """The derivative by the inputs `active_inputs`."""
        if self.rules.backward is None and self.rules.jvp is None:
            fail(
                self.name,
                "it must implement either the backward (or vjp) or the jvp method to be "
                "differentiated",
                hint="either is enough: the other mode is derived from it",
            )
        assert self.output is not None
        derivative = CallDerivative(self.layout, self.output, saved, active, active_inputs)
        return TangentMap(
            f"{self.name}Backward", derivative.tangent, derivative.cotangent, symbolic=True
        )


def distinct(arrays: Sequence[Any], others: Sequence[Any] = ()) -> Leaves:
    """`arrays` as JAX's, each an object of its own, different from those of `others`.

    So an array that is passed twice, or returned, is told from the other when it is kept.
    """
    seen, found = set(map(id, others)), []
    for x in map(jnp.asarray, arrays):
        found.append(jnp.copy(x) if id(x) in seen else x)
        seen.add(id(found[-1]))
    return tuple(found)


def _type(x: Any) -> ArrayType:
    return x if isinstance(x, core.ShapedArray) else jax.typeof(x)
