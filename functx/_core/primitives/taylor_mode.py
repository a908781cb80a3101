"""How primitives move along curves: their rules for `jax.experimental.jet`.

`jet` pushes Taylor coefficients of curves through a program, one primitive after the other, and
fails at the first that has no rule in its table. The derivatives of a result along curves are what
nested forward mode makes of any function that has a derivative, so a function with a rule moves by
its rule. An operator moves as a whole in the same way, unless JAX has exact rules for all in it.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental.jet import jet_rules, zero_series

from functx._core.jax_compat import jaxprs_in_params, jit_p, known_zeros, Primitive


# Of each operand the coefficients of its curve beyond the first, which is the operand itself.
Series: TypeAlias = Sequence[Sequence[Any]]
Moved: TypeAlias = tuple[Any, Any]  # results and their series, in lists if there are several

# JAX's primitives whose rules are exact: linear, bilinear, constant, or known by a recurrence. The
# others lack one, or have one that is not: `log1p` is computed as log(1 + x), `rem` by `floor`,
# `max` drops NaN, `tanh` loses digits at 0, and `jax.custom_jvp` fails.
_EXACT = frozenset(
    """
    add add_any and bitcast_convert_type broadcast_in_dim ceil complex concatenate conj
    conv_general_dilated convert_element_type copy cos cosh cumsum div dot_general dynamic_slice
    dynamic_update_slice eq exp fft floor gather ge gt imag is_finite jit le log logistic lt mul ne
    neg not or pad real reduce_sum reduce_window_sum reshape rev round scatter-add select_n
    shift_left shift_right_arithmetic shift_right_logical sin sinh slice split square squeeze stack
    stop_gradient sub transpose unstack xor
    """.split()
)
_exact_of_ours: set[Primitive] = set()


def along_curves(*primitives: Primitive) -> None:
    """Has `jet` move primitives of ours by nested forward mode."""
    for primitive in primitives:
        jet_rules[primitive] = ft.partial(_by_forward_mode, primitive)


def bilinear_along_curves(primitive: Primitive) -> None:
    """Has `jet` move a primitive of two operands and one result that is linear in each of them."""
    jet_rules[primitive] = ft.partial(_by_products, primitive)
    _exact_of_ours.add(primitive)


def constant_along_curves(primitive: Primitive) -> None:
    """Has `jet` take the one result of a primitive of ours for a constant."""

    def rule(primals: Sequence[Any], series: Series, **params: Any) -> Moved:
        return primitive.bind(*primals, **params), zero_series

    jet_rules[primitive] = rule


def operators_along_curves(operator_called: Callable[[dict[str, Any]], str | None]) -> None:
    """Has `jet` move calls of operators as a whole, unless all primitives in them are exact.

    `operator_called` tells them by the parameters of `jit`, which is what they are to JAX. Other
    calls move as they did.
    """
    of_jax = jet_rules[jit_p]

    def rule(primals: Sequence[Any], series: Series, **params: Any) -> Moved:
        if operator_called(params) and not _is_exact(params["jaxpr"]):
            return _by_forward_mode(jit_p, primals, series, **params)
        return of_jax(primals, series, **params)

    jet_rules[jit_p] = rule


def _is_exact(program: Any) -> bool:
    """Whether `jet` has an exact rule for all that a program computes."""
    program = getattr(program, "jaxpr", program)
    return all(
        _has_exact_rule(eqn) and all(map(_is_exact, jaxprs_in_params(eqn.params)))
        for eqn in program.eqns
    )


def _has_exact_rule(eqn: Any) -> bool:
    if eqn.primitive.name == "convert_element_type" and not _has_tangents(eqn.outvars[0].aval):
        return not _has_tangents(
            eqn.invars[0].aval
        )  # JAX takes numbers that become integers for linear
    known = eqn.primitive.name in _EXACT and eqn.primitive in jet_rules
    return known or eqn.primitive in _exact_of_ours


def _has_tangents(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _by_forward_mode(
    primitive: Primitive, primals: Sequence[Any], series: Series, **params: Any
) -> Moved:
    primals = list(map(jnp.asarray, primals))
    # A constant is not differentiated, so that it spoils nothing: the exponent of a negative base.
    active = [
        i
        for i, x in enumerate(primals)
        if _has_tangents(x) and not all(map(known_zeros, series[i]))
    ]

    def function(xs: Sequence[Array]) -> tuple[list[Any], list[Any]]:
        operands = list(primals)
        for i, x in zip(active, xs, strict=True):
            operands[i] = x
        results = primitive.bind(*operands, **params)
        results = results if primitive.multiple_results else [results]
        parts = [(y, None) if _has_tangents(y) else (None, y) for y in results]
        return [y for y, _ in parts], [y for _, y in parts]

    order = len(series[0])
    curves = [[primals[i] for i in active]]
    for k in range(1, order + 1):
        terms = (series[i][k - 1] * math.factorial(k) for i in active)
        alike = zip(terms, curves[0], strict=True)
        curves.append([lax.convert_element_type(term, x.dtype) for term, x in alike])
    (values, *derivatives), fixed = _nested(function, order)(*curves)
    results = [y if y is not None else still for y, still in zip(values, fixed, strict=True)]

    def term(i: int, k: int) -> Any:
        derivative = derivatives[k - 1][i]
        return jnp.zeros_like(results[i]) if derivative is None else derivative / math.factorial(k)

    moved = [[term(i, k) for k in range(1, order + 1)] for i in range(len(results))]
    return (results, moved) if primitive.multiple_results else (results[0], moved[0])


def _nested(function: Callable[..., tuple[Any, Any]], order: int) -> Callable[..., tuple[Any, Any]]:
    """Curves through `function`: the derivatives of its first result, up to the curves' order.

    The second result comes along. No polynomial is evaluated, so that no coefficient that is not
    finite spoils those before it: each derivative is that of the one before along all curves.
    """

    def derivatives(*curves: Any) -> tuple[Any, Any]:
        if order == 0:
            y, fixed = function(*curves)
            return (y,), fixed
        lower = _nested(function, order - 1)
        ys, dots, fixed = jax.jvp(lower, curves[:-1], curves[1:], has_aux=True)
        return (*ys, dots[-1]), fixed

    return derivatives


def _by_products(
    primitive: Primitive, primals: Sequence[Any], series: Series, **params: Any
) -> Moved:
    x, y = ([primal, *terms] for primal, terms in zip(primals, series, strict=True))
    product = ft.partial(primitive.bind, **params)
    first, *others = (
        ft.reduce(lax.add, [product(x[i], y[k - i]) for i in range(k + 1)]) for k in range(len(x))
    )
    return first, others
