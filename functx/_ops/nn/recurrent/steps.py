r"""One step of each cell, from the contributions of the input and of the state to the gates.

The gates of an LSTM (Hochreiter and Schmidhuber, 1997) are $i, f, g, o$ in this order:
$c' = \sigma(f)\, c + \sigma(i) \tanh(g)$ and $h' = \sigma(o) \tanh(c')$. Those of a GRU (Cho et
al., 2014) are $r, z, n$: $h' = (1 - \sigma(z)) \tanh(n_x + \sigma(r)\, n_h) + \sigma(z)\, h$. The
other cells have one: $h' = \tanh(a)$ or $\max(a, 0)$.
"""

from __future__ import annotations

from typing import Literal

import jax.numpy as jnp
from jax import Array

from functx._core import describe, refuse
from functx._ops.nn.affine_maps import mapped
from functx._ops.sigmoids import hyperbolic_tangent, sigmoid


RecurrentKind = Literal["lstm", "gru", "rnn_tanh", "rnn_relu"]
GATES: dict[str, int] = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}

State = tuple[Array, ...]  # `h` and `c` of an LSTM, `h` of the others


def stepped(kind: RecurrentKind, x: Array, h: Array, state: State) -> State:
    """The state after a step, from the contributions of the input, `x`, and of the hidden state,
    `h`, to the gates.
    """
    if kind == "lstm":
        i, f, g, o = jnp.split(x + h, 4, -1)
        c = sigmoid(f) * state[1] + sigmoid(i) * hyperbolic_tangent(g)
        return sigmoid(o) * hyperbolic_tangent(c), c
    if kind == "gru":
        (r, z, n), (r_h, z_h, n_h) = (jnp.split(each, 3, -1) for each in (x, h))
        new = hyperbolic_tangent(n + sigmoid(r + r_h) * n_h)
        return (new + sigmoid(z + z_h) * (state[0] - new),)
    return (hyperbolic_tangent(x + h) if kind == "rnn_tanh" else _relu(x + h),)


def _relu(x: Array) -> Array:
    r"""$\max(x, 0)$, flat at 0; NaN stays."""
    return jnp.where(x <= 0, 0, x)


def gates(
    kind: RecurrentKind, x: Array, weight: Array, bias: Array | None, size: int, name: str
) -> Array:
    """`x W^T + b` for each gate of a state of this size."""
    check_gates(kind, x, weight, bias, size, name)
    return mapped(x, weight, bias)


def check_gates(
    kind: RecurrentKind, x: Array, weight: Array, bias: Array | None, size: int, name: str
) -> None:
    """Refuses weights and biases that do not fit `x` and a state of this size."""
    rows = GATES[kind] * size
    if weight.shape != (rows, x.shape[-1]):
        refuse(f"`w_{name}` must be [{rows}, {x.shape[-1]}], got {describe(weight)}")
    if bias is not None and bias.shape != (rows,):
        refuse(f"`b_{name}` must be [{rows}], got {describe(bias)}")
