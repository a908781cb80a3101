"""Functions that say which arrays their derivative reads: its residuals.

The derivative of a function with `derivative_rules` reads all primals and all outputs. Here a run
of the function says which of them its derivative reads, and which other arrays that the run has
computed: its extras. A call that is not differentiated returns the outputs. A call that is
differentiated is bound anew as one that returns the extras too, and the operands of the derivative
are the residuals, and nothing else.
"""

# JAX itself is typed in part.
# pyright: strict, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array, core

from functx._core.devices.manual_axes import equally_varying
from functx._core.errors import describe, fail
from functx._core.jax_compat import ClosedJaxpr, hold_weakly, jaxpr_as_fun
from functx._core.primitives.mapped_axes import MappedAxis

from .function_primitives import (
    bind_tangent,
    ClosesOver,
    function_call,
    FunctionCall,
    require_closed,
)
from .tangent_maps import BatchDims, Leaves, TangentMap, Tangents
from .tangent_types import ArrayType, inexact


ActiveInputs: TypeAlias = tuple[int, ...]  # the numbers of the inputs that have tangents
Results: TypeAlias = tuple[Leaves, Leaves]  # outputs and extras


class ResidualSource(NamedTuple):
    """Where a residual comes from: an input, an output or an extra of the run, by its number."""

    kind: Literal["input", "output", "extra"]
    number: int


class RunRecord(NamedTuple):
    """What a run of a `SavingFunction` says of its outputs and of its derivative.

    - `active`: which outputs have tangents.
    - `extras`: how many there are.
    - `linear(active_inputs)`: the derivative, whose primals are the residuals and which has no
      outputs.
    """

    active: tuple[bool, ...]
    residuals: tuple[ResidualSource, ...]
    extras: int
    linear: Callable[[ActiveInputs], TangentMap]


class SavingFunction:
    """A function of `count` arrays that says which arrays its derivative reads.

    - `run(active_inputs, leaves)`: the outputs and the extras.
    - `again(active_inputs, leaves, outputs)`: the extras, where the outputs are known.
    - `record(active_inputs)`: what a run with these active inputs has said.
    - `asks()`: whether a run has asked which inputs are active, so that they make a difference.
    - `lanes(size, dims, leaves)`: the outputs of all lanes, if the function has a batching rule.
    """

    def __init__(
        self,
        name: str,
        count: int,
        has_reverse: bool,
        run: Callable[[ActiveInputs, Leaves], Results],
        again: Callable[[ActiveInputs, Leaves, Leaves], Leaves],
        record: Callable[[ActiveInputs], RunRecord],
        asks: Callable[[], bool],
        lanes: Callable[[int, BatchDims, Leaves], Leaves] | None = None,
    ) -> None:
        self.name, self.count, self.has_reverse = name, count, has_reverse
        self._run, self.again, self.record = run, again, record
        self._asks, self._lanes = asks, lanes
        self._traces: dict[tuple[ActiveInputs, tuple[ArrayType, ...]], ClosedJaxpr] = {}

    def key(self, active_inputs: ActiveInputs) -> ActiveInputs:
        """The active inputs, if they make a difference to a run: a part of a trace's key."""
        return active_inputs if self._asks() else ()

    def run(self, active_inputs: ActiveInputs, leaves: Leaves) -> Results:
        types = tuple(map(jax.typeof, leaves)) if self._traces else ()
        trace = self._traces and self._traces.get((self.key(active_inputs), types))
        if not trace:
            return self._run(active_inputs, leaves)
        results = tuple(jaxpr_as_fun(trace)(*leaves))
        count = len(self.record(active_inputs).active)
        return results[:count], results[count:]

    def trace(self, active_inputs: ActiveInputs, avals: tuple[ArrayType, ...]) -> None:
        """Traces `run` for arrays of these types; later runs of such arrays evaluate the trace."""
        if self._traces and (self.key(active_inputs), avals) in self._traces:
            return
        trace = jax.make_jaxpr(lambda *leaves: self._run(active_inputs, leaves))(*avals)
        require_closed(self.name, trace.consts)
        self._traces[self.key(active_inputs), avals] = trace

    def batched(self, axis: MappedAxis, dims: BatchDims) -> SavingFunction:
        """The same along a first axis of the inputs whose dim is not `None`, but 0."""

        def again(active_inputs: ActiveInputs, leaves: Leaves, outputs: Leaves) -> Leaves:
            each = axis.map(lambda xs, ys: self.again(active_inputs, xs, ys), (dims, 0))
            return each(leaves, outputs)

        def run(active_inputs: ActiveInputs, leaves: Leaves) -> Results:
            if self._lanes is None:
                return axis.map(lambda *xs: self.run(active_inputs, xs), dims)(*leaves)
            outputs = self._lanes(axis.size, dims, leaves)
            return outputs, again(active_inputs, leaves, outputs)

        def record(active_inputs: ActiveInputs) -> RunRecord:
            one = self.record(active_inputs)
            primal_dims = tuple(dims[x.number] if x.kind == "input" else 0 for x in one.residuals)

            def linear(active_inputs: ActiveInputs) -> TangentMap:
                tangent_dims = tuple(dims[i] for i in active_inputs)
                return one.linear(active_inputs).batched(axis, primal_dims, 0, tangent_dims)

            return one._replace(linear=linear)

        return SavingFunction(
            self.name, self.count, self.has_reverse, run, again, record, self._asks
        )

    def closed(self, operands: Sequence[Array]) -> tuple[SavingFunction, list[Array]]:
        """The same function with the arrays that it closes over as further arguments, and these.

        All inexact inputs count as active. The arrays that the function closes over have no
        derivative.
        """
        every = tuple(i for i, x in enumerate(operands) if inexact(x))
        trace = jax.make_jaxpr(lambda *leaves: self._run(every, leaves))(*operands)
        outputs, count = len(self.record(every).active), self.count

        def run(active_inputs: ActiveInputs, leaves: Leaves) -> Results:
            bound = ClosedJaxpr(trace.jaxpr, leaves[count:])
            results = tuple(jaxpr_as_fun(bound)(*leaves[:count]))
            return results[:outputs], results[outputs:]

        def again(active_inputs: ActiveInputs, leaves: Leaves, _: Leaves) -> Leaves:
            return run(active_inputs, leaves)[1]

        record = self.record(every)
        function = SavingFunction(
            self.name, count, self.has_reverse, run, again, lambda _: record, lambda: False
        )
        return function, list(map(jnp.asarray, trace.consts))


class SavingCall(FunctionCall):
    """A call of a `SavingFunction`, which returns its outputs, and the extras of `derivatives`.

    `derivatives` holds the active inputs of each derivative that has been taken of the call.
    """

    def __init__(
        self, function: SavingFunction, derivatives: tuple[ActiveInputs, ...] = ()
    ) -> None:
        super().__init__(function.name, self._results, function.has_reverse)
        self.function, self.derivatives = function, derivatives

    def _results(self, *leaves: Array) -> Leaves:
        outputs, extras = self.function.run(self.derivatives[0] if self.derivatives else (), leaves)
        results = (*outputs, *(extras if self.derivatives else ()))
        for active_inputs in list(self._distinct())[1:]:
            results += self.function.run(active_inputs, leaves)[1]
        return results

    def _distinct(self) -> Iterator[ActiveInputs]:
        """The members of `derivatives` whose extras differ."""
        seen: set[ActiveInputs] = set()
        for active_inputs in self.derivatives:
            if (key := self.function.key(active_inputs)) not in seen:
                seen.add(key)
                yield active_inputs

    def trace(self, *avals: ArrayType) -> ClosedJaxpr:
        for active_inputs in self.derivatives or ((),):
            self.function.trace(active_inputs, avals)
        return super().trace(*avals)

    def batched(self, axis: MappedAxis, dims: BatchDims) -> SavingCall:
        return SavingCall(self.function.batched(axis, dims), self.derivatives)

    def differentiated(
        self, primals: Leaves, active_inputs: ActiveInputs, input_tangents: Tangents
    ) -> tuple[Sequence[Array], Tangents]:
        function = self.function
        for i in active_inputs:
            if i >= function.count:
                _refuse_closed(function.name, primals[i])
        target = SavingCall(function, (*self.derivatives, active_inputs))
        results: list[Array] = function_call.bind(*primals, call=target)
        record = function.record(active_inputs)
        outputs, extras = results[: len(record.active)], target._extras(results, active_inputs)
        sources = {"input": primals, "output": outputs, "extra": extras}
        residuals = [sources[x.kind][x.number] for x in record.residuals]
        linear = record.linear(active_inputs)
        tangents = bind_tangent(linear, residuals, (), input_tangents, outputs, record.active)
        if not self.derivatives:
            return outputs, tangents
        own = results[len(outputs) :][: self._extra_count()]
        active_tangents = [
            t for t, is_active in zip(tangents, record.active, strict=True) if is_active
        ]
        linear = self._linear_of_extras(active_inputs, record.active)
        active = list(map(inexact, own))
        more = bind_tangent(
            linear, primals, outputs, [*input_tangents, *active_tangents], own, active
        )
        return [*outputs, *own], [*tangents, *more]

    def _extra_count(self) -> int:
        return sum(self.function.record(active_inputs).extras for active_inputs in self._distinct())

    def _extras(self, results: Sequence[Array], active_inputs: ActiveInputs) -> Sequence[Array]:
        """The extras, among all results, of a run with `active_inputs`, one of `derivatives`."""
        start = len(self.function.record(active_inputs).active)
        for one in self._distinct():
            count = self.function.record(one).extras
            if self.function.key(one) == self.function.key(active_inputs):
                return results[start : start + count]
            start += count
        raise AssertionError("one of `derivatives`")

    def _linear_of_extras(self, active_inputs: ActiveInputs, active: Sequence[bool]) -> TangentMap:
        """The derivative of the extras by the active inputs and by the active outputs."""
        slots = [i for i, is_active in enumerate(active) if is_active]

        def extras_and_points(
            primals: Leaves, outputs: Leaves
        ) -> tuple[Callable[..., Leaves], Leaves]:
            def extras(*values: Array) -> Leaves:
                xs, ys = list(primals), list(outputs)
                for i, value in zip(active_inputs, values, strict=False):
                    xs[i] = value
                for i, value in zip(slots, values[len(active_inputs) :], strict=True):
                    ys[i] = value
                got: list[Array] = []
                for one in self._distinct():
                    got += self.function.again(one, tuple(xs), tuple(ys))
                return tuple(x for x in got if inexact(x))

            return extras, (*(primals[i] for i in active_inputs), *(outputs[i] for i in slots))

        def apply(primals: Leaves, outputs: Leaves, tangents: Leaves) -> Leaves:
            extras, points = extras_and_points(primals, outputs)
            return jax.jvp(extras, points, tangents)[1]

        def transpose(primals: Leaves, outputs: Leaves, cotangents: Leaves) -> Leaves:
            extras, points = extras_and_points(primals, outputs)
            return jax.vjp(extras, *points)[1](cotangents)

        return TangentMap(f"{self.name}Backward", apply, transpose)


hold_weakly(SavingCall)


def run_saving(function: SavingFunction, operands: Sequence[Array]) -> list[Array]:
    """The outputs of `function`, which may close over arrays that are being traced."""
    try:
        return function_call.bind(*operands, call=SavingCall(function))
    except (ClosesOver, jax.errors.UnexpectedTracerError) as error:
        reason = error
    whole, consts = function.closed(operands)
    if not any(isinstance(x, core.Tracer) for x in consts):
        raise reason
    return function_call.bind(*equally_varying([*operands, *consts]), call=SavingCall(whole))


def _refuse_closed(name: str, x: Array) -> None:
    fail(
        name,
        f"differentiation with respect to {describe(x)}, which the function closes over, and of "
        "which its rules know nothing",
        hint="pass it as an argument; functx.detach(x) makes it a constant",
    )
