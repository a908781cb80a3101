"""Transforms of functions of sparse arrays: by stored values, with the same indices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.sparse import BCOO, BCSR

import functx
from functx.testing.checks.programs import compiled


MATRIX = BCOO((jnp.asarray([1.0, 2.0, 3.0]), jnp.asarray([[0, 1], [1, 0], [2, 2]])), shape=(3, 4))
DENSE = jnp.asarray([[0.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0]])
STORED = jnp.asarray(np.asarray(DENSE) != 0, "float64")
X = jnp.asarray(np.arange(8.0).reshape(4, 2))


def close(got, expected):
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-12, atol=1e-12)


def loss(a):
    return ((a @ X) ** 2).sum()


def squares(a):
    """A sparse output."""
    return BCOO((a.data**2, a.indices), shape=a.shape)


def test_gradients():
    expected = jax.grad(loss)(DENSE) * STORED
    for grad in (functx.grad(loss), functx.jit(functx.grad(loss))):
        got = grad(MATRIX)
        assert isinstance(got, BCOO) and got.nse == 3
        close(got.indices, MATRIX.indices)
        close(got.todense(), expected)
    value, got = functx.value_and_grad(lambda d, x: loss(d["m"]) + x, argnums=(0, 1))(
        {"m": MATRIX}, jnp.asarray(1.0)
    )
    close(value, loss(DENSE) + 1)
    close(got[0]["m"].todense(), expected)
    close(got[1], 1)


def test_gradients_with_integers_beside_and_of_what_is_unused():
    got = functx.grad(lambda t: loss(t[0]), allow_int=True)((MATRIX, jnp.asarray(1)))
    assert got[0].indices.dtype == MATRIX.indices.dtype and got[1].dtype == jax.dtypes.float0
    constant = lambda a: jnp.asarray(1.0)
    assert functx.grad(constant, unused="none")(MATRIX) is None
    with pytest.raises(RuntimeError, match=r"`args\[0\]` is unused"):
        functx.grad(constant, unused="error")(MATRIX)


def test_complex_gradients_are_pytorchs():
    matrix = BCOO((jax.lax.complex(MATRIX.data, -MATRIX.data), MATRIX.indices), shape=(3, 4))
    x, stored = jax.lax.complex(X, X[::-1]), STORED.astype(complex)
    f = lambda a: (jnp.abs(a @ x) ** 2).sum() + (a @ x).imag.sum()
    gradients = lambda a: (functx.grad(f)(a).todense(), functx.grad(f)(a.todense()) * stored)
    close(*compiled(gradients)(matrix))


def test_pullbacks_take_and_give_sparse_arrays():
    output, pull = functx.vjp(lambda a: a @ X, MATRIX)
    close(pull(output)[0].todense(), (output @ X.T) * STORED)
    output, pull = functx.vjp(squares, MATRIX)
    assert isinstance(output, BCOO)
    close(pull(MATRIX)[0].todense(), 2 * DENSE * DENSE)
    _, pull = functx.jit(lambda a: functx.vjp(squares, a))(MATRIX)
    close(pull(MATRIX)[0].data, 2 * MATRIX.data**2)
    _, pull = functx.vjp(lambda x: BCOO((x, MATRIX.indices), shape=(3, 4)), MATRIX.data)
    close(pull(MATRIX)[0], MATRIX.data)


def test_tangents_are_sparse_arrays():
    output, tangent = functx.jvp(squares, (MATRIX,), (MATRIX,))
    close(tangent.indices, output.indices)
    close(tangent.data, 2 * MATRIX.data**2)
    output, push = functx.linearize(squares, MATRIX)
    close(push(MATRIX).todense(), 2 * DENSE * DENSE)
    expected = compiled(lambda a: functx.hvp(loss, a, a)[1] * STORED)(DENSE)
    for product in (functx.hvp, functx.vhp):
        close(product(loss, MATRIX, MATRIX)[1].todense(), expected)
        one = compiled(lambda a, product=product: product(loss, (a,), (a,))[1][0])
        close(one(MATRIX).todense(), expected)


@pytest.mark.parametrize("jacobian", [functx.jacrev, functx.jacfwd])
def test_jacobians(jacobian):
    product = lambda a, x: a @ x
    of_dense = jax.jacrev(product, argnums=(0, 1)), jax.jacrev(lambda a: a**2)
    (of_a, of_x), of_squares = compiled(lambda a, x: (of_dense[0](a, x), of_dense[1](a)))(DENSE, X)
    got, got_of_x = jacobian(product, argnums=(0, 1))(MATRIX, X)
    close(got.todense(), of_a * STORED)
    close(got_of_x, of_x)
    got = compiled(jacobian(squares))(MATRIX)
    assert got.nse == 9 and got.shape == (3, 4, 3, 4)
    close(got.todense(), of_squares * STORED)


def test_hessians():
    loss = lambda a, x: ((a @ x) ** 2).sum()
    got = functx.jit(functx.hessian(loss, argnums=(0, 1)))(MATRIX, X)
    many = lambda a: (a @ X) ** 2
    of_dense = lambda a, x: (jax.hessian(loss, argnums=(0, 1))(a, x), jax.hessian(many)(a))
    expected, of_many = compiled(of_dense)(DENSE, X)
    stored = np.asarray(STORED)
    rows = stored[:, :, None, None]
    close(got[0][0].todense(), expected[0][0] * stored * rows)
    close(got[0][1].todense(), expected[0][1] * rows)
    close(got[1][0].todense(), expected[1][0] * stored)
    close(got[1][1], expected[1][1])
    got = functx.hessian(many)(MATRIX)
    close(got.todense(), of_many * stored * rows)


def test_lanes_of_a_batch():
    dense, x = np.arange(24.0).reshape(2, 3, 4) % 3, np.asarray(X)
    batch, both = BCOO.fromdense(jnp.asarray(dense), n_batch=1), np.arange(2.0)
    close(functx.vmap(lambda a: a @ X)(batch), dense @ x)
    got = functx.vmap(lambda a, i: a @ X * i, (0, 0), 1, chunk_size=1)(batch, jnp.asarray(both))
    close(got, np.swapaxes(dense @ x * both[:, None, None], 0, 1))
    close(functx.vmap(squares)(batch).todense(), dense**2)
    got = functx.vmap(functx.grad(loss))(batch)
    assert got.n_batch == 1
    of_dense = np.asarray(compiled(jax.vmap(jax.grad(loss)))(dense))
    close(got.todense(), of_dense * (dense != 0))
    close(functx.vmap(lambda x, m: m @ x, None, kw_in_dims={"m": 0})(X, m=batch), dense @ x)
    close(functx.vmap(lambda d, x: d["m"] @ x, ({"m": 0}, None))({"m": batch}, X), dense @ x)
    twice = functx.vmap(lambda a, x: a @ x, (None, 0))(MATRIX, np.stack([x, x]))
    close(twice, [np.asarray(DENSE) @ x] * 2)
    assert functx.vmap(lambda x: MATRIX, out_dims=None)(X).shape == (3, 4)
    assert functx.vmap(lambda x: MATRIX)(X).todense().shape == (4, 3, 4)


OTHER = BCOO((MATRIX.data, jnp.asarray([[1, 2], [2, 1], [3, 3]])), shape=(3, 4))
BLOCKS = BCOO((jnp.ones((3, 2)), jnp.asarray([[0], [1], [2]])), shape=(3, 2))
REFUSALS = [
    (lambda: functx.vjp(squares, MATRIX)[1](OTHER), ValueError, "vjp: .* must have the indices of"),
    (lambda: functx.vjp(squares, MATRIX)[1](DENSE), TypeError, "must hold a BCOO where the output"),
    (lambda: functx.jvp(squares, (MATRIX,), (OTHER,)), ValueError, "jvp: `tangents` must have the"),
    (lambda: functx.jvp(squares, (MATRIX,), (DENSE,)), TypeError, "sparse_mask"),
    (lambda: functx.jvp(squares, (MATRIX,), (1.0, 2.0)), ValueError, "must have the structure of"),
    (lambda: functx.linearize(squares, MATRIX)[1](OTHER), ValueError, "linearize: `tangents` must"),
    (lambda: functx.hvp(loss, MATRIX, OTHER), ValueError, "hvp: `tangents` must have the indices"),
    (lambda: functx.jacrev(squares, as_real=True)(MATRIX), ValueError, "`as_real` is for dense"),
    (lambda: functx.jacrev(squares)(BLOCKS), RuntimeError, "no BCOO holds the derivative"),
    (
        lambda: functx.jacrev(lambda a: a.data)(BCSR.from_bcoo(MATRIX.sort_indices())),
        TypeError,
        "must be BCOO, got BCSR",
    ),
    (lambda: functx.vmap(loss)(MATRIX), ValueError, "of which this one has 0, got in_dims 0"),
    (lambda: functx.vmap(lambda x: MATRIX, out_dims=1)(X), ValueError, "along a batch dimension"),
]


@pytest.mark.parametrize("call, error, message", REFUSALS)
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()
