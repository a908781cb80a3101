"""Laplacians, by one pass forward through a function."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from functx._core import explain_unknown_keywords
from functx._core.context.grad_modes import outside_grad_mode
from functx._transforms.arguments import Argnums
from functx._transforms.basis import over_basis, split
from functx._transforms.chunking import resolved_chunk_size
from functx._transforms.outputs import signed
from functx._transforms.programs.interpreting import interpret

from .calls import DifferentiatedCall, recorded_call, require_options
from .curved_values import Curved, of_inputs
from .laplacian_rules import LaplacianVisitor


__all__ = ["forward_laplacian", "laplacian"]


class ForwardLaplacian(NamedTuple):
    """What one pass finds: the value of a function, its Jacobian and its Laplacian.

    - `value`: the output.
    - `jacobian`: as `functx.jacfwd` returns it.
    - `laplacian`: a tree like the output.
    """

    value: Any
    jacobian: Any
    laplacian: Any


@explain_unknown_keywords()
def laplacian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    r"""The Laplacian of `func`, the trace of its Hessian: $\sum_i \partial^2 f / \partial x_i^2$.

    One pass forward carries each value, its Jacobian by the inputs and its Laplacian through the
    program of `func`: the forward Laplacian of Li et al. (2023), "A computational framework for
    neural network-based variational Monte Carlo with Forward Laplacian", arXiv:2307.08214. It takes
    the time of about one `functx.jacfwd`, and keeps nothing for a backward pass. Values that do not
    depend on the inputs have no Jacobian; one whose elements depend on few inputs each keeps
    these alone.

    - `func`: a function of trees of real arrays that returns a tree of real or complex arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those. The sum is over all elements of all of them.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(laplacian, aux)` comes back.
    - `chunk_size`: over how many input elements a pass goes at once; fewer need less memory and
      more time. None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.

    Shapes and dtypes: those of the output, whose elements have one Laplacian each.
    Errors: TypeError for integer and complex inputs and for integer outputs; ValueError for a
    `chunk_size` below 1, and for `max_bytes` without `"auto"`.

    >>> functx.curvature.laplacian(lambda x: (x**3).sum())(jnp.asarray([1, 2], "float32"))
    Array(18., dtype=float32)
    """
    options = chunk_size, max_bytes
    require_options("laplacian", func, argnums, *options, has_aux=has_aux)

    @ft.wraps(func)
    @outside_grad_mode
    def function(*args: Any, **kwargs: Any) -> Any:
        call = recorded_call("laplacian", func, argnums, has_aux, args, kwargs)
        found = _propagated(call, *options, with_jacobian=False)
        return (found.laplacian, found.aux) if has_aux else found.laplacian

    return function


@explain_unknown_keywords()
def forward_laplacian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    r"""The value, the Jacobian and the Laplacian of `func`, in the pass of `laplacian`.

    So the kinetic energy $-\tfrac12 (\nabla^2 \log\psi + |\nabla \log\psi|^2)$ takes one pass.

    - `func`: a function of trees of real arrays that returns a tree of real or complex arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those. The Laplacian sums over all elements of all of them.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(result, aux)` comes back.
    - `chunk_size`: over how many input elements a pass goes at once; fewer need less memory and
      more time. None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.

    Returns a named tuple of `value`, `jacobian`, as `functx.jacfwd` returns it, and `laplacian`.
    Shapes: `func: [*n] -> [*m]` gives a Jacobian `[*m, *n]` and a Laplacian `[*m]`.
    Errors: TypeError for integer and complex inputs and for integer outputs; ValueError for a
    `chunk_size` below 1, and for `max_bytes` without `"auto"`.

    >>> found = functx.curvature.forward_laplacian(jnp.square)(jnp.float32(3))
    >>> float(found.value), float(found.jacobian), float(found.laplacian)
    (9.0, 6.0, 2.0)
    """
    options = chunk_size, max_bytes
    require_options("forward_laplacian", func, argnums, *options, has_aux=has_aux)

    @ft.wraps(func)
    @outside_grad_mode
    def function(*args: Any, **kwargs: Any) -> Any:
        call = recorded_call("forward_laplacian", func, argnums, has_aux, args, kwargs)
        found = _propagated(call, *options, with_jacobian=True)
        by_input = split(found.rows, call.types, axis=0)
        jacobian = call.by_output(
            [
                [
                    jnp.moveaxis(rows[o], 0, -1).reshape(*rows[o].shape[1:], *x.shape)
                    for x, rows in zip(call.types, by_input, strict=True)
                ]
                for o in range(call.count)
            ],
            argnums,
        )
        result = ForwardLaplacian(found.value, jacobian, found.laplacian)
        return (result, found.aux) if has_aux else result

    return function


class _Propagated(NamedTuple):
    value: Any
    rows: list[Any]
    laplacian: Any
    aux: Any


def _propagated(
    call: DifferentiatedCall,
    chunk_size: int | str | None,
    max_bytes: int | None,
    with_jacobian: bool,
) -> _Propagated:
    leaves = call.structure.flatten_up_to(call.values)

    def through(inputs: list[Curved], count: Any) -> tuple[list[Any], list[int | None]]:
        visitor = LaplacianVisitor(count)
        arrays = interpret(call.program, inputs, visitor)
        outputs = [*zip(arrays, call.program.jaxpr.outvars, strict=True)][: call.count]
        rows = [visitor.carried(y, x).rows for y, x in outputs] if with_jacobian else []
        bends = [visitor.bend(y, x)[None] for y, x in outputs]
        values = [*map(visitor.value, arrays)]
        dims = [*[0] * (len(rows) + len(bends)), *[None] * len(values)]
        return [*rows, *bends, *values], dims

    def run(basis: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
        inputs = [Curved(x, v, jnp.zeros_like(x)) for x, v in zip(leaves, basis, strict=True)]
        return through(inputs, basis[0].shape[0])

    @signed
    def lane(*tangents: Any) -> list[Any]:
        return run([x[None] for x in tangents])[0]

    types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in call.types]
    lanes = resolved_chunk_size(chunk_size, max_bytes, lane, types)
    size = sum(math.prod(x.shape) for x in types)
    if isinstance(size, int) and (lanes is None or lanes >= size):  # it may be symbolic
        found = through(of_inputs(leaves), size)[0]
    else:
        found = over_basis(run, call.types, lanes)
    rows = found[: call.count] if with_jacobian else []
    bends = [jnp.sum(y, 0, dtype=y.dtype) for y in found[len(rows) :][: call.count]]
    values = found[len(rows) + call.count :]
    whole = call.program.output(values)
    value, aux = whole if call.has_aux else (whole, None)
    return _Propagated(value, rows, call.output([*bends, *values[call.count :]]), aux)
