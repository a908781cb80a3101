"""Tangents batched twice, at the end, with primals that are not."""

import jax
import jax.numpy as jnp
import numpy as np

import functx


def test_forward_mode_of_solve_under_two_maps_of_tangents():
    keys = jax.random.split(jax.random.key(0), 4)
    a = jax.random.normal(keys[0], (3, 3)) + 4 * jnp.eye(3)
    b = jax.random.normal(keys[1], (3, 1))
    da = jax.random.normal(keys[2], (3, 3, 2, 4))
    db = jax.random.normal(keys[3], (3, 1, 2, 4))

    def tangent(a, da, b, db):
        return functx.jvp(functx.linalg.solve, (a, b), (da, db))[1]

    dims = (None, -1, None, -1)
    got = functx.vmap(functx.vmap(tangent, dims), dims)(a, da, b, db)
    want = [[tangent(a, da[..., i, j], b, db[..., i, j]) for i in range(2)] for j in range(4)]
    np.testing.assert_allclose(got, np.asarray(want), rtol=1e-9)
