"""Positions of pairs among distances, beyond the sizes that an entry has."""

import jax.numpy as jnp
import pytest

from functx._ops.reductions.pairwise_distances import _triangle


@pytest.mark.parametrize("n", [0, 1, 2, 3, 46341, 46342, 65535, 65536])
def test_pairs_are_counted_as_far_as_their_dtype_goes(n):
    """The product of `n` and `n - 1` leaves the range of int32 from 46342 on, its half does not."""
    assert int(_triangle(jnp.asarray(n, "int32"))) == n * (n - 1) // 2
