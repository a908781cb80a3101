"""Two primitives: a function whose derivative is given, and that derivative, which is linear.

Both stay whole under partial evaluation, and carry their meaning as Python callables over flat
tuples of leaves. `custom_derivatives` makes the callables; the primitives know nothing of trees or
of users.
"""

# JAX itself is typed in part.
# pyright: strict, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array, core, lax
from jax.interpreters import ad, batching, mlir

from functx._core.devices.manual_axes import sharded_explicitly
from functx._core.errors import describe, fail
from functx._core.jax_compat import ClosedJaxpr, hold_weakly, jaxpr_as_fun
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.mapped_axes import axis_of, MappedAxis
from functx._core.primitives.taylor_mode import along_curves

from .tangent_maps import BatchDims, Leaves, TangentMap, TangentOrZero, Tangents
from .tangent_types import ArrayType, inexact, tangent_type


class ClosesOver(RuntimeError):
    """Raised where a function closes over an array being traced, which its rules would not see."""


class FunctionCall:
    """The meaning of one `function_call`, compared by identity. No table may hold it.

    It holds a trace of the function for each signature, and is lowered from it, in the state
    (precision, modes) in which it was called. `has_reverse`: whether the reverse rule is given.
    """

    def __init__(
        self, name: str, forward: Callable[..., Sequence[Array]], has_reverse: bool
    ) -> None:
        self.name, self._forward, self.has_reverse = name, forward, has_reverse
        self._traces: dict[tuple[ArrayType, ...], ClosedJaxpr] = {}

    def __repr__(self) -> str:
        return self.name

    def run(self, *leaves: Array) -> Sequence[Array]:
        trace = self._traces and self._traces.get(tuple(map(jax.typeof, leaves)))
        return jaxpr_as_fun(trace)(*leaves) if trace else self._forward(*leaves)

    def trace(self, *avals: ArrayType) -> ClosedJaxpr:
        if avals not in self._traces:
            trace = jax.make_jaxpr(lambda *leaves: self._forward(*leaves))(*avals)
            require_closed(self.name, trace.consts)
            self._traces[avals] = trace
        return self._traces[avals]

    def batched(self, axis: MappedAxis, dims: BatchDims) -> FunctionCall:
        """The same along a first axis of the operands whose dim is not `None`, but 0."""
        raise NotImplementedError

    def differentiated(
        self, primals: Leaves, active_inputs: tuple[int, ...], input_tangents: Tangents
    ) -> tuple[Sequence[Array], Tangents]:
        """The results and their tangents; `input_tangents` are those of the `active_inputs`."""
        raise NotImplementedError


class RuledCall(FunctionCall):
    """A call of a function with given rules, which read the primals, the outputs or both."""

    def __init__(
        self,
        name: str,
        forward: Callable[..., Sequence[Array]],
        linear: Callable[[tuple[int, ...]], TangentMap],  # of the inputs with these numbers
        has_reverse: bool,
        of: str = "both",
    ) -> None:
        super().__init__(name, forward, has_reverse)
        self.linear, self.of = linear, of

    def batched(self, axis: MappedAxis, dims: BatchDims) -> RuledCall:
        def linear(active_inputs: tuple[int, ...]) -> TangentMap:
            one, tangent_dims = self.linear(active_inputs), tuple(dims[i] for i in active_inputs)
            return one.batched(axis, () if self.of == "output" else dims, 0, tangent_dims)

        forward = axis.map(self.run, dims)
        return RuledCall(self.name, forward, linear, self.has_reverse, self.of)

    def differentiated(
        self, primals: Leaves, active_inputs: tuple[int, ...], input_tangents: Tangents
    ) -> tuple[Sequence[Array], Tangents]:
        outputs: list[Array] = function_call.bind(*primals, call=self)
        active = list(map(inexact, outputs))
        if not any(active):
            return outputs, list(map(_zero_tangent, outputs))
        linear = self.linear(active_inputs)
        residuals = () if self.of == "output" else primals, () if self.of == "primals" else outputs
        return outputs, bind_tangent(linear, *residuals, input_tangents, outputs, active)


hold_weakly(RuledCall, TangentMap)

function_call = Primitive("function_call", __name__, multiple_results=True)
function_tangent = Primitive("function_tangent", __name__, multiple_results=True)


def _call_run(*primals: Array, call: FunctionCall) -> Sequence[Array]:
    return call.run(*primals)


def _call_eagerly(*primals: Array, call: FunctionCall) -> Sequence[Array]:
    results = call.run(*primals)
    require_closed(call.name, results)
    return results


def _call_types(*primals: ArrayType, call: FunctionCall) -> tuple[list[ArrayType], Any]:
    trace = call.trace(*primals)
    return [aval.strip_weak_type() for aval in trace.out_avals], trace.effects


def _call_jvp(
    primals: Leaves, input_tangents: Tangents, *, call: FunctionCall
) -> tuple[Sequence[Array], Tangents]:
    pairs = enumerate(zip(primals, input_tangents, strict=True))
    active_inputs = tuple(i for i, (x, t) in pairs if _is_active(x, t))
    if active_inputs:
        given = [input_tangents[i] for i in active_inputs]
        return call.differentiated(primals, active_inputs, given)
    outputs: list[Array] = function_call.bind(*primals, call=call)
    return outputs, list(map(_zero_tangent, outputs))


def _call_transpose(
    cotangents: Tangents, *primals: Any, call: FunctionCall
) -> Sequence[TangentOrZero | None]:
    """The transpose of a call that is linear in the operands that are not known.

    It is linear everywhere, so that its derivative at zeros is the call itself.
    """
    unknown = [i for i, x in enumerate(primals) if ad.is_undefined_primal(x)]

    def at(*moved: Array) -> list[Array]:
        given = dict(zip(unknown, moved, strict=True))
        full = [given.get(i, x) for i, x in enumerate(primals)]
        outputs: list[Array] = function_call.bind(*full, call=call)
        return [y for y in outputs if inexact(y)]

    zeros = [jnp.zeros(primals[i].aval.shape, primals[i].aval.dtype) for i in unknown]
    _, pull = jax.vjp(at, *zeros)
    results: list[Any] = [ct.aval if isinstance(ct, ad.Zero) else ct for ct in cotangents]
    given = (ct for ct, y in zip(cotangents, results, strict=True) if inexact(y))
    got = pull([ad.instantiate_zeros(ct) for ct in given])
    found = dict(zip(unknown, got, strict=True))
    return [found.get(i) for i in range(len(primals))]


def _call_batch(
    axis_data: Any, primals: Leaves, dims: BatchDims, *, call: FunctionCall
) -> tuple[list[Array], list[int | None]]:
    axis = axis_of(axis_data)
    primals, dims = _batched_first(primals, dims)
    if not axis.parts_lanes(dims, lambda: call.trace(*map(jax.typeof, primals))):
        same: list[Array] = function_call.bind(*primals, call=call)
        return same, [None] * len(same)
    outputs: list[Array] = function_call.bind(*primals, call=call.batched(axis, dims))
    return outputs, [0] * len(outputs)


# The operands of `function_tangent` are the primals, the outputs as residuals, and the tangents of
# the active primals; `counts` are the numbers of the first two, `types` those of the results.
Counts: TypeAlias = tuple[int, int]


def tangent_run(
    *operands: Array, linear: TangentMap, counts: Counts, types: tuple[ArrayType, ...]
) -> Leaves:
    """What `function_tangent` computes."""
    return linear.apply(*_split(operands, counts))


def _tangent_types(
    *operands: ArrayType, linear: TangentMap, counts: Counts, types: tuple[ArrayType, ...]
) -> list[ArrayType]:
    return list(types)


def _tangent_jvp(
    operands: Leaves,
    input_tangents: Tangents,
    *,
    linear: TangentMap,
    counts: Counts,
    types: tuple[ArrayType, ...],
) -> tuple[list[Array], Tangents]:
    primals, outputs, tangents = _split(operands, counts)
    bind = ft.partial(function_tangent.bind, linear=linear, counts=counts, types=types)
    results, fixed = bind(*operands), len(primals) + len(outputs)
    active = [i for i in range(fixed) if _is_active(operands[i], input_tangents[i])]
    parts: list[Sequence[Array]] = []
    if any(type(dot) is not ad.Zero for dot in input_tangents[fixed:]):
        parts.append(bind(*operands[:fixed], *map(ad.instantiate_zeros, input_tangents[fixed:])))
    if active:

        def rule(*values: Array) -> Leaves:
            residuals = list(operands[:fixed])
            for i, value in zip(active, values, strict=True):
                residuals[i] = value
            return linear.apply(*_split(residuals, counts)[:2], tangents)

        points, directions = zip(*((operands[i], input_tangents[i]) for i in active), strict=True)
        parts.append(jax.jvp(rule, points, directions)[1])
    if not parts:
        return results, [ad.Zero(tangent_type(y)) for y in results]
    return results, [ft.reduce(lax.add, terms) for terms in zip(*parts, strict=True)]


def _tangent_transpose(
    cotangents: Tangents,
    *operands: Any,  # what is not known, the tangents to transpose over, is a placeholder
    linear: TangentMap,
    counts: Counts,
    types: tuple[ArrayType, ...],
) -> Sequence[TangentOrZero | None]:
    primals, outputs, tangents = _split(operands, counts)
    unknown = [ad.is_undefined_primal(t) for t in tangents]
    nothing = [None] * (len(primals) + len(outputs))
    if all(type(ct) is ad.Zero for ct in cotangents):
        return nothing + [
            ad.Zero(t.aval) if u else None for t, u in zip(tangents, unknown, strict=True)
        ]
    with jax.named_scope(f"functx.rule:{linear.name}"):  # the rule leaves no equation of its own
        given = map(_known if linear.symbolic else ad.instantiate_zeros, cotangents)
        got = linear.transpose(primals, outputs, tuple(given))
    return nothing + [
        None if not u else ad.Zero(t.aval) if ct is None else ct
        for ct, t, u in zip(got, tangents, unknown, strict=True)
    ]


def _tangent_batch(
    axis_data: Any,
    operands: Leaves,
    dims: BatchDims,
    *,
    linear: TangentMap,
    counts: Counts,
    types: tuple[ArrayType, ...],
) -> tuple[list[Array], list[int | None]]:
    axis = axis_of(axis_data)
    operands, dims = _batched_first(operands, dims)
    split, split_dims = _split(operands, counts), _split(dims, counts)
    trace = lambda: jax.make_jaxpr(linear.apply)(*jax.tree.map(jax.typeof, split))
    if not axis.parts_lanes(dims, trace):
        bind = ft.partial(function_tangent.bind, linear=linear, counts=counts, types=types)
        same: list[Array] = bind(*operands)
        return same, [None] * len(same)
    linear = linear.batched(axis, *split_dims)
    alike = [(y, dim) for y, dim in zip(split[1], split_dims[1], strict=True) if inexact(y)]
    if len(alike) == len(types) and all(
        dim == 0 and y.shape[1:] == t.shape for t, (y, dim) in zip(types, alike, strict=True)
    ):
        types = tuple(tangent_type(y) for y, _ in alike)
    elif any(map(sharded_explicitly, types)):
        # only a trace knows how results are sharded that no operand resembles
        trace = jax.make_jaxpr(linear.apply)(*jax.tree.map(jax.typeof, split))
        types = tuple(aval.strip_weak_type() for aval in trace.out_avals)
    else:
        types = tuple(t.update(shape=(axis.size, *t.shape)) for t in types)
    bind = ft.partial(function_tangent.bind, linear=linear, counts=counts, types=types)
    results: list[Array] = bind(*operands)
    return results, [0] * len(results)


function_call.def_impl(_call_eagerly)
function_call.def_effectful_abstract_eval(_call_types)
ad.primitive_jvps[function_call] = _call_jvp
ad.primitive_transposes[function_call] = _call_transpose
batching.fancy_primitive_batchers[function_call] = _call_batch
mlir.register_lowering(function_call, mlir.lower_fun(_call_run, multiple_results=True))

function_tangent.def_impl(tangent_run)
function_tangent.def_abstract_eval(_tangent_types)
ad.primitive_jvps[function_tangent] = _tangent_jvp
ad.primitive_transposes[function_tangent] = _tangent_transpose
batching.fancy_primitive_batchers[function_tangent] = _tangent_batch
mlir.register_lowering(function_tangent, mlir.lower_fun(tangent_run, multiple_results=True))

along_curves(function_call, function_tangent)


def bind_tangent(
    linear: TangentMap,
    primals: Sequence[Array],
    outputs: Sequence[Array],
    input_tangents: Iterable[TangentOrZero],
    results: Sequence[Array],
    active: Sequence[bool],
) -> list[TangentOrZero]:
    """The tangents of `results`: those that are `active` by `linear`, zeros for the others."""
    tangents: Iterator[Array] = iter(
        function_tangent.bind(
            *primals,
            *outputs,
            *map(ad.instantiate_zeros, input_tangents),
            linear=linear,
            counts=(len(primals), len(outputs)),
            types=tuple(tangent_type(y) for y, m in zip(results, active, strict=True) if m),
        )
    )
    return [next(tangents) if m else _zero_tangent(y) for y, m in zip(results, active, strict=True)]


def require_closed(name: str, consts: Iterable[Any]) -> None:
    """Refuses constants of a trace that are being traced elsewhere."""
    for x in consts:
        if isinstance(x, core.Tracer):
            fail(
                name,
                f"the function closes over {describe(x)}, which is being traced",
                hint="pass it as an argument, so that the rules see it",
                error=ClosesOver,
            )


def _split(operands: Iterable[Any], counts: Counts) -> tuple[Any, Any, Any]:
    primals, outputs = counts
    operands = tuple(operands)
    return operands[:primals], operands[primals : sum(counts)], operands[primals + outputs :]


def _batched_first(operands: Leaves, dims: BatchDims) -> tuple[Leaves, BatchDims]:
    moved = (x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True))
    return tuple(moved), tuple(None if d is None else 0 for d in dims)


def _zero_tangent(y: Array) -> ad.Zero:
    return ad.Zero(tangent_type(y))


def _known(cotangent: TangentOrZero) -> Array | None:
    return None if isinstance(cotangent, ad.Zero) else cotangent


def _is_active(x: Array, dot: TangentOrZero) -> bool:
    return type(dot) is not ad.Zero and inexact(x)
