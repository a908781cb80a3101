"""Transforms without `jit` beside PyTorch's and JAX's: ten small programs in functx's operators.

`python -m benchmarks eager_transforms`, with `pip install -e '.[test,parity]'`. JAX's transforms
run on the same operators; PyTorch runs on one thread.
"""

from __future__ import annotations

import functools as ft
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import functx

from .tables import microseconds, Table, torch_if_there


Programs = dict[str, Callable[..., Any]]


def programs(words: Any, func: Any) -> Programs:
    """The ten, in operators of `words` and transforms of `func`; `x` is a vector, `X` a batch."""

    def loss(x):
        return words.sum(words.sin(x))

    def network(w, b, x):
        hidden = words.tanh(words.add(words.matmul(x, w), b))
        return words.tanh(words.add(words.matmul(hidden, w), b))

    def network_loss(w, b, x):
        return words.mean(words.square(network(w, b, x)))

    of_weights = func.grad(network_loss, (0, 1))
    return {
        "grad, sin": lambda x, w, b, X: func.grad(loss)(x),
        "grad, network": lambda x, w, b, X: of_weights(w, b, X),
        "vjp, network": lambda x, w, b, X: func.vjp(network, w, b, X)[1](X),
        "jvp, network": lambda x, w, b, X: func.jvp(network, (w, b, X), (w, b, X)),
        "vmap, sin": lambda x, w, b, X: func.vmap(words.sin)(X),
        "vmap, network": lambda x, w, b, X: func.vmap(network, (None, None, 0))(w, b, X),
        "jacrev, sin": lambda x, w, b, X: func.jacrev(words.sin)(x),
        "jacfwd, sin": lambda x, w, b, X: func.jacfwd(words.sin)(x),
        "hessian, sin": lambda x, w, b, X: func.hessian(loss)(x),
        "vmap(grad), network": lambda x, w, b, X: func.vmap(of_weights, (None, None, 0))(w, b, X),
    }


def tables(seconds: float) -> list[Table]:
    """One table; without PyTorch its column is empty."""
    torch = torch_if_there()
    arrays = [jnp.linspace(-1.0, 1.0, 8), jnp.ones((8, 8)), jnp.zeros(8), jnp.ones((16, 8))]
    sides = {"functx": (programs(functx, functx), arrays), "JAX": (programs(functx, jax), arrays)}
    if torch is not None:
        tensors = [torch.tensor(x.tolist()) for x in arrays]
        sides["torch.func"] = (programs(torch, torch.func), tensors)
    rows, ratios = [], []
    for name in programs(functx, functx):
        calls = [ft.partial(run[name], *given) for run, given in sides.values()]
        ours, *theirs = microseconds(calls, seconds)
        ratios.append([ours / other for other in theirs])
        cells = ((f"{other:.0f}", f"{ours / other:.2f}") for other in theirs)
        rows.append((name, f"{ours:.0f}", *itertools.chain.from_iterable(cells)))
    means = [
        math.exp(sum(map(math.log, column)) / len(column)) for column in zip(*ratios, strict=True)
    ]
    rows.append(("geometric mean", "", *(c for mean in means for c in ("", f"{mean:.2f}"))))
    header = [cell for side in [*sides][1:] for cell in (f"{side}, us", "ratio")]
    return [
        Table(
            "Transforms without jit",
            "float32, small arrays; the ratio is functx's time by the other's.",
            ("", "functx, us", *header),
            rows,
        )
    ]


def _geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
