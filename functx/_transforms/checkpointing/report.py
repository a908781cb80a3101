"""What a backward pass keeps of the forward pass, and what it computes again."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax.interpreters.partial_eval import dce_jaxpr

from functx._core.context.grad_modes import without_grad_mode
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun, Literal
from functx._core.randomness.ambient_generator import recording, upcoming_draw
from functx._core.rules.tangent_types import inexact
from functx._transforms.arguments import require_callable
from functx._transforms.concretization import tracing
from functx._transforms.partitioning.operator_calls import call_computed_again
from functx._transforms.partitioning.work import bytes_of
from functx._transforms.programs.labels import operator_of
from functx._transforms.programs.partition import is_array, partition
from functx._transforms.programs.walking import equations, inner_programs

from .names import names_given
from .naming import operator_calls, with_named_results


__all__ = ["checkpoint_report"]

_CALL = "functx.call."  # what the name of a call begins with; then its number, and its operator


@dataclasses.dataclass(frozen=True)
class CheckpointReport:
    """What one forward and one backward pass do.

    - `forward`: how often each operator is called in the forward pass, by name.
    - `recomputed`: how often the backward pass computes each again.
    - `residual_bytes`: what is kept from the forward pass for the backward pass, arguments apart.
    """

    forward: Counter[str]
    recomputed: Counter[str]
    residual_bytes: int


@without_grad_mode
def checkpoint_report(func: Callable[..., Any], *args: Any, **kwargs: Any) -> CheckpointReport:
    """What the derivative of `func` keeps and computes again, at given arguments; nothing is run.

    - `func`: a function, with or without checkpoints in it.
    - `args`, `kwargs`: its arguments, any trees; `jax.ShapeDtypeStruct`s may stand for arrays.

    The derivative is that of all floating outputs in all floating arrays of the arguments. A call
    counts as computed again if the backward pass needs its results, or sums, products and factors
    inside, and does not have them; what is done element by element for the derivative of the
    operator itself, such as the cosine of `sin`, does not count. Of checkpoints with a budget or
    `policy="min_cut"` a call counts if any part of it is computed again. The body of a `scan`
    counts as often as it runs, each branch of a `cond` once. Random numbers are not used up.

    >>> x = jnp.ones(8, "float32")
    >>> f = functx.checkpoint(lambda x: functx.sum(functx.exp(functx.sin(x))))
    >>> report = functx.checkpointing.checkpoint_report(f, x)
    >>> report.recomputed, report.residual_bytes
    (Counter({'sin': 1, 'exp': 1}), 0)
    >>> report.forward.total()
    3
    """
    require_callable("checkpoint_report", func)
    given = partition((args, kwargs), lambda x: is_array(x) or isinstance(x, jax.ShapeDtypeStruct))

    def body(*arrays: Any) -> list[Any]:
        args, kwargs = given.whole(arrays)
        return partition(tracing("checkpoint_report", func, *args, **kwargs)).arrays

    program = jax.make_jaxpr(recording(body))(upcoming_draw(), *given.arrays)
    names = tuple(
        f"{_CALL}{i}.{operator_of(eqn)}" for i, eqn in enumerate(operator_calls(program.jaxpr))
    )
    named = with_named_results(program.jaxpr, names, math.inf)
    kept, backward = _passes(ClosedJaxpr(named, program.consts))
    return CheckpointReport(_counted(named), _counted(backward), kept)


def _passes(program: ClosedJaxpr) -> tuple[int, Jaxpr]:
    """The bytes that the forward pass of `program` keeps, and its backward pass."""
    run = jaxpr_as_fun(program)
    moving = [i for i, x in enumerate(program.in_avals) if inexact(x)]

    def forward(*arrays: Any) -> Any:
        def at(*moved: Any) -> list[Any]:
            given = dict(zip(moving, moved, strict=True))
            return [y for y in run(*map(given.get, range(len(arrays)), arrays)) if inexact(y)]

        return jax.vjp(at, *(arrays[i] for i in moving))

    recorded, shapes = jax.make_jaxpr(forward, return_shape=True)(*program.in_avals)
    outputs, pull = shapes
    count = len(outputs)
    backward = jax.make_jaxpr(lambda pull, cotangents: pull(cotangents))(pull, outputs).jaxpr
    backward, used = dce_jaxpr(backward, [True] * len(backward.outvars))
    arguments = set(recorded.jaxpr.invars) | set(recorded.jaxpr.constvars)
    residuals = {
        x
        for x, needed in zip(recorded.jaxpr.outvars[count:], used, strict=False)
        if needed and not isinstance(x, Literal)
    }
    return sum(bytes_of(x) for x in residuals - arguments), backward


def _counted(jaxpr: Jaxpr) -> Counter[str]:
    """How often a program computes the result of a named call, by the operator's name."""
    counts: Counter[str] = Counter()
    here: dict[str, None] = {}
    for eqn in jaxpr.eqns:
        if operator_of(eqn):
            here.update((call, None) for inner in inner_programs(eqn) for call in _calls(inner))
            continue
        times = eqn.params["length"] if eqn.primitive.name == "scan" else 1
        for inner in inner_programs(eqn):
            for name, count in _counted(inner).items():
                counts[name] += count * times
    for call in here:
        counts[call.removeprefix(_CALL).partition(".")[2]] += 1
    planned = {call for eqn in jaxpr.eqns if (call := call_computed_again(eqn))}
    counts.update(call.operator for call in planned)
    return counts


def _calls(jaxpr: Jaxpr) -> Iterator[str]:
    """The named calls whose results a program computes."""
    for inner in (jaxpr, *(p for eqn in equations(jaxpr) for p in inner_programs(eqn))):
        yield from (name for name in names_given(inner) if name.startswith(_CALL))
