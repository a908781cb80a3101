"""Recurrent networks over whole sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    ArraysOnly,
    Autocast,
    category,
    describe,
    Index,
    is_probability,
    Key,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
)
from functx._ops.nn.dropped import may_drop

from .layers import Network, over_sequence, unpacked
from .steps import State


__all__ = ["gru", "lstm", "rnn_relu", "rnn_tanh"]


class LSTMResult(NamedTuple):
    """The last layer's hidden states, and the last hidden and cell states of each layer."""

    output: Array
    h_n: Array
    c_n: Array


class RNNResult(NamedTuple):
    """The last layer's hidden states, and the last hidden states of each layer."""

    output: Array
    h_n: Array


def _drops(*, dropout: Any, train: bool, num_layers: int, **_: Any) -> bool:
    return bool(train) and num_layers != 1 and may_drop(dropout)


def _options_fit(
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


def _sizes_may_come_second(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """PyTorch's form of packed sequences: `(data, batch_sizes, hx, params, ...)`."""
    if len(args) > 3 and isinstance(args[3], (tuple, list)):
        data, sizes, *rest = args
        return (data, *rest), kwargs | {"batch_sizes": sizes}
    return args, kwargs


@overload
def lstm(
    input: ArrayOnly,
    hx: ArraysOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    key: Key = None,
) -> LSTMResult: ...
@overload
def lstm(
    data: ArrayOnly,
    batch_sizes: Index,
    hx: ArraysOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    *,
    key: Key = None,
) -> LSTMResult: ...
@operator(
    name="lstm",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
    random=True,
    draws=_drops,
    requires=_options_fit,
    form=_sizes_may_come_second,
    synonyms={"data": "input"},
)
def lstm(
    input: ArrayOnly,
    hx: ArraysOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    batch_sizes: Index | None = None,
    key: Key = None,
) -> LSTMResult:
    r"""LSTM over sequences: `lstm_cell` step by step, in `num_layers` layers.

    - `hx`: the first hidden and cell states.
    - `params`: for each layer, and of it for each direction, `w_ih`, `w_hh`, if `has_biases` `b_ih`
      and `b_hh`, and where hidden states are smaller than cell states `w_hr: [P, H]`, which
      projects them.
    - `dropout`: how likely an element between layers becomes 0 if `train`.
    - `bidirectional`: each layer reads forward and backward, and gives both results side by side.
    - `batch_first`: the dimension of the batch comes first in `input` and `output`.
    - `batch_sizes`: `input` holds packed sequences, the first step of all, then the second of those
      that have one, and so on: so many. It may come second, as in PyTorch; `batch_first` then says
      nothing. Errors: RuntimeError where it increases, does not sum to R or begin with N.

    Shapes: `input: [T, N, I]` and states `[L D, N, H]` of L layers and D directions give
    `[T, N, D H]` and the states; packed, `[R, I]` and `batch_sizes: [T]` give `[R, D H]`.

    >>> zero, w = jnp.zeros((1, 1, 1), "float32"), jnp.ones((4, 1), "float32")
    >>> functx.lstm(zero, (zero, zero + 2.0), (w, w), False, 1, 0.0, False, False).c_n
    Array([[[1.]]], dtype=float32)
    """
    if len(hx) != 2:
        refuse(f"`hx` must be two arrays, the hidden states and the cell states, got {len(hx)}")
    network = Network("lstm", has_biases, num_layers, bidirectional)
    out, state = _ran(network, input, tuple(hx), params, dropout, batch_first, batch_sizes, key)
    return LSTMResult(out, *state)


@overload
def gru(
    input: ArrayOnly,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    key: Key = None,
) -> RNNResult: ...
@overload
def gru(
    data: ArrayOnly,
    batch_sizes: Index,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    *,
    key: Key = None,
) -> RNNResult: ...
@operator(
    name="gru",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
    random=True,
    draws=_drops,
    requires=_options_fit,
    form=_sizes_may_come_second,
    synonyms={"data": "input"},
)
def gru(
    input: ArrayOnly,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    batch_sizes: Index | None = None,
    key: Key = None,
) -> RNNResult:
    """GRU over sequences: `gru_cell` step by step. Options, shapes: as for `lstm`.

    >>> zero, w = jnp.zeros((1, 1, 1), "float32"), jnp.ones((3, 1), "float32")
    >>> functx.gru(zero, zero + 2.0, (w, 0 * w), False, 1, 0.0, False, False).h_n
    Array([[[1.]]], dtype=float32)
    """
    network = Network("gru", has_biases, num_layers, bidirectional)
    return _of_one_state(network, input, hx, params, dropout, batch_first, batch_sizes, key)


@overload
def rnn_tanh(
    input: ArrayOnly,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    key: Key = None,
) -> RNNResult: ...
@overload
def rnn_tanh(
    data: ArrayOnly,
    batch_sizes: Index,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    *,
    key: Key = None,
) -> RNNResult: ...
@operator(
    name="rnn_tanh",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
    random=True,
    draws=_drops,
    requires=_options_fit,
    form=_sizes_may_come_second,
    synonyms={"data": "input"},
)
def rnn_tanh(
    input: ArrayOnly,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    batch_sizes: Index | None = None,
    key: Key = None,
) -> RNNResult:
    """Elman's network over sequences: `rnn_tanh_cell` step by step. Options, shapes: as for `lstm`.

    >>> zero, w = jnp.zeros((2, 1, 1), "float32"), jnp.ones((1, 1), "float32")
    >>> functx.rnn_tanh(zero, zero[:1], (w, w), False, 1, 0.0, False, False).output.shape
    (2, 1, 1)
    """
    network = Network("rnn_tanh", has_biases, num_layers, bidirectional)
    return _of_one_state(network, input, hx, params, dropout, batch_first, batch_sizes, key)


@overload
def rnn_relu(
    input: ArrayOnly,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    key: Key = None,
) -> RNNResult: ...
@overload
def rnn_relu(
    data: ArrayOnly,
    batch_sizes: Index,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    *,
    key: Key = None,
) -> RNNResult: ...
@operator(
    name="rnn_relu",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
    random=True,
    draws=_drops,
    requires=_options_fit,
    form=_sizes_may_come_second,
    synonyms={"data": "input"},
)
def rnn_relu(
    input: ArrayOnly,
    hx: ArrayOnly,
    params: ArraysOnly,
    has_biases: bool,
    num_layers: int,
    dropout: Scalar,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    *,
    batch_sizes: Index | None = None,
    key: Key = None,
) -> RNNResult:
    """`rnn_relu_cell` over sequences, step by step. Options, shapes: as for `lstm`.

    >>> one, w = jnp.ones((2, 1, 1), "float32"), jnp.ones((1, 1), "float32")
    >>> functx.rnn_relu(one, 0 * one[:1], (w, w), False, 1, 0.0, False, False).h_n
    Array([[[2.]]], dtype=float32)
    """
    network = Network("rnn_relu", has_biases, num_layers, bidirectional)
    return _of_one_state(network, input, hx, params, dropout, batch_first, batch_sizes, key)


def _of_one_state(network: Network, input: Array, hx: Array, *rest: Any) -> RNNResult:
    out, state = _ran(network, input, (hx,), *rest)
    return RNNResult(out, *state)


def _ran(
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
