"""Ten nets trained as one, by mapping the training step over their stacked parameters.

`python examples/tour/ensemble.py` shows how much better they are together.
"""

from __future__ import annotations

import jax

import functx
import functx.nn.functional as F
from net import accuracy, Digits, init, load, net, Params
from training import batches, step, Track, untracked


def train_ensemble(
    data: Digits,
    *,
    members: int = 10,
    epochs: int = 3,
    seed: int = 0,
    rate: float = 0.05,
    track: Track = untracked,
) -> Params:
    """The parameters of `members` nets, each leaf `[members, ...]`.

    All see the same batches; each has its own start and, by `randomness="different"`,
    its own dropout.
    """
    keys = jax.random.split(jax.random.key(seed + 1), members)
    params = functx.stack_trees([init(key) for key in keys])
    velocity = jax.tree.map(functx.zeros_like, params)
    together = functx.vmap(step, in_dims=(0, 0, None, None, None), randomness="different")
    compiled = functx.jit(together)
    for epoch in track(range(epochs), description=f"ensemble of {members}"):
        for images, labels in batches(data, 64, seed + 100 + epoch):
            params, velocity, _ = compiled(params, velocity, images, labels, rate)
    return params


@jax.jit
def ensemble_accuracy(
    params: Params, images: jax.Array, labels: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The accuracy of each member `[members]`, and that of their mean probabilities."""
    each = functx.vmap(accuracy, in_dims=(0, None, None))(params, images, labels)
    scores = functx.vmap(net, in_dims=(0, None))(params, images)
    together = functx.mean(F.softmax(scores, dim=-1), dim=0)
    right = functx.eq(functx.argmax(together, dim=-1), labels)
    return each, functx.mean(right, dtype=functx.float32)


def main() -> None:
    """Prints the accuracy of each of ten nets, and of all together."""
    train_set, test_set = load()
    params = train_ensemble(train_set, epochs=5)
    each, together = ensemble_accuracy(params, test_set.images, test_set.labels)
    print("each:", ", ".join(f"{float(accuracy):.1%}" for accuracy in each))
    print(f"together: {float(together):.1%}")


if __name__ == "__main__":
    main()
