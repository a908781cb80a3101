"""Recurrent networks step by step, and their samples' arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from functx.testing.make import Make


GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def np_step(
    kind: str, x: Any, state: Any, w_ih: Any, w_hh: Any, b_ih: Any = 0, b_hh: Any = 0
) -> Any:
    """The states after a step, gate by gate."""
    h = state[0]
    size = w_hh.shape[0] // GATES[kind]
    rows = [slice(i * size, (i + 1) * size) for i in range(GATES[kind])]
    of_x, of_h = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if kind == "lstm":
        i, f, g, o = ((of_x + of_h)[..., each] for each in rows)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return [sigmoid(o) * np.tanh(c), c]
    if kind == "gru":
        r, z, n = rows
        reset, update = (sigmoid(of_x[..., each] + of_h[..., each]) for each in (r, z))
        return [(1 - update) * np.tanh(of_x[..., n] + reset * of_h[..., n]) + update * h]
    return [np.tanh(of_x + of_h) if kind == "rnn_tanh" else np.maximum(of_x + of_h, 0)]


def np_network(
    kind: str,
    x: Any,
    hx: Any,
    params: Any,
    has_biases: bool,
    num_layers: int,
    dropout: Any,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
    batch_sizes: Any = None,
) -> Any:
    """Sequence by sequence: each in its own length."""
    states = [np.asarray(h, "float64") for h in (hx if kind == "lstm" else [hx])]
    number, directions = states[0].shape[1], 1 + bidirectional
    if batch_sizes is None:
        rows = np.swapaxes(x, 0, 1) if not batch_first else x
        sequences = list(rows)
    else:
        starts = np.cumsum(batch_sizes) - batch_sizes
        at = [
            [s + n for s, k in zip(starts, batch_sizes, strict=True) if n < k]
            for n in range(number)
        ]
        sequences = [x[rows] for rows in at]
    last = [h.copy() for h in states]
    each = len(params) // (num_layers * directions)
    outputs = []
    for n, sequence in enumerate(sequences):
        for layer in range(num_layers):
            sides = []
            for direction in range(directions):
                i = layer * directions + direction
                weights = list(params[i * each : (i + 1) * each])
                w_hr = weights.pop() if each % 2 else None
                steps = range(len(sequence))[:: -1 if direction else 1]
                state, found = [h[i, n] for h in last], [None] * len(sequence)
                for t in steps:
                    state = np_step(kind, sequence[t], state, *weights)
                    if w_hr is not None:
                        state[0] = w_hr @ state[0]
                    found[t] = state[0]
                for h, now in zip(last, state, strict=True):
                    h[i, n] = now
                sides.append(np.stack(found))
            sequence = np.concatenate(sides, -1)
        outputs.append(sequence)
    if not outputs:
        shape = (0, len(x)) if batch_first else (len(x), 0)
        out = np.zeros((*shape, directions * states[0].shape[2]))
    elif batch_sizes is None:
        out = np.stack(outputs, 0 if batch_first else 1)
    else:
        out = np.zeros((len(x), outputs[0].shape[-1]))
        for rows, found in zip(at, outputs, strict=True):
            out[rows] = found
    return (out, *last)


def weights(
    make: Make,
    kind: str,
    inputs: int,
    size: int,
    layers: int = 1,
    *,
    both=False,
    biases=False,
    proj=0,
) -> list[Any]:
    """Those of each layer and direction, one after the other."""
    rows, hidden, out = GATES[kind] * size, proj or size, []
    for layer in range(layers):
        for _ in range(1 + both):
            width = hidden * (1 + both) if layer else inputs
            out += [make(rows, width, low=-1, high=1), make(rows, hidden, low=-1, high=1)]
            out += [make(rows, low=-1, high=1), make(rows, low=-1, high=1)] if biases else []
            out += [make(proj, size, low=-1, high=1)] if proj else []
    return out
