"""Forward mode of eager code: each call returns its results and their tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core.jax_compat import current_trace, set_current_trace, type_of

from .layers import joined, Layer, LayerValue, MutableArrays, needs_jax, Process, split
from .statics import Static


def eager_jvp(
    function: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool = False
) -> Any:
    """As `jax.jvp`: output and tangent, and what is beside the output with `has_aux`."""
    if not needs_jax((primals, tangents)):
        try:
            return _with_duals(function, primals, tangents, has_aux)
        except MutableArrays:
            pass
    return jax.jvp(function, primals, tangents, has_aux=has_aux)


def _with_duals(function: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool) -> Any:
    duals = Duals(current_trace())
    as_array = lambda x: x if isinstance(x, jax.Array) else jnp.asarray(x)
    inputs = jax.tree.map(lambda x, t: duals.part(as_array(x), t), primals, tangents)
    try:
        with set_current_trace(duals):
            result = function(*inputs)
    finally:
        duals.invalidate()
    output, aux = result if has_aux else (result, None)
    pair = jax.tree.map(duals.value_of, output), jax.tree.map(duals.tangent_of, output)
    return (*pair, jax.tree.map(duals.value_of, aux)) if has_aux else pair


class CallWithTangents(NamedTuple):
    """What running a call gives: results that move, their tangents, other results."""

    moving: list[Any]
    tangents: list[Any]
    others: list[Any]
    moves: Static[tuple[bool, ...]]


def with_tangents(
    process: Process, which: tuple[bool, ...], values: Sequence[Any], tangents: Sequence[Any]
) -> CallWithTangents:
    """Runs a call of which some arguments move along `tangents`."""
    moves: tuple[bool, ...] = ()

    def of_moving(*moving: Any) -> tuple[list[Any], list[Any]]:
        nonlocal moves
        rest = iter(moving)
        arguments = [next(rest) if m else x for m, x in zip(which, values, strict=True)]
        moves, results, others = split(process, arguments)
        return results, others

    moving = [x for m, x in zip(which, values, strict=True) if m]
    results, changes, others = jax.jvp(of_moving, moving, list(tangents), has_aux=True)
    return CallWithTangents(results, changes, others, Static(moves))


class Duals(Layer):
    """The trace of a function that runs with tangents. What moves is known by its tangent."""

    rule, shown, differentiates = staticmethod(with_tangents), "JVPTracer", True

    def part(self, value: Any, tangent: Any) -> LayerValue:
        """A value that moves along `tangent`."""
        return LayerValue(self, type_of(value), value, tangent)

    def tangent_of(self, x: Any) -> Any:
        """The tangent of a value, zeros of one that does not move."""
        if self.takes_part(x):
            return x.known
        if jnp.issubdtype(x.dtype, jnp.inexact):
            return jnp.zeros(x.shape, x.dtype)
        return np.zeros(x.shape, jax.dtypes.float0)

    def arguments(self, tracers: Sequence[Any], values: list[Any]) -> tuple[Any, ...]:
        return values, [x.known for x in tracers if self.takes_part(x)]

    def noted(
        self, tracers: Sequence[Any], values: list[Any], outcome: CallWithTangents
    ) -> list[Any]:
        results = list(map(self.part, outcome.moving, outcome.tangents))
        return joined(outcome.moves.value, results, outcome.others)
