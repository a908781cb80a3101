"""The diagonals of Hessians and Jacobians, without the matrices."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from functx._core import explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._transforms.arguments import Argnums
from functx._transforms.basis import over_basis, split
from functx._transforms.chunking import resolved_chunk_size
from functx._transforms.outputs import signed
from functx._transforms.programs.interpreting import bind, interpret
from functx._transforms.programs.walking import type_of
from functx._transforms.tangents import leaf_types

from .calls import DifferentiatedCall, recorded_call, require_options
from .pointwise import acts_on_elements
from .series import TaylorSeries
from .taylor_rules import TaylorVisitor


__all__ = ["hessian_diagonal", "jacobian_diagonal"]


@explain_unknown_keywords()
def hessian_diagonal(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    r"""The diagonal of the Hessian of `func`, exactly: $\partial^2 f / \partial x_i^2$.

    Each entry is a second derivative along one input element, by Taylor mode of second order: it
    takes the time of some three evaluations of `func`, and there are as many as input elements.
    Nothing is kept for a backward pass, and the Hessian is never built.

    - `func`: a function of trees of real arrays that returns a tree of real or complex arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(diagonal, aux)` comes back.
    - `chunk_size`: how many entries are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n]`, so of a scalar function the shape of its input. A
    tree of outputs is the outer tree of the result, a tuple of `argnums` the next, and the trees of
    the arguments the inner one.
    Errors: TypeError for integer and complex inputs and for integer outputs; ValueError for a
    `chunk_size` below 1, and for `max_bytes` without `"auto"`.

    >>> functx.curvature.hessian_diagonal(lambda x: (x**3).sum())(jnp.asarray([1, 2], "float32"))
    Array([ 6., 12.], dtype=float32)
    """
    options = chunk_size, max_bytes
    require_options("hessian_diagonal", func, argnums, *options, has_aux=has_aux)

    @ft.wraps(func)
    @outside_grad_mode
    def function(*args: Any, **kwargs: Any) -> Any:
        call = recorded_call("hessian_diagonal", func, argnums, has_aux, args, kwargs)
        leaves = call.structure.flatten_up_to(call.values)

        def lane(*tangents: Any) -> tuple[list[Any], list[Any]]:
            visitor = TaylorVisitor(2)
            lines = [
                TaylorSeries(x, (v, jnp.zeros_like(v)))
                for x, v in zip(leaves, tangents, strict=True)
            ]
            found = interpret(call.program, lines, visitor)
            outvars = call.program.jaxpr.outvars[: call.count]
            outputs = [visitor.carried(y, x) for y, x in zip(found, outvars, strict=False)]
            return [2 * y.terms[1] for y in outputs], [*map(visitor.value, found)]

        def run(basis: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
            seconds, values = jax.vmap(signed(lane), out_axes=(-1, None))(*basis)
            return [*seconds, *values], [y.ndim - 1 for y in seconds] + [None] * len(values)

        types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in call.types]
        found = over_basis(run, call.types, resolved_chunk_size(*options, lane, types))
        by_input = split(found[: call.count], call.types, axis=-1)
        diagonal = call.by_output(
            [
                [
                    rows[o].reshape(*rows[o].shape[:-1], *x.shape)
                    for x, rows in zip(call.types, by_input, strict=True)
                ]
                for o in range(call.count)
            ],
            argnums,
        )
        return (diagonal, call.program.output(found[call.count :])[1]) if has_aux else diagonal

    return function


@explain_unknown_keywords()
def jacobian_diagonal(
    func: Callable[..., Any],
    argnums: int | str = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    r"""The diagonal of the Jacobian of `func`, exactly: $\partial f_i / \partial x_i$.

    Where the program of the derivative shows that each element of the output depends on the
    element in its place alone, one Jacobian-vector product gives all entries. Otherwise each takes
    one, in chunks, and the Jacobian is never built.

    - `func`: a function whose output is a tree like the argument that is differentiated, of real or
      complex arrays.
    - `argnums`: that argument, a tree of real arrays: its position (negative counts from the end)
      or its name.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(diagonal, aux)` comes back.
    - `chunk_size`: how many products are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.

    Shapes and dtypes: those of the output.
    Errors: TypeError for integer and complex inputs, for integer outputs, and for a tuple of
    `argnums`; ValueError for an output of another structure or shape than the argument, for a
    `chunk_size` below 1, and for `max_bytes` without `"auto"`.

    >>> functx.curvature.jacobian_diagonal(lambda x: x**2 * x.sum())(jnp.asarray([1, 2], "float32"))
    Array([ 7., 16.], dtype=float32)
    """
    who, options = "jacobian_diagonal", (chunk_size, max_bytes)
    require_options(who, func, argnums, *options, has_aux=has_aux)
    if isinstance(argnums, tuple):
        fail(who, f"`argnums` must name one argument, got {argnums!r}", error=TypeError)

    @ft.wraps(func)
    @outside_grad_mode
    def function(*args: Any, **kwargs: Any) -> Any:
        call = recorded_call(who, func, argnums, has_aux, args, kwargs)
        leaves = call.structure.flatten_up_to(call.values)
        _require_alike(who, call)

        def outputs(*leaves: Any) -> tuple[list[Any], list[Any]]:
            found = interpret(call.program, leaves, bind)
            return found[: call.count], found

        def diagonal(tangents: Sequence[Any]) -> tuple[list[Any], Any]:
            _, moved, found = jax.jvp(outputs, leaves, list(tangents), has_aux=True)
            return moved, found

        if acts_on_elements(lambda *xs: outputs(*xs)[0], leaves):
            entries, found = diagonal([*map(jnp.ones_like, leaves)])
        else:
            entries, found = _by_columns(call, diagonal, chunk_size, max_bytes)
        result = call.output([*entries, *found[call.count :]])
        return (result, call.program.output(found)[1]) if has_aux else result

    return function


def _by_columns(
    call: DifferentiatedCall,
    column: Callable[[Sequence[Any]], tuple[list[Any], Any]],
    chunk_size: int | str | None,
    max_bytes: int | None,
) -> tuple[list[Any], Any]:
    """The entries from the columns of the Jacobian, and the results of the program."""

    @signed
    def lane(*tangents: Any) -> tuple[list[Any], Any]:
        moved, found = column(tangents)
        return [jnp.sum(y * v.astype(y.dtype)) for y, v in zip(moved, tangents, strict=True)], found

    def run(basis: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
        entries, found = jax.vmap(lane, out_axes=(0, None))(*basis)
        return [*entries, *found], [0] * len(entries) + [None] * len(found)

    types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in call.types]
    stacked = over_basis(run, call.types, resolved_chunk_size(chunk_size, max_bytes, lane, types))
    by_leaf = split(stacked[: call.count], call.types, axis=0)
    entries = [by_leaf[i][i].reshape(x.shape) for i, x in enumerate(call.types)]
    return entries, stacked[call.count :]


def _require_alike(who: str, call: DifferentiatedCall) -> None:
    """Refuses an output that is no tree like the argument, with the same shapes."""
    (given,) = call.values
    inputs, structure = leaf_types(given)
    outputs = [type_of(x) for x in call.program.jaxpr.outvars[: call.count]]
    shapes, wanted = [tuple(x.shape) for x in outputs], [tuple(x.shape) for x in inputs]
    if call.output_structure != structure or shapes != wanted:
        fail(
            who,
            f"the output of `func` must have the structure and the shapes of the argument, "
            f"{wanted}, got {shapes}",
            hint="jacfwd and jacrev give Jacobians of any shape",
            error=ValueError,
        )
