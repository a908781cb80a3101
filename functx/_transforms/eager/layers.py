"""What eager transforms share: the trace that a function runs in, and the programs of its calls."""

from __future__ import annotations

import functools as ft
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import jax
import numpy as np
from jax.core import Tracer

from functx._core.jax_compat import (
    compiled_alone,
    current_trace,
    EagerTrace,
    is_eager,
    is_reference,
    NO_OPTIONS,
    Primitive,
    recording_a_call,
    set_current_trace,
    StaticOptions,
    trace_of,
)

from .statics import Static


class MutableArrays(Exception):
    """Raised where a function puts a value that takes part into a mutable array."""


#: Calls a primitive, or one of JAX's calls of functions, with these arguments.
Process: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]


class LayerValue(Tracer):
    """A value that takes part in a transform: its values, and what the transform knows of it."""

    __slots__ = ("known", "layer", "value")

    def __init__(self, layer: Layer, aval: Any, value: Any, known: Any) -> None:
        super().__init__(layer, aval)
        self.layer, self.value, self.known = layer, value, known

    def full_lower(self) -> Any:
        return self

    def to_concrete_value(self) -> Any:
        if not self.layer.differentiates:
            return None
        return self.value.to_concrete_value() if isinstance(self.value, Tracer) else self.value

    def _short_repr(self) -> str:
        return f"{self.layer.shown}({self.value})"


class Layer(EagerTrace):
    """The trace of a function that an eager transform runs."""

    #: Transforms a call: `rule(process, takes_part, values, *known)`, the last of those that do.
    rule: ClassVar[Callable[..., Any]]
    shown: ClassVar[str]

    def takes_part(self, x: Any) -> bool:
        """Whether `x` is a value of this transform."""
        return type(x) is LayerValue and x.layer is self

    def taking_part(self, tracers: Sequence[Any]) -> tuple[bool, ...]:
        """Which of some arguments are values of this transform."""
        return tuple([type(x) is LayerValue and x.layer is self for x in tracers])

    def value_of(self, x: Any) -> Any:
        """What `x` is to the trace outside of this one."""
        return x.value if self.takes_part(x) else x

    @abstractmethod
    def arguments(self, tracers: Sequence[Any], values: list[Any]) -> tuple[Any, ...]:
        """What the rule takes beside the process and which arguments take part."""

    @abstractmethod
    def noted(self, tracers: Sequence[Any], values: list[Any], outcome: Any) -> list[Any]:
        """The results of a call, from what the rule returned."""

    def process_primitive(self, primitive: Primitive, tracers: Any, params: Any, /) -> Any:
        which, run = self.taking_part(tracers), None
        if any(which) and compiled_alone(primitive, params):
            try:
                run = _program(type(self).rule, primitive, tuple(params.items()), which)
            except TypeError:  # a parameter that is not hashable
                pass
        if run is None:
            results = self.process_function(_process(primitive, params), tracers)
        else:
            results = self.ran(run, tracers)
        return results if primitive.multiple_results else results[0]

    def process_compiled(
        self, call: Callable[..., Any], options: StaticOptions, args: Any, kwargs: Any
    ) -> Any:
        try:
            given = CompiledCall.of(call, options, args, kwargs)
            which = self.taking_part(given.leaves)
            run = _compiled_program(type(self).rule, given.function, which) if any(which) else None
        except TypeError:  # an option that is not hashable, which the operator mends
            return call(*args, **kwargs)
        if run is None:
            with set_current_trace(self.parent_trace):
                return run_here(call, options, args, kwargs)
        values = [x.value if own else x for x, own in zip(given.leaves, which, strict=True)]
        known = self.arguments(given.leaves, values)
        with set_current_trace(self.parent_trace):
            outcome, structure = run_here(run, NO_OPTIONS, known, {})
            results = self.noted(given.leaves, values, outcome)
        return structure.value.unflatten(results)

    def process_function(self, process: Process, tracers: Sequence[Any]) -> Any:
        which = self.taking_part(tracers)
        if any(which):
            return self.ran(ft.partial(type(self).rule, process, which), tracers)
        with set_current_trace(self.parent_trace):
            return process(tracers)

    def ran(self, run: Callable[..., Any], tracers: Sequence[Any]) -> list[Any]:
        """The results of a call, which `run` transforms."""
        values = list(map(self.value_of, tracers))
        with set_current_trace(self.parent_trace):
            return self.noted(tracers, values, run(*self.arguments(tracers, values)))

    def stage_value(self, value: Any) -> Any:
        return value if self.takes_part(value) else self.parent_trace.stage_value(value)


def _process(primitive: Primitive, params: dict[str, Any]) -> Process:
    def process(values: Sequence[Any]) -> Sequence[Any]:
        results = primitive.bind(*values, **params)
        return results if primitive.multiple_results else [results]

    return process


@ft.lru_cache(maxsize=1024)
def _program(
    rule: Callable[..., Any],
    primitive: Primitive,
    params: tuple[tuple[str, Any], ...],
    which: tuple[bool, ...],
) -> Callable[..., Any]:
    """A compiled function from what `Layer.arguments` gives to what the rule returns."""
    given = dict(params)

    def run(*args: Any) -> Any:
        return rule(_process(primitive, given), which, *args)

    run.__name__ = str(given.get("name", primitive.name))
    return jax.jit(run)


class CalledFunction(NamedTuple):
    """A compiled function with its options, of the leaves of its other arguments."""

    call: Callable[..., Any]
    options: tuple[tuple[int | str, type, Any], ...]
    structure: Any

    def process(self, values: Sequence[Any]) -> tuple[list[Any], Any]:
        """The leaves of what it returns, and their structure."""
        args, kwargs = self.structure.unflatten(values)
        for place, _, option in self.options:
            (kwargs if isinstance(place, str) else args)[place] = option
        return jax.tree.flatten(self.call(*args, **kwargs))


class CompiledCall(NamedTuple):
    """A call of a compiled function."""

    function: CalledFunction
    leaves: list[Any]

    @classmethod
    def of(
        cls, call: Callable[..., Any], options: StaticOptions, args: Any, kwargs: Any
    ) -> CompiledCall:
        """The call apart: what keys its program, and what that program is given."""
        args, kwargs, chosen = list(args), dict(kwargs), []
        # JAX, too, tells options apart by their types: 1 is not True.
        for i in options.positions:
            if i < len(args):
                chosen.append((i, type(args[i]), args[i]))
                args[i] = None
        if kwargs:
            for name in options.names.intersection(kwargs):
                option = kwargs.pop(name)
                chosen.append((name, type(option), option))
        leaves, structure = jax.tree.flatten((args, kwargs))
        return cls(CalledFunction(call, tuple(chosen), structure), leaves)


@ft.lru_cache(maxsize=4096)
def _compiled_program(
    rule: Callable[..., Any], function: CalledFunction, which: tuple[bool, ...]
) -> Callable[..., Any]:
    """As `_program`; beside what the rule returns is the structure of what the function does."""

    def run(*args: Any) -> tuple[Any, Static[Any]]:
        structure = None

        def process(values: Sequence[Any]) -> list[Any]:
            nonlocal structure
            results, structure = function.process(values)
            return results

        with recording_a_call():
            return rule(process, which, *args), Static(structure)

    run.__name__ = getattr(function.call, "__name__", "run")
    return jax.jit(run)


def run_here(call: Callable[..., Any], options: StaticOptions, args: Any, kwargs: Any) -> Any:
    """Calls a compiled function where an eager transform or none is running."""
    trace = current_trace()
    if isinstance(trace, Layer):
        return trace.process_compiled(call, options, args, kwargs)
    return call(*args, **kwargs)


def split(
    process: Process, arguments: Sequence[Any]
) -> tuple[tuple[bool, ...], list[Any], list[Any]]:
    """The results of a call in JAX's current trace: which belong to it, those, and the others."""
    results = process(arguments)
    if any(is_reference(jax.typeof(x)) for x in (*arguments, *results)):
        raise MutableArrays
    trace = current_trace()
    own = tuple([trace_of(y) is trace for y in results])
    return (
        own,
        [y for y, mine in zip(results, own, strict=True) if mine],
        [y for y, mine in zip(results, own, strict=True) if not mine],
    )


def joined(which: Sequence[bool], own: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """What `split` has put apart, in order."""
    if not others:
        return [*own]
    mine, rest = iter(own), iter(others)
    return [next(mine if taken else rest) for taken in which]


def needs_jax(values: Any) -> bool:
    """Whether a transform of functions of `values` must be JAX's own here."""
    trace = current_trace()
    config: Any = jax.config
    return (
        not (is_eager(trace) or isinstance(trace, Layer))
        or config.jax_disable_jit
        or config.jax_debug_nans
        or config.jax_debug_infs
        or config.jax_check_tracer_leaks
        or not all(map(_has_place, jax.tree.leaves(values)))
    )


def _has_place(x: Any) -> bool:
    if isinstance(x, jax.Array):
        return not isinstance(x, Tracer) or type(x) is LayerValue
    return isinstance(x, np.ndarray) and x.dtype != jax.dtypes.float0
