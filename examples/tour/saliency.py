"""Which pixels speak for a digit: the Jacobian of the scores with respect to the image.

`python examples/tour/saliency.py` names the most important pixel of one image of each digit.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

import functx
from net import Digits, load, net, Params
from training import train


@dataclasses.dataclass(frozen=True)
class Saliency:
    """One image of each digit `[10, 8, 8]`, and how each score depends on each pixel."""

    images: np.ndarray
    jacobians: np.ndarray  # [image, score, 8, 8]


@jax.jit
def input_jacobians(params: Params, images: jax.Array) -> jax.Array:
    """`[n, 10, 1, 8, 8]`: the derivative of every score of every image."""
    return functx.vmap(functx.jacrev(lambda image: net(params, image)))(images)


def saliency(params: Params, data: Digits) -> Saliency:
    """The Jacobians at the first image of each digit."""
    labels = np.asarray(data.labels)
    rows = np.array([np.flatnonzero(labels == digit)[0] for digit in range(10)])
    images = data.images[rows]
    jacobians = input_jacobians(params, images)
    return Saliency(np.asarray(images[:, 0]), np.asarray(jacobians[:, :, 0]))


def main() -> None:
    """Prints the pixel on which the score of each digit depends most."""
    train_set, test_set = load()
    params, _ = train(train_set, test_set, epochs=12)
    jacobians = saliency(params, test_set).jacobians
    for digit in range(10):
        own = jacobians[digit, digit]
        row, column = np.unravel_index(np.abs(own).argmax(), own.shape)
        verb = "raises" if own[row, column] > 0 else "lowers"
        print(f"the pixel in row {row}, column {column} {verb} the score of digit {digit} most")


if __name__ == "__main__":
    main()
