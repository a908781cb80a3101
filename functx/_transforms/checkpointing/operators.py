"""Operators whose results bear a name, and with them what takes time inside.

A name given to a result afterwards does not reach the derivative: that of `exp`, which is `y`, has
its `y` from before, and a backward pass that was handed the named value would compute `y` again.
So the operator is differentiated first, and what defines its results is named then. So are the
sums, products and factors that it computes on the way: a derivative that reads them is to find
them, as that of a norm finds its mean. What is done element by element is not worth the memory.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
from jax.custom_derivatives import SymbolicZero

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal, Var
from functx._core.rules.tangent_types import inexact, no_tangent

from .names import named, naming, unnamed


# What is not done element by element, by the beginning of a primitive's name.
_WORK = (
    *("dot_general", "ragged_dot", "conv_general", "fft", "reduce_", "arg", "cum", "sort"),
    *("top_k", "approx_top_k", "scatter", "cholesky", "eig", "svd", "lu", "qr", "geqrf"),
    *("householder", "schur", "hessenberg", "triangular", "tridiagonal", "custom_linear_solve"),
    *("random_bits", "threefry", "rng", "scan", "while", "cond", "function_call"),
)


@ft.lru_cache(maxsize=1024)
def named_operator(program: ClosedJaxpr, name: str, most: float) -> ClosedJaxpr:
    """The program of an operator that names its results, and what takes time on the way to them.

    Of the latter only what is not larger than an argument or a result, or than `most` times that:
    the weights of attention are.
    """
    count = len(program.jaxpr.outvars)
    largest = most * max(map(_size, (*program.in_avals, *program.out_avals)), default=0)
    plain = jaxpr_as_fun(program)

    @jax.custom_jvp
    def operator(*primals: Any) -> list[Any]:
        return [named(y, name) for y in plain(*primals)]

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        moving = [i for i, dot in enumerate(tangents) if not isinstance(dot, SymbolicZero)]

        def pushed(primals: Sequence[Any], dots: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            def at(*moved: Any) -> list[Any]:
                given = dict(zip(moving, moved, strict=True))
                return plain(*(given.get(i, x) for i, x in enumerate(primals)))

            outs, out_dots = jax.jvp(at, [primals[i] for i in moving], dots)
            return outs, [dot for dot in out_dots if dot.dtype != jax.dtypes.float0]

        dots = [tangents[i] for i in moving]
        traced = jax.make_jaxpr(pushed)(primals, dots)
        inner = _named_inside(traced.jaxpr, range(count), name, largest)
        results = jaxpr_as_fun(traced.replace(jaxpr=inner))(*primals, *dots)
        outs, out_dots = results[:count], iter(results[count:])
        return outs, [next(out_dots) if inexact(y) else no_tangent(y) for y in outs]

    operator.defjvp(rule, symbolic_zeros=True)
    made = jax.make_jaxpr(operator)(*program.in_avals)
    return made.replace(jaxpr=made.jaxpr.replace(debug_info=program.jaxpr.debug_info))


def _size(aval: Any) -> int:
    return math.prod(aval.shape)


def _named_inside(jaxpr: Jaxpr, results: Iterable[int], name: str, largest: float) -> Jaxpr:
    """`jaxpr` with the outputs of these numbers named where they are defined, and what is work."""
    makers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    defined = [_defined(jaxpr.outvars[i], makers) for i in results]
    wanted = {var for var in defined if var is not None}
    for eqn in jaxpr.eqns:
        if eqn.primitive.name.startswith(_WORK):
            wanted.update(var for var in eqn.outvars if _size(var.aval) <= largest)
    eqns = [one for eqn in jaxpr.eqns for one in _naming_results(eqn, wanted, name, largest)]
    return jaxpr.replace(eqns=eqns)


def _defined(result: Any, makers: Mapping[Var, JaxprEqn]) -> Var | None:
    """The variable that a program computes as `result`, before the program renames it."""
    while not isinstance(result, Literal) and result in makers:
        before = unnamed(result, makers)
        if before is None:
            return result
        result = before
    return None


def _naming_results(
    eqn: JaxprEqn, wanted: set[Var], name: str, largest: float
) -> Iterator[JaxprEqn]:
    """`eqn`, with those of its results that are `wanted` named: inside, if it calls a program."""
    which = [i for i, var in enumerate(eqn.outvars) if var in wanted]
    if eqn.primitive.name == "jit":
        inner = eqn.params["jaxpr"]
        inner = inner.replace(jaxpr=_named_inside(inner.jaxpr, which, name, largest))
        yield eqn.replace(params=eqn.params | {"jaxpr": inner})
        return
    if eqn.primitive.name == "scan":
        inner = eqn.params["jaxpr"]
        inner = inner.replace(jaxpr=_named_inside(inner.jaxpr, (), name, largest))
        eqn = eqn.replace(params=eqn.params | {"jaxpr": inner})
    before = {eqn.outvars[i]: Var(eqn.outvars[i].aval) for i in which}
    yield eqn.replace(outvars=[before.get(var, var) for var in eqn.outvars])
    for after, var in before.items():
        for naming_it in naming(var, after, name):
            yield naming_it.replace(source_info=eqn.source_info, ctx=eqn.ctx)
