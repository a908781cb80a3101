"""The gradient of every single image: which is longest, and training that hides each one.

`python examples/tour/per_sample.py` shows both.
"""

from __future__ import annotations

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np

import functx
from net import accuracy, Digits, init, load, loss, Params
from training import batches, Track, train, untracked


# One image at a time, all images at once: leaves `[n, *shape]`.
per_sample_gradients = functx.vmap(functx.grad(loss), in_dims=(None, 0, 0))


def norms(gradients: Params) -> jax.Array:
    """The length of each sample's gradient, over all parameters: `[n]`."""
    squares = [functx.sum(functx.flatten(g, 1) ** 2, dim=1) for g in gradients.values()]
    return functx.sqrt(functx.sum(functx.stack(squares), dim=0))


@jax.jit
def _norms_of(params: Params, images: jax.Array, labels: jax.Array) -> jax.Array:
    return norms(per_sample_gradients(params, images, labels))


def norms_by_class(params: Params, data: Digits) -> list[np.ndarray]:
    """The lengths of the samples' gradients, for each digit."""
    lengths = np.asarray(_norms_of(params, data.images, data.labels))
    labels = np.asarray(data.labels)
    return [lengths[labels == digit] for digit in range(10)]


def private_gradient(
    params: Params, images: jax.Array, labels: jax.Array, key: jax.Array, clip: float, noise: float
) -> Params:
    """Gradients clipped one by one, averaged, with noise that hides any one of them.

    Abadi et al., "Deep learning with differential privacy" (2016), algorithm 1.
    """
    gradients = per_sample_gradients(params, images, labels)
    scale = functx.clamp(clip / (norms(gradients) + 1e-6), max=1.0)
    private = {}
    for at, (name, g) in enumerate(gradients.items()):
        total = functx.tensordot(scale, g, 1)
        hiding = functx.randn(total.shape, dtype=total.dtype, key=jax.random.fold_in(key, at))
        private[name] = (total + noise * clip * hiding) / len(labels)
    return private


@ft.partial(jax.jit, static_argnames=("clip", "noise"))
def private_step(
    params: Params,
    images: jax.Array,
    labels: jax.Array,
    key: jax.Array,
    rate: float,
    *,
    clip: float = 1.0,
    noise: float = 1.0,
) -> Params:
    """One step along `private_gradient`."""
    gradients = private_gradient(params, images, labels, key, clip, noise)
    return jax.tree.map(lambda p, g: p - jnp.asarray(rate, p.dtype) * g, params, gradients)


def train_privately(
    data: Digits,
    *,
    seed: int = 0,
    rate: float = 2.0,
    size: int = 32,
    noise: float = 0.5,
    track: Track = untracked,
) -> Params:
    """A new net after one epoch of private steps."""
    key = jax.random.key(seed)
    params = init(key)
    steps = list(batches(data, size, seed))
    for at, (images, labels) in enumerate(track(steps, description="private training")):
        drawn = jax.random.fold_in(key, at)
        params = private_step(params, images, labels, drawn, rate, noise=noise)
    return params


def main() -> None:
    """Prints each digit's median norm, and the accuracy after one private epoch."""
    train_set, test_set = load()
    params, _ = train(train_set, test_set, epochs=12)
    for digit, lengths in enumerate(norms_by_class(params, train_set)):
        print(f"gradients of digit {digit} have norm {np.median(lengths):.2g} (median)")
    private = train_privately(train_set)
    reached = float(accuracy(private, test_set.images, test_set.labels))
    print(f"test accuracy {reached:.1%} after one private epoch")


if __name__ == "__main__":
    main()
