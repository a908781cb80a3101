"""`hessian_diagonal` and `jacobian_diagonal`, against dense matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
import functx.nn.functional as F
from functx._curvature.pointwise import acts_on_elements
from functx.curvature import hessian_diagonal, jacobian_diagonal
from functx.testing.checks.programs import compiled


RNG = np.random.default_rng(2)
X = jnp.asarray(RNG.standard_normal(5))
Y = jnp.asarray(RNG.standard_normal((2, 2)))


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, 1e-10, 1e-12), got, want)


def f(x, y):
    return {"a": jnp.sin(x * x.sum()) * y.sum(), "b": (x[:2] @ y) @ x[3:] * jnp.exp(y[0, 0])}


def diagonal(hessian, of):
    """Of a dense Hessian `[*m, *n, *n]` by an input `of`: `[*m, *n]`."""
    out = hessian.shape[: hessian.ndim - 2 * of.ndim]
    square = hessian.reshape(*out, of.size, of.size)
    return jnp.diagonal(square, axis1=-2, axis2=-1).reshape(*out, *of.shape)


def test_of_a_hessian():
    def run(x, y):
        chunked = hessian_diagonal(f, (0, 1), chunk_size=4)(x, y)
        return hessian_diagonal(f, (0, 1))(x, y), chunked, jax.hessian(f, (0, 1))(x, y)

    got, chunked, dense = compiled(run)(X, Y)
    want = {
        name: (diagonal(blocks[0][0], X), diagonal(blocks[1][1], Y))
        for name, blocks in dense.items()
    }
    same(got, want)
    same(chunked, want)


def test_of_a_hessian_of_trees_with_aux():
    loss = lambda p: ((p["w"] ** 3).sum() * p["b"] ** 2, ("aux", p["b"]))
    got, (name, b) = hessian_diagonal(loss, has_aux=True)({"w": X, "b": jnp.asarray(2.0)})
    x = np.asarray(X)
    same(got, {"w": 24 * x, "b": 2 * (x**3).sum()})
    assert name == "aux" and b == 2
    same(hessian_diagonal(lambda x: 3.0)(X), np.zeros(5))


def mixing(x):
    return jnp.sin(x) * x.sum() + x[::-1] ** 2


def test_of_a_jacobian():
    def run(x):
        ways = [jacobian_diagonal(mixing), jacobian_diagonal(mixing, chunk_size=2)]
        return [way(x) for way in ways], jnp.diagonal(jax.jacfwd(mixing)(x))

    got, want = compiled(run)(X)
    same(got, [want, want])
    tree = lambda s, d: ({"a": d["a"] * d["b"].sum(), "b": d["a"][:2] + s * d["b"]}, d["b"])
    got, aux = jacobian_diagonal(tree, 1, has_aux=True)(3.0, {"a": X, "b": Y[0]})
    same(got, {"a": np.full(5, np.asarray(Y)[0].sum()), "b": np.full(2, 3.0)})
    same(aux, Y[0])


@pytest.mark.parametrize(
    "func, one_by_one",
    [
        (functx.sin, True),
        (F.gelu, True),
        (jax.nn.relu, True),
        (lambda x: functx.mul(x, 2.0) + jnp.where(x > 0, x, x**2), True),
        (lambda x: x * lax.stop_gradient(x.sum()), True),
        (lambda x: (x * x, jnp.ones(5)), True),
        (lambda x: x[::-1], False),
        (lambda x: x * x.sum(), False),
        (jnp.cumsum, False),
        (lambda x: functx.softmax(x, 0), False),
        (lambda x: lax.fori_loop(0, 2, lambda i, x: jnp.sin(x), x), False),  # a loop is not seen
    ],
)
def test_sees_functions_of_each_element(func, one_by_one):
    assert acts_on_elements(func, [X]) == one_by_one


def test_functions_of_each_element_take_one_product():
    products = str(jax.make_jaxpr(jacobian_diagonal(jnp.sin))(X)).count("f64[5,5]")
    assert products == 0
    run = lambda x: (jacobian_diagonal(F.gelu)(x), functx.grad(lambda x: F.gelu(x).sum())(x))
    same(*compiled(run)(X))


def test_compose():
    def run(xs):
        hessian = jax.vmap(hessian_diagonal(lambda x: (x**3).prod()))(xs)
        slope = jax.grad(lambda x: hessian_diagonal(lambda x: (x**4).sum())(x).sum())(xs[0])
        return hessian, slope, functx.vmap(jacobian_diagonal(mixing))(xs)

    xs = np.stack([X, 2 * X])
    hessian, slope, jacobian = compiled(run)(xs)
    same(hessian, 6 * xs * (xs**3).prod(1, keepdims=True) / xs**3)
    same(slope, 24 * xs[0])
    same(jacobian[1], np.diagonal(compiled(jax.jacfwd(mixing))(xs[1])))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: hessian_diagonal(f, chunk_size="all"), ValueError, "`chunk_size` must be None"),
        (lambda: hessian_diagonal(jnp.sin)(3), TypeError, "hessian_diagonal: .* must be real"),
        (lambda: jacobian_diagonal(f, (0, 1)), TypeError, "`argnums` must name one argument"),
        (
            lambda: jacobian_diagonal(jnp.sum)(X),
            ValueError,
            r"jacobian_diagonal: the output of `func` must have .* \[\(5,\)\], got \[\(\)\]",
        ),
        (lambda: jacobian_diagonal(lambda x: (x,))(X), ValueError, "must have the structure"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
