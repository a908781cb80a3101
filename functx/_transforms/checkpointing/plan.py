"""What a checkpoint with a budget keeps, value by value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from functx._core import describe, fail
from functx._core.context.grad_modes import without_grad_mode
from functx._core.jax_compat import JaxprEqn
from functx._core.randomness.ambient_generator import recording, upcoming_draw
from functx._core.rules.tangent_types import inexact
from functx._transforms.arguments import require_callable
from functx._transforms.concretization import tracing
from functx._transforms.partitioning.choices import Budget, choice_of
from functx._transforms.partitioning.following import planned_derivative, PlannedDerivative
from functx._transforms.partitioning.operator_calls import call_of
from functx._transforms.programs.grouping import grouped, sums, times
from functx._transforms.programs.labels import Line, line_of
from functx._transforms.programs.partition import is_array, partition
from functx._transforms.programs.walking import equations, inner_programs


__all__ = ["checkpoint_plan"]


@dataclasses.dataclass(frozen=True)
class KeptValue:
    """A value that a derivative keeps of the forward pass.

    - `type`: its dtype and shape, `"f32[8,4]"`; `bytes`: what it takes.
    - `operator`: the operator that computes it, or JAX's primitive; `"tanh in scan"` of all steps.
    - `line`: the line of the user's code that did, with `file`, `line` and `function`, or None.
    """

    type: str
    bytes: int
    operator: str
    line: Line | None

    def __str__(self) -> str:
        """`f32[8,4]  128  exp  model.py:3 (loss)`."""
        return f"{self.type}  {self.bytes}  {self.operator}  {self.line or ''}".rstrip()


@dataclasses.dataclass(frozen=True)
class CheckpointPlan:
    """What a derivative keeps of the forward pass, and what that saves and costs.

    - `kept`: the values that it keeps, besides arguments and results, in the order of computing;
      those that all steps of a loop keep are one.
    - `bytes`: what it needs: what is kept, and what is computed again at once.
    - `whole_bytes`: what it needs without a plan.
    - `work`: how much is computed again, as a fraction of the forward pass; what loops compute
      again in their steps is not counted.
    """

    kept: tuple[KeptValue, ...]
    bytes: int
    whole_bytes: int
    work: float

    @property
    def kept_bytes(self) -> int:
        """What the kept values take together."""
        return sum(value.bytes for value in self.kept)

    def __str__(self) -> str:
        lines = [f"{self.bytes} of {self.whole_bytes} bytes, {self.work:.1%} of the work again"]
        groups = grouped(self.kept, lambda value: value)
        rows = [
            dataclasses.replace(
                same[0],
                type=times(len(same), same[0].type),
                bytes=sum(value.bytes for value in same),
            )
            for same in groups
        ]
        totals = sums((row.operator, row.bytes) for row in rows)
        lines += [*map(str, rows), *(f"in all  {n}  {name}" for name, n in totals.items())]
        return "\n".join(lines)


@without_grad_mode
def checkpoint_plan(
    func: Callable[..., Any],
    *args: Any,
    policy: str | None = None,
    budget: float | None = None,
    **kwargs: Any,
) -> CheckpointPlan:
    """What `functx.checkpoint` with a budget keeps of `func` at given arguments; nothing is run.

    - `func`: a function, as `functx.checkpoint` takes it.
    - `args`, `kwargs`: its arguments, any trees; `jax.ShapeDtypeStruct`s may stand for arrays.
    - `policy`, `budget`: those of `functx.checkpoint`: `policy="min_cut"`, a number of bytes, or a
      fraction. With neither, the plan keeps everything, as without a checkpoint.

    The derivative is that of all floating outputs in all floating arrays of the arguments. Random
    numbers are not used up. Errors: those of `functx.checkpoint`; ValueError for a budget that is
    too small, which names the least.

    >>> def f(x):
    ...     for _ in range(8):
    ...         x = functx.sin(functx.exp(x))
    ...     return functx.sum(x)
    >>> x = jnp.ones(8, "float32")
    >>> plan = functx.checkpointing.checkpoint_plan(f, x, budget=0.5)
    >>> plan.bytes, plan.whole_bytes
    (224, 512)
    >>> plan.kept[0].type, plan.kept[0].operator
    ('f32[8]', 'sin')
    """
    require_callable("checkpoint_plan", func)
    choice = choice_of("checkpoint_plan", policy, budget)
    if choice is None and policy is not None:
        message = f'`policy` must be "min_cut" or None, got {describe(policy)}'
        fail("checkpoint_plan", message, error=ValueError)
    given = partition((args, kwargs), lambda x: is_array(x) or isinstance(x, jax.ShapeDtypeStruct))

    def body(*arrays: Any) -> list[Any]:
        args, kwargs = given.whole(arrays)
        return partition(tracing("checkpoint_plan", func, *args, **kwargs)).arrays

    program = jax.make_jaxpr(recording(body))(upcoming_draw(), *given.arrays)
    active = [i for i, x in enumerate(program.in_avals) if inexact(x)]
    planned = planned_derivative(program, active, choice or Budget(1.0, "checkpoint_plan"))
    loops = {line_of(eqn) for eqn in equations(program) if eqn.primitive.name == "scan"}
    return _described(planned, loops.pop() if len(loops) == 1 else None)


def _described(planned: PlannedDerivative, loop: Line | None) -> CheckpointPlan:
    """The plan in words; `loop` is where the loops of the program are, if all at one line."""
    numbered, plan = planned.numbered, planned.plan
    kept: list[KeptValue] = []
    for n in plan.kept:
        x, eqn = numbered.values[n], planned.derivative.forward.eqns[numbered.maker[n]]
        call = call_of(eqn)
        operator = _title(eqn, x) if call is None else call.operator
        size, line = int(numbered.bytes[n]), planned.derivative.line_of(eqn)
        if line is None and eqn.primitive.name == "scan":  # which is another one than the user's
            line = loop
        kept.append(KeptValue(describe(x.aval), size, operator, line))
    work = plan.work / max(numbered.work.sum(), 1)
    return CheckpointPlan(tuple(kept), planned.bytes, planned.whole, float(work))


def _title(eqn: JaxprEqn, x: Any) -> str:
    """What to call the equation that gives `x`; of a loop the operator inside, where it is one."""
    name, programs = eqn.primitive.name, list(inner_programs(eqn))
    if name == "scan" and len(programs) == 1:
        made = programs[0].outvars[eqn.outvars.index(x)]
        if made in programs[0].invars:
            return "carry of scan"
        for inner in programs[0].eqns:
            if made in inner.outvars:
                call = call_of(inner)
                return f"{_title(inner, made) if call is None else call.operator} in scan"
    return name
