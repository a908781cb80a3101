"""One step of a recurrent network."""

from __future__ import annotations

from typing import NamedTuple

from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    ArraysOnly,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
)

from .steps import gates, RecurrentKind, State, stepped


__all__ = ["gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"]


class LSTMCellResult(NamedTuple):
    """The hidden state and the cell state after a step."""

    h: Array
    c: Array


@operator(
    name="lstm_cell",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
    autocast_cpu=Autocast.KEEP,
)
def lstm_cell(
    input: ArrayOnly,
    hx: ArraysOnly,
    w_ih: ArrayOnly,
    w_hh: ArrayOnly,
    b_ih: ArrayOnly | None = None,
    b_hh: ArrayOnly | None = None,
) -> LSTMCellResult:
    r"""A step of an LSTM: $c' = \sigma(f)\, c + \sigma(i) \tanh(g)$, $h' = \sigma(o) \tanh(c')$
    (Hochreiter and Schmidhuber, 1997).

    The gates $i, f, g, o$ are the quarters of $W_{ih} x + b_{ih} + W_{hh} h + b_{hh}$, in this
    order.
    Shapes: `input: [N, I]` gives $h'$ and $c'$, both `[N, H]`; or all without `N`.

    - `hx`: $h$ and $c$, both `[N, H]`.
    - `w_ih: [4 H, I]`, `w_hh: [4 H, H]`: the weights $W_{ih}$ and $W_{hh}$.
    - `b_ih`, `b_hh`: the biases $b_{ih}$ and $b_{hh}$, `[4 H]`, or both None for none.

    Dtypes: all arrays have one floating dtype; float16 and bfloat16 are computed in float32.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> one, zero = jnp.ones((4, 1), "float32"), jnp.zeros((1, 1), "float32")
    >>> functx.lstm_cell(zero, (zero, zero + 2.0), one, one).c
    Array([[1.]], dtype=float32)
    """
    if len(hx) != 2:
        refuse(f"`hx` must be two arrays, the hidden state and the cell state, got {len(hx)}")
    return LSTMCellResult(*_step("lstm", input, tuple(hx), w_ih, w_hh, b_ih, b_hh))


@operator(
    name="gru_cell",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
    autocast_cpu=Autocast.KEEP,
)
def gru_cell(
    input: ArrayOnly,
    hx: ArrayOnly,
    w_ih: ArrayOnly,
    w_hh: ArrayOnly,
    b_ih: ArrayOnly | None = None,
    b_hh: ArrayOnly | None = None,
) -> Array:
    r"""A step of a GRU: $h' = (1 - \sigma(z)) \tanh(n_x + \sigma(r)\, n_h) + \sigma(z)\, h$ (Cho et
    al., 2014).

    The gates $r = r_x + r_h$ and $z = z_x + z_h$ are sums, where $r_x, z_x, n_x$ are the thirds of
    $W_{ih} x + b_{ih}$ and $r_h, z_h, n_h$ the thirds of $W_{hh} h + b_{hh}$.
    Shapes: `input: [N, I]` gives $h'$, `[N, H]`; or all without `N`.

    - `hx`: $h$, `[N, H]`.
    - `w_ih: [3 H, I]`, `w_hh: [3 H, H]`: the weights $W_{ih}$ and $W_{hh}$.
    - `b_ih`, `b_hh`: the biases $b_{ih}$ and $b_{hh}$, `[3 H]`, or both None for none.

    Dtypes: all arrays have one floating dtype; float16 and bfloat16 are computed in float32.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> one, zero = jnp.ones((3, 1), "float32"), jnp.zeros((1, 1), "float32")
    >>> functx.gru_cell(zero, zero, one, one)
    Array([[0.]], dtype=float32)
    """
    return _step("gru", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


@operator(
    name="rnn_tanh_cell", promote=Promote.SAME, accepts=Accepts.FLOATING, autocast=Autocast.LOWER
)
def rnn_tanh_cell(
    input: ArrayOnly,
    hx: ArrayOnly,
    w_ih: ArrayOnly,
    w_hh: ArrayOnly,
    b_ih: ArrayOnly | None = None,
    b_hh: ArrayOnly | None = None,
) -> Array:
    r"""A step of Elman's network: $h' = \tanh(W_{ih} x + b_{ih} + W_{hh} h + b_{hh})$ (Elman,
    1990).

    Shapes: `input: [N, I]` gives $h'$, `[N, H]`; or all without `N`.

    - `hx`: $h$, `[N, H]`.
    - `w_ih: [H, I]`, `w_hh: [H, H]`: the weights $W_{ih}$ and $W_{hh}$.
    - `b_ih`, `b_hh`: the biases $b_{ih}$ and $b_{hh}$, `[H]`, or both None for none.

    Dtypes: all arrays have one floating dtype; float16 and bfloat16 are computed in float32.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> one = jnp.ones((1, 1), "float32")
    >>> functx.rnn_tanh_cell(one, -one, one, one)
    Array([[0.]], dtype=float32)
    """
    return _step("rnn_tanh", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


@operator(
    name="rnn_relu_cell", promote=Promote.SAME, accepts=Accepts.FLOATING, autocast=Autocast.LOWER
)
def rnn_relu_cell(
    input: ArrayOnly,
    hx: ArrayOnly,
    w_ih: ArrayOnly,
    w_hh: ArrayOnly,
    b_ih: ArrayOnly | None = None,
    b_hh: ArrayOnly | None = None,
) -> Array:
    r"""A step of Elman's network with a rectifier:
    $h' = \max(W_{ih} x + b_{ih} + W_{hh} h + b_{hh}, 0)$.

    Shapes: `input: [N, I]` gives $h'$, `[N, H]`; or all without `N`.

    - `hx`: $h$, `[N, H]`.
    - `w_ih: [H, I]`, `w_hh: [H, H]`: the weights $W_{ih}$ and $W_{hh}$.
    - `b_ih`, `b_hh`: the biases $b_{ih}$ and $b_{hh}$, `[H]`, or both None for none.

    Dtypes: all arrays have one floating dtype; float16 and bfloat16 are computed in float32.
    Gradients: the derivative of the rectifier at 0 is 0.
    Errors: RuntimeError for shapes that do not fit, TypeError for dtypes.

    >>> one = jnp.ones((1, 1), "float32")
    >>> functx.rnn_relu_cell(one, one, one, one)
    Array([[2.]], dtype=float32)
    """
    return _step("rnn_relu", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def _step(
    kind: RecurrentKind,
    x: Array,
    state: State,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
) -> State:
    shapes = {each.shape for each in state}
    if x.ndim not in (1, 2) or len(shapes) > 1 or state[0].ndim != x.ndim:
        fits = False
    else:
        fits = state[0].shape[:-1] == x.shape[:-1]
    if not fits:
        got = ", ".join(map(describe, state))
        refuse(
            f"`input` and `hx` must be [N, I] and [N, H], or [I] and [H], got {describe(x)}, {got}"
        )
    if (b_ih is None) != (b_hh is None):
        refuse("`b_ih` and `b_hh` must both be given, or neither")
    size = state[0].shape[-1]
    of_x = gates(kind, x, w_ih, b_ih, size, "ih")
    of_h = gates(kind, state[0], w_hh, b_hh, size, "hh")
    wide = tuple(each.astype(accumulator(x.dtype)) for each in state)
    return tuple(each.astype(x.dtype) for each in stepped(kind, of_x, of_h, wide))
