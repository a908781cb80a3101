"""`hvp`, `vhp`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.asarray([1.0, 2.0, 3.0])
V = jnp.asarray([1.0, 0.0, -1.0])
both = pytest.mark.parametrize("product", [functx.hvp, functx.vhp])


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_allclose, got, want)


def f(x):
    return jnp.prod(x) * jnp.sin(x).sum()


@both
def test_product_with_the_dense_hessian(product):
    same(product(f, X, V), (f(X), functx.hessian(f)(X) @ V))
    same(product(f, (X,), (V,)), (f(X), (functx.hessian(f)(X) @ V,)))


@both
def test_several_arguments_and_trees(product):
    g = lambda d, y: (d["w"] ** 2 * y).sum()
    value, (at_d, at_y) = product(g, ({"w": X}, V), ({"w": V}, X))
    same(value, g({"w": X}, V))
    same(at_d, {"w": 2 * V * V + 2 * X * X})
    same(at_y, 2 * X * V)
    same(product(lambda d: g(d, V), {"w": X}, {"w": X})[1], {"w": 2 * V * X})


@both
def test_aux_comes_last(product):
    value, at, aux = product(lambda x: (f(x), {"x": x, "name": "f"}), X, V, has_aux=True)
    same((value, at), product(f, X, V))
    same(aux["x"], X)
    assert aux["name"] == "f"


@both
def test_under_jit_and_vmap(product):
    rows = functx.vmap(lambda v: product(f, X, v)[1])(jnp.eye(3))
    same(jax.jit(lambda: rows)(), functx.hessian(f)(X))


@both
@pytest.mark.parametrize(
    "func, primals, directions, error, message",
    [
        (jnp.sin, X, V, ValueError, r"`func` must return a scalar, got f64\[3\]"),
        (f, X, V[:2], ValueError, r"must be like `primals`, f64\[3\], got f64\[2\]"),
        (f, (X,), V, ValueError, r"must have the structure of `primals`, \(\*,\), got \*"),
        (f, jnp.arange(3), V, TypeError, r"`primals` must be real or complex"),
        (f, ({"w": X.astype(int)},), ({"w": V},), TypeError, r"`primals\[0\]\['w'\]` must be real"),
        (f, (), (), ValueError, "`primals` must not be empty"),
    ],
)
def test_refusals(product, func, primals, directions, error, message):
    with pytest.raises(error, match=f"^{product.__name__}: .*{message}"):
        product(func, primals, directions)
