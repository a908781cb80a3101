"""Convolutions of plain JAX inside loops, in the form that XLA's CPU kernels take."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
from jax.lax import conv_general_dilated_p

from functx._core.jax_compat import ClosedJaxpr, jaxpr_as_fun, JaxprEqn, jit_p
from functx._core.shapes.convolution_layouts import channels_last


ArraysFunction = Callable[..., list[Any]]


def with_fast_convolutions(f: ArraysFunction) -> ArraysFunction:
    """`f`, a function of arrays, with its convolutions computed channels last on CPUs."""

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
    call = jax.jit(ft.partial(channels_last, **eqn.params))
    traced = jax.make_jaxpr(call)(*(x.aval for x in eqn.invars))
    return traced.jaxpr.eqns[0].replace(invars=eqn.invars, outvars=eqn.outvars)
