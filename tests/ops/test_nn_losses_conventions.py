"""Gradients of losses and activations at kinks, and at extreme values, are PyTorch's."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
import functx.nn.functional as F


ZERO, TARGET = jnp.zeros(2, "float32"), jnp.asarray([0, 1])


@pytest.mark.parametrize(
    "f, at, want",
    [
        (F.relu, [0.0, -1.0], [0, 0]),
        (F.gelu, [0.0, 0.0], [0.5, 0.5]),
        (F.silu, [0.0, 0.0], [0.5, 0.5]),
        (F.softplus, [0.0, 30.0], [0.5, 1]),
        (lambda x: F.l1_loss(x, ZERO, reduction="sum"), [0.0, 1.0], [0, 1]),
        (lambda x: F.smooth_l1_loss(x, ZERO, reduction="sum"), [0.0, 1.0], [0, 1]),
        (lambda x: F.smooth_l1_loss(x, ZERO, reduction="sum", beta=0), [0.0, -1.0], [0, -1]),
        (lambda x: F.normalize(x, dim=0), [0.0, 0.0], [1e12, 1e12]),
        (
            lambda x: F.binary_cross_entropy_with_logits(x, ZERO, reduction="sum"),
            [0.0, -100.0],
            [0.5, 0],
        ),
    ],
)
def test_gradient(f, at, want):
    gradient = functx.grad(lambda x: functx.sum(f(x)))(jnp.asarray(at, "float32"))
    np.testing.assert_allclose(gradient, np.asarray(want, "float32"), rtol=1e-6, atol=1e-30)


def test_second_derivative_of_logits_at_zero():
    loss = lambda x: F.binary_cross_entropy_with_logits(x, jnp.zeros((), "float32"))
    assert functx.hessian(loss)(jnp.zeros((), "float32")) == 0.25


def test_ignored_targets_get_no_gradient():
    loss = lambda x: F.cross_entropy(x, jnp.asarray([-100, 1]))
    gradient = functx.grad(loss)(jnp.ones((2, 3), "float32"))
    assert (gradient[0] == 0).all() and jnp.isfinite(gradient).all()


def test_mean_over_nothing_is_nan_and_its_gradient_zero():
    value, pull = functx.vjp(
        lambda x: F.nll_loss(x, jnp.asarray([-100, -100])), jnp.ones((2, 3), "float32")
    )
    assert jnp.isnan(value)
    assert (pull(jnp.ones((), "float32"))[0] == 0).all()


def test_padding_row_gets_no_gradient():
    loss = lambda w: functx.sum(F.embedding(jnp.asarray([0, 1, 1]), w, padding_idx=-1))
    gradient = functx.grad(loss)(jnp.ones((2, 2), "float32"))
    assert gradient.tolist() == [[1, 1], [0, 0]]


def test_row_gradients_scale_by_frequency():
    loss = lambda w: functx.sum(F.embedding(jnp.asarray([0, 1, 1]), w, scale_grad_by_freq=True))
    assert functx.grad(loss)(jnp.ones((3, 1), "float32")).ravel().tolist() == [1, 1, 0]


def test_rows_beyond_max_norm_are_scaled_down():
    rows = F.embedding(jnp.asarray([0, 1]), jnp.asarray([[3.0, 4.0], [0.3, 0.4]]), max_norm=1.0)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


EXTREMES = {
    "zeros": np.zeros((2, 3)),
    "tiny": np.full((2, 3), 1e-20) * [[1, -1, 2]],
    "huge": np.asarray([[1e4, -1e4, 0], [88, -88, 1]]),
    "mixed": np.asarray([[1e-20, 1e4, 0], [-1e4, 1e-20, 3]]),
}
LOSSES = {
    "softmax": lambda x: F.softmax(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, 1),
    "nll_loss": lambda x: F.nll_loss(x, TARGET),
    "cross_entropy": lambda x: F.cross_entropy(x, TARGET),
    "cross_entropy probabilities": lambda x: F.cross_entropy(x, jnp.full((2, 3), 1 / 3, x.dtype)),
    "mse_loss": lambda x: F.mse_loss(x, jnp.ones_like(x)),
    "l1_loss": lambda x: F.l1_loss(x, jnp.ones_like(x)),
    "binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(
        x, jnp.full_like(x, 0.5)
    ),
    "layer_norm": lambda x: F.layer_norm(x, [3]),
}


@pytest.mark.parametrize("loss, at", list(itertools.product(LOSSES, EXTREMES)))
def test_second_derivatives_at_extremes_are_finite_and_agree(loss, at):
    x = jnp.asarray(EXTREMES[at], "float32")
    pull = lambda x: functx.vjp(LOSSES[loss], x)[1](jnp.ones_like(LOSSES[loss](x)))[0]
    forward, reverse = jax.jit(lambda x: (functx.jacfwd(pull)(x), functx.jacrev(pull)(x)))(x)
    assert jnp.isfinite(forward).all()
    np.testing.assert_allclose(forward, reverse, rtol=1e-4, atol=1e-5)
