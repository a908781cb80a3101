"""Optimizer steps taken inside the backward pass."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax

from functx._core import describe, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.jax_compat import JaxprEqn, Literal
from functx._core.numbers.weak_types import strong_tree
from functx._core.randomness.ambient_generator import drawing, recording
from functx._transforms.arguments import outline
from functx._transforms.grad import gradients_of
from functx._transforms.numbers import array_of_program, as_arrays
from functx._transforms.programs.interpreting import bind, interpret
from functx._transforms.programs.recording import record
from functx._transforms.tangents import matched


__all__ = ["fused_update"]


def fused_update(
    func: Callable[..., Any], step: Callable[[Any, Any, Any], Any], *, has_aux: bool = False
) -> Callable[..., Any]:
    """One step of training `func`, which updates each parameter as soon as its gradient is known.

    Returns `update(params, state, *args)`, whose result is `(params, state, value)`, and
    `(params, state, (value, aux))` with `has_aux`.

    - `func(params, *args)`: the loss, one real scalar; `params` is a tree of arrays.
    - `step(param, gradient, state)`: for one array of `params`, a pair like `(param, state)`.
    - `state`: a tree like `params`, with any tree in the place of each array.

    `func` is recorded as by `jax.jit`. Called eagerly, a gradient is let go of before the backward
    pass goes on, so that no more than one compiled call makes are there at once. Under `jax.jit`,
    XLA orders what it computes: each step depends on its own gradient alone, and with
    `donate_argnums=(0, 1)` is written over the old parameters. A step that needs all gradients,
    such as clipping by their common norm, is no `fused_update`.

    Errors: TypeError and ValueError for a parameter that `step` returns with another shape or
    dtype, or a state with another tree.

    >>> def momentum(param, gradient, state):
    ...     state = 0.9 * state + gradient
    ...     return param - 0.125 * state, state
    >>> update = functx.taps.fused_update(lambda w, x: ((w * x) ** 2).sum(), momentum)
    >>> x = jnp.asarray([1, 2], "float32")
    >>> w, state, value = update(jnp.ones_like(x), jnp.zeros_like(x), x)
    >>> w
    Array([0.75, 0.  ], dtype=float32)
    """
    compute = gradients_of("fused_update", func, 0, has_aux)
    if not callable(step):
        fail("fused_update", f"`step` must be callable, got {step!r}", error=TypeError)

    @ft.wraps(func)
    def update(params: Any, state: Any, /, *args: Any, **kwargs: Any) -> Any:
        def gradients(params: Any) -> Any:
            gradient, value, aux = compute((params, *args), kwargs)
            return gradient, (value, aux) if has_aux else value

        params = as_arrays(params)
        leaves, tree = jax.tree.flatten(params)
        steps = _UpdateSteps(step, leaves, _states(tree, state))
        rest = drawing(outside_grad_mode(steps.run), gradients, params)
        return tree.unflatten(steps.params), tree.unflatten(steps.states), rest

    return update


class _UpdateSteps:
    """The parameters, replaced one by one while the program runs that computes gradients."""

    def __init__(
        self, step: Callable[..., Any], params: Sequence[Any], states: Sequence[Any]
    ) -> None:
        self.step, self.params, self.states = step, list(params), list(states)

    def run(self, draw: Any, gradients: Callable[..., Any], params: Any) -> tuple[Any, Any]:
        recorded = record(recording(gradients), draw, params)
        jaxpr = recorded.jaxpr
        count = len(self.params)  # the gradients are the first leaves of the output
        waiting: dict[Any, list[int]] = {}
        for i, x in enumerate(jaxpr.outvars[:count]):
            if not isinstance(x, Literal):
                waiting.setdefault(x, []).append(i)

        def run_and_update(eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
            results = bind(eqn, operands)
            for x, gradient in zip(eqn.outvars, results, strict=True):
                for i in waiting.pop(x, ()):
                    self.update(i, gradient)
            return results

        made = {x for eqn in jaxpr.eqns for x in eqn.outvars}
        constant = [
            i
            for i, x in enumerate(jaxpr.outvars[:count])
            if isinstance(x, Literal) or x not in made
        ]
        outputs = [*jaxpr.outvars[count:], *(jaxpr.outvars[i] for i in constant)]
        results = interpret(recorded, jax.tree.leaves((draw, params)), run_and_update, outputs)
        rest = results[: len(results) - len(constant)]
        for i, gradient in zip(constant, results[len(rest) :], strict=True):
            self.update(i, gradient)
        (_, value), drawn = recorded.output([*[None] * count, *rest])
        return value, drawn

    def update(self, i: int, gradient: Any) -> None:
        """Takes the step of parameter `i`."""
        old, state = self.params[i], self.states[i]
        got = self.step(old, array_of_program(gradient), state)
        if not isinstance(got, tuple) or len(got) != 2:
            message = f"`step` must return a pair (param, state), got {describe(got)}"
            fail("fused_update", message, error=TypeError)
        given, new = jax.tree.structure(state), jax.tree.structure(got[1])
        if given != new:
            fail(
                "fused_update",
                f"`step` must return a state like the one it was given, {outline(given)}, got "
                f"{outline(new)}",
                error=ValueError,
            )
        what = "step(param, gradient, state)[0]"
        leaf = jax.tree.structure(0)
        self.params[i] = matched("fused_update", what, got[0], [old], leaf, "the parameter")[0]
        self.states[i] = strong_tree(got[1])


def _states(tree: Any, state: Any) -> list[Any]:
    try:
        return tree.flatten_up_to(state)
    except ValueError:
        fail(
            "fused_update",
            f"`state` must have a tree for each array of `params`, {outline(tree)}, got "
            f"{outline(jax.tree.structure(state))}",
            error=ValueError,
        )
