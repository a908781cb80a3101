"""Facts at ties, NaN and empty rows, as PyTorch has them: pooling, attention, normalization."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
import functx.nn.functional as F


NAN, INF = float("nan"), float("inf")


def image(rows):
    return jnp.asarray([rows], "float32")


@pytest.mark.parametrize(
    "rows, gradient",
    [
        ([[1, 1], [1, 1]], [[1, 0], [0, 0]]),
        ([[0, 2], [2, 1]], [[0, 1], [0, 0]]),
        ([[NAN, 3], [NAN, 4]], [[0, 0], [1, 0]]),
        ([[-INF, -INF], [-INF, -INF]], [[1, 0], [0, 0]]),
    ],
    ids=["all equal", "two greatest", "two NaN", "nothing but -inf"],
)
def test_max_pool_gradient_goes_to_one_element(rows, gradient):
    pool = lambda x: F.max_pool2d(x, 2).sum()
    np.testing.assert_array_equal(functx.grad(pool)(image(rows))[0], gradient)
    tangents = [
        functx.jvp(pool, (image(rows),), (image(np.eye(4)[i].reshape(2, 2)),))[1] for i in range(4)
    ]
    np.testing.assert_array_equal(np.reshape(tangents, (2, 2)), gradient)


def test_max_pool_gradients_of_overlapping_windows_add_up():
    x = image([[0, 1, 0], [1, 5, 1], [0, 1, 0]])
    gradient = functx.grad(lambda x: F.max_pool2d(x, 2, 1).sum())(x)
    np.testing.assert_array_equal(gradient[0], [[0, 0, 0], [0, 4, 0], [0, 0, 0]])


def test_max_pool_has_a_second_derivative():
    x = image([[1, 2], [3, 4]])
    hessian = functx.hessian(lambda x: (F.max_pool2d(x, 2) ** 2).sum())(x).reshape(4, 4)
    np.testing.assert_array_equal(hessian, np.diag([0, 0, 0, 2]))


def test_average_of_one_window_leaves_infinity_in_it():
    x = image([[INF, 1, 1, 1, 1]])
    np.testing.assert_array_equal(F.adaptive_avg_pool2d(x, (1, 2))[0], [[INF, 1]])


@pytest.mark.parametrize("mask", [jnp.zeros((2, 2), bool), jnp.full((2, 2), -INF, "float32")])
def test_attention_to_nothing_is_zero_with_zero_gradient(mask):
    q, k, v = (jnp.arange(4, dtype="float32").reshape(2, 2) + i for i in range(3))
    attend = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, mask)
    np.testing.assert_array_equal(attend(q, k, v), jnp.zeros((2, 2)))
    for gradient in functx.grad(lambda *xs: attend(*xs).sum(), (0, 1, 2))(q, k, v):
        np.testing.assert_array_equal(gradient, jnp.zeros((2, 2)))


def test_attention_without_dropout_draws_nothing():
    q = jnp.ones((2, 2), "float32")
    assert jax.jit(F.scaled_dot_product_attention)(q, q, q).shape == (2, 2)
    with pytest.raises(RuntimeError, match="would freeze the numbers"):
        jax.jit(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5))(q)


def test_certain_dropout_gives_zeros():
    q = jnp.ones((2, 2), "float32")
    out = F.scaled_dot_product_attention(q, q, q, dropout_p=1.0, rng_key=jax.random.key(0))
    np.testing.assert_array_equal(out, jnp.zeros((2, 2)))


def test_layer_norm_of_constants_has_a_finite_gradient():
    x = jnp.ones(3, "float32")
    weighted = lambda x: (F.layer_norm(x, (3,)) * jnp.arange(3, dtype="float32")).sum()
    gradient = functx.grad(weighted)(x)
    np.testing.assert_allclose(gradient, np.asarray([-1, 0, 1]) / np.sqrt(1e-5), rtol=1e-5)


def test_nearest_gradient_counts_how_often_an_element_is_read():
    # PyTorch 2.13 is wrong here: its gradient of three sizes scaled unequally is not that of its
    # result.
    x = jnp.ones((1, 1, 5, 4, 3), "float64")
    enlarge = lambda x: F.interpolate(x, scale_factor=(0.7, 1.2, 2.0))
    counts = functx.grad(lambda x: enlarge(x).sum())(x)
    assert counts.sum() == enlarge(x).size
    assert (jax.linearize(enlarge, x)[1](x) == enlarge(x)).all()


def test_volumes_enlarge_under_vmap():
    # A plain sum over taps has seven dimensions here, where jaxlib 0.10.2 crashes.
    x = jnp.ones((2, 1, 1, 4, 4, 4), "float32")
    out = functx.vmap(lambda x: F.interpolate(x, scale_factor=1.7, mode="trilinear"))(x)
    np.testing.assert_allclose(out, jnp.ones((2, 1, 1, 6, 6, 6)))
