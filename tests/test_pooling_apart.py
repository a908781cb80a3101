"""Sums of windows that lie side by side, whose cotangents are those of the windows."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


RNG = np.random.default_rng(0)
F = functx.nn.functional
PLACES = [
    (F.avg_pool1d, (7,), 3, {}),
    (F.avg_pool1d, (7,), 3, {"padding": 1, "ceil_mode": True}),
    (F.avg_pool1d, (5,), 4, {"padding": 2, "count_include_pad": False}),
    (F.avg_pool2d, (7, 8), (3, 2), {"padding": (1, 0), "ceil_mode": True}),
    (F.avg_pool2d, (9, 5), 2, {"stride": 2}),
    (F.avg_pool2d, (9, 5), 2, {"stride": 3}),
    (F.avg_pool2d, (9, 5), (2, 3), {"stride": (2, 1)}),
    (F.avg_pool3d, (5, 6, 7), 2, {"padding": 1}),
    (F.avg_pool3d, (5, 6, 7), (1, 3, 2), {"divisor_override": 5}),
    (F.lp_pool2d, (5, 6), 2, {}),
]


@pytest.mark.parametrize("operator, sizes, kernel, options", PLACES)
def test_cotangents_are_those_of_finite_steps(operator, sizes, kernel, options):
    """The map is linear but for powers, of which the squares of ones are their own."""
    norm = (2.0,) if operator is F.lp_pool2d else ()
    f = lambda x: operator(x, *norm, kernel, **options)
    x = jnp.asarray(RNG.uniform(1, 2, (2, 3, *sizes)))
    columns = jax.jit(jax.vmap(lambda t: jax.jvp(f, (x,), (t,))[1]))
    jacobian = np.asarray(columns(jnp.eye(x.size).reshape(-1, *x.shape)))
    step = lambda i: f(x.ravel().at[i].add(1e-6).reshape(x.shape))
    differences = (jax.vmap(step)(jnp.arange(x.size)) - f(x)) / 1e-6
    np.testing.assert_allclose(jacobian, differences, atol=1e-6)
    out, pull = jax.vjp(f, x)
    c = jnp.asarray(RNG.normal(size=out.shape))
    want = np.tensordot(jacobian, c, out.ndim).reshape(x.shape)
    np.testing.assert_allclose(pull(c)[0], want, rtol=1e-9, atol=1e-12)
    loss = lambda x: jnp.sum(c * jnp.sin(f(x)))
    t = jnp.asarray(RNG.normal(size=x.shape))
    forward = jax.jvp(jax.grad(loss), (x,), (t,))[1]
    reverse = jax.grad(lambda x: jnp.sum(jax.grad(loss)(x) * t))(x)
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-12)
    lanes = jnp.stack([c, 2 * c])
    np.testing.assert_allclose(jax.vmap(lambda c: pull(c)[0])(lanes)[1], 2 * pull(c)[0], rtol=1e-12)


@pytest.mark.parametrize(
    "sizes, options, shape",
    [
        ((64, 48), {}, (1, 1)),
        ((64, 48), {"stride": 1, "padding": 1}, (1, 1)),
        ((66, 49), {"padding": 1, "ceil_mode": True}, (23, 1)),
        ((64, 48), {"padding": 1, "count_include_pad": False}, (22, 16)),
        ((2, 48), {"stride": 1, "padding": 1, "count_include_pad": False}, (1, 48)),
    ],
)
def test_a_program_holds_one_divisor_for_windows_that_count_alike(sizes, options, shape):
    """One along each dimension for itself: an image of 2^30 elements has no room for as many."""
    mean = jax.jit(lambda x: F.avg_pool2d(x, 3, **options))
    program = mean.lower(jnp.ones((1, 1, *sizes))).as_text()
    held = re.findall(r"constant dense<.*> : tensor<([0-9x]+)xf64>", program)
    assert held == ["x".join(map(str, shape))]
