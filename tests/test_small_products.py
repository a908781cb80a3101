"""Many small matrices are multiplied as few are: values, derivatives, lanes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("operator", [functx.bmm, functx.matmul])
@pytest.mark.parametrize(
    "batch, m, k, n",
    [(63, 4, 4, 4), (64, 4, 4, 4), (65, 3, 8, 3), (64, 2, 3, 4), (64, 9, 2, 3), (64, 8, 8, 8)],
)
def test_products_of_many_and_of_few(operator, batch, m, k, n):
    left, right = (jnp.asarray(RNG.normal(size=s)) for s in ((batch, m, k), (batch, k, n)))
    plain = lambda x, y: jnp.einsum("bij,bjk->bik", x, y)
    close = lambda got, want: np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    close(operator(left, right), plain(left, right))
    loss = lambda f: lambda x, y: jnp.sum(jnp.sin(f(x, y)))
    grads = [jax.grad(loss(f), (0, 1)) for f in (operator, plain)]
    jax.tree.map(close, *[g(left, right) for g in grads])
    moved = (jnp.cos(left), jnp.sin(right))
    jax.tree.map(close, *[jax.jvp(g, (left, right), moved)[1] for g in grads])
    pulled = [jax.vjp(g, left, right)[1](moved) for g in grads]
    jax.tree.map(close, *pulled)
    lanes = jnp.stack([left, 2 * left])
    close(jax.vmap(operator, (0, None))(lanes, right), jax.vmap(plain, (0, None))(lanes, right))


def test_batches_of_several_dimensions():
    left, right = (jnp.asarray(RNG.normal(size=s)) for s in ((8, 9, 4, 5), (8, 9, 5, 4)))
    np.testing.assert_allclose(functx.matmul(left, right), jnp.matmul(left, right), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int32", "complex64", "float16"])
def test_other_dtypes_keep_their_sums(dtype):
    left, right = (jnp.asarray(RNG.uniform(1, 9, (64, 4, 4))).astype(dtype) for _ in "xy")
    got = functx.bmm(left, right)
    assert got.dtype == dtype
    want = np.matmul(*(np.asarray(x).astype("complex128") for x in (left, right)))
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-3 if dtype == "float16" else 1e-5)
