from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import SUMS

from .networks import GATES, np_step, weights


OPERATORS = {
    "lstm": functx.lstm_cell,
    "gru": functx.gru_cell,
    "rnn_tanh": functx.rnn_tanh_cell,
    "rnn_relu": functx.rnn_relu_cell,
}


def state(make: Make, kind: str, *shape: int) -> Any:
    return (make(*shape), make(*shape)) if kind == "lstm" else make(*shape)


def samples(kind: str, make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), state(make, kind, 2, 2), *weights(make, kind, 3, 2, biases=True))
    yield edge(make(1, 2), state(make, kind, 1, 1), *weights(make, kind, 2, 1))
    yield edge(make(2), state(make, kind, 1), *weights(make, kind, 2, 1, biases=True))
    yield edge(make(0, 2), state(make, kind, 0, 1), *weights(make, kind, 2, 1))


def refusals(kind: str, make: Make) -> Iterator[Refusal]:
    rows = GATES[kind] * 2
    x, h, w_ih, w_hh = make(2, 3), state(make, kind, 2, 2), make(rows, 3), make(rows, 2)
    message = r"`input` and `hx` must be \[N, I\] and \[N, H\]"
    yield Refusal(call(x, state(make, kind, 3, 2), w_ih, w_hh), message)
    yield Refusal(call(x, state(make, kind, 2), w_ih, w_hh), message)
    yield Refusal(call(make(2, 1, 3), state(make, kind, 2, 1, 2), w_ih, w_hh), message)
    yield Refusal(call(x, h, make(rows, 2), w_hh), rf"`w_ih` must be \[{rows}, 3\]")
    yield Refusal(call(x, h, w_ih, make(rows, 3)), rf"`w_hh` must be \[{rows}, 2\]")
    bias = make(rows)
    yield Refusal(call(x, h, w_ih, w_hh, bias), "`b_ih` and `b_hh` must both be given")
    yield Refusal(call(x, h, w_ih, w_hh, make(3), bias), rf"`b_ih` must be \[{rows}\]")
    yield Refusal(call(x, h, w_ih, w_hh, bias, make(3)), rf"`b_hh` must be \[{rows}\]")
    if kind == "lstm":
        yield Refusal(call(x, (make(2, 2), make(2, 1)), w_ih, w_hh), message)
        yield Refusal(call(x, (make(2, 2),), w_ih, w_hh), "`hx` must be two arrays")


def np_cell(kind: str) -> Callable[..., Any]:
    def reference(x: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = 0, b_hh: Any = 0) -> Any:
        found = np_step(kind, x, hx if kind == "lstm" else [hx], w_ih, w_hh, b_ih, b_hh)
        return tuple(found) if kind == "lstm" else found[0]

    return reference


def relu_conventions(make: Make) -> Iterator[Convention]:
    zero, one, none = make.put([[0.0]]), make.put([[1.0]]), make.put([0.0])
    flat = [[0.0]]
    at = call(zero, zero, one, one, none, none)
    yield Convention("at 0", at, value=flat, gradient=(*(flat,) * 4, [0], [0]))
    nan = call(make.put([[np.nan]]), zero, one, one)
    yield Convention("NaN", nan, value=[[np.nan]])


def single_departures(kind: str, make: Make) -> Iterator[Departure]:
    rows = 2 * GATES[kind]
    x, h, w_ih, w_hh = make(2, 3), state(make, kind, 2, 2), make(rows, 3), make(rows, 2)
    yield Departure(
        "accepted",
        "one sample may come without a batch, as in the modules",
        call(make(3), state(make, kind, 2), w_ih, w_hh),
        "Dimension out of range",
    )
    yield Departure(
        "refused",
        "a bias has an element for each gate, as in the modules; PyTorch broadcasts it here",
        call(x, h, w_ih, w_hh, make(rows), make()),
        r"`b_[ih]h` must be \[\d\]",
    )
    yield Departure(
        "refused",
        "there are two biases or none, as in the modules",
        call(x, h, w_ih, w_hh, make(rows)),
        "must both be given, or neither",
    )


def gates_of(count: int, *, two: bool = False) -> Callable[[Any, Any], Any]:
    """A cell of one number, which all gates get, after a state of 0.5 and -0.25."""

    def cell(op: Any, x: Any) -> Any:
        ones, zeros = jnp.ones((count, 1), x.dtype), jnp.zeros((count, 1), x.dtype)
        h, c = jnp.full((1, 1), 0.5, x.dtype), jnp.full((1, 1), -0.25, x.dtype)
        return jax.tree.leaves(op(x.reshape(1, 1), (h, c) if two else h, ones, zeros))[0][0, 0]

    return cell


def exact_lstm(mp: Any, x: Any) -> Any:
    open_ = 1 / (1 + mp.exp(-x))
    return open_ * mp.tanh(open_ * (mp.tanh(x) - 0.25))


def exact_gru(mp: Any, x: Any) -> Any:
    closed = 1 / (1 + mp.exp(x))
    return 0.5 + closed * (mp.tanh(x) - 0.5)


TAILS = {
    "lstm": (Tail(exact_lstm, gates_of(4, two=True)),),
    "gru": (Tail(exact_gru, gates_of(3)),),
    "rnn_tanh": (Tail(lambda mp, x: mp.tanh(x), gates_of(1)),),
    "rnn_relu": (),
}


OPS = [
    OpInfo(
        operator,
        ft.partial(samples, kind),
        np_cell(kind),
        ft.partial(refusals, kind),
        tolerances=(SUMS,),
        departures=(ft.partial(single_departures, kind),),
        tails=TAILS[kind],
        kinked=kind == "rnn_relu",
        **({"conventions": relu_conventions} if kind == "rnn_relu" else {}),
    )
    for kind, operator in OPERATORS.items()
]
