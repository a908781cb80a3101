"""`analyze`: what a function needs of memory, without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
from jax import core
from jax.interpreters.partial_eval import dce_jaxpr

from functx._aot.graphs.signature import is_spec, spec_of
from functx._core import describe
from functx._core.context.grad_modes import without_grad_mode
from functx._core.jax_compat import ClosedJaxpr
from functx._core.randomness.ambient_generator import recording, upcoming_draw
from functx._transforms.arguments import require_bools, require_callable
from functx._transforms.concretization import tracing
from functx._transforms.programs.partition import array_paths, is_array, Partition, partition

from .fusing import fused as fused_values
from .makers import Maker, Surroundings
from .report import Buffer, BufferKind, CompiledMemory, MemoryReport, MemoryStep
from .timeline import at_once
from .values import Recorder, Value


__all__ = ["analyze"]


def analyze(
    func: Callable[..., Any],
    *args: Any,
    fused: bool = True,
    compiled: bool = False,
    **kwargs: Any,
) -> MemoryReport:
    """What `func(*args, **kwargs)` needs of memory: how much, when, and for what. Nothing is run.

    - `func`: a function of trees of arrays; it may be a transform, `functx.grad(loss)`, or
      compiled, `jax.jit(step, donate_argnums=0)`. It is recorded as by `jax.jit`.
    - `args`, `kwargs`: its arguments, of any shapes and dtypes. `jax.ShapeDtypeStruct`s may stand
      for arrays; other leaves, Python's numbers too, are constants.
    - `fused`: whether values that a compiler computes where they are read take no memory, as under
      `jax.jit`. With False each result of each step takes some.
    - `compiled`: whether to compile, too, and show the compiler's own figures.

    The report is an estimate from the recorded program, in its order: a compiler may order it
    otherwise. Of a loop it counts one step, of a `cond` the branch that needs the most. Shapes are
    those of whole arrays, also where they are spread over devices. A symbolic size counts as 64.
    Random numbers are not used up.

    Errors: TypeError for a `func` or an option of a wrong type, those that `func` raises, and JAX's
    ConcretizationTypeError where it asks for the value of an array.

    >>> def loss(w, x):
    ...     return functx.sum(functx.exp(functx.matmul(x, w)))
    >>> w, x = jax.ShapeDtypeStruct((64, 8), "float32"), jax.ShapeDtypeStruct((100, 64), "float32")
    >>> report = functx.memory.analyze(functx.grad(loss), w, x)
    >>> report.argument_bytes, report.output_bytes, report.peak_bytes
    (27648, 2048, 34048)
    >>> [(buffer.type, buffer.operator, buffer.phase) for buffer in report.largest]
    [('f32[100,8]', 'matmul', 'forward'), ('f32[100,8]', 'exp', 'backward')]
    """
    require_callable("memory.analyze", func)
    require_bools("memory.analyze", fused=fused, compiled=compiled)
    call = recorded("memory.analyze", func, args, kwargs)
    figures = _compiled(func, args, kwargs, call) if compiled else None
    return measured(call, fused, figures)


class RecordedCall(NamedTuple):
    """A call of a function as a program, with what it takes."""

    name: str
    program: ClosedJaxpr
    paths: tuple[str, ...]
    body: Callable[..., Any]
    given: Partition


def recorded(
    who: str, func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> RecordedCall:
    """The program of `func(*args, **kwargs)`."""
    given = partition((tuple(args), dict(kwargs)), lambda x: is_array(x) or is_spec(x))
    count = 0

    def body(*arrays: Any) -> list[Any]:
        nonlocal count
        args, kwargs = given.whole(arrays)
        results = partition(tracing(who, func, *args, **kwargs)).arrays
        count = len(results)
        return results

    body = recording(body)
    draw = upcoming_draw()
    program = without_grad_mode(jax.make_jaxpr(body))(draw, *given.arrays)
    jaxpr = program.jaxpr.replace(outvars=program.jaxpr.outvars[:count])
    drawn, paths = len(jax.tree.leaves(draw)), array_paths(given)
    kept = [False] * drawn + [True] * len(paths)  # the generator's state only where it is read
    jaxpr, used = dce_jaxpr(jaxpr, [True] * count, instantiate=kept)
    paths = (*(("the random generator",) * sum(used[:drawn])), *paths)
    name = getattr(func, "__name__", None) or describe(func)
    return RecordedCall(name, ClosedJaxpr(jaxpr, program.consts), paths, body, given)


def _compiled(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], call: RecordedCall
) -> CompiledMemory:
    """The compiler's figures."""
    traced = lambda x: spec_of(x) if isinstance(x, core.Tracer) else x
    args, kwargs = jax.tree.map(traced, (tuple(args), dict(kwargs)))
    if hasattr(func, "lower"):  # compiled by its user, with donations and shardings
        lowered: Any = getattr(func, "lower")(*args, **kwargs)  # noqa: B009
    else:
        lowered = jax.jit(call.body).lower(upcoming_draw(), *map(traced, call.given.arrays))
    found: Any = lowered.compile().memory_analysis()
    return CompiledMemory(
        jax.default_backend(),
        found.argument_size_in_bytes,
        found.output_size_in_bytes,
        found.temp_size_in_bytes,
        found.alias_size_in_bytes,
    )


def measured(
    call: RecordedCall, fused: bool = True, compiled: CompiledMemory | None = None
) -> MemoryReport:
    """The report of a recorded call."""
    recorder, jaxpr = Recorder(), call.program.jaxpr
    constants = [recorder.value(x, Maker("constant", "")) for x in jaxpr.constvars]
    pairs = zip(jaxpr.invars, call.paths, strict=True)
    arguments = [recorder.value(x, Maker("argument", path)) for x, path in pairs]
    opened = jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
    results = recorder.walk(opened, [*constants, *arguments], Surroundings())
    _returned(recorder, jaxpr.outvars, results)
    gone = fused_values(recorder.values) if fused else set()
    end = len(recorder.steps) - 1
    buffers = [*_buffers([x for x in recorder.values if x not in gone], end)]
    totals = at_once(buffers, end)
    temporaries = at_once([x for x in buffers if x.kind == "temporary"], end)
    peak = max(totals)
    sums = {kind: sum(x.bytes for x in buffers if x.kind == kind) for kind in _ALL}
    steps = (
        MemoryStep(x.name, x.line, x.phase, x.inside, size)
        for x, size in zip(recorder.steps, totals, strict=True)
    )
    return MemoryReport(
        call.name,
        sums["argument"],
        sums["constant"],
        sums["output"],
        max(temporaries),
        peak,
        totals.index(peak),
        tuple(steps),
        tuple(buffers),
        compiled,
    )


_ALL: tuple[BufferKind, ...] = ("argument", "constant", "output", "temporary")


def _returned(recorder: Recorder, atoms: Sequence[Any], results: Sequence[Value | None]) -> None:
    """The last step, which returns the results: an input, or what is returned twice, as a copy."""
    maker, outputs = Maker("operator", "return"), list[Value]()
    for x, value in zip(atoms, results, strict=True):
        if value is None or value.returned or value.maker.kind != "operator":
            value = recorder.value(x, maker)
        value.returned = True
        outputs.append(value)
    recorder.step(maker, "return", outputs)


def _buffers(values: Sequence[Value], end: int) -> Iterator[Buffer]:
    """The values from their first to their last step, where the last of all is `end`."""
    outputs = [x for x in values if x.returned]
    for value in values:
        kind, maker = value.maker.kind, value.maker
        is_input = kind in ("argument", "constant")
        last = end if value.returned or (is_input and not value.donated) else value.last
        if value.donated and is_input:  # an output of the same type is written to its memory
            for output in outputs:
                if output.made >= last and _type(output) == _type(value):
                    outputs.remove(output)
                    last = output.made - 1
                    break
        yield Buffer(
            "output" if value.returned else kind if is_input else "temporary",
            _type(value),
            value.bytes,
            maker.name,
            maker.line,
            maker.phase,
            maker.inside,
            0 if is_input else value.made,
            last,
        )


def _type(value: Value) -> str:
    return describe(value.like.aval)
