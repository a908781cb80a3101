"""Products of reflections by LAPACK are those of the compact form, of which derivatives are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._ops.linalg.householder import _columns


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape, k", [((5, 3), 3), ((4, 4), 2), ((2, 6, 3), 1)])
def test_lapack_and_the_compact_form_agree(shape, k, dtype):
    def draw(*sizes):
        x = RNG.normal(size=sizes)
        return jnp.asarray(x + 1j * RNG.normal(size=sizes) if "complex" in dtype else x)

    a, tau = draw(*shape), draw(*shape[:-2], k)
    weights = draw(*shape)

    def all_of(f):
        loss = lambda a, tau: jnp.real(jnp.sum(weights * f(a, tau) ** 2))
        slope = jax.grad(loss, (0, 1))
        lanes = jax.vmap(f, (None, 0))(a, jnp.stack([tau, 2 * tau]))
        return f(a, tau), slope(a, tau), jax.jvp(slope, (a, tau), (weights, tau))[1], lanes

    ways = functx.linalg.householder_product, _columns
    got, expected = jax.jit(lambda: [all_of(f) for f in ways])()
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9), got, expected)
