"""Own derivative rules: a function whose derivative is what its author says, to every order.

Two primitives do it. `function_call` runs the function; its derivative binds `function_tangent`,
a map that is linear in its last operands, means the forward rule, and has the reverse rule as its
transpose. Both stay whole under partial evaluation, so no transform ever sees the implementation:
`jax.custom_jvp` forgets its rule at second order under `scan`, `jax.custom_vjp` has no forward
mode, and neither derives the missing half.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend as jex
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad, batching, mlir

from .errors import describe, fail


def derivative_rules(
    forward: Callable[..., Any],
    *,
    jvp: Callable[[tuple, Any, tuple], Any] | None = None,
    vjp: Callable[[tuple, Any, Any], Sequence[Any]] | None = None,
    name: str | None = None,
) -> Callable[..., Any]:
    """`forward`, differentiated by `jvp` and `vjp` instead of through its implementation.

    - `forward(*args)`: trees of arrays in, a tree of arrays out. What is static, close over; what
      is traced, pass as an argument.
    - `jvp(primals, output, tangents)`: the tangent of the output, a tree like it. `primals` and
      `tangents` are tuples, one entry per argument; `output` is what `forward` returned.
    - `vjp(primals, output, cotangent)`: a tuple of cotangents, one per argument. `None` stands for
      no gradient.
    - `name`: what errors call the function. By default, its own name.

    A rule is linear in its last argument; without one of the two, it is the transpose of the
    other. Rules are differentiated in turn, `output` as the function of `primals` that it is.
    Cotangents are JAX's: the plain transpose, without conjugation. Integer leaves have no
    tangent: the rules see `None` there, and what they return there is ignored. Leaves that are not
    being differentiated have a tangent of zeros.

    Errors: TypeError and ValueError for what a rule returns with a wrong tree, dtype or shape.

    >>> import jax
    >>> from functx._core.rules import derivative_rules
    >>> exp = derivative_rules(jnp.exp, jvp=lambda primals, output, tangents: output * tangents[0])
    >>> jax.grad(jax.grad(exp))(jnp.float32(0))
    Array(1., dtype=float32)
    """
    name = name or getattr(forward, "__name__", None) or "derivative_rules"
    if jvp is None and vjp is None:
        fail(name, "`jvp` or `vjp` must be given, got neither", error=ValueError)

    @ft.wraps(forward)
    def function(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        rules = _Rules(forward, jvp, vjp, name, tree)
        call = _Call(name, rules.forward, rules.linear)
        outputs = function_call.bind(*(_strong(x, name) for x in leaves), call=call)
        return jax.tree.unflatten(rules.out_tree, outputs)

    return function


class _Rules:
    """What the author gave, over flat tuples of leaves, with the missing rule derived."""

    def __init__(self, forward, jvp, vjp, name, tree):
        self.user_forward, self.jvp, self.vjp = forward, jvp, vjp
        self.name, self.tree, self.out_tree = name, tree, tree

    def forward(self, *leaves):
        output = self.user_forward(*jax.tree.unflatten(self.tree, leaves))
        outputs, self.out_tree = jax.tree.flatten(output)
        return tuple(_strong(x, self.name) for x in outputs)

    def linear(self, perturbed):
        return _Linear(
            self.name, ft.partial(self.tangent, perturbed), ft.partial(self.cotangent, perturbed)
        )

    def tangent(self, perturbed, primals, outputs, tangents):
        """Tangents of the inexact outputs, from those of the inputs numbered `perturbed`."""
        if self.jvp is None:
            cotangent = ft.partial(self.cotangent, perturbed, primals, outputs)
            return _transpose(cotangent, [y for y in outputs if _inexact(y)], tangents)
        given = dict(zip(perturbed, tangents, strict=True))
        filled = [
            (given[i] if i in given else jnp.zeros_like(x)) if _inexact(x) else None
            for i, x in enumerate(primals)
        ]
        got = self.jvp(
            jax.tree.unflatten(self.tree, primals),
            jax.tree.unflatten(self.out_tree, outputs),
            jax.tree.unflatten(self.tree, filled),
        )
        got = self._leaves("`jvp` must return a tree like the output", self.out_tree, got)
        return tuple(
            self._checked("the tangent that `jvp` returns", t, y)
            for t, y in zip(got, outputs, strict=True)
            if _inexact(y)
        )

    def cotangent(self, perturbed, primals, outputs, cotangents):
        """Cotangents of the inputs numbered `perturbed`, from those of the inexact outputs."""
        if self.vjp is None:
            tangent = ft.partial(self.tangent, perturbed, primals, outputs)
            return _transpose(tangent, [primals[i] for i in perturbed], cotangents)
        given = iter(cotangents)
        filled = [next(given) if _inexact(y) else None for y in outputs]
        trees = self.tree.children()
        got = self.vjp(
            jax.tree.unflatten(self.tree, primals),
            jax.tree.unflatten(self.out_tree, outputs),
            jax.tree.unflatten(self.out_tree, filled),
        )
        if not isinstance(got, (tuple, list)) or len(got) != len(trees):
            fail(
                self.name,
                f"`vjp` must return a tuple of {len(trees)}, one cotangent per argument, "
                f"got {_describe(got)}",
                hint="None stands for no gradient",
                error=TypeError,
            )
        leaves = []
        for i, (tree, part) in enumerate(zip(trees, got, strict=True)):
            what = f"cotangent {i} that `vjp` returns must be a tree like argument {i}"
            nothing = part is None
            leaves += [None] * tree.num_leaves if nothing else self._leaves(what, tree, part)
        return tuple(
            self._checked("the cotangent that `vjp` returns", leaves[i], primals[i])
            for i in perturbed
        )

    def _leaves(self, what, tree, got):
        try:
            return tree.flatten_up_to(got)
        except ValueError:
            shown = jax.tree.unflatten(tree, [_Shown("*")] * tree.num_leaves)
        fail(self.name, f"{what}, {shown}, got {_describe(got)}", error=TypeError)

    def _checked(self, what, got, like):
        """`got`, zeros if it is `None`, if it has the shape and dtype of `like`."""
        if got is None:
            return jnp.zeros_like(like)
        if not isinstance(got, jax.Array):
            try:
                got = jnp.asarray(got)
            except TypeError:
                fail(self.name, f"{what} must be {describe(like)}, got {got!r}", error=TypeError)
        if got.shape != like.shape:
            message = f"{what} must have the shape of {describe(like)}, got {describe(got)}"
            fail(self.name, message, error=ValueError)
        if got.dtype != like.dtype and not (
            got.aval.weak_type and jnp.can_cast(got.dtype, like.dtype, "same_kind")
        ):
            message = f"{what} must have the dtype of {describe(like)}, got {describe(got)}"
            fail(self.name, message, error=TypeError)
        return lax.convert_element_type(got, like.dtype)


class _Linear:
    """The meaning of one `function_tangent`, and its transpose.

    `apply(primals, outputs, tangents)` and `transpose(primals, outputs, cotangents)` take and
    return tuples: the tangents of the perturbed inputs, the cotangents of the inexact outputs.
    """

    def __init__(self, name, apply, transpose):
        self.name, self.apply, self.transpose = name, apply, transpose

    def __repr__(self):
        return self.name

    def batched(self, primal_dims, output_dims, tangent_dims):
        """The same along a new first axis of all operands whose dim is not `None`, but 0."""
        apply = jax.vmap(self.apply, (primal_dims, output_dims, tangent_dims))

        def transpose(primals, outputs, cotangents):
            dims = (primal_dims, output_dims, (0,) * len(cotangents))
            each = jax.vmap(self.transpose, dims)(primals, outputs, cotangents)
            return tuple(
                jnp.sum(c, 0) if dim is None else c
                for c, dim in zip(each, tangent_dims, strict=True)
            )

        return _Linear(self.name, apply, transpose)


class _Call:
    """The meaning of one `function_call`. Compared by identity, and never kept in a table.

    A trace of the function is kept: it is lowered from there, in the state (precision, modes) in
    which it was called.
    """

    def __init__(self, name, forward, linear):
        self.name, self._forward, self.linear = name, forward, linear
        self._traces = {}

    def __repr__(self):
        return self.name

    def run(self, *leaves):
        trace = self._traces and self._traces.get(tuple(map(jax.typeof, leaves)))
        return jex.core.jaxpr_as_fun(trace)(*leaves) if trace else self._forward(*leaves)

    def trace(self, *avals):
        if avals not in self._traces:
            trace = jax.make_jaxpr(lambda *leaves: self._forward(*leaves))(*avals)
            for x in trace.consts:
                if isinstance(x, jax.core.Tracer):
                    fail(
                        self.name,
                        f"the function closes over {describe(x)}, which is being traced",
                        hint="pass it as an argument, so that the rules see it",
                    )
            self._traces[avals] = trace
        return self._traces[avals]

    def batched(self, dims):
        def linear(perturbed):
            one, tangent_dims = self.linear(perturbed), tuple(dims[i] for i in perturbed)
            return one.batched(dims, 0, tangent_dims)

        return _Call(self.name, jax.vmap(self.run, dims), linear)


function_call = jex.core.Primitive("function_call")
function_call.multiple_results = True
function_tangent = jex.core.Primitive("function_tangent")
function_tangent.multiple_results = True


def _call_run(*primals, call):
    return call.run(*primals)


def _call_types(*primals, call):
    trace = call.trace(*primals)
    return [aval.strip_weak_type() for aval in trace.out_avals], trace.effects


def _call_jvp(primals, dots, *, call):
    outputs = function_call.bind(*primals, call=call)
    perturbed = tuple(
        i for i, (x, dot) in enumerate(zip(primals, dots, strict=True)) if _moves(x, dot)
    )
    zeros = [ad.Zero(_tangent_type(y)) for y in outputs]
    if not perturbed or not any(map(_inexact, outputs)):
        return outputs, zeros
    tangents = function_tangent.bind(
        *primals,
        *outputs,
        *(dots[i] for i in perturbed),
        linear=call.linear(perturbed),
        counts=(len(primals), len(outputs)),
        types=tuple(_tangent_type(y) for y in outputs if _inexact(y)),
    )
    given = iter(tangents)
    return outputs, [
        next(given) if _inexact(y) else zero for y, zero in zip(outputs, zeros, strict=True)
    ]


def _call_batch(primals, dims, *, call):
    primals, dims = _batched_first(primals, dims)
    outputs = function_call.bind(*primals, call=call.batched(dims))
    return outputs, [0] * len(outputs)


# The operands of `function_tangent` are the primals, the outputs as residuals, and the tangents of
# the perturbed primals; `counts` are the numbers of the first two, `types` those of the results.


def _tangent_run(*operands, linear, counts, types):
    return linear.apply(*_split(operands, counts))


def _tangent_types(*operands, linear, counts, types):
    return list(types)


def _tangent_jvp(operands, dots, *, linear, counts, types):
    primals, outputs, tangents = _split(operands, counts)
    bind = ft.partial(function_tangent.bind, linear=linear, counts=counts, types=types)
    results, fixed = bind(*operands), len(primals) + len(outputs)
    moving = [i for i in range(fixed) if _moves(operands[i], dots[i])]
    parts = []
    if any(type(dot) is not ad.Zero for dot in dots[fixed:]):
        parts.append(bind(*operands[:fixed], *map(ad.instantiate_zeros, dots[fixed:])))
    if moving:

        def rule(*values):
            residuals = list(operands[:fixed])
            for i, value in zip(moving, values, strict=True):
                residuals[i] = value
            return linear.apply(*_split(residuals, counts)[:2], tangents)

        points, directions = zip(*((operands[i], dots[i]) for i in moving), strict=True)
        parts.append(jax.jvp(rule, points, directions)[1])
    if not parts:
        return results, [ad.Zero(_tangent_type(y)) for y in results]
    return results, [ft.reduce(lax.add, terms) for terms in zip(*parts, strict=True)]


def _tangent_transpose(cotangents, *operands, linear, counts, types):
    primals, outputs, tangents = _split(operands, counts)
    unknown = [ad.is_undefined_primal(t) for t in tangents]
    nothing = [None] * (len(primals) + len(outputs))
    if all(type(ct) is ad.Zero for ct in cotangents):
        return nothing + [
            ad.Zero(t.aval) if u else None for t, u in zip(tangents, unknown, strict=True)
        ]
    cotangents = tuple(map(ad.instantiate_zeros, cotangents))
    got = linear.transpose(primals, outputs, cotangents)
    return nothing + [ct if u else None for ct, u in zip(got, unknown, strict=True)]


def _tangent_batch(operands, dims, *, linear, counts, types):
    operands, dims = _batched_first(operands, dims)
    (size,) = {x.shape[0] for x, dim in zip(operands, dims, strict=True) if dim == 0}
    results = function_tangent.bind(
        *operands,
        linear=linear.batched(*_split(dims, counts)),
        counts=counts,
        types=tuple(jax.core.ShapedArray((size, *t.shape), t.dtype) for t in types),
    )
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


def _split(operands, counts):
    primals, outputs = counts
    operands = tuple(operands)
    return operands[:primals], operands[primals : sum(counts)], operands[primals + outputs :]


def _batched_first(operands, dims):
    moved = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True)]
    return moved, tuple(None if d is None else 0 for d in dims)


def _transpose(linear, inputs, cotangents):
    """The transpose of `linear`, which maps as many arrays as `inputs`, like them, to a tuple."""
    types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs]
    return jax.linear_transpose(lambda *xs: linear(xs), *types)(tuple(cotangents))


def _tangent_type(x):
    return jax.typeof(x).to_tangent_aval().strip_weak_type()


def _inexact(x):
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _moves(x, dot):
    return type(dot) is not ad.Zero and _inexact(x)


def _strong(x, name):
    """`x` as an array without a weak type, so that results do not depend on who made it."""
    if not isinstance(x, jax.Array):
        try:
            x = jnp.asarray(x)
        except TypeError:
            fail(name, f"expected arrays, got {x!r}", error=TypeError)
    return lax.convert_element_type(x, x.dtype) if getattr(x, "weak_type", False) else x


def _describe(tree):
    return jax.tree.map(lambda x: _Shown(describe(x)), tree)


class _Shown(str):
    """A string that prints without quotes inside containers."""

    __repr__ = str.__str__
