"""Roots and fixed points, differentiated by their equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from functx._core import describe, fail
from functx._core.rules.custom_derivatives import derivative_rules
from functx._transforms.numbers import giving_arrays

from .closures import explicit, Solver
from .linear import (
    dense_solve,
    like_result,
    LinearSolve,
    numbers_like,
    require_inexact,
    require_like,
    solved,
)


__all__ = ["custom_fixed_point", "custom_root"]

Equation = Callable[[Any], Any]
Solve = Callable[[Equation, Any], Any]


def custom_root(
    f: Equation, initial_guess: Any, solve: Solve, tangent_solve: LinearSolve | None = None
) -> Any:
    r"""The $x$ with $f(x) = 0$ that `solve` finds, differentiated by the implicit function theorem.

    $\dot x = -(\partial f/\partial x)^{-1}\,\partial f/\partial\theta\;\dot\theta$ in all $\theta$
    that `f` closes over, in both modes, to every order and under every transform; the steps of
    `solve` are never differentiated.

    - `f`: takes a tree of floating or complex arrays, and returns one like it.
    - `initial_guess`: such a tree; it has no derivative.
    - `solve(f, initial_guess)`: returns the root: a `lax.while_loop`, Newton's method, NumPy in a
      `jax.pure_callback`. If nothing is traced, it is called with arrays at hand.
    - `tangent_solve(linear, b)`: solves `linear(x) = b` for linear maps like
      $\partial f/\partial x$ and its transpose. None makes the dense matrix, as in
      `custom_linear_solve`.

    Shapes and dtypes: those of `initial_guess`.
    Errors: TypeError and ValueError if `f` or `solve` return a tree that is not like
    `initial_guess`. Where $\partial f/\partial x$ is singular, the derivative is not finite.

    >>> def newton(f, x):
    ...     return jax.lax.fori_loop(0, 20, lambda _, x: x - f(x) / jax.grad(f)(x), x)
    >>> def square_root(a):
    ...     return functx.implicit.custom_root(lambda x: x * x - a, jnp.ones_like(a), newton)
    >>> functx.grad(square_root)(jnp.float32(4))
    Array(0.25, dtype=float32)
    """
    return _solved("custom_root", "f", f, f, initial_guess, solve, tangent_solve)


def custom_fixed_point(
    f: Equation, initial_guess: Any, solve: Solve, tangent_solve: LinearSolve | None = None
) -> Any:
    r"""The $x = f(x)$ that `solve` finds, differentiated by the implicit function theorem.

    $\dot x = (1 - \partial f/\partial x)^{-1}\,\partial
    f/\partial\theta\;\dot\theta$ in all $\theta$ that `f` closes over, in both modes, to every
    order; the steps of `solve` are never differentiated.

    - `f`: takes a tree of floating or complex arrays, and returns one like it.
    - `initial_guess`: such a tree; it has no derivative.
    - `solve(f, initial_guess)`: returns the fixed point; it may just repeat `f`.
    - `tangent_solve(linear, b)`: solves `linear(x) = b` for linear maps like
      $1 - \partial f/\partial x$ and its transpose. None makes the dense matrix.

    Shapes and dtypes: those of `initial_guess`.
    Errors: TypeError and ValueError if `f` or `solve` return a tree that is not like
    `initial_guess`. Where $1 - \partial f/\partial x$ is singular, the derivative is not finite.

    >>> def repeat(f, x):
    ...     return jax.lax.while_loop(lambda x: jnp.abs(f(x) - x) > 1e-6, f, x)
    >>> def kepler(mean_anomaly, eccentricity):
    ...     step = lambda angle: mean_anomaly + eccentricity * jnp.sin(angle)
    ...     return functx.implicit.custom_fixed_point(step, mean_anomaly, repeat)
    >>> round(float(functx.grad(kepler)(jnp.float32(1), jnp.float32(0.2))), 3)
    1.081
    """

    def difference(x: Any) -> Any:
        return jax.tree.map(lambda y, x: y - x, f(x), x)

    return _solved("custom_fixed_point", "f", difference, f, initial_guess, solve, tangent_solve)


def _solved(
    who: str,
    name: str,
    equation: Equation,  # what is zero at the solution
    given: Equation,  # what `solve` is called with
    guess: Any,
    solve: Solve,
    tangent_solve: LinearSolve | None,
) -> Any:
    for what, func in [(name, given), ("solve", solve), ("tangent_solve", tangent_solve)]:
        if not callable(func) and (func is not None or what != "tangent_solve"):
            fail(who, f"`{what}` must be callable, got {describe(func)}", error=TypeError)
    guess = like_result(given, guess)
    require_inexact(who, "initial_guess", guess)
    result = jax.eval_shape(giving_arrays(given), guess)
    require_like(who, f"`{name}(initial_guess)`", result, guess)
    zero, closed = explicit(equation, guess)
    step, closed_in_step = explicit(given, guess)
    finder = Solver(who, "solve", name, solve)
    tangents_of = Solver(who, "tangent_solve", name, tangent_solve or dense_solve)

    def forward(guess: Any, closed_in_step: Any, active: Any, fixed: Any) -> Any:
        found = numbers_like(solve(lambda x: step(closed_in_step, x), guess), guess)
        require_like(who, "what `solve` returns", found, guess)
        return found

    def jvp(primals: Any, x: Any, tangents: Any) -> Any:
        *_, active, fixed = primals
        along = (active,), (tangents[2],)
        _, change = jax.jvp(lambda active: zero((active, fixed), x), *along)

        def slope(direction: Any) -> Any:
            return jax.jvp(lambda x: zero((active, fixed), x), (x,), (direction,))[1]

        return solved(slope, jax.tree.map(jnp.negative, change), tangents_of, tangents_of)

    def vjp(primals: Any, x: Any, cotangent: Any) -> Any:
        *_, active, fixed = primals
        slope = jax.vjp(lambda x: zero((active, fixed), x), x)[1]
        pulled = solved(lambda y: slope(y)[0], cotangent, tangents_of, tangents_of)
        pull = jax.vjp(lambda active: zero((active, fixed), x), active)[1]
        return None, None, jax.tree.map(jnp.negative, *pull(pulled)), None

    ruled = derivative_rules(forward, jvp=jvp, vjp=vjp, name=who)
    with finder.running():
        return ruled(guess, closed_in_step, *closed)
