"""Gradients with respect to named points of a function, and the values there."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax

from functx._core.context.grad_modes import outside_grad_mode
from functx._core.jax_compat import JaxprEqn
from functx._core.randomness.ambient_generator import drawing, recording
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.tangent_types import inexact
from functx._transforms.arguments import (
    Argnums,
    checked_argnums,
    differentiable,
    pick,
    require_bools,
    require_callable,
)
from functx._transforms.concretization import tracing
from functx._transforms.grad import gradients_of
from functx._transforms.numbers import array_of_program
from functx._transforms.outputs import checking, require_scalar
from functx._transforms.programs.recording import record

from .primitive import tap_point
from .replay import replay, Supplies
from .sites import asked_for, TapSite


__all__ = ["tap_grads", "tap_values", "value_and_tap_grads"]

TapNames = str | tuple[str, ...] | list[str] | None


def tap_grads(
    func: Callable[..., Any],
    names: TapNames = None,
    *,
    argnums: Argnums | None = None,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """The gradients of `func`, which returns one real scalar, with respect to its named taps.

    Returns a function of the same arguments, whose result is a dict: by name, a tree like what
    `functx.taps.tap(x, name)` was given, `None` for its integers.

    - `names`: the taps to differentiate with respect to; by default all.
    - `argnums`: arguments to differentiate with respect to as well: a position, a name, or a tuple
      of those. The result is `(taps, gradients)` then. None is no argument.
    - `has_aux`: `func` returns `(loss, aux)`, and `(result, aux)` comes back.

    A tap is a point of the program: its gradient is that of all that is computed from what `tap`
    returns, after the tap's own `on_grad`. A tap that the loss does not depend on has zeros. In
    a `scan` gradients are stacked, one for each step, and in a `vmap` one for each lane, along a
    new first axis; in a `cond` they are zeros where another branch is taken.

    `func` is recorded as by `jax.jit`, so that Python cannot branch on values.

    Errors: ValueError for a name that no tap has (it lists those there are) or several have, and
    for a tap in a `while_loop` or a function with a derivative rule of its own.

    >>> def loss(w, x):
    ...     hidden = functx.taps.tap(w * x, "hidden")
    ...     return (hidden**2).sum()
    >>> w, x = jnp.asarray([1, 2], "float32"), jnp.asarray([3, 4], "float32")
    >>> functx.taps.tap_grads(loss)(w, x)
    {'hidden': Array([ 6., 16.], dtype=float32)}
    >>> functx.taps.tap_grads(loss, "hidden", argnums=0)(w, x)
    ({'hidden': Array([ 6., 16.], dtype=float32)}, Array([18., 64.], dtype=float32))
    """
    compute = _gradients_of("tap_grads", func, names, argnums, has_aux)

    @ft.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, result, aux = compute(args, kwargs)
        return (result, aux) if has_aux else result

    return gradient


def value_and_tap_grads(
    func: Callable[..., Any],
    names: TapNames = None,
    *,
    argnums: Argnums | None = None,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """The value of `func`, which returns one real scalar, and its gradients in its named taps.

    Returns a function of the same arguments, whose result is `(value, taps)`, or
    `((value, aux), taps)` with `has_aux`. `taps` is a dict from names to trees, like those that
    `functx.taps.tap(x, name)` is given.

    - `func`: the loss, with calls of `functx.taps.tap`. It is recorded as by `jax.jit`, so that
      Python cannot branch on values.
    - `names`: the taps to differentiate with respect to, a name or several; None is all.
    - `argnums`: arguments to differentiate with respect to as well: positions or names;
      `(taps, gradients)` takes the place of `taps` then. None is no argument.
    - `has_aux`: whether `func` returns `(value, aux)`.

    In a `scan` gradients are stacked, one for each step, along a new first axis, and in a `vmap`
    one for each lane; in a `cond` they are zeros where another branch is taken.

    Errors: ValueError for a name that no tap has or several have, and for a tap in a `while_loop`
    or a function with a derivative rule of its own.

    >>> f = lambda x: functx.taps.tap(2 * x, "twice") ** 2
    >>> functx.taps.value_and_tap_grads(f)(jnp.float32(3))
    (Array(36., dtype=float32), {'twice': Array(12., dtype=float32)})
    """
    compute = _gradients_of("value_and_tap_grads", func, names, argnums, has_aux)

    @ft.wraps(func)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        value, result, aux = compute(args, kwargs)
        return (value, aux) if has_aux else value, result

    return value_and_gradient


def tap_values(func: Callable[..., Any], names: TapNames = None) -> Callable[..., Any]:
    """The output of `func`, and the values at its named taps.

    Returns a function of the same arguments, whose result is `(output, values)`; `values` is a dict
    from names to trees, like those that `functx.taps.tap(x, name)` is given.

    - `func`: a function with calls of `functx.taps.tap`. It is recorded as by `jax.jit`, so that
      Python cannot branch on values.
    - `names`: the taps to read, a name or several; None is all.

    In a `scan` values are stacked, one for each step, along a new first axis, and in a `vmap` one
    for each lane. In a `cond` a tap must lie in all branches, with equal shapes.

    Errors: ValueError for a name that no tap has or several have, and for a tap in a `while_loop`.

    >>> functx.taps.tap_values(lambda x: functx.taps.tap(2 * x, "twice") + 1)(jnp.float32(3))
    (Array(7., dtype=float32), {'twice': Array(6., dtype=float32)})
    """
    require_callable("tap_values", func)

    @ft.wraps(func)
    def output_and_values(*args: Any, **kwargs: Any) -> Any:
        def compute(draw: Any) -> tuple[Any, Any]:
            recorded = record(recording(lambda: tracing("tap_values", func, *args, **kwargs)), draw)
            sites = asked_for("tap_values", recorded, names, always=True)

            def visit(eqn: JaxprEqn, operands: list[Any], _: Supplies) -> Any:
                results = tap_point.bind(*map(array_of_program, operands), **eqn.params)
                return results, {eqn.params["tap"].name: results}

            leaves = jax.tree.leaves(draw)
            results, found = replay(recorded, leaves, _is_tap_of(sites), visit, {})
            output, drawn = recorded.output(results)
            values = {name: s.tap.tree.unflatten(found[name]) for name, s in sites.items()}
            return (output, values), drawn

        return drawing(compute)

    return output_and_values


def _gradients_of(
    who: str, func: Callable[..., Any], names: TapNames, argnums: Argnums | None, has_aux: bool
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any, Any]]:
    """A function from a call's arguments to the value, what is asked for, and aux (or None)."""
    require_callable(who, func)
    require_bools(who, has_aux=has_aux)
    which = () if argnums is None else checked_argnums(who, argnums)

    def compute(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        function, values, paths = pick(who, func, which, args, kwargs)
        values = differentiable(who, values, paths).values
        loss = checking(who, function, has_aux, require_scalar)
        value, aux, (taps, gradients) = drawing(_differentiated, who, loss, names, has_aux, values)
        if argnums is None:
            return value, taps, aux
        return value, (taps, tuple(gradients) if isinstance(argnums, tuple) else gradients[0]), aux

    return outside_grad_mode(compute)


def _differentiated(
    draw: Any, who: str, loss: Callable[..., Any], names: TapNames, has_aux: bool, values: Any
) -> tuple[Any, Any]:
    recorded = record(recording(loss), draw, *values)
    sites = asked_for(who, recorded, names, always=False)

    def visit(eqn: JaxprEqn, operands: list[Any], supplies: Supplies) -> Any:
        steps = iter(supplies[eqn.params["tap"].name])
        moved = [_moved(x, next(steps)) if inexact(x) else x for x in operands]
        return tap_point.bind(*moved, **eqn.params), {}

    def with_steps(steps: Supplies, *values: Any) -> tuple[Any, list[Any]]:
        leaves = jax.tree.leaves((draw, *values))
        results, _ = replay(recorded, leaves, _is_tap_of(sites), visit, steps)
        return results[0], results  # the loss is the first leaf of whatever `loss` returns

    steps = {name: site.zeros() for name, site in sites.items()}
    compute = gradients_of(who, with_steps, tuple(range(1 + len(values))), True)
    (by_name, *gradients), value, results = compute((steps, *values), {})
    output, drawn = recorded.output([value, *results[1:]])
    taps = {name: site.gradients(by_name[name]) for name, site in sites.items()}
    return (*(output if has_aux else (output, None)), (taps, gradients)), drawn


def _is_tap_of(sites: dict[str, TapSite]) -> Callable[[JaxprEqn], bool]:
    return lambda eqn: eqn.primitive is tap_point and eqn.params["tap"].name in sites


# The identity in `x`, whose derivative by `step` is that by `x`.
_moved = derivative_rules(
    lambda x, step: x, jvp=lambda _, __, tangents: tangents[0] + tangents[1], name="tap_grads"
)
