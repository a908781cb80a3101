"""Layers of recurrent networks over whole sequences, in one direction or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import describe, refuse
from functx._ops.nn.dropped import dropped
from functx._ops.nn.ends import ended

from .directions import one_way, Weights
from .steps import RecurrentKind, State


class Network(NamedTuple):
    """The description of a network, without its arrays."""

    kind: RecurrentKind
    has_biases: bool
    num_layers: int
    bidirectional: bool


def over_sequence(
    network: Network,
    x: Array,
    states: State,
    params: Sequence[Array],
    kept: Array | None,
    dropout: Any,
    key: Array | None,
) -> tuple[Array, State]:
    """The last layer's hidden states `[T, N, D H]`, and each layer's last states.

    `x: [T, N, I]` and `states: [L D, N, H]`. Steps that are not `kept: [T, N]` change no state.
    """
    directions = 1 + network.bidirectional
    of_layers = _weights(network, states, params)
    last: list[State] = []
    for layer in range(network.num_layers):
        if layer and key is not None:
            x = dropped(x, dropout, jax.random.fold_in(key, layer))
        outputs = []
        for direction in range(directions):
            i = layer * directions + direction
            start = tuple(each[i] for each in states)
            found = one_way(network.kind, x, start, of_layers[i], kept, reverse=direction == 1)
            outputs.append(found[0])
            last.append(found[1])
        x = jnp.concatenate(outputs, -1)
    return x, tuple(jnp.stack(each) for each in zip(*last, strict=True))


def _weights(network: Network, states: State, params: Sequence[Array]) -> list[Weights]:
    many = network.num_layers * (1 + network.bidirectional)
    for each in states:
        if each.ndim != 3 or each.shape[0] != many:
            refuse(
                f"`hx` must be [{many}, N, H], for each layer and direction, got {describe(each)}"
            )
    projected = network.kind == "lstm" and states[0].shape[2] != states[1].shape[2]
    per = 2 + 2 * network.has_biases + projected
    if len(params) != many * per:
        refuse(
            f"`params` must be {many * per} arrays, {per} for each layer and direction, got "
            f"{len(params)}"
        )
    out = []
    for start in range(0, len(params), per):
        w_ih, w_hh, *rest = params[start : start + per]
        w_hr = rest.pop() if projected else None
        b_ih, b_hh = rest if rest else (None, None)
        if w_hr is not None and w_hr.shape != (states[0].shape[2], states[1].shape[2]):
            wanted = f"[{states[0].shape[2]}, {states[1].shape[2]}]"
            refuse(f"the projection must be {wanted}, got {describe(w_hr)}")
        out.append(Weights(w_ih, w_hh, b_ih, b_hh, w_hr))
    return out


class Packed(NamedTuple):
    """The places of the rows of packed sequences: first the rows of the first step, then those of
    the second, and so on.
    """

    rows: Array  # [T, N]: the row of the data for each step and sequence
    kept: Array  # [T, N]: whether there is such a row
    steps: Array  # the step of each row; `sequences` has its sequence
    sequences: Array


def unpacked(data: Array, batch_sizes: Array, number: int) -> Packed:
    """The places of the rows of `data`, where `batch_sizes: [T]` has the number of sequences at
    each step, in a batch of `number`.
    """
    sizes = batch_sizes.astype(jnp.int32)
    starts = jnp.cumsum(sizes, dtype=jnp.int32) - sizes
    lanes = jnp.arange(number, dtype=jnp.int32)
    along = jnp.arange(data.shape[0], dtype=jnp.int32)
    steps = ended(starts + sizes, along).astype(jnp.int32)
    steps = jnp.minimum(steps, sizes.shape[0] - 1)
    rows = jnp.minimum(starts[:, None] + lanes, max(data.shape[0] - 1, 0))
    return Packed(rows, lanes < sizes[:, None], steps, along - starts[steps])
