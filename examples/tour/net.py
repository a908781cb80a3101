"""The data, and a small convolutional net written in functx's operators.

`python examples/tour/net.py` shows what the net says before it is trained.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

import functx
import functx.nn.functional as F


CLASSES = 10

Params = dict[str, jax.Array]


@dataclasses.dataclass(frozen=True)
class Digits:
    """Images `f32[n, 1, 8, 8]` between 0 and 1, and their digits `i32[n]`."""

    images: jax.Array
    labels: jax.Array

    def __len__(self) -> int:
        return len(self.labels)

    def first(self, count: int) -> Digits:
        """At most `count` of them."""
        return Digits(self.images[:count], self.labels[:count])


def load(seed: int = 0, *, held_out: int = 360) -> tuple[Digits, Digits]:
    """The digits that scikit-learn ships, shuffled: for training and for testing."""
    bunch: Any = load_digits()
    order = np.random.default_rng(seed).permutation(len(bunch.target))
    images = jnp.asarray(bunch.images[order, None] / 16, "float32")
    labels = jnp.asarray(bunch.target[order], "int32")
    train = Digits(images[held_out:], labels[held_out:])
    return train, Digits(images[:held_out], labels[:held_out])


def init(key: jax.Array) -> Params:
    """Weights drawn as He et al. (2015) do, biases zero: 1898 numbers in all."""
    shapes = {"conv1": (8, 1, 3, 3), "conv2": (16, 8, 3, 3), "out": (CLASSES, 64)}
    params = {}
    for at, (name, shape) in enumerate(shapes.items()):
        scale = (2 / np.prod(shape[1:])) ** 0.5
        normal = functx.randn(shape, dtype=functx.float32, key=jax.random.fold_in(key, at))
        params[f"{name}.weight"] = functx.mul(normal, float(scale))
        params[f"{name}.bias"] = functx.zeros(shape[:1], dtype=functx.float32)
    return params


def net(params: Params, images: jax.Array, *, dropout: float = 0.0) -> jax.Array:
    """Scores `[n, 10]` of images `[n, 1, 8, 8]`, or `[10]` of one image."""
    x = F.conv2d(images, params["conv1.weight"], params["conv1.bias"], padding=1)
    x = F.max_pool2d(F.relu(x), 2)
    x = F.conv2d(x, params["conv2.weight"], params["conv2.bias"], padding=1)
    x = F.max_pool2d(F.relu(x), 2)
    x = functx.flatten(x, -3)
    if dropout:
        x = F.dropout(x, dropout)
    return F.linear(x, params["out.weight"], params["out.bias"])


def loss(
    params: Params, images: jax.Array, labels: jax.Array, *, dropout: float = 0.0
) -> jax.Array:
    """Mean cross entropy of the net on images, or that of one image."""
    return F.cross_entropy(net(params, images, dropout=dropout), labels)


@jax.jit
def accuracy(params: Params, images: jax.Array, labels: jax.Array) -> jax.Array:
    """Which share of the images gets its digit."""
    right = functx.eq(functx.argmax(net(params, images), dim=-1), labels)
    return functx.mean(right, dtype=functx.float32)


def main() -> None:
    """Prints the size of the net and its accuracy before it is trained."""
    train_set, test_set = load()
    params = init(jax.random.key(0))
    print(f"{len(train_set)} images for training, {len(test_set)} for testing")
    print(f"{sum(p.size for p in params.values())} parameters")
    guessed = accuracy(params, test_set.images, test_set.labels)
    print(f"test accuracy of an untrained net {float(guessed):.1%}")


if __name__ == "__main__":
    main()
