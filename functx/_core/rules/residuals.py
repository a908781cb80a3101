"""Functions that say what their derivative keeps: the second face of the primitives of own rules.

What `derivative_rules` keeps for a derivative are all primals and outputs. Here a run of the
function says which of them, and what else it has computed: its extras. A call that is not
differentiated returns the outputs. Differentiated, it is bound as another call, which returns the
extras too, and the derivative's operands are what was asked for, and no more.
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
    Call,
    ClosesOver,
    Dims,
    function_call,
    inexact,
    Leaves,
    Linear,
    Moving,
    require_closed,
    Type,
)


Perturbed: TypeAlias = tuple[int, ...]  # the numbers of the inputs that are being differentiated
Results: TypeAlias = tuple[Leaves, Leaves]  # outputs and extras


class Residual(NamedTuple):
    """An array that the derivative takes: an input, an output or an extra, by its number."""

    kind: Literal["input", "output", "extra"]
    number: int


class Record(NamedTuple):
    """What a run of a function says of its outputs and of its derivative.

    `moving`: which outputs have tangents. `linear(perturbed)` takes the residuals, nothing, and
    tangents or cotangents.
    """

    moving: tuple[bool, ...]
    residuals: tuple[Residual, ...]
    extras: int
    linear: Callable[[Perturbed], Linear]


class Program:
    """A function of `count` arrays that says what its derivative keeps.

    - `run(perturbed, leaves)`: the outputs and the extras.
    - `again(perturbed, leaves, outputs)`: the extras, when the outputs are known.
    - `record(perturbed)`: what such a run said, after it.
    - `asks()`: whether what is perturbed makes a difference to `run`, after one.
    - `lanes(size, dims, leaves)`: the outputs of all lanes, if the function has a rule for that.
    """

    def __init__(
        self,
        name: str,
        count: int,
        has_reverse: bool,
        run: Callable[[Perturbed, Leaves], Results],
        again: Callable[[Perturbed, Leaves, Leaves], Leaves],
        record: Callable[[Perturbed], Record],
        asks: Callable[[], bool],
        lanes: Callable[[int, Dims, Leaves], Leaves] | None = None,
    ) -> None:
        self.name, self.count, self.has_reverse = name, count, has_reverse
        self._run, self.again, self.record = run, again, record
        self._asks, self._lanes = asks, lanes
        self._traces: dict[tuple[Perturbed, tuple[Type, ...]], ClosedJaxpr] = {}

    def key(self, perturbed: Perturbed) -> Perturbed:
        """What of `perturbed` makes a difference."""
        return perturbed if self._asks() else ()

    def run(self, perturbed: Perturbed, leaves: Leaves) -> Results:
        types = tuple(map(jax.typeof, leaves)) if self._traces else ()
        trace = self._traces and self._traces.get((self.key(perturbed), types))
        if not trace:
            return self._run(perturbed, leaves)
        results = tuple(jaxpr_as_fun(trace)(*leaves))
        count = len(self.record(perturbed).moving)
        return results[:count], results[count:]

    def trace(self, perturbed: Perturbed, avals: tuple[Type, ...]) -> None:
        """Has `run` of such arrays evaluate a trace, which serves whatever is made of it."""
        if self._traces and (self.key(perturbed), avals) in self._traces:
            return
        trace = jax.make_jaxpr(lambda *leaves: self._run(perturbed, leaves))(*avals)
        require_closed(self.name, trace.consts)
        self._traces[self.key(perturbed), avals] = trace

    def batched(self, axis: MappedAxis, dims: Dims) -> Program:
        """The same along a first axis of the inputs whose dim is not `None`, but 0."""

        def again(perturbed: Perturbed, leaves: Leaves, outputs: Leaves) -> Leaves:
            each = axis.map(lambda xs, ys: self.again(perturbed, xs, ys), (dims, 0))
            return each(leaves, outputs)

        def run(perturbed: Perturbed, leaves: Leaves) -> Results:
            if self._lanes is None:
                return axis.map(lambda *xs: self.run(perturbed, xs), dims)(*leaves)
            outputs = self._lanes(axis.size, dims, leaves)
            return outputs, again(perturbed, leaves, outputs)

        def record(perturbed: Perturbed) -> Record:
            one = self.record(perturbed)
            primal_dims = tuple(dims[x.number] if x.kind == "input" else 0 for x in one.residuals)

            def linear(perturbed: Perturbed) -> Linear:
                tangent_dims = tuple(dims[i] for i in perturbed)
                return one.linear(perturbed).batched(axis, primal_dims, 0, tangent_dims)

            return one._replace(linear=linear)

        return Program(self.name, self.count, self.has_reverse, run, again, record, self._asks)

    def closed(self, operands: Sequence[Array]) -> tuple[Program, list[Array]]:
        """The same as a program of `operands` and of what it closes over, which is returned.

        All that may be perturbed counts as perturbed. What the program closes over has no
        derivative.
        """
        every = tuple(i for i, x in enumerate(operands) if inexact(x))
        trace = jax.make_jaxpr(lambda *leaves: self._run(every, leaves))(*operands)
        outputs, count = len(self.record(every).moving), self.count

        def run(perturbed: Perturbed, leaves: Leaves) -> Results:
            bound = ClosedJaxpr(trace.jaxpr, leaves[count:])
            results = tuple(jaxpr_as_fun(bound)(*leaves[:count]))
            return results[:outputs], results[outputs:]

        def again(perturbed: Perturbed, leaves: Leaves, _: Leaves) -> Leaves:
            return run(perturbed, leaves)[1]

        record = self.record(every)
        program = Program(
            self.name, count, self.has_reverse, run, again, lambda _: record, lambda: False
        )
        return program, list(map(jnp.asarray, trace.consts))


class SavingCall(Call):
    """A call of a `Program`. It returns the outputs, and the extras of each of `kept`.

    These are the perturbed inputs of the derivatives that have been taken of the call.
    """

    def __init__(self, program: Program, kept: tuple[Perturbed, ...] = ()) -> None:
        super().__init__(program.name, self._results, program.has_reverse)
        self.program, self.kept = program, kept

    def _results(self, *leaves: Array) -> Leaves:
        outputs, extras = self.program.run(self.kept[0] if self.kept else (), leaves)
        results = (*outputs, *(extras if self.kept else ()))
        for perturbed in list(self._distinct())[1:]:
            results += self.program.run(perturbed, leaves)[1]
        return results

    def _distinct(self) -> Iterator[Perturbed]:
        """Those of `kept` whose extras differ."""
        seen: set[Perturbed] = set()
        for perturbed in self.kept:
            if (key := self.program.key(perturbed)) not in seen:
                seen.add(key)
                yield perturbed

    def trace(self, *avals: Type) -> ClosedJaxpr:
        for perturbed in self.kept or ((),):
            self.program.trace(perturbed, avals)
        return super().trace(*avals)

    def batched(self, axis: MappedAxis, dims: Dims) -> SavingCall:
        return SavingCall(self.program.batched(axis, dims), self.kept)

    def differentiated(
        self, primals: Leaves, perturbed: Perturbed, dots: Sequence[Moving]
    ) -> tuple[Sequence[Array], Sequence[Moving]]:
        program = self.program
        for i in perturbed:
            if i >= program.count:
                _refuse_closed(program.name, primals[i])
        target = SavingCall(program, (*self.kept, perturbed))
        results: list[Array] = function_call.bind(*primals, call=target)
        record = program.record(perturbed)
        outputs, extras = results[: len(record.moving)], target._extras(results, perturbed)
        sources = {"input": primals, "output": outputs, "extra": extras}
        residuals = [sources[x.kind][x.number] for x in record.residuals]
        linear = record.linear(perturbed)
        tangents = bind_tangent(linear, residuals, (), dots, outputs, record.moving)
        if not self.kept:
            return outputs, tangents
        own = results[len(outputs) :][: self._extra_count()]
        alive = [t for t, moves in zip(tangents, record.moving, strict=True) if moves]
        linear = self._linear_of_extras(perturbed, record.moving)
        moving = list(map(inexact, own))
        more = bind_tangent(linear, primals, outputs, [*dots, *alive], own, moving)
        return [*outputs, *own], [*tangents, *more]

    def _extra_count(self) -> int:
        return sum(self.program.record(perturbed).extras for perturbed in self._distinct())

    def _extras(self, results: Sequence[Array], perturbed: Perturbed) -> Sequence[Array]:
        """Of all results, the extras of a run with `perturbed`, one of `kept`."""
        start = len(self.program.record(perturbed).moving)
        for one in self._distinct():
            count = self.program.record(one).extras
            if self.program.key(one) == self.program.key(perturbed):
                return results[start : start + count]
            start += count
        raise AssertionError("one of `kept`")

    def _linear_of_extras(self, perturbed: Perturbed, moving: Sequence[bool]) -> Linear:
        """The derivative of the extras, by the inputs and through the outputs."""
        slots = [i for i, moves in enumerate(moving) if moves]

        def apart(primals: Leaves, outputs: Leaves) -> tuple[Callable[..., Leaves], Leaves]:
            def extras(*values: Array) -> Leaves:
                xs, ys = list(primals), list(outputs)
                for i, value in zip(perturbed, values, strict=False):
                    xs[i] = value
                for i, value in zip(slots, values[len(perturbed) :], strict=True):
                    ys[i] = value
                got: list[Array] = []
                for one in self._distinct():
                    got += self.program.again(one, tuple(xs), tuple(ys))
                return tuple(x for x in got if inexact(x))

            return extras, (*(primals[i] for i in perturbed), *(outputs[i] for i in slots))

        def apply(primals: Leaves, outputs: Leaves, tangents: Leaves) -> Leaves:
            extras, points = apart(primals, outputs)
            return jax.jvp(extras, points, tangents)[1]

        def transpose(primals: Leaves, outputs: Leaves, cotangents: Leaves) -> Leaves:
            extras, points = apart(primals, outputs)
            return jax.vjp(extras, *points)[1](cotangents)

        return Linear(f"{self.name}Backward", apply, transpose)


hold_weakly(SavingCall)


def run_saving(program: Program, operands: Sequence[Array]) -> list[Array]:
    """The outputs of `program`, which may close over what is being traced."""
    try:
        return function_call.bind(*operands, call=SavingCall(program))
    except (ClosesOver, jax.errors.UnexpectedTracerError) as error:
        reason = error
    whole, consts = program.closed(operands)
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
