"""One direction of a layer over whole sequences.

A step reads the state before it, so the steps are a loop. The derivative is a loop of the tangents
of states. One product for all steps gives what the tangents of weights add to each, before the
loop. The transposed program has one product for the gradient of each weight in the same way, where
the derivative of the first loop adds up one for each step.
"""

from __future__ import annotations

import functools as ft
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core.devices.manual_axes import varying_like
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.nn.affine_maps import mapped

from .steps import check_gates, gates, RecurrentKind, State, stepped


class Weights(NamedTuple):
    """The weights of one direction of one layer."""

    w_ih: Array
    w_hh: Array
    b_ih: Array | None
    b_hh: Array | None
    w_hr: Array | None  # projects the hidden state


class _Given(NamedTuple):
    """What states are made of: `of_x: [T, N, gates H]` has the inputs' part of the gates, and steps
    that are not `kept: [T, N]` change no state.
    """

    of_x: Array
    kept: Array | None
    start: State
    w_hh: Array
    b_hh: Array | None
    w_hr: Array | None


def one_way(
    kind: RecurrentKind,
    x: Array,
    start: State,
    weights: Weights,
    kept: Array | None,
    *,
    reverse: bool,
) -> tuple[Array, State]:
    """The hidden states `[T, N, H]` for inputs `x: [T, N, I]`, and the last states."""
    size = start[-1].shape[-1]
    of_x = gates(kind, x, weights.w_ih, weights.b_ih, size, "ih")  # one product for all steps
    check_gates(kind, start[0], weights.w_hh, weights.b_hh, size, "hh")
    wide = tuple(each.astype(of_x.dtype) for each in start)
    given = _Given(of_x, kept, wide, weights.w_hh, weights.b_hh, weights.w_hr)
    states, _ = derivative_rules(
        ft.partial(_states, kind, reverse), jvp=ft.partial(_tangents, kind, reverse), name=kind
    )(*given)
    last = tuple(
        _with_start(*each, reverse=reverse)[0 if reverse else -1]
        for each in zip(wide, states, strict=True)
    )
    return states[0].astype(x.dtype), tuple(each.astype(x.dtype) for each in last)


def _states(kind: RecurrentKind, reverse: bool, *given: Any) -> tuple[State, Array]:
    """The states after each step, and the hidden states' part of its gates."""
    of_x, kept, start, w_hh, b_hh, w_hr = given
    # The loop reads the columns of a matrix that lies transposed: XLA's kernels are fastest there.
    columns = w_hh.T

    def step(state: State, here: tuple[Array, Array | None]) -> tuple[State, tuple[State, Array]]:
        of_x, keep = here
        of_h = lax.dot_general(
            state[0].astype(w_hh.dtype),
            columns,
            (((1,), (0,)), ((), ())),
            preferred_element_type=of_x.dtype,
        )
        of_h = of_h if b_hh is None else of_h + b_hh.astype(of_h.dtype)
        new = stepped(kind, of_x, of_h, state)
        if w_hr is not None:
            hidden = jnp.matmul(new[0].astype(w_hr.dtype), w_hr.T)
            new = hidden.astype(of_x.dtype), *new[1:]
        new = _chosen(keep, new, state)
        return new, (new, of_h)

    return lax.scan(step, start, (of_x, kept), reverse=reverse)[1]


def _tangents(
    kind: RecurrentKind, reverse: bool, primals: Any, found: tuple[State, Array], tangents: Any
) -> tuple[State, Array]:
    """The tangents of what `_states` found."""
    primal, tangent, (states, of_h) = _Given(*primals), _Given(*tangents), found
    dtype = primal.w_hh.dtype
    before = tuple(
        _with_start(*each, reverse=reverse)[slice(1, None) if reverse else slice(-1)]
        for each in zip(primal.start, states, strict=True)
    )
    hidden = before[0].astype(dtype)
    by_weights = mapped(hidden, tangent.w_hh, tangent.b_hh)
    by_projection = None
    if primal.w_hr is not None and tangent.w_hr is not None:
        unprojected = stepped(kind, primal.of_x, of_h, before)[0]
        by_projection = mapped(unprojected.astype(dtype), tangent.w_hr)

    def step(moved: State, here: Any) -> tuple[State, tuple[State, Array]]:
        at, keep, of_x, by_weights, by_projection = here
        of_h = by_weights + mapped(moved[0].astype(dtype), primal.w_hh)
        _, new = jax.jvp(ft.partial(stepped, kind), at, (of_x, of_h, moved))
        if primal.w_hr is not None:
            new = mapped(new[0].astype(dtype), primal.w_hr) + by_projection, *new[1:]
        new = _chosen(keep, new, moved)
        return new, (new, of_h)

    at = primal.of_x, of_h, before
    over_steps = at, primal.kept, tangent.of_x, by_weights, by_projection
    return lax.scan(step, tangent.start, over_steps, reverse=reverse)[1]


def _chosen(keep: Array | None, new: State, state: State) -> State:
    """`new` where a step is kept, `state` elsewhere."""
    if keep is not None:
        new = tuple(jnp.where(keep[:, None], a, b) for a, b in zip(new, state, strict=True))
    # A product without rows is a constant zero, which does not vary over a mesh as states do.
    return tuple(map(varying_like, new, state))


def _with_start(start: Array, states: Array, *, reverse: bool) -> Array:
    """`[T + 1, N, H]`: the states after each step, and the first, where the steps begin."""
    parts = (states, start[None]) if reverse else (start[None], states)
    return jnp.concatenate(parts)
