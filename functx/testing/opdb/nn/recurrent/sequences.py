from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS

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
    both = of(2, 1, both=True, biases=True)
    sizes = make.put([[2, 1, 1], [2, 2, 0]][make.rng.integers(2)], "int64")
    packed = {"batch_first": True, "batch_sizes": sizes}
    first = make(4, 2), hx(2, 2, 1), both
    if kind == "rnn_relu":
        first = jax.tree.map(abs, first)  # of positive numbers, where it has slopes
    yield call(*first, True, 1, 0.0, False, True, **packed)
    yield edge(make(2, 0, 2), hx(2, 0, 1), both, True, 1, 0.0, False, True, False)
    yield edge(make(2, 3, 2), hx(2, 2, 1), both, True, 1, 0.0, False, True, True)
    two = of(1, 2, 2, biases=True)
    yield edge(make(3, 1, 1), hx(2, 1, 2), two, True, 2, 0.5, False, False, False)
    long = make.put([2, 2, 1], "int64")
    backward = of(1, 1, both=True)
    yield edge(make(5, 1), long, hx(2, 2, 1), backward, False, 1, 0.0, True, True)
    if kind == "lstm":
        smaller = of(1, 2, proj=1)
        yield call(make(2, 1, 1), hx(1, 1, 2, 1), smaller, False, 1, 0.0, False, False, False)


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
    for values, message in (
        ([1, 2], "must not increase, got 2"),
        ([2, 2], "sum to the 3 rows"),
        ([1, 1, 1], "begin with 2, as many as `hx`, got 1"),
    ):
        at = call(x[:, 0], hx, params, *rest, batch_sizes=make.put(values, "int64"))
        yield Refusal(at, f"`batch_sizes` .*{message}")
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
    # Of positive numbers, so that all is linear.
    x, hx = (make(n, 3, 1, low=0.5, high=1) for n in (1, 2))
    params = [make(1, 1, low=0.5, high=1) for _ in range(4)]
    yield call(x, hx, params, False, 2, 0.5, True, False, False)


def dropped_moments(x: Any, hx: Any, params: Any, *rest: Any) -> Any:
    first = x * params[0] + hx[:1] * params[1]
    mean, spread = first * params[2] + hx[1:] * params[3], np.abs(first * params[2])
    flat = lambda *parts: np.concatenate([np.reshape(part, -1) for part in parts])
    return flat(mean, first, mean), flat(spread, 0 * first, spread)


def dropped_sampler(rng: Any, n: int, x: Any, hx: Any, params: Any, *rest: Any) -> Any:
    first = x * params[0] + hx[:1] * params[1]
    kept = rng.random((n, *first.shape)) >= 0.5
    output = 2 * kept * first * params[2] + hx[1:] * params[3]
    return output, np.concatenate([np.broadcast_to(first, kept.shape), output], 1)


def dropped_conventions(make: Make) -> Iterator[Convention]:
    first = lambda out: out[0]
    rest = False, 2
    for what, f in [("small", 1e-4), ("of any size", 1 / 3)]:
        x, hx = make.put(np.full((1, 8, 1), f)), make.put(np.full((2, 8, 1), f))
        params = [make.put([[f]])] * 4
        either = lambda out, f=f: (
            (abs(out[0] / f**2 - 1) < 1e-9) | (abs(out[0] / f**2 - 1 - 4 * f) < 1e-9)
        )
        at = call(x, hx, params, *rest, 0.5, True, False, False)
        yield Convention(f"dropped or doubled, {what}", at, holds=either)
    x, hx, one = make.put(np.ones((1, 2, 1))), make.put(np.ones((2, 2, 1))), make.put([[1.0]])
    gone = call(x, hx, [one] * 4, *rest, 1.0, True, False, False)
    flat, none = np.zeros((1, 2, 1)), [[0]]
    gradient = flat, [[[0], [0]], [[1], [1]]], none, none, none, [[2]]
    yield Convention("all dropped", gone, through=first, gradient=gradient)
    arrays = [make.put([[[1.0]]]), make.put([[[1.0]], [[1.0]]]), *[one] * 4]
    for i in range(6):
        wild = [a * np.nan if i == j else a for j, a in enumerate(arrays)]
        at = call(*wild[:2], wild[2:], *rest, 0.5, True, False, False)
        yield Convention(f"NaN in array {i}", at, holds=lambda out: out[0] != out[0])


def relu_conventions(make: Make) -> Iterator[Convention]:
    two = make.put([[[1.0]], [[1.0]]])
    params = [make.put([[1.0]])] * 2 + [make.put([1.0])] * 2
    at = call(two, two, params * 2, True, 1, 0.0, False, True, False)
    of_params = [[3]], [[6]], [3], [3]
    gradient = [[[3]], [[3]]], [[[2]], [[2]]], *of_params, *of_params
    first = lambda out: out[0]
    yield Convention("equal elements", at, through=first, gradient=gradient)


def order_departures(kind: str, make: Make) -> Iterator[Departure]:
    given = make(3, 2, 1), states(make, kind, 1, 2, 2), weights(make, kind, 1, 2)
    yield Departure(
        "accepted",
        "`batch_first` has a default, as in the modules",
        call(*given, False, 1, 0.0, False, False),
        r"invalid combination of .* got \(Tensor, \w+, list, bool, int, float, bool, bool\)",
    )


OPS = [
    *(
        OpInfo(
            operator,
            ft.partial(samples, kind),
            np_sequences(kind),
            ft.partial(refusals, kind),
            tolerances=(SUMS,),
            departures=(
                Departure(
                    "dtype", "PyTorch has them by position alone", answer="*", match="batch_sizes="
                ),
                ft.partial(order_departures, kind),
            ),
            **({"conventions": relu_conventions} if kind == "rnn_relu" else {}),
        )
        for kind, operator in OPERATORS.items()
    ),
    OpInfo(
        functx.rnn_relu,
        dropped_samples,
        moments=dropped_moments,
        sampler=dropped_sampler,
        conventions=dropped_conventions,
        variant="dropout",
        kinked=True,
    ),
]
