"""The one file that may lean on what is private to JAX, each use with its reason.

`pyproject.toml` says which releases of JAX are supported.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools as ft
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core, pjit, source_info_util  # noqa: TID251
from jax._src.array import ArrayImpl  # noqa: TID251
from jax._src.core import eval_trace, NamedAxisEffect, no_axis_name, trace_ctx  # noqa: TID251
from jax._src.dispatch import apply_primitive  # noqa: TID251
from jax._src.interpreters.ad import JVPTrace, LinearizeTrace  # noqa: TID251
from jax._src.state.types import AbstractRef  # noqa: TID251
from jax._src.util import weakref_cache_key_types  # noqa: TID251

# Public functions start the backends that they are asked about.
from jax._src.xla_bridge import backends_are_initialized  # noqa: TID251
from jax.experimental.jet import JetTrace
from jax.sharding import SingleDeviceSharding


# What `jax.extend.core` shows. With any part of it, `jax.extend` imports all others, Pallas and
# checkify too, which took a tenth of the time of `import functx`.
if TYPE_CHECKING:
    from jax.extend.core import (
        ClosedJaxpr,
        Jaxpr,
        jaxpr_as_fun,
        JaxprEqn,
        jaxprs_in_params,
        Literal,
        Primitive,
        set_current_trace,
        take_current_trace,
        TraceTag,
        Var,
    )
    from jax.extend.core.primitives import jit_p
else:
    Jaxpr, JaxprEqn, Literal, Var = core.Jaxpr, core.JaxprEqn, core.Literal, core.Var
    ClosedJaxpr = getattr(core, "ClosedJaxpr", Jaxpr)  # from 0.12 on they are one
    Primitive, jit_p = core.Primitive, pjit.jit_p
    jaxpr_as_fun, jaxprs_in_params = core.jaxpr_as_fun, core.jaxprs_in_params
    take_current_trace, set_current_trace = core.take_current_trace, core.set_current_trace
    TraceTag = core.TraceTag

__all__ = [
    "NO_OPTIONS",
    "ClosedJaxpr",
    "EagerTrace",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "StaticOptions",
    "TraceTag",
    "Var",
    "at_line",
    "backends_are_initialized",
    "compiled_alone",
    "current_trace",
    "differentiating",
    "evaluated_size",
    "hold_weakly",
    "is_eager",
    "is_named_axis_effect",
    "is_reference",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "jit_p",
    "known_zeros",
    "line_here",
    "no_axis_name",  # what JAX calls the axis of a map that names none
    "one_lane",
    "recorded",
    "recorded_for",
    "recording_a_call",
    "recording_alone",
    "running_in",
    "scan_counts",
    "set_current_trace",
    "single_lane_trace",
    "staging_trace",
    "straight_to_eager",
    "take_current_trace",
    "trace_of",
    "type_of",
]


class StaticOptions(NamedTuple):
    """Which arguments of a compiled function are static: their positions and their names."""

    positions: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()


NO_OPTIONS = StaticOptions()


def straight_to_eager(
    call: Callable[..., Any], options: StaticOptions = NO_OPTIONS
) -> Callable[..., Any]:
    """A compiled function whose calls in an `EagerTrace` go there straight.

    Given values of a trace, a function of `jax.jit` first looks up a program for them, in Python,
    which takes longer than a small program runs.
    """

    @ft.wraps(call)
    def straight(*args: Any, **kwargs: Any) -> Any:
        trace = trace_ctx.trace
        if trace is eval_trace or not isinstance(trace, EagerTrace):
            return call(*args, **kwargs)
        return trace.process_compiled(call, options, args, kwargs)

    return straight


class EagerTrace(core.Trace):
    """The base of a trace of ours that transforms what runs in it, call by call.

    JAX's classes of traces are closed to others. What such a trace is asked to process is a
    primitive or one of JAX's calls with functions among their arguments, and of those a subclass
    sees the arguments and how to process them in another trace, the one that is current then.
    """

    differentiates = True

    def __init__(self, parent: Any) -> None:
        super().__init__()
        self.parent_trace = parent

    def process_function(self, process: Callable[[Any], Any], tracers: Any) -> Any:
        """The results of `process(values)`, for values in place of `tracers`."""
        raise NotImplementedError

    def process_compiled(
        self, call: Callable[..., Any], options: StaticOptions, args: Any, kwargs: Any
    ) -> Any:
        """The result of a function that `jax.jit` has made, without JAX's look at the call."""
        raise NotImplementedError

    def process_call(self, primitive: Any, f: Any, tracers: Any, params: Any, /) -> Any:
        def process(values: Any) -> Any:
            with take_current_trace() as trace:
                return trace.process_call(primitive, f, values, params)

        return self.process_function(process, tracers)

    def process_custom_jvp_call(
        self, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, **params: Any
    ) -> Any:
        def process(values: Any) -> Any:
            with take_current_trace() as trace:
                return trace.process_custom_jvp_call(primitive, fun, jvp, values, **params)

        return self.process_function(process, tracers)

    def process_custom_vjp_call(
        self, primitive: Any, fun: Any, fwd: Any, bwd: Any, tracers: Any, /, **params: Any
    ) -> Any:
        def process(values: Any) -> Any:
            with take_current_trace() as trace:
                return trace.process_custom_vjp_call(primitive, fun, fwd, bwd, values, **params)

        return self.process_function(process, tracers)

    def process_shard_map(self, primitive: Any, f: Any, tracers: Any, /, **params: Any) -> Any:
        def process(values: Any) -> Any:
            with take_current_trace() as trace:
                return trace.process_shard_map(primitive, f, values, **params)

        return self.process_function(process, tracers)


def _differentiates(trace: Any) -> bool:
    if isinstance(trace, EagerTrace):
        return trace.differentiates
    return isinstance(trace, (JVPTrace, LinearizeTrace, JetTrace))


def is_eager(trace: Any) -> bool:
    """Whether what is called in `trace` runs at once, outside of all of JAX's transforms."""
    return trace is eval_trace


def line_here() -> Any:
    """Where the code that runs now was called from, for `at_line`."""
    return source_info_util.current().traceback


def at_line(line: Any) -> AbstractContextManager[None]:
    """A region in which what is recorded comes from `line`; JAX opens it to nobody publicly."""
    return source_info_util.user_context(line)


def compiled_alone(primitive: Any, params: dict[str, Any]) -> bool:
    """Whether JAX compiles eager calls like this one, one program for each set of parameters.

    Others run their parts one by one, and their parameters may hold functions made at each call.
    A jitted function that has captured arrays is not kept either: they would live as long.
    """
    if primitive is jit_p:
        return not params["jaxpr"].consts
    return getattr(getattr(primitive, "impl", None), "func", None) is apply_primitive


@ft.lru_cache(maxsize=4096)
def one_lane(aval: Any) -> Any:
    """The abstract value of one lane of lanes that lead; `jax.extend` would import too much."""
    return core.mapped_aval(aval.shape[0], 0, aval)


def type_of(x: Any) -> Any:
    """`jax.typeof(x)`, which takes ten times as long for an array that no mesh shards."""
    if type(x) is ArrayImpl and type(x.sharding) is SingleDeviceSharding:
        return x.aval
    return core.typeof(x)


def is_reference(aval: Any) -> bool:
    """Whether an abstract value is that of a mutable array (`jax.new_ref`)."""
    return isinstance(aval, AbstractRef)


def staging_trace() -> Any:
    """The innermost trace that records a program (`jit`, `scan`, `checkpoint`), or None.

    `grad` and `vmap` interpret: they stand on a parent trace, and the first that records
    (it has a frame of equations) is the answer. JAX has no public question "am I being
    staged, and by whom?": `unsafe_am_i_under_a_jit` answers only yes or no.
    """
    trace = trace_ctx.trace
    if trace is eval_trace:  # what every eager call pays for
        return None
    return _recorder(trace)


def _recorder(trace: Any) -> Any:
    while trace is not None and not hasattr(trace, "frame"):
        trace = getattr(trace, "parent_trace", None)
    return trace


def current_trace() -> Any:
    """The trace that what is called now runs in: that of eager calls, or of a transform.

    JAX has no public answer. Two answers are one object where the same run of a transform asks.
    """
    return trace_ctx.trace


def running_in(trace: Any) -> str:
    """What the transform behind a trace is called: `scan`, `vmap`, `grad`, or eager code."""
    if trace is eval_trace:
        return "eager code"
    return recorded_for(trace) or ("grad" if _differentiates(trace) else "vmap")


def single_lane_trace() -> Any:
    """The innermost trace that does more than differentiate, or None in eager mode.

    What it is given runs once for itself: a program that is recorded, the lanes of a map taken
    together. A number made inside is the same for all of them.
    """
    trace = trace_ctx.trace
    while _differentiates(trace):
        trace = trace.parent_trace
    return None if trace is eval_trace else trace


def differentiating() -> bool:
    """Whether a function that is being differentiated is running, as far as its traces tell."""
    trace = trace_ctx.trace
    while trace is not None and not _differentiates(trace):
        trace = getattr(trace, "parent_trace", None)
    return trace is not None


def recorded_for(trace: Any) -> str | None:
    """What a trace records a program for (`jit`, `scan`, `cond`), or None if it maps lanes."""
    frame = getattr(trace, "frame", None)
    if frame is None:
        return None
    what = getattr(getattr(frame, "debug_info", None), "traced_for", None) or "jit"
    return {"checkpoint / remat": "checkpoint"}.get(what, what)


def recording_alone() -> bool:
    """Whether the program being recorded innermost is a part of no other: an eager call's."""
    trace = staging_trace()
    if trace is None:
        return False
    outer = _recorder(getattr(trace, "parent_trace", None))
    return outer is None or outer is _of_a_call.get()


_of_a_call: contextvars.ContextVar[Any] = contextvars.ContextVar("of_a_call", default=None)


@contextlib.contextmanager
def recording_a_call() -> Iterator[None]:
    """A region in which the program being recorded is that of one eager call, transformed."""
    token = _of_a_call.set(trace_ctx.trace)
    try:
        yield
    finally:
        _of_a_call.reset(token)


def recorded() -> Iterator[Any]:
    """Shapes and dtypes of all that the program being recorded innermost computes so far.

    What a traced function computes JAX shows publicly only once it has returned, and to whoever
    traced it; an eager call's is compiled right then.
    """
    frame: Any = getattr(trace_ctx.trace, "frame", None)
    if hasattr(frame, "get_eqns"):
        yield from _computed(frame.get_eqns())


def _computed(equations: Any) -> Iterator[Any]:
    for equation in equations:
        yield from (x.aval for x in equation.outvars if hasattr(x.aval, "shape"))
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _computed(inner.eqns)


def trace_of(x: Any) -> Any:
    """The trace that made the tracer `x`, or None of what is none: tracers have no public door."""
    return getattr(x, "_trace", None)


def known_zeros(x: Any) -> bool:
    """Whether `x` is known to be zero everywhere: an array, or zeros in a program being recorded.

    `jet` fills in zeros for what does not move, and JAX says publicly of no tracer what made it.
    """
    if not isinstance(x, core.Tracer):
        return not jnp.any(x)
    maker: Any = getattr(x, "parent", None)
    if getattr(maker, "primitive", None) is not lax.broadcast_in_dim_p:
        return False
    filled = getattr(maker.in_tracers[0], "val", None)
    return isinstance(filled, core.Literal) and not np.any(filled.val)


def is_named_axis_effect(effect: Any, name: Any) -> bool:
    """Whether `effect`, of a recorded program, is that of a collective over the axis `name`.

    JAX shows publicly that a program has effects, not which.
    """
    return isinstance(effect, NamedAxisEffect) and effect.name == name


def hold_weakly(*types: type) -> None:
    """Has JAX's caches hold instances of `types` weakly where they are part of a key.

    The parameters of our primitives close over a user's function. JAX keys a cache of
    abstract values by them, and would keep the last 2048 alive.
    """
    weakref_cache_key_types.update(types)


def scan_counts(params: dict[str, Any]) -> tuple[int, int]:
    """How many of the operands of a `scan` are constants, and how many the carry that follows.

    Its parameters say so in each release's own way, and JAX tells nobody publicly.
    """
    if "ft_in" in params:  # from 0.12 on
        constants, carry, _ = params["ft_in"].unpack()
        return len(constants), len(carry)
    return params["num_consts"], params["num_carry"]


def evaluated_size(size: Any, sizes: Mapping[str, Any]) -> Any:
    """What a symbolic size is where its symbols are `sizes`: ints, or 0-d arrays.

    JAX evaluates sizes publicly only in a program that is being exported.
    """
    return size._evaluate(dict(sizes))
