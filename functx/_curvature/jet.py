"""Derivatives of any order along curves, and mixed partial derivatives."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._transforms.arguments import (
    differentiable,
    kind_of,
    numbered,
    require_bools,
    require_callable,
)
from functx._transforms.outputs import checking, require_arrays
from functx._transforms.programs.interpreting import bind, interpret
from functx._transforms.programs.recording import record, RecordedProgram
from functx._transforms.tangents import matched

from .series import TaylorSeries
from .taylor_rules import TaylorVisitor


__all__ = ["jet", "mixed_partial"]


@explain_unknown_keywords()
def jet(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    series: Sequence[Any],
    *,
    has_aux: bool = False,
) -> Any:
    r"""The value of `func`, and its derivatives of order 1 to K along a curve: Taylor mode.

    The curve through `primals` is $x(t) = x + x_1 t + x_2 t^2 / 2! + ... + x_K t^K / K!$. Returns
    `(output, derivatives)`, and `(output, derivatives, aux)` with `has_aux`, where `derivatives` is
    a list of the K derivatives of $f(x(t))$ at $t = 0$. With one term in `series` it is
    `functx.jvp`.

    One pass carries Taylor series through the program of `func`, by the recurrences of Griewank and
    Walther, "Evaluating Derivatives" (2008), section 13.2. Products, quotients and elementary
    functions cost some K**2 times what they cost alone, where nested `functx.jvp` costs 2**K. Other
    functions with a derivative move by $y' = Df(x)[x']$.

    - `func`: a function of trees of floating or complex arrays that returns a tree of arrays.
    - `primals`: a tuple of positional arguments.
    - `series`: a list of the K derivatives of the curve, each a tuple like `primals` in structure,
      shapes and dtypes. `[(v,), (zeros,)]` is a straight line along `v`, to second order.
    - `has_aux`: whether `func` returns `(output, aux)`.

    `jax.experimental.jet.jet` takes the series of each argument, and this function those of all
    arguments, order by order.

    Shapes and dtypes: each derivative has those of the output; that of integers is zero.
    Errors: TypeError for integer primals and for terms of other dtypes, ValueError for terms of
    another structure or shape.

    >>> x, one, zero = jnp.float32(2), jnp.float32(1), jnp.float32(0)
    >>> line = [(one,), (zero,), (zero,)]
    >>> output, derivatives = functx.curvature.jet(lambda x: x**3, (x,), line)
    >>> [float(derivative) for derivative in derivatives]
    [12.0, 12.0, 6.0]
    """
    require_callable("jet", func)
    require_bools("jet", has_aux=has_aux)
    if not isinstance(primals, tuple) or not primals:
        fail(
            "jet",
            f"`primals` must be a tuple of the arguments of `func`, got {describe(primals)}",
            hint="primals=(x,) for one argument",
            error=TypeError,
        )
    if not isinstance(series, (list, tuple)):
        fail(
            "jet",
            f"`series` must be a list of tuples like `primals`, got {describe(series)}",
            error=TypeError,
        )
    primals = differentiable("jet", primals, numbered("primals", len(primals))).values
    leaves, structure = jax.tree.flatten(primals)
    terms = [
        matched("jet", f"series[{k}]", term, leaves, structure, "`primals`")
        for k, term in enumerate(series)
    ]
    function = checking("jet", func, has_aux, require_arrays)
    program = record(function, *primals)
    output, derivatives = outside_grad_mode(_along)(program, leaves, terms)
    if not has_aux:
        return output, derivatives
    return output[0], [derivative[0] for derivative in derivatives], output[1]


def _along(
    program: RecordedProgram, leaves: list[Any], terms: list[list[Any]]
) -> tuple[Any, list[Any]]:
    """The output of `program`, and its derivatives along a curve, trees like it."""
    order = len(terms)
    if order == 0:
        return program.output(interpret(program, leaves, bind)), []
    factors = [math.factorial(k) for k in range(1, order + 1)]
    inputs = [
        TaylorSeries(x, tuple(c / n for c, n in zip(curve, factors, strict=True)))
        for x, *curve in zip(leaves, *terms, strict=True)
    ]
    visitor = TaylorVisitor(order)
    found = interpret(program, inputs, visitor)
    values = [*map(visitor.value, found)]
    # What is no number, a key of the aux, has no derivative to multiply.
    by_order = [
        [y.terms[k] * factors[k] if visitor.moves(y) else _still(y) for y in found]
        for k in range(order)
    ]
    return program.output(values), [program.output(arrays) for arrays in by_order]


def _still(x: Any) -> Any:
    """The derivative of a result that does not move."""
    return x if kind_of(x) == "other" else jnp.zeros(np.shape(x), jnp.result_type(x))


@explain_unknown_keywords()
def mixed_partial(func: Callable[..., Any], orders: tuple[int, ...]) -> Callable[..., Any]:
    r"""The partial derivative of `func` of given orders in its arguments.

    `mixed_partial(f, (2, 1))(x, y)` is $\partial^3 f / \partial x^2 \partial y$. Univariate Taylor
    mode (`jet`) is nested, once for each argument: for orders $k_1, ..., k_n$ that costs about
    $\prod_i (k_i + 1)(k_i + 2) / 2$ evaluations of `func`. Interpolation of univariate series along
    several directions (Griewank, Utke and Walther, "Evaluating higher derivative tensors by forward
    propagation of univariate Taylor series", 2000) pays where all derivatives of an order are
    wanted, not one; it subtracts large numbers, and nested series do not.

    - `func`: a function whose arguments of positive order are real or complex numbers (arrays
      without dimensions), and which returns a tree of arrays.
    - `orders`: a tuple of integers that are not negative, those of the first positional arguments;
      the others, and keyword arguments, have order 0.

    Shapes and dtypes: those of the output. `functx.vmap` maps it over points.
    Errors: TypeError for orders that are no integers and for integer arguments of positive order;
    ValueError for negative orders, for more orders than arguments, and for arguments of positive
    order that have dimensions.

    >>> f = lambda x, y: x**3 * y**2
    >>> functx.curvature.mixed_partial(f, (2, 1))(jnp.float32(2), jnp.float32(3))
    Array(72., dtype=float32)
    """
    who = "mixed_partial"
    require_callable(who, func)
    if not isinstance(orders, tuple) or any(type(k) is not int for k in orders):
        fail(
            who,
            f"`orders` must be a tuple of integers, one for each argument, got {orders!r}",
            error=TypeError,
        )
    if any(k < 0 for k in orders):
        fail(who, f"`orders` must not be negative, got {orders}", error=ValueError)

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> Any:
        if len(orders) > len(args):
            fail(
                who,
                f"`orders` has {len(orders)} entries for {len(args)} positional arguments",
                error=ValueError,
            )
        for i, k in enumerate(orders):
            if k and np.ndim(args[i]) != 0:
                fail(
                    who,
                    f"`args[{i}]`, of order {k}, must be a number, got {describe(args[i])}",
                    hint="functx.vmap maps the derivative over points",
                    error=ValueError,
                )
        derivative = ft.partial(func, **kwargs)
        for i, k in enumerate(orders):
            derivative = _partial(derivative, i, k) if k else derivative
        return derivative(*args)

    return function


def _partial(func: Callable[..., Any], i: int, order: int) -> Callable[..., Any]:
    def derivative(*args: Any) -> Any:
        alone = lambda x: func(*args[:i], x, *args[i + 1 :])
        (x,) = differentiable("mixed_partial", (args[i],), (f"args[{i}]",)).values
        line = [(jnp.ones_like(x) if k == 0 else jnp.zeros_like(x),) for k in range(order)]
        return jet(alone, (x,), line)[1][-1]

    return derivative
