"""Bags that PyTorch does not survive: its process may end where there are none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


@pytest.mark.parametrize("mode", ["max", "mean", "sum"])
def test_no_bags_have_a_gradient(mode):
    rows, offsets = jnp.asarray([0, 1]), jnp.asarray([0])

    def total(table):
        bags = functx.nn.functional.embedding_bag(
            rows, table, offsets, mode=mode, include_last_offset=True
        )
        assert bags.shape == (0, 2)
        return functx.sum(bags)

    np.testing.assert_array_equal(jax.grad(total)(jnp.ones((2, 2))), np.zeros((2, 2)))
