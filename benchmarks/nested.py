"""Ragged batches beside padding and masks by hand, and beside a loop over the sequences.

`python -m benchmarks nested`. Values and gradients of weights, compiled: `functx.nested.vmap` of a
function of one sequence, the same mathematics with masks in `jax.numpy`, and one compiled program
for each length, called once a sequence.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx import nested

from .tables import microseconds, Table


SEQUENCES, WIDTH = 32, 32
LONGEST = (16, 64, 256)


def mean(weights: jax.Array, x: jax.Array) -> jax.Array:
    """The mean of a layer's results."""
    return functx.tanh(x @ weights).mean()


def masked_mean(weights: jax.Array, x: jax.Array, mask: jax.Array) -> jax.Array:
    """`mean` of a padded batch."""
    y = jnp.where(mask[..., None], jnp.tanh(x @ weights), 0)
    return y.sum((1, 2)) / (WIDTH * mask.sum(1))


def attention(weights: jax.Array, x: jax.Array) -> jax.Array:
    """Attention of a sequence to itself, and the sum of its squares."""
    queries = x @ weights
    return (functx.nn.functional.scaled_dot_product_attention(queries, x, x) ** 2).sum()


def masked_attention(weights: jax.Array, x: jax.Array, mask: jax.Array) -> jax.Array:
    """`attention` of a padded batch."""
    scores = (x @ weights) @ x.mT / WIDTH**0.5
    shares = jax.nn.softmax(jnp.where(mask[:, None, :], scores, -jnp.inf), axis=-1)
    return jnp.where(mask[..., None], (shares @ x) ** 2, 0).sum((1, 2))


def recurrence(weights: jax.Array, x: jax.Array) -> jax.Array:
    """The last state of a recurrent model."""
    state, _ = jax.lax.scan(_next(weights), jnp.zeros(WIDTH), x)
    return state.sum()


def masked_recurrence(weights: jax.Array, x: jax.Array, mask: jax.Array) -> jax.Array:
    """`recurrence` of a padded batch."""

    def step(state: jax.Array, given: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        row, here = given
        return jnp.where(here[:, None], jnp.tanh(state @ weights + row), state), None

    start = jnp.zeros((x.shape[0], WIDTH))
    state, _ = jax.lax.scan(step, start, (x.swapaxes(0, 1), mask.T))
    return state.sum(1)


def _next(weights: jax.Array) -> Callable[[jax.Array, jax.Array], tuple[jax.Array, None]]:
    return lambda state, row: (jnp.tanh(state @ weights + row), None)


def looped(of_one: Callable[..., Any], weights: jax.Array, arrays: list[jax.Array]) -> Any:
    """The sums of what a function of one sequence gives."""
    found = [of_one(weights, x) for x in arrays]
    return jax.tree.map(lambda *parts: sum(parts), *found)


class Model(NamedTuple):
    """A function of weights and a sequence, and the same of a padded batch with its mask."""

    name: str
    of_one: Callable[[jax.Array, jax.Array], jax.Array]
    masked: Callable[[jax.Array, jax.Array, jax.Array], jax.Array]


MODELS = [
    Model("mean", mean, masked_mean),
    Model("attention", attention, masked_attention),
    Model("recurrent", recurrence, masked_recurrence),
]


def measured(model: Model, seconds: float) -> Table:
    """A row for each greatest length: the lengths are spread evenly up to it."""
    rng, rows = np.random.default_rng(0), []
    weights = jnp.asarray(rng.standard_normal((WIDTH, WIDTH)) / WIDTH, jnp.float32)
    for longest in LONGEST:
        lengths = rng.permutation(np.linspace(1, longest, SEQUENCES).round().astype(int))
        arrays = [jnp.asarray(rng.standard_normal((n, WIDTH)), jnp.float32) for n in lengths]
        batch = nested.nested(arrays)
        padded, mask = batch.padded(0.0), jnp.arange(longest) < lengths[:, None]
        ours = jax.jit(
            functx.value_and_grad(
                lambda w, batch: nested.vmap(model.of_one, in_dims=(None, 0))(w, batch).sum()
            )
        )
        by_hand = jax.jit(jax.value_and_grad(lambda w, x, mask: model.masked(w, x, mask).sum()))
        of_one = jax.jit(jax.value_and_grad(model.of_one))
        calls = [
            ft.partial(ours, weights, batch),
            ft.partial(by_hand, weights, padded, mask),
            ft.partial(looped, of_one, weights, arrays),
        ]
        results = [call() for call in calls]
        for other in results[1:]:
            jax.tree.map(ft.partial(np.testing.assert_allclose, rtol=1e-3), results[0], other)
        taken = microseconds(calls, seconds)
        ratios = [f"{x / taken[0]:.2f}" for x in taken[1:]]
        rows.append((str(longest), str(len({*lengths.tolist()})), f"{taken[0]:.0f}", *ratios))
    return Table(
        f"A ragged batch: {model.name}",
        f"{SEQUENCES} sequences of width {WIDTH}, float32, value and gradient of the weights. A "
        "ratio above 1 means that `nested.vmap` is faster.",
        ("longest", "lengths", "us", "masks by hand, times", "loop, times"),
        rows,
    )


def tables(seconds: float) -> list[Table]:
    """A table for each model."""
    return [measured(model, seconds) for model in MODELS]
