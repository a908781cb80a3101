"""The derivative of a call of a `Function`: its rules, over flat tuples of leaves."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
from jax import Array

from functx._core import fail
from functx._core.context.grad_modes import without_grad_mode
from functx._core.rules.residuals import ActiveInputs
from functx._core.rules.tangent_maps import Leaves, transposed
from functx._core.rules.tangent_types import ArrayType, inexact, zeros_of
from functx._transforms.concretization import rewording
from functx._transforms.conjugation import conjugate, conjugate_leaf

from .context import FunctionContext, Notes
from .layout import CallLayout
from .returned import gradients, tangents


class OutputLayout(NamedTuple):
    """What `forward` returned without its arrays: a structure, and for each leaf its type."""

    structure: Any
    types: tuple[ArrayType | None, ...]
    static: tuple[Any, ...]

    def filled(self, arrays: Sequence[Any]) -> Any:
        """The output, with `arrays` in the place of its arrays."""
        given = iter(arrays)
        return self.structure.unflatten(
            [x if t is None else next(given) for t, x in zip(self.types, self.static, strict=True)]
        )


class Saved(NamedTuple):
    """What a run saves for the rules: a tree of arrays and attributes, its arrays apart."""

    structure: Any
    leaves: tuple[Any, ...]  # a `ResidualSource`'s position, or what it is if static
    is_residual: tuple[bool, ...]
    materialize: bool

    def context(self, notes: Notes, residuals: Leaves, forward: bool) -> FunctionContext:
        """The `ctx` that a rule sees: what was saved for forward mode, or for reverse mode."""
        backward, ahead, attributes = self.structure.unflatten(
            [
                residuals[x] if saved else x
                for x, saved in zip(self.leaves, self.is_residual, strict=True)
            ]
        )
        notes.materialize = self.materialize
        return FunctionContext(notes).replaced((ahead if forward else backward, attributes))


class CallDerivative(NamedTuple):
    """The derivative of a call by some of its inputs, with what was saved for it."""

    call: CallLayout
    output: OutputLayout
    saved: Saved
    active: tuple[bool, ...]  # of the arrays of the output
    active_inputs: ActiveInputs

    def tangent(self, residuals: Leaves, _: Leaves, given: Leaves) -> Leaves:
        """The tangents of the active outputs, from those of the active inputs."""
        call, jvp, output = self.call, self.call.rules.jvp, self.output
        if jvp is None:
            linear = lambda cts: _filled(self.cotangent(residuals, (), cts), self._types_in())
            return transposed(linear, self._types_out(), given)
        full: list[Any] = [None] * len(call.types)
        for i, t in zip(self.active_inputs, given, strict=True):
            full[call.slots[i]] = t
        if self.saved.materialize:
            full = [
                zeros_of(like) if t is None and like is not None and inexact(like) else t
                for t, like in zip(full, call.types, strict=True)
            ]
        ctx = self._context(residuals, forward=True)
        got = _called(call.name, "jvp", jvp, ctx, *call.tree.unflatten(full))
        return tuple(
            tangents(call.name, got, output.structure, output.types, self._active_leaves())
        )

    def cotangent(self, residuals: Leaves, _: Leaves, given: Any) -> Sequence[Array | None]:
        """The cotangents of the active inputs, from those of the active outputs.

        These are JAX's; those of `backward` are their conjugates.
        """
        call, backward, output = self.call, self.call.rules.backward, self.output
        if backward is None:
            linear = ft.partial(self.tangent, residuals, ())
            return transposed(linear, self._types_in(), _filled(given, self._types_out()))
        ctx = self._context(residuals, forward=False)
        still = self.saved.materialize and vars(ctx).get("_materialize_non_diff_grads", True)
        supply = iter(given)
        full: list[Any] = []
        for like, is_active in zip(output.types, self._active_leaves(), strict=True):
            ct = conjugate_leaf(next(supply)) if is_active else None
            fill = self.saved.materialize if is_active else still
            full.append(zeros_of(like) if ct is None and fill and like is not None else ct)
        grads = output.structure.unflatten(full)
        grads = grads if isinstance(grads, tuple) else (grads,)
        got = _called(call.name, "backward", backward, ctx, *grads)
        structures = call.tree.children()
        leaves = gradients(call.name, got, structures, call.passed, call.types, call.static)
        return conjugate([leaves[call.slots[i]] for i in self.active_inputs])

    def _active_leaves(self) -> list[bool]:
        """Which leaves of the output have tangents."""
        active = iter(self.active)
        return [t is not None and next(active) for t in self.output.types]

    def _types_in(self) -> list[ArrayType]:
        """The types of the tangents that `tangent` takes."""
        return [_tangent(self.call.types[self.call.slots[i]]) for i in self.active_inputs]

    def _types_out(self) -> list[ArrayType]:
        """The types of the tangents that `tangent` returns."""
        types = zip(self.output.types, self._active_leaves(), strict=True)
        return [_tangent(t) for t, is_active in types if is_active]

    def _context(self, residuals: Leaves, forward: bool) -> FunctionContext:
        notes = Notes(self.call.name, self.call.needs(self.active_inputs))
        return self.saved.context(notes, residuals, forward)


def _filled(given: Sequence[Array | None], types: Sequence[ArrayType]) -> Leaves:
    return tuple(zeros_of(t) if x is None else x for x, t in zip(given, types, strict=True))


def _tangent(aval: Any) -> ArrayType:
    return aval.to_tangent_aval().strip_weak_type()


@without_grad_mode
def _called(name: str, rule: str, function: Callable[..., Any], *args: Any) -> Any:
    try:
        with rewording(name, rule):
            return function(*args)
    except jax.errors.UnexpectedTracerError as error:
        reason = error
    try:
        fail(
            name,
            f"`{rule}` reads an array from elsewhere that is being traced",
            hint="keep it in forward, ctx.name = array, or pass it as an argument",
            error=jax.errors.UnexpectedTracerError,
        )
    except jax.errors.UnexpectedTracerError as worded:
        raise worded from reason
