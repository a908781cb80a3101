"""Reductions at ties, kinks, zeros and infinities: gradients as PyTorch 2.13 gives them.

Where PyTorch gives NaN for what has a finite derivative, the finite one.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


inf, nan = np.inf, np.nan

GRADIENTS = {
    "amax shares": (lambda x: functx.amax(x), [1, 3, 3], [0, 0.5, 0.5]),
    "amin shares": (lambda x: functx.amin(x, 0), [1, 1, 3], [0.5, 0.5, 0]),
    "max shares": (lambda x: functx.max(x), [1, 3, 3], [0, 0.5, 0.5]),
    "max shares among NaNs": (lambda x: functx.max(x), [1, nan, nan], [0, 0.5, 0.5]),
    "max of equal infinities": (lambda x: functx.max(x), [inf, 1, inf], [0.5, 0, 0.5]),
    "max(dim) picks the first": (lambda x: functx.max(x, 0).values, [1, 3, 3], [0, 1, 0]),
    "min(dim) picks the first": (lambda x: functx.min(x, 0).values, [3, 1, 1], [0, 1, 0]),
    "max(dim) picks the first NaN": (lambda x: functx.max(x, 0).values, [1, nan, nan], [0, 1, 0]),
    "max(other) halves": (lambda x: functx.max(x, x[::-1]), [2, 2], [1, 1]),
    "cummax picks the last": (lambda x: functx.cummax(x, 0).values, [1, 3, 3, 2], [1, 1, 2, 0]),
    "cummax keeps NaN": (lambda x: functx.cummax(x, 0).values, [1, nan, 2], [1, 2, 0]),
    "median shares": (lambda x: functx.median(x), [1, 2, 2, 3], [0, 0.5, 0.5, 0]),
    "median(dim) picks one": (lambda x: functx.median(x, 0).values, [1, 2, 2, 3], [0, 1, 0, 0]),
    "median shares among NaNs": (lambda x: functx.median(x), [1, nan, nan], [0, 0.5, 0.5]),
    "prod, one zero": (lambda x: functx.prod(x), [0, 2, 3], [6, 0, 0]),
    "prod, two zeros": (lambda x: functx.prod(x), [0, 2, 0], [0, 0, 0]),
    "cumprod, zeros": (lambda x: functx.cumprod(x, 0), [0, 2, 0, 3], [3, 0, 0, 0]),
    "std of a constant": (lambda x: functx.std(x), [2, 2], [0, 0]),
    "var of a constant": (lambda x: functx.var(x), [2, 2], [0, 0]),
    "std of one, uncorrected": (lambda x: functx.std(x, correction=0), [2], [0]),
    "norm at 0": (lambda x: functx.norm(x), [0, 0], [0, 0]),
    "norm 1 at 0": (lambda x: functx.norm(x, 1), [0, -2], [0, -1]),
    "norm 3 at 0": (lambda x: functx.norm(x, 3), [0, 0], [0, 0]),
    "norm 1.5, one zero": (lambda x: functx.norm(x, 1.5), [0, 1], [0, 1]),
    "norm 0.5, one zero": (lambda x: functx.norm(x, 0.5), [0, 1], [0, 1]),
    "norm -1, one zero": (lambda x: functx.norm(x, -1), [0, 1], [0, 0]),
    "norm 0": (lambda x: functx.norm(x, 0), [0, 1], [0, 0]),
    "norm inf shares": (lambda x: functx.norm(x, inf), [3, -3, 0], [0.5, -0.5, 0]),
    "norm inf at 0": (lambda x: functx.norm(x, inf), [0, 0], [0, 0]),
    "norm -inf": (lambda x: functx.norm(x, -inf), [0, 1], [0, 0]),
    "nuclear norm at the identity": (
        lambda x: functx.norm(x, "nuc"),
        [[1, 0], [0, 1]],
        [[1, 0], [0, 1]],
    ),
    # PyTorch: NaN
    "logsumexp of nothing likely": (lambda x: functx.logsumexp(x, 0), [-inf, -inf], [0, 0]),
    "logsumexp of infinity": (lambda x: functx.logsumexp(x, 0), [inf, 1], [0, 0]),
    "amax shares among NaNs": (lambda x: functx.amax(x), [1, nan, nan], [0, 0.5, 0.5]),
    "logcumsumexp after nothing": (
        lambda x: functx.logcumsumexp(x, 0)[2:],
        [-inf, -inf, 1],
        [0, 0, 1],
    ),
}

HESSIANS = {
    "prod, two zeros": (lambda x: functx.prod(x), [0, 0, 3], [[0, 3, 0], [3, 0, 0], [0, 0, 0]]),
    "cumprod, zeros": (
        lambda x: functx.cumprod(x, 0)[2],
        [0, 0, 3],
        [[0, 3, 0], [3, 0, 0], 3 * [0]],
    ),
    "var of a constant": (lambda x: functx.var(x), [2, 2], [[1, -1], [-1, 1]]),
    "std of a constant": (lambda x: functx.std(x), [2, 2], [[0, 0], [0, 0]]),
    "norm at 0": (lambda x: functx.norm(x), [0, 0], [[0, 0], [0, 0]]),
    "norm 4, squared twice, at 0": (lambda x: functx.norm(x, 4) ** 4, [1, 0], [[12, 0], [0, 0]]),
    "norm inf shares": (lambda x: functx.norm(x, inf) ** 2, [3, -3], [[0.5, -0.5], [-0.5, 0.5]]),
    "logsumexp, tied": (lambda x: functx.logsumexp(x, 0), [1, 1], [[0.25, -0.25], [-0.25, 0.25]]),
    "logcumsumexp, tied": (
        lambda x: functx.logcumsumexp(x, 0)[1],
        [1, 1],
        [[0.25, -0.25], [-0.25, 0.25]],
    ),
    "logsumexp, one impossible": (lambda x: functx.logsumexp(x, 0), [-inf, 1], [[0, 0], [0, 0]]),
}


def as_array(values):
    return jnp.asarray(np.asarray(values, "float64"))


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name):
    f, x, want = GRADIENTS[name]
    loss = lambda x: functx.sum(f(x))
    np.testing.assert_allclose(functx.grad(loss)(as_array(x)), want, atol=1e-12)
    forward = functx.jacfwd(loss)(as_array(x))
    np.testing.assert_allclose(forward, want, atol=1e-12)


@pytest.mark.parametrize("name", HESSIANS)
@pytest.mark.parametrize("outer", [functx.jacfwd, functx.jacrev])
def test_hessian(name, outer):
    f, x, want = HESSIANS[name]
    np.testing.assert_allclose(outer(functx.jacrev(f))(as_array(x)), want, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 3)])
def test_nuclear_norm_is_smooth_where_singular_values_repeat(shape):
    """Its third derivative in a direction `b` at a partial isometry, from the values."""
    a = np.eye(*shape)
    b = np.random.default_rng(0).standard_normal(shape)
    along = lambda t: functx.norm(jnp.asarray(a) + t * jnp.asarray(b), "nuc")
    steps = 0.02 * np.arange(-6, 7)
    values = [np.linalg.svd(a + t * b, compute_uv=False).sum() for t in steps]
    fit = np.polynomial.polynomial.polyfit(steps, values, 10)
    f = along
    for order, factorial in ((1, 1), (2, 2), (3, 6)):
        f = jax.grad(f) if order != 2 else functx.jacfwd(f)
        np.testing.assert_allclose(f(jnp.zeros(())), fit[order] * factorial, rtol=1e-5, atol=1e-5)


def test_index_of_ties():
    x = as_array([[2, 1, 2], [nan, 3, nan]])
    assert functx.argmax(x, 1).tolist() == [0, 0]
    assert functx.argmin(x, 1).tolist() == [1, 0]
    assert functx.cummax(x, 1).indices.tolist() == [[0, 0, 2], [0, 0, 2]]
    assert functx.median(x, 1).indices.tolist() == [0, 0]


@pytest.mark.parametrize("values", [[0, -0.0], [-0.0, 0]])
def test_zeros_of_either_sign_are_equal(values):
    x = as_array(values)
    np.testing.assert_allclose(functx.grad(functx.amax)(x), [0.5, 0.5])
