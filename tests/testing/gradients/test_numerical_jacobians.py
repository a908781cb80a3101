"""Jacobians by differences and by rules, laid out as those of `jacrev` and `jacfwd`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import analytical_jacobian, numerical_jacobian


X = np.array([[0.7, -0.4, 1.2], [0.3, 0.9, -0.5]])
Z = X + 1j * X[::-1]
JACOBIANS = {
    "numerical": numerical_jacobian,
    "reverse": analytical_jacobian,
    "forward": lambda *args, **options: analytical_jacobian(*args, mode="forward", **options),
}
each = pytest.mark.parametrize("name", JACOBIANS)


@each
def test_linear_functions_have_their_matrices(name):
    a, b = X[:, :2], X[:, 1:]
    rows = JACOBIANS[name](lambda a, b: (2 * a + b, a + 2 * b), (a, b))
    matrices = [[block.reshape(4, 4) for block in row] for row in rows]
    one, two = np.eye(4), 2 * np.eye(4)
    np.testing.assert_allclose(matrices, [[two, one], [one, two]], atol=1e-8)


@each
def test_trees_are_laid_out_as_those_of_jacrev(name):
    @jax.jit
    def function(tree, n, z):
        out = functx.mul(n * tree["a"][0], z)
        return {"complex": out, "real": [out.real.sum(0)]}

    args = {"a": [X]}, 2.5, Z
    got = JACOBIANS[name](function, args)
    want = jax.jit(functx.jacrev(function, argnums=(0, 2), as_real=True), static_argnums=1)(*args)
    for row, expected in zip(
        [got["complex"], *got["real"]], [want["complex"], *want["real"]], strict=True
    ):
        assert row[1] is None
        np.testing.assert_allclose(row[0]["a"][0], expected[0]["a"][0], atol=1e-8)
        np.testing.assert_allclose(row[2], expected[1], atol=1e-8)
    assert got["complex"][2].shape == (2, 3, 2, 2, 3, 2)


@each
def test_one_array_has_one_jacobian(name):
    got = JACOBIANS[name](jnp.sin, X[0])
    np.testing.assert_allclose(got, np.diag(np.cos(X[0])), atol=1e-8)


@each
def test_what_is_not_differentiated_has_none(name):
    got = JACOBIANS[name](lambda x, y: (x * y, jnp.argmax(x)), (X[0], X[1]), argnums=1)
    np.testing.assert_allclose(got[0][1], np.diag(X[0]), atol=1e-8)
    assert got[0][0] is None and got[1] is None
    assert JACOBIANS[name](jnp.argmax, X[0]) is None


def test_each_side_shows_what_it_computes():
    wrong = derivative_rules(
        jnp.sin, jvp=lambda xs, _, ts: 2 * ts[0], vjp=lambda xs, _, ct: (3 * ct,)
    )
    one = np.zeros(1)
    for name, value in (("numerical", 1), ("forward", 2), ("reverse", 3)):
        np.testing.assert_allclose(JACOBIANS[name](wrong, one), [[value]], atol=1e-8)
    coarse = numerical_jacobian(jnp.square, one, eps=0.5), numerical_jacobian(jnp.exp, one, eps=1)
    np.testing.assert_allclose(coarse, [[[0]], [[np.sinh(1)]]], atol=1e-12)


def test_the_mode_is_one_of_two():
    with pytest.raises(ValueError, match="`mode` must be 'reverse' or 'forward', got 'both'"):
        analytical_jacobian(jnp.sin, X, mode="both")
