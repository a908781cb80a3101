"""Two primitives: a function whose derivative is given, and that derivative, which is linear.

Both stay whole under partial evaluation, and carry their meaning as Python callables over flat
tuples of leaves. `rules` makes the callables; the primitives know nothing of trees or of users.
"""

# JAX itself is typed in part.
# pyright: strict, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import jax
import jax.extend as jex
import jax.numpy as jnp
from jax import Array, core, lax
from jax.interpreters import ad, batching, mlir

from .errors import describe, fail
from .jax_compat import hold_weakly


Leaves: TypeAlias = tuple[Array, ...]
Dims: TypeAlias = tuple[int | None, ...]  # the mapped dimension of each operand, if it has one
Moving: TypeAlias = Array | ad.Zero  # a tangent or a cotangent; `Zero` is a known one
Type: TypeAlias = core.ShapedArray
# Primals, outputs, and tangents or cotangents, to cotangents or tangents.
LinearMap: TypeAlias = Callable[[Leaves, Leaves, Leaves], Leaves]

_T = TypeVar("_T")


class Linear:
    """The meaning of one `function_tangent`, and its transpose.

    `apply(primals, outputs, tangents)` and `transpose(primals, outputs, cotangents)` take and
    return tuples: the tangents of the perturbed inputs, the cotangents of the inexact outputs.
    """

    def __init__(self, name: str, apply: LinearMap, transpose: LinearMap) -> None:
        self.name, self.apply, self.transpose = name, apply, transpose

    def __repr__(self) -> str:
        return self.name

    def batched(self, primal_dims: Dims, output_dims: Dims | int, tangent_dims: Dims) -> Linear:
        """The same along a new first axis of all operands whose dim is not `None`, but 0."""
        apply = jax.vmap(self.apply, (primal_dims, output_dims, tangent_dims))

        def transpose(primals: Leaves, outputs: Leaves, cotangents: Leaves) -> Leaves:
            dims = (primal_dims, output_dims, (0,) * len(cotangents))
            each = jax.vmap(self.transpose, dims)(primals, outputs, cotangents)
            return tuple(
                jnp.sum(c, 0) if dim is None else c
                for c, dim in zip(each, tangent_dims, strict=True)
            )

        return Linear(self.name, apply, transpose)


class Call:
    """The meaning of one `function_call`. Compared by identity, and never kept in a table.

    A trace of the function is kept: it is lowered from there, in the state (precision, modes) in
    which it was called. `has_reverse`: whether the reverse rule is given, not derived.
    """

    def __init__(
        self,
        name: str,
        forward: Callable[..., Sequence[Array]],
        linear: Callable[[tuple[int, ...]], Linear],  # of the inputs with these numbers
        has_reverse: bool,
    ) -> None:
        self.name, self._forward, self.linear = name, forward, linear
        self.has_reverse = has_reverse
        self._traces: dict[tuple[Type, ...], jex.core.ClosedJaxpr] = {}

    def __repr__(self) -> str:
        return self.name

    def run(self, *leaves: Array) -> Sequence[Array]:
        trace = self._traces and self._traces.get(tuple(map(jax.typeof, leaves)))
        return jex.core.jaxpr_as_fun(trace)(*leaves) if trace else self._forward(*leaves)

    def trace(self, *avals: Type) -> jex.core.ClosedJaxpr:
        if avals not in self._traces:
            trace = jax.make_jaxpr(lambda *leaves: self._forward(*leaves))(*avals)
            for x in trace.consts:
                if isinstance(x, core.Tracer):
                    fail(
                        self.name,
                        f"the function closes over {describe(x)}, which is being traced",
                        hint="pass it as an argument, so that the rules see it",
                    )
            self._traces[avals] = trace
        return self._traces[avals]

    def batched(self, dims: Dims) -> Call:
        def linear(perturbed: tuple[int, ...]) -> Linear:
            one, tangent_dims = self.linear(perturbed), tuple(dims[i] for i in perturbed)
            return one.batched(dims, 0, tangent_dims)

        return Call(self.name, jax.vmap(self.run, dims), linear, self.has_reverse)


hold_weakly(Call, Linear)

function_call = jex.core.Primitive("function_call")
function_call.multiple_results = True
function_tangent = jex.core.Primitive("function_tangent")
function_tangent.multiple_results = True


def _call_run(*primals: Array, call: Call) -> Sequence[Array]:
    return call.run(*primals)


def _call_types(*primals: Type, call: Call) -> tuple[list[Type], Any]:
    trace = call.trace(*primals)
    return [aval.strip_weak_type() for aval in trace.out_avals], trace.effects


def _call_jvp(
    primals: Leaves, dots: Sequence[Moving], *, call: Call
) -> tuple[list[Array], Sequence[Moving]]:
    outputs: list[Array] = function_call.bind(*primals, call=call)
    perturbed = tuple(
        i for i, (x, dot) in enumerate(zip(primals, dots, strict=True)) if _moves(x, dot)
    )
    zeros = [ad.Zero(tangent_type(y)) for y in outputs]
    if not perturbed or not any(map(inexact, outputs)):
        return outputs, zeros
    tangents: list[Array] = function_tangent.bind(
        *primals,
        *outputs,
        *(dots[i] for i in perturbed),
        linear=call.linear(perturbed),
        counts=(len(primals), len(outputs)),
        types=tuple(tangent_type(y) for y in outputs if inexact(y)),
    )
    given = iter(tangents)
    return outputs, [
        next(given) if inexact(y) else zero for y, zero in zip(outputs, zeros, strict=True)
    ]


def _call_batch(primals: Leaves, dims: Dims, *, call: Call) -> tuple[list[Array], list[int]]:
    primals, dims = _batched_first(primals, dims)
    outputs: list[Array] = function_call.bind(*primals, call=call.batched(dims))
    return outputs, [0] * len(outputs)


# The operands of `function_tangent` are the primals, the outputs as residuals, and the tangents of
# the perturbed primals; `counts` are the numbers of the first two, `types` those of the results.
Counts: TypeAlias = tuple[int, int]


def _tangent_run(
    *operands: Array, linear: Linear, counts: Counts, types: tuple[Type, ...]
) -> Leaves:
    return linear.apply(*_split(operands, counts))


def _tangent_types(
    *operands: Type, linear: Linear, counts: Counts, types: tuple[Type, ...]
) -> list[Type]:
    return list(types)


def _tangent_jvp(
    operands: Leaves,
    dots: Sequence[Moving],
    *,
    linear: Linear,
    counts: Counts,
    types: tuple[Type, ...],
) -> tuple[list[Array], Sequence[Moving]]:
    primals, outputs, tangents = _split(operands, counts)
    bind = ft.partial(function_tangent.bind, linear=linear, counts=counts, types=types)
    results, fixed = bind(*operands), len(primals) + len(outputs)
    moving = [i for i in range(fixed) if _moves(operands[i], dots[i])]
    parts: list[Sequence[Array]] = []
    if any(type(dot) is not ad.Zero for dot in dots[fixed:]):
        parts.append(bind(*operands[:fixed], *map(ad.instantiate_zeros, dots[fixed:])))
    if moving:

        def rule(*values: Array) -> Leaves:
            residuals = list(operands[:fixed])
            for i, value in zip(moving, values, strict=True):
                residuals[i] = value
            return linear.apply(*_split(residuals, counts)[:2], tangents)

        points, directions = zip(*((operands[i], dots[i]) for i in moving), strict=True)
        parts.append(jax.jvp(rule, points, directions)[1])
    if not parts:
        return results, [ad.Zero(tangent_type(y)) for y in results]
    return results, [ft.reduce(lax.add, terms) for terms in zip(*parts, strict=True)]


def _tangent_transpose(
    cotangents: Sequence[Moving],
    *operands: Any,  # what is not known, the tangents to transpose over, is a placeholder
    linear: Linear,
    counts: Counts,
    types: tuple[Type, ...],
) -> Sequence[Moving | None]:
    primals, outputs, tangents = _split(operands, counts)
    unknown = [ad.is_undefined_primal(t) for t in tangents]
    nothing = [None] * (len(primals) + len(outputs))
    if all(type(ct) is ad.Zero for ct in cotangents):
        return nothing + [
            ad.Zero(t.aval) if u else None for t, u in zip(tangents, unknown, strict=True)
        ]
    got = linear.transpose(primals, outputs, tuple(map(ad.instantiate_zeros, cotangents)))
    return nothing + [ct if u else None for ct, u in zip(got, unknown, strict=True)]


def _tangent_batch(
    operands: Leaves, dims: Dims, *, linear: Linear, counts: Counts, types: tuple[Type, ...]
) -> tuple[list[Array], list[int]]:
    operands, dims = _batched_first(operands, dims)
    split, split_dims = _split(operands, counts), _split(dims, counts)
    linear = linear.batched(*split_dims)
    alike = [(y, dim) for y, dim in zip(split[1], split_dims[1], strict=True) if inexact(y)]
    if all(dim == 0 and y.shape[1:] == t.shape for t, (y, dim) in zip(types, alike, strict=True)):
        types = tuple(tangent_type(y) for y, _ in alike)
    else:  # only a trace knows how results are sharded that no operand resembles
        trace = jax.make_jaxpr(linear.apply)(*jax.tree.map(jax.typeof, split))
        types = tuple(aval.strip_weak_type() for aval in trace.out_avals)
    bind = ft.partial(function_tangent.bind, linear=linear, counts=counts, types=types)
    results: list[Array] = bind(*operands)
    return results, [0] * len(results)


function_call.def_impl(_call_run)
function_call.def_effectful_abstract_eval(_call_types)
ad.primitive_jvps[function_call] = _call_jvp
batching.primitive_batchers[function_call] = _call_batch
mlir.register_lowering(function_call, mlir.lower_fun(_call_run, multiple_results=True))

function_tangent.def_impl(_tangent_run)
function_tangent.def_abstract_eval(_tangent_types)
ad.primitive_jvps[function_tangent] = _tangent_jvp
ad.primitive_transposes[function_tangent] = _tangent_transpose
batching.primitive_batchers[function_tangent] = _tangent_batch
mlir.register_lowering(function_tangent, mlir.lower_fun(_tangent_run, multiple_results=True))


def _split(
    operands: Iterable[_T], counts: Counts
) -> tuple[tuple[_T, ...], tuple[_T, ...], tuple[_T, ...]]:
    primals, outputs = counts
    operands = tuple(operands)
    return operands[:primals], operands[primals : sum(counts)], operands[primals + outputs :]


def _batched_first(operands: Leaves, dims: Dims) -> tuple[Leaves, Dims]:
    moved = (x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True))
    return tuple(moved), tuple(None if d is None else 0 for d in dims)


def tangent_type(x: Array) -> Type:
    """The type of the tangents of `x`."""
    return jax.typeof(x).to_tangent_aval().strip_weak_type()


def inexact(x: Array | Type) -> bool:
    """Whether `x` has tangents."""
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _moves(x: Array, dot: Moving) -> bool:
    return type(dot) is not ad.Zero and inexact(x)
