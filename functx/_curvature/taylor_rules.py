"""How Taylor series go through an equation: by recurrences where they are known, else by slopes.

The recurrences are those of Griewank and Walther, "Evaluating Derivatives" (2008), section 13.2:
of order K they cost some K**2 operations. Any other equation moves by $y' = Df(x)[x']$: the program
of its derivative is run on series whose order is lower by one. Such programs lie inside each other.
What they compute of the same coefficients is computed once, so that the cost is a power of K for
functions such as a sigmoid or a quotient. Where derivatives are of ever new functions, as those of
a power are, it grows with 2**K or more, as that of nested forward mode does.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from functx._core.jax_compat import JaxprEqn
from functx._core.rules.function_primitives import function_tangent, tangent_run
from functx._transforms.programs.interpreting import interpret
from functx._transforms.programs.nested import can_rebind

from .equations import ActiveEquation, BILINEAR
from .memory import SeriesMemory
from .propagation import Propagation
from .series import Coefficients, convolved, integrated, TaylorSeries, total


class TaylorVisitor(Propagation[TaylorSeries]):
    """Taylor series of a program, to a given order."""

    moving = TaylorSeries

    def __init__(self, order: int, memory: SeriesMemory | None = None) -> None:
        self.order, self.memory = order, memory

    def __call__(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if self.memory is None or can_rebind(eqn):
            return super().__call__(eqn, operands)
        return self.memory.results(
            eqn, operands, lambda: super(TaylorVisitor, self).__call__(eqn, operands)
        )

    def lifted(self, x: Any) -> TaylorSeries:
        return TaylorSeries(x, (jnp.zeros_like(x),) * self.order)

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if eqn.primitive is function_tangent:  # it means what its rule computes
            run = ft.partial(tangent_run, **eqn.params)
            return interpret(jax.make_jaxpr(run)(*map(self.value, operands)), operands, self)
        return super().equation(eqn, operands)

    def derive(self, active: ActiveEquation, operands: list[Any]) -> Sequence[Any]:
        name, curves = active.eqn.primitive.name, [operands[i] for i in active.slots]
        if active.is_linear:
            return self._linear(active, curves)
        xs = [curve.coefficients for curve in curves]
        product = lambda *xs: active.run(*xs)[0][0]
        if name in BILINEAR:
            return [_series(convolved(product, *xs))]
        if name == "div":  # whose divisor moves
            x, y = (x if self.moves(x) else self.lifted(jnp.asarray(x)) for x in operands)
            return [_series(_quotient(x.coefficients, y.coefficients))]
        if name in RECURRENCES:
            return [_series(RECURRENCES[name](xs[0], active.eqn.params))]
        return self._by_slope(active, curves)

    def _linear(self, active: ActiveEquation, curves: Sequence[TaylorSeries]) -> Sequence[Any]:
        moved: list[list[Any]] = []
        values: Sequence[Any] = ()
        still: Sequence[Any] = ()
        for terms in zip(*(curve.terms for curve in curves), strict=True):
            values, found, still = jax.jvp(active.run, active.xs, terms, has_aux=True)
            moved.append(found)
        each = zip(*moved, strict=True)
        return active.merged(
            [TaylorSeries(y, terms) for y, terms in zip(values, each, strict=True)], still
        )

    def _by_slope(self, active: ActiveEquation, curves: Sequence[TaylorSeries]) -> Sequence[Any]:
        """The results by their derivatives along the curves, series of an order lower by one."""
        memory = self.memory or SeriesMemory()
        points = tuple(curve.truncated(self.order - 1) for curve in curves)
        slopes = tuple(memory.slope(curve) for curve in curves)
        push = lambda xs, vs: jax.jvp(active.run, xs, vs, has_aux=True)
        if self.order == 1:
            values, dots, still = push(points, slopes)
            return active.merged(
                [TaylorSeries(y, (dot,)) for y, dot in zip(values, dots, strict=True)], still
            )
        program, shape = jax.make_jaxpr(push, return_shape=True)(active.xs, active.xs)
        lower = TaylorVisitor(self.order - 1, memory)
        found = interpret(program, [*points, *slopes], lower)
        values, dots, still = jax.tree.structure(shape).unflatten(found)
        results = []
        for y, dot in zip(values, dots, strict=True):
            dot = dot if lower.moves(dot) else lower.lifted(dot)
            terms = (x / k for k, x in enumerate(dot.coefficients, 1))
            results.append(TaylorSeries(lower.value(y), tuple(terms)))
        return active.merged(results, [*map(lower.value, still)])


def _series(coefficients: Coefficients) -> TaylorSeries:
    value, *terms = coefficients
    return TaylorSeries(value, tuple(terms))


Recurrence = Callable[[Coefficients, dict[str, Any]], Coefficients]


def _quotient(x: Coefficients, y: Coefficients) -> Coefficients:
    z = [x[0] / y[0]]
    for k in range(1, len(x)):
        z.append((x[k] - total([y[j] * z[k - j] for j in range(1, k + 1)])) / y[0])
    return z


def _by_own_slope(
    function: Callable[[Any], Any], slope: Callable[[Coefficients], Any]
) -> Recurrence:
    """Of $z = f(x)$ with $z' = s(z) x'$; `slope` gives the last coefficient of $s$ by $z$'s."""

    def recurrence(x: Coefficients, params: dict[str, Any]) -> Coefficients:
        z, slopes = [function(x[0])], []
        for k in range(1, len(x)):
            slopes.append(slope(z))
            z.append(integrated(x, slopes, k))
        return z

    return recurrence


def _of_square(z: Coefficients) -> Any:
    k = len(z) - 1
    return total([z[j] * z[k - j] for j in range(k + 1)])


def _tanh_slope(z: Coefficients) -> Any:
    return (1 - z[0]) * (1 + z[0]) if len(z) == 1 else -_of_square(z)


def _logistic_slope(z: Coefficients) -> Any:
    return z[0] * (1 - z[0]) if len(z) == 1 else z[-1] - _of_square(z)


def _sine_and_cosine(
    sine: Callable[[Any], Any], cosine: Callable[[Any], Any], sign: int, which: int
) -> Recurrence:
    """Of two functions, the first the slope of the second up to the sign, and the reverse."""

    def recurrence(x: Coefficients, params: dict[str, Any]) -> Coefficients:
        s, c = [sine(x[0])], [cosine(x[0])]
        for k in range(1, len(x)):
            s_k, c_k = integrated(x, c, k), sign * integrated(x, s, k)
            s.append(s_k)
            c.append(c_k)
        return (s, c)[which]

    return recurrence


def _log(function: Callable[[Any], Any], shift: int) -> Recurrence:
    def recurrence(x: Coefficients, params: dict[str, Any]) -> Coefficients:
        z, first = [function(x[0])], x[0] + shift
        for k in range(1, len(x)):
            known = [j * z[j] * x[k - j] for j in range(1, k)]
            z.append((x[k] - total(known) / k if known else x[k]) / first)
        return z

    return recurrence


def _sqrt(x: Coefficients, params: dict[str, Any]) -> Coefficients:
    z = [lax.sqrt(x[0])]
    for k in range(1, len(x)):
        known = [z[j] * z[k - j] for j in range(1, k)]
        z.append((x[k] - total(known) if known else x[k]) / (2 * z[0]))
    return z


def _square(x: Coefficients, params: dict[str, Any]) -> Coefficients:
    return convolved(lax.mul, x, x)


def _integer_pow(x: Coefficients, params: dict[str, Any]) -> Coefficients:
    exponent = abs(params["y"])
    power = [jnp.ones_like(x[0]), *(jnp.zeros_like(c) for c in x[1:])]
    if params["y"] < 0:
        return _quotient(power, _integer_pow(x, {"y": exponent}))
    found: Coefficients | None = None
    while exponent:
        if exponent % 2:
            found = x if found is None else convolved(lax.mul, found, x)
        exponent //= 2
        x = convolved(lax.mul, x, x) if exponent else x
    return power if found is None else found


def _exp2(x: Coefficients, params: dict[str, Any]) -> Coefficients:
    scaled = [math.log(2) * c for c in x]
    own = _by_own_slope(lambda _: lax.exp2(x[0]), lambda z: z[-1])
    return own(scaled, params)


RECURRENCES: dict[str, Recurrence] = {
    "cos": _sine_and_cosine(lax.sin, lax.cos, -1, 1),
    "cosh": _sine_and_cosine(lax.sinh, lax.cosh, 1, 1),
    "exp": _by_own_slope(lax.exp, lambda z: z[-1]),
    "exp2": _exp2,
    "expm1": _by_own_slope(lax.expm1, lambda z: z[0] + 1 if len(z) == 1 else z[-1]),
    "integer_pow": _integer_pow,
    "log": _log(lax.log, 0),
    "log1p": _log(lax.log1p, 1),
    "logistic": _by_own_slope(lax.logistic, _logistic_slope),
    "sin": _sine_and_cosine(lax.sin, lax.cos, -1, 0),
    "sinh": _sine_and_cosine(lax.sinh, lax.cosh, 1, 0),
    "sqrt": _sqrt,
    "square": _square,
    "tanh": _by_own_slope(lax.tanh, _tanh_slope),
}
