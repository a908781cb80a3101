"""Training by stochastic gradient descent with momentum: `python examples/tour/training.py`."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import numpy as np

import functx
from net import accuracy, Digits, init, load, loss, Params


# Shows how far a loop has come: `track(loop, description=...)` gives the loop's items.
Track = Callable[..., Iterable[Any]]


def untracked(items: Iterable[Any], **_: Any) -> Iterable[Any]:
    """Shows nothing."""
    return items


def batches(data: Digits, size: int, seed: int) -> Iterator[tuple[jax.Array, jax.Array]]:
    """The data in random order, `size` at a time; the last incomplete batch is left out."""
    order = np.random.default_rng(seed).permutation(len(data))
    for at in range(0, len(data) - size + 1, size):
        rows = order[at : at + size]
        yield data.images[rows], data.labels[rows]


def step(
    params: Params, velocity: Params, images: jax.Array, labels: jax.Array, rate: float
) -> tuple[Params, Params, jax.Array]:
    """One step: the parameters, the velocity and the loss. Dropout draws random numbers."""
    noisy_loss = ft.partial(loss, dropout=0.1)
    gradients, value = functx.grad_and_value(noisy_loss)(params, images, labels)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    params = jax.tree.map(lambda p, v: p - rate * v, params, velocity)
    return params, velocity, value


def train(
    train_set: Digits,
    test_set: Digits,
    *,
    epochs: int,
    seed: int = 0,
    rate: float = 0.08,
    track: Track = untracked,
) -> tuple[Params, dict[str, list[float]]]:
    """A trained net, with the loss of each step and the test accuracy after each epoch."""
    functx.manual_seed(seed)
    params = init(jax.random.key(seed))
    velocity = jax.tree.map(functx.zeros_like, params)
    compiled = functx.jit(step)
    losses, accuracies = [], []
    for epoch in track(range(epochs), description="training"):
        slower = rate * 0.5 * (1 + math.cos(math.pi * epoch / epochs))
        for images, labels in batches(train_set, 64, seed + epoch):
            params, velocity, value = compiled(params, velocity, images, labels, slower)
            losses.append(value)
        accuracies.append(float(accuracy(params, test_set.images, test_set.labels)))
    return params, {"loss": [float(x) for x in losses], "accuracy": accuracies}


def main() -> None:
    """Trains a net and prints its loss and accuracy."""
    _, history = train(*load(), epochs=12)
    print(f"loss {history['loss'][0]:.2f} at first, {history['loss'][-1]:.3f} in the end")
    for epoch, reached in enumerate(history["accuracy"], 1):
        print(f"epoch {epoch}: {reached:.1%} of the test images get their digit")


if __name__ == "__main__":
    main()
