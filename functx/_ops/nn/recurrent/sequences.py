"""Recurrent networks over whole sequences."""

from __future__ import annotations

from typing import Any, NamedTuple, overload

from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    ArraysOnly,
    Autocast,
    Generator,
    Index,
    Key,
    operator,
    Promote,
    refuse,
    Scalar,
)

from .layers import Network
from .runs import drops, options_fit, ran, RNNResult, sizes_may_come_second


__all__ = ["gru", "lstm", "rnn_relu", "rnn_tanh"]


class LSTMResult(NamedTuple):
    """The last layer's hidden states, and the last hidden and cell states of each layer."""

    output: Array
    h_n: Array
    c_n: Array


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
    generator: Generator | None = None,
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
    generator: Generator | None = None,
) -> LSTMResult: ...
@operator(
    name="lstm",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    random=True,
    needs_key=drops,
    requires=options_fit,
    other_signatures=sizes_may_come_second,
    synonyms={"data": "input"},
    autocast=Autocast.LOWER,
    autocast_cpu=Autocast.KEEP,
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
    generator: Generator | None = None,
) -> LSTMResult:
    """LSTM over sequences: `lstm_cell` step by step (Hochreiter and Schmidhuber, 1997).

    Shapes: `input: [T, N, I]` and states `[L D, N, H]` give `(output, h_n, c_n)` for
    `L = num_layers`, of which each reads the one before, and `D` directions: the last layer's
    hidden states `[T, N, D H]`, and the last states of each layer.

    - `hx`: the first hidden and cell states, a pair.
    - `params`: `w_ih`, `w_hh` and, if `has_biases`, `b_ih` and `b_hh`, for each layer and within it
      for each direction. Where hidden states are smaller than cell states, `w_hr: [P, H]` follows,
      which projects them.
    - `dropout`, `train`: the probability that an element between layers becomes 0, and whether any
      does.
    - `bidirectional`: whether each layer reads in both directions, side by side in the output.
    - `batch_first`: whether the dimension of the batch comes first in `input` and `output`.
    - `batch_sizes: [T]`: how many sequences there are at each step, where `input: [R, I]` holds
      packed sequences: the first step of all, then the second of those that have one, and so on.
      The output is `[R, D H]`. As in PyTorch it may come second. `batch_first` is then ignored.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Dtypes: one floating dtype for all but `batch_sizes`; float16 and bfloat16 use float32 inside.
    Errors: RuntimeError for shapes that do not fit, and for `batch_sizes` that increase, do not sum
    to `R` or do not begin with `N`; ValueError for a `dropout` outside of [0, 1]; TypeError for
    dtypes.

    >>> zero, w = jnp.zeros((1, 1, 1), "float32"), jnp.ones((4, 1), "float32")
    >>> functx.lstm(zero, (zero, zero + 2.0), (w, w), False, 1, 0.0, False, False).c_n
    Array([[[1.]]], dtype=float32)
    """
    if len(hx) != 2:
        refuse(f"`hx` must be two arrays, the hidden states and the cell states, got {len(hx)}")
    network = Network("lstm", has_biases, num_layers, bidirectional)
    out, state = ran(network, input, tuple(hx), params, dropout, batch_first, batch_sizes, key)
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
    generator: Generator | None = None,
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
    generator: Generator | None = None,
) -> RNNResult: ...
@operator(
    name="gru",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    random=True,
    needs_key=drops,
    requires=options_fit,
    other_signatures=sizes_may_come_second,
    synonyms={"data": "input"},
    autocast=Autocast.LOWER,
    autocast_cpu=Autocast.KEEP,
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
    generator: Generator | None = None,
) -> RNNResult:
    """GRU over sequences: `gru_cell` step by step (Cho et al., 2014).

    Shapes: `input: [T, N, I]` and states `[L D, N, H]` give `(output, h_n)` for `L = num_layers`,
    of which each reads the one before, and `D` directions: the last layer's hidden states
    `[T, N, D H]`, and the last states of each layer.

    - `hx`: the first states.
    - `params`: `w_ih`, `w_hh` and, if `has_biases`, `b_ih` and `b_hh`, for each layer and within it
      for each direction.
    - `dropout`, `train`: the probability that an element between layers becomes 0, and whether any
      does.
    - `bidirectional`: whether each layer reads in both directions, side by side in the output.
    - `batch_first`: whether the dimension of the batch comes first in `input` and `output`.
    - `batch_sizes: [T]`: how many sequences there are at each step, where `input: [R, I]` holds
      packed sequences: the first step of all, then the second of those that have one, and so on.
      The output is `[R, D H]`. As in PyTorch it may come second. `batch_first` is then ignored.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Dtypes: one floating dtype for all but `batch_sizes`; float16 and bfloat16 use float32 inside.
    Errors: RuntimeError for shapes that do not fit, and for `batch_sizes` that increase, do not sum
    to `R` or do not begin with `N`; ValueError for a `dropout` outside of [0, 1]; TypeError for
    dtypes.

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
    generator: Generator | None = None,
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
    generator: Generator | None = None,
) -> RNNResult: ...
@operator(
    name="rnn_tanh",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    random=True,
    needs_key=drops,
    requires=options_fit,
    other_signatures=sizes_may_come_second,
    synonyms={"data": "input"},
    autocast=Autocast.LOWER,
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
    generator: Generator | None = None,
) -> RNNResult:
    """Elman's network over sequences: `rnn_tanh_cell` step by step, in several layers (Elman,
    1990).

    Shapes: `input: [T, N, I]` and states `[L D, N, H]` give `(output, h_n)` for `L = num_layers`,
    of which each reads the one before, and `D` directions: the last layer's hidden states
    `[T, N, D H]`, and the last states of each layer.

    - `hx`: the first states.
    - `params`: `w_ih`, `w_hh` and, if `has_biases`, `b_ih` and `b_hh`, for each layer and within it
      for each direction.
    - `dropout`, `train`: the probability that an element between layers becomes 0, and whether any
      does.
    - `bidirectional`: whether each layer reads in both directions, side by side in the output.
    - `batch_first`: whether the dimension of the batch comes first in `input` and `output`.
    - `batch_sizes: [T]`: how many sequences there are at each step, where `input: [R, I]` holds
      packed sequences: the first step of all, then the second of those that have one, and so on.
      The output is `[R, D H]`. As in PyTorch it may come second. `batch_first` is then ignored.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Dtypes: one floating dtype for all but `batch_sizes`; float16 and bfloat16 use float32 inside.
    Errors: RuntimeError for shapes that do not fit, and for `batch_sizes` that increase, do not sum
    to `R` or do not begin with `N`; ValueError for a `dropout` outside of [0, 1]; TypeError for
    dtypes.

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
    generator: Generator | None = None,
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
    generator: Generator | None = None,
) -> RNNResult: ...
@operator(
    name="rnn_relu",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    random=True,
    needs_key=drops,
    requires=options_fit,
    other_signatures=sizes_may_come_second,
    synonyms={"data": "input"},
    autocast=Autocast.LOWER,
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
    generator: Generator | None = None,
) -> RNNResult:
    """Elman's network with rectifiers over sequences: `rnn_relu_cell` step by step.

    Shapes: `input: [T, N, I]` and states `[L D, N, H]` give `(output, h_n)` for `L = num_layers`,
    of which each reads the one before, and `D` directions: the last layer's hidden states
    `[T, N, D H]`, and the last states of each layer.

    - `hx`: the first states.
    - `params`: `w_ih`, `w_hh` and, if `has_biases`, `b_ih` and `b_hh`, for each layer and within it
      for each direction.
    - `dropout`, `train`: the probability that an element between layers becomes 0, and whether any
      does.
    - `bidirectional`: whether each layer reads in both directions, side by side in the output.
    - `batch_first`: whether the dimension of the batch comes first in `input` and `output`.
    - `batch_sizes: [T]`: how many sequences there are at each step, where `input: [R, I]` holds
      packed sequences: the first step of all, then the second of those that have one, and so on.
      The output is `[R, D H]`. As in PyTorch it may come second. `batch_first` is then ignored.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Dtypes: one floating dtype for all but `batch_sizes`; float16 and bfloat16 use float32 inside.
    Errors: RuntimeError for shapes that do not fit, and for `batch_sizes` that increase, do not sum
    to `R` or do not begin with `N`; ValueError for a `dropout` outside of [0, 1]; TypeError for
    dtypes.

    >>> one, w = jnp.ones((2, 1, 1), "float32"), jnp.ones((1, 1), "float32")
    >>> functx.rnn_relu(one, 0 * one[:1], (w, w), False, 1, 0.0, False, False).h_n
    Array([[[2.]]], dtype=float32)
    """
    network = Network("rnn_relu", has_biases, num_layers, bidirectional)
    return _of_one_state(network, input, hx, params, dropout, batch_first, batch_sizes, key)


def _of_one_state(network: Network, input: Array, hx: Array, *rest: Any) -> RNNResult:
    out, state = ran(network, input, (hx,), *rest)
    return RNNResult(out, *state)
