"""The Fisher matrices of distributions, by the outputs of a model that are their parameters.

Each is the distribution whose negative log likelihood is a loss of PyTorch's, with
`reduction="sum"` and up to a constant. Its Fisher matrix is the Hessian of that loss by the
outputs, which does not depend on the targets: outputs are natural parameters, or the mean of a
normal distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Likelihood(NamedTuple):
    """A distribution of targets: the products of its Fisher matrix, and how many targets it has.

    - `product(output, direction)`: that of the Fisher matrix, with the shape of the output.
    - `count(output)`: over how many numbers the loss of its name takes the mean.
    """

    product: Callable[[Any, Any], Any]
    count: Callable[[Any], int]


def _classes_at(output: Any) -> int:
    return 1 if output.ndim > 1 else 0


def _categorical(output: Any, direction: Any) -> Any:
    dim = _classes_at(output)
    p = jax.nn.softmax(output, dim)
    return p * (direction - jnp.sum(p * direction, dim, keepdims=True))


def _bernoulli(output: Any, direction: Any) -> Any:
    return jax.nn.sigmoid(output) * jax.nn.sigmoid(-output) * direction


def _poisson(output: Any, direction: Any) -> Any:
    return jnp.exp(output) * direction


def _normal(output: Any, direction: Any) -> Any:
    return 2 * direction


def _samples(output: Any) -> int:
    return output.size // output.shape[_classes_at(output)]


def _elements(output: Any) -> int:
    return output.size


LIKELIHOODS = {
    "cross_entropy": Likelihood(_categorical, _samples),
    "binary_cross_entropy_with_logits": Likelihood(_bernoulli, _elements),
    "mse_loss": Likelihood(_normal, _elements),
    "poisson_nll_loss": Likelihood(_poisson, _elements),
}
