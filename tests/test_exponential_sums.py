"""Logarithms of sums of exponentials where their arguments are products of the same program.

A compiler may compute the difference of such an argument and the greatest without rounding the
argument first, as it does for the greatest: then the greatest is not 0 apart from itself.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


F = functx.nn.functional


def scores(weight, x):
    return F.layer_norm(x, (x.shape[-1],)) * weight


OF_SCORES = {
    "log_softmax": lambda s: functx.sum(functx.sin(F.log_softmax(s, -1))),
    "softmax": lambda s: functx.sum(functx.sin(F.softmax(s, -1))),
    "logsumexp": lambda s: functx.sum(functx.logsumexp(s, -1)),
    "logcumsumexp": lambda s: functx.sum(functx.logcumsumexp(s, -1)),
    "cross_entropy": lambda s: F.cross_entropy(s, jnp.zeros(s.shape[0], "int32")),
}


@pytest.mark.parametrize("name", OF_SCORES)
def test_a_compiled_program_of_products_agrees_with_single_steps(name):
    def both(weight, x):
        loss = lambda weight, x: OF_SCORES[name](scores(weight, x))
        return functx.value_and_grad(loss, argnums=(0, 1))(weight, x)

    compiled = jax.jit(both)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        arrays = (rng.standard_normal(s).astype("float32") for s in (3, (5, 3)))
        arrays = list(map(jnp.asarray, arrays))
        want, got = jax.tree.leaves(both(*arrays)), jax.tree.leaves(compiled(*arrays))
        for w, g in zip(want, got, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_two_equal_shares_none_is_most(dtype):
    for x in np.linspace(-3, 3, 41):
        row = jnp.full(2, x, dtype)
        gradient = functx.grad(lambda row: F.log_softmax(row, 0)[0])(row)
        np.testing.assert_allclose(gradient, [0.5, -0.5], rtol=1e-6)
