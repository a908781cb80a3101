"""A run of a recurrent network over sequences: checks of its arguments, and packed sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from functx._core import category, describe, is_probability, refuse, Requirement
from functx._ops.nn.dropped import may_drop

from .layers import Network, over_sequence, unpacked
from .steps import State


class RNNResult(NamedTuple):
    """The last layer's hidden states, and the last hidden states of each layer."""

    output: Array
    h_n: Array


def drops(*, dropout: Any, train: bool, num_layers: int, **_: Any) -> bool:
    return bool(train) and num_layers != 1 and may_drop(dropout)


def options_fit(
    *, input: Any, hx: Any, dropout: Any, batch_sizes: Any, **_: Any
) -> Iterator[Requirement]:
    yield is_probability(dropout, "dropout", error=ValueError)
    if batch_sizes is not None and batch_sizes.ndim == 1 and category(batch_sizes.dtype) == 1:
        first, total, rows = batch_sizes[:1], jnp.sum(batch_sizes), input.shape[0]
        ordered = (batch_sizes >= 0) & (batch_sizes <= jnp.roll(batch_sizes, 1).at[:1].set(first))
        yield Requirement(ordered, "`batch_sizes` must not increase, got {got}", batch_sizes)
        message = f"`batch_sizes` must sum to the {rows} rows of `input`, got {{got}}"
        yield Requirement(total == rows, message, total)
        states = hx[0] if isinstance(hx, (tuple, list)) else hx
        if states.ndim == 3:
            message = (
                f"`batch_sizes` must begin with {states.shape[1]}, as many as `hx`, got {{got}}"
            )
            yield Requirement(first == states.shape[1], message, first)


def sizes_may_come_second(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The arguments with `batch_sizes` as a keyword, also from PyTorch's form of packed sequences:
    `(data, batch_sizes, hx, params, ...)`.
    """
    if len(args) > 3 and isinstance(args[3], (tuple, list)):
        data, sizes, *rest = args
        return (data, *rest), kwargs | {"batch_sizes": sizes}
    return args, kwargs


def ran(
    network: Network,
    x: Array,
    states: State,
    params: Sequence[Array],
    dropout: Any,
    batch_first: bool,
    batch_sizes: Array | None,
    key: Array | None,
) -> tuple[Array, State]:
    packed = batch_sizes is not None
    if x.ndim != 3 - packed:
        wanted = (
            "[R, I] of packed sequences" if packed else "[T, N, I], or [N, T, I] if `batch_first`"
        )
        refuse(f"`input` must be {wanted}, got {describe(x)}")
    if network.num_layers < 1:
        refuse(f"`num_layers` must be at least 1, got {network.num_layers}")
    number = states[0].shape[1] if states[0].ndim == 3 else 0
    if not packed:
        x = jnp.swapaxes(x, 0, 1) if batch_first else x
        if any(each.ndim == 3 and each.shape[1] != x.shape[1] for each in states):
            refuse(f"`hx` must have a batch of {x.shape[1]}, got {describe(states[0])}")
        out, state = over_sequence(network, x, states, params, None, dropout, key)
        return jnp.swapaxes(out, 0, 1) if batch_first else out, state
    sizes = jnp.asarray(batch_sizes)
    if sizes.ndim != 1 or category(sizes.dtype) != 1 or not sizes.size:
        refuse(f"`batch_sizes` must be integers of 1 dimension, got {describe(sizes)}")
    at = unpacked(x, sizes, number)
    out, state = over_sequence(network, x[at.rows], states, params, at.kept, dropout, key)
    return out[at.steps, at.sequences], state
