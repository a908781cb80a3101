"""The largest eigenvalues of the loss's Hessian, from products with it alone.

`python examples/tour/curvature.py` shows them for a trained net.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import functx
from net import Digits, load, loss, Params
from training import Track, train, untracked


@jax.jit
def hessian_product(
    params: Params, direction: Params, images: jax.Array, labels: jax.Array
) -> Params:
    """The Hessian of the loss with respect to the parameters, times `direction`."""
    _, product = functx.hvp(lambda p: loss(p, images, labels), params, direction)
    return product


def lanczos(
    params: Params, data: Digits, *, steps: int = 30, seed: int = 0, track: Track = untracked
) -> np.ndarray:
    """Ritz values after each of `steps` products, `[steps, steps]`, largest first, else NaN.

    The extreme ones converge first to eigenvalues (Golub and Van Loan, section 10.1). Each
    new direction is made orthogonal to all before it, or rounding would repeat eigenvalues.
    """
    flat, unravel = ravel_pytree(params)
    q = np.random.default_rng(seed).standard_normal(flat.size)
    basis = [q / np.linalg.norm(q)]
    small = np.zeros((steps, steps))
    ritz = np.full((steps, steps), np.nan)
    for k in track(range(steps), description="curvature"):
        direction = unravel(jnp.asarray(basis[k], flat.dtype))
        product = hessian_product(params, direction, data.images, data.labels)
        w = np.asarray(ravel_pytree(product)[0], np.float64)
        small[k, k] = basis[k] @ w
        known = np.stack(basis)
        for _ in range(2):  # once is not enough in floating point
            w = w - known.T @ (known @ w)
        ritz[k, : k + 1] = np.linalg.eigvalsh(small[: k + 1, : k + 1])[::-1]
        length = np.linalg.norm(w)
        if k + 1 < steps:
            small[k, k + 1] = small[k + 1, k] = length
            basis.append(w / length)
    return ritz


def main() -> None:
    """Prints the five largest eigenvalues as Lanczos' method finds them."""
    train_set, test_set = load()
    params, _ = train(train_set, test_set, epochs=12)
    ritz = lanczos(params, train_set.first(512))
    for products in (5, 10, 20, 30):
        largest = ", ".join(f"{value:.3g}" for value in ritz[products - 1, :5])
        print(f"after {products} products with the Hessian: {largest}")


if __name__ == "__main__":
    main()
