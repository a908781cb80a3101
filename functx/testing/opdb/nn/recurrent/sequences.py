from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.floors import SUMS
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, OwnDtypes, Refusal, Sample

from .networks import np_network, weights


OPERATORS = {
    "lstm": functx.lstm,
    "gru": functx.gru,
    "rnn_tanh": functx.rnn_tanh,
    "rnn_relu": functx.rnn_relu,
}


def states(make: Make, kind: str, many: int, batch: int, size: int, hidden: int = 0) -> Any:
    first = make(many, batch, hidden or size)
    return (first, make(many, batch, size)) if kind == "lstm" else first


def samples(kind: str, make: Make) -> Iterator[Sample]:
    of = ft.partial(weights, make, kind)
    hx = ft.partial(states, make, kind)
    both, sizes = of(2, 1, both=True, biases=True), make.put([2, 1], "int64")
    packed = {"batch_first": True, "batch_sizes": sizes}
    yield call(make(3, 2), hx(2, 2, 1), both, True, 1, 0.0, False, True, **packed)
    yield edge(make(2, 3, 2), hx(2, 2, 1), both, True, 1, 0.0, False, True, True)
    two = of(1, 2, 2, biases=True)
    yield edge(make(3, 1, 1), hx(2, 1, 2), two, True, 2, 0.5, False, False, False)
    long = make.put([2, 2, 1], "int64")
    backward = of(1, 1, both=True)
    yield edge(make(5, 1), long, hx(2, 2, 1), backward, False, 1, 0.0, True, True)
    if kind == "lstm":
        smaller = of(1, 2, proj=1)
        yield edge(make(2, 1, 1), hx(1, 1, 2, 1), smaller, False, 1, 0.0, False, False, False)


def refusals(kind: str, make: Make) -> Iterator[Refusal]:
    of = ft.partial(weights, make, kind)
    x, hx, params = make(3, 2, 1), states(make, kind, 1, 2, 2), of(1, 2)
    rest = False, 1, 0.0, False, False
    yield Refusal(call(make(3, 1), hx, params, *rest), r"`input` must be \[T, N, I\]")
    yield Refusal(
        call(x, hx, params, False, 0, 0.0, False, False), "`num_layers` must be at least 1"
    )
    yield Refusal(
        call(x, states(make, kind, 1, 3, 2), params, *rest), "`hx` must have a batch of 2"
    )
    yield Refusal(call(x, states(make, kind, 2, 2, 2), params, *rest), r"`hx` must be \[1, N, H\]")
    yield Refusal(call(x, hx, params[:1], *rest), "`params` must be 2 arrays, 2 for each layer")
    wrong = [make(5, 1), params[1]]
    yield Refusal(call(x, hx, wrong, *rest), "`w_ih` must be")
    at = call(x, hx, params, False, 1, 1.5, True, False)
    yield Refusal(at, r"`dropout` must lie in \[0, 1\]", ValueError)
    sizes = make.put([2, 1], "int64")
    at = call(x, hx, params, *rest, batch_sizes=sizes)
    yield Refusal(at, r"`input` must be \[R, I\] of packed sequences")
    at = call(x[0], hx, params, *rest, batch_sizes=make(2))
    yield Refusal(at, "`batch_sizes` must be integers of 1 dimension")
    if kind == "lstm":
        yield Refusal(call(x, hx[:1], params, *rest), "`hx` must be two arrays")
        narrow = states(make, kind, 1, 2, 2, 1)
        bad = [make(8, 1), make(8, 1), make(2, 2)]
        yield Refusal(call(x, narrow, bad, *rest), r"the projection must be \[1, 2\]")


def np_sequences(kind: str) -> Callable[..., Any]:
    def reference(x: Any, hx: Any, params: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(rest[0], (tuple, list)):  # packed, with the sizes second
            hx, params, rest, options = params, rest[0], rest[1:], {"batch_sizes": hx}
        return np_network(kind, x, hx, params, *rest, **options)

    return reference


def dropped_samples(make: Make) -> Iterator[Sample]:
    # Of one element, doubled or dropped before a layer that adds nothing of its own.
    one = [make(1, 1, low=0.5, high=1), make.put(np.zeros((1, 1)))]
    yield call(
        make(1, 3, 1, low=0.5),
        make.put(np.zeros((2, 3, 1))),
        one * 2,
        False,
        2,
        0.5,
        True,
        False,
        False,
    )


def dropped_moments(x: Any, hx: Any, params: Any, *rest: Any) -> Any:
    first = x * params[0]
    mean, zero = first * params[2], 0 * first
    h = np.concatenate([first, mean])
    flat = lambda *parts: np.concatenate([np.reshape(part, -1) for part in parts])
    return flat(mean, h), flat(np.abs(mean), np.concatenate([zero, np.abs(mean)]))


OPS = [
    *(
        OpInfo(
            operator,
            ft.partial(samples, kind),
            np_sequences(kind),
            ft.partial(refusals, kind),
            floor=SUMS,
            own_dtypes=(OwnDtypes("*", "PyTorch has them by position alone", "batch_sizes="),),
        )
        for kind, operator in OPERATORS.items()
    ),
    OpInfo(
        functx.rnn_relu,
        dropped_samples,
        moments=dropped_moments,
        variant="dropout",
    ),
]
