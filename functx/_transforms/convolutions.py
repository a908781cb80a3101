"""Convolutions inside loops, in the form that XLA's CPU kernels take.

At the top level of a program XLA transposes their operands itself; in the body of a loop (seen in
jaxlib 0.10.2) it does not, and runs them several times as long.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun, JaxprEqn
from jax.extend.core.primitives import conv_general_dilated_p, jit_p


Function = Callable[..., list[Any]]


def with_fast_convolutions(f: Function) -> Function:
    """`f`, from arrays to a list of them, its convolutions with their channels last on CPUs."""

    @ft.wraps(f)
    def function(*args: Any) -> list[Any]:
        if jax.default_backend() != "cpu":
            return f(*args)
        program = jax.make_jaxpr(f)(*args)
        return jaxpr_as_fun(_rewritten(program))(*jax.tree.leaves(args))

    return function


def _rewritten(program: ClosedJaxpr) -> ClosedJaxpr:
    eqns = [_replaced(eqn) for eqn in program.jaxpr.eqns]
    return program.replace(jaxpr=program.jaxpr.replace(eqns=eqns))


def _replaced(eqn: JaxprEqn) -> JaxprEqn:
    inner = eqn.params.get("jaxpr")
    if eqn.primitive is jit_p and isinstance(inner, ClosedJaxpr):
        return eqn.replace(params=eqn.params | {"jaxpr": _rewritten(inner)})
    if eqn.primitive is not conv_general_dilated_p:
        return eqn
    call = jax.jit(ft.partial(_channels_last, **eqn.params))
    traced = jax.make_jaxpr(call)(*(x.aval for x in eqn.invars))
    return traced.jaxpr.eqns[0].replace(invars=eqn.invars, outvars=eqn.outvars)


def _channels_last(
    x: Any, kernel: Any, *, dimension_numbers: lax.ConvDimensionNumbers, **params: Any
) -> Any:
    n = x.ndim - 2
    (batch, channels, *sizes), (filters, inputs, *window), (first, second, *places) = (
        dimension_numbers.lhs_spec,
        dimension_numbers.rhs_spec,
        dimension_numbers.out_spec,
    )
    images = (0, n + 1, *range(1, n + 1))
    out = conv_general_dilated_p.bind(
        lax.transpose(x, (batch, *sizes, channels)),
        lax.transpose(kernel, (*window, inputs, filters)),
        dimension_numbers=lax.ConvDimensionNumbers(images, (n + 1, n, *range(n)), images),
        **params,
    )
    order = (first, *places, second)
    return lax.transpose(out, tuple(order.index(i) for i in range(n + 2)))
