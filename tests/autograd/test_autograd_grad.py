"""`functx.autograd.grad` has the arguments and the refusals of PyTorch's, for functions."""

from __future__ import annotations

import jax
import jax.extend as jex
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx import autograd
from functx.autograd import forward_ad
from functx.testing.checks.programs import compiled


X = jnp.asarray([[0.7, -0.4], [0.2, 1.1]])
Y = jnp.asarray([[1.5, 0.3], [-0.6, 0.9]])


def quadratic(x, y):
    return x**2 + y * x + y**2


def test_one_cotangent_per_input_in_a_tuple():
    assert autograd.grad(lambda x: (x * x).sum(), X)[0].shape == X.shape
    got = autograd.grad(quadratic, [X, Y], jnp.ones((2, 2)))
    np.testing.assert_allclose(got, (2 * X + Y, X + 2 * Y))


def test_second_derivatives_by_nesting():
    def total(x, y):
        gx, gy = autograd.grad(quadratic, (x, y), jnp.ones((2, 2)))
        return 2 * gx + gy

    np.testing.assert_allclose(
        autograd.grad(total, (X, Y), (jnp.ones((2, 2)),)), ([5 * X**0, 4 * X**0])
    )


def test_several_outputs_add_up():
    def roots(x):
        y = x**2
        return y, y**3

    gy, gz = Y, X
    (got,) = compiled(lambda x: autograd.grad(roots, x, (gy, gz)))(X)
    np.testing.assert_allclose(got, 2 * X * gy + 6 * X**5 * gz, rtol=1e-12)


def test_an_output_named_twice_counts_twice():
    def f(x):
        y = x * 3
        return y, y

    np.testing.assert_allclose(autograd.grad(f, X, (Y, Y))[0], 6 * Y)


def test_an_input_among_the_outputs_gets_its_cotangent():
    np.testing.assert_array_equal(autograd.grad(lambda x: x, X, Y)[0], Y)


def test_outputs_and_inputs_are_trees():
    f = lambda p: {"a": p["w"] * 2, "b": p["w"].sum()}
    (got,) = autograd.grad(f, {"w": X}, {"a": Y, "b": None})
    np.testing.assert_allclose(got["w"], 2 * Y + 1)


def test_aux_comes_back_beside_the_cotangents():
    got, aux = autograd.grad(lambda x: (x.sum(), 2 * x), X, has_aux=True)
    np.testing.assert_array_equal(got[0], np.ones((2, 2)))
    np.testing.assert_array_equal(aux, 2 * X)


def test_complex_cotangents_are_pytorchs():
    z = jnp.asarray([1 + 2j, 3 - 1j])
    f = lambda z: z * z
    want = functx.vjp(f, z)[1](z)
    np.testing.assert_array_equal(autograd.grad(f, z, z)[0], want[0])


def test_integers_on_the_way_carry_no_gradient():
    def f(x, y):
        index = functx.argmax(x, 0)
        return (functx.sin(y) * index.astype(y.dtype)).sum() + x[0, 0]

    got = autograd.grad(f, (X, Y))
    np.testing.assert_array_equal(got[0], [[1, 0], [0, 0]])
    np.testing.assert_allclose(
        got[1], np.cos(np.asarray(Y)) * np.argmax(np.asarray(X), 0), rtol=1e-12
    )


class TestCotangentsAreChecked:
    def test_shapes(self):
        message = r"Mismatch in shape: grad_output\[0\] has a shape of \(2,\) and output\[0\] has a"
        with pytest.raises(RuntimeError, match=message):
            autograd.grad(quadratic, (X, Y), jnp.ones(2))

    @pytest.mark.parametrize("given", [None, [None], (None,)])
    def test_only_a_real_scalar_needs_none(self, given):
        for x in (X, jnp.asarray(1j)):
            with pytest.raises(RuntimeError, match="implicitly created only for real scalar"):
                autograd.grad(lambda x: x * 2, x, given)

    def test_one_for_each_output(self):
        with pytest.raises(ValueError, match="of which there are 1, got 2"):
            autograd.grad(lambda x: x.sum(), X, (1.0, 1.0))

    def test_arrays(self):
        with pytest.raises(TypeError, match=r"`grad_outputs\[0\]` must be an array, got 'one'"):
            autograd.grad(lambda x: x, X, "one")

    def test_real_for_real_and_complex_for_complex(self):
        with pytest.raises(TypeError, match=r"`grad_outputs\[0\]` must be real"):
            autograd.grad(lambda x: x, X, X.astype(complex))
        with pytest.raises(TypeError, match=r"`grad_outputs\[0\]` must be complex"):
            autograd.grad(lambda x: x, X.astype(complex), X)

    def test_integers_take_the_outputs_dtype(self):
        (got,) = autograd.grad(lambda x: x, X, jnp.ones((2, 2), int))
        assert got.dtype == X.dtype


class TestBadCalls:
    def test_an_array_is_no_function(self):
        with pytest.raises(
            TypeError, match=r"(?s)must be a function of `inputs`, got f64\[2,2\].*lambda x"
        ):
            autograd.grad(X * X, X)

    def test_no_inputs(self):
        with pytest.raises(ValueError, match="grad requires non-empty inputs."):
            autograd.grad(lambda: 1.0, [])

    def test_integer_inputs(self):
        with pytest.raises(TypeError, match=r"`inputs\[1\]` must be real or complex"):
            autograd.grad(quadratic, (X, jnp.arange(2)))

    def test_integer_outputs(self):
        with pytest.raises(RuntimeError, match=r"output\[1\], i64\[\], does not require grad"):
            autograd.grad(lambda x: (x.sum(), functx.argmax(x)), X)

    def test_outputs_that_do_not_depend_on_inputs(self):
        for f in (lambda x: Y.sum(), lambda x: (x.sum(), Y.sum())):
            with pytest.raises(RuntimeError, match="does not require grad"):
                autograd.grad(f, X)

    def test_a_pullback_takes_one_tree(self):
        _, pull = functx.vjp(quadratic, X, Y)
        with pytest.raises(TypeError, match="argument"):
            pull(X, X)
        with pytest.raises(TypeError, match="argument"):
            pull()


class TestUnusedInputs:
    def test_none_where_allowed(self):
        gx, gy = autograd.grad(lambda x, y: x * 2, (X, Y), X, allow_unused=True)
        np.testing.assert_allclose(gx, 2 * X)
        assert gy is None

    @pytest.mark.parametrize("allow", [None, False])
    def test_an_error_otherwise(self, allow):
        with pytest.raises(
            RuntimeError, match=r"(?s)`inputs\[1\]` is not used.*Set allow_unused=True"
        ):
            autograd.grad(lambda x, y: x * 2, (X, Y), X, allow_unused=allow)

    def test_zeros_where_materialized_to_every_order(self):
        first = lambda x, a: autograd.grad(lambda x, a: x * a, (x, a))[0]
        second = lambda x: autograd.grad(
            lambda x: first(x, jnp.ones(())), x, materialize_grads=True
        )[0]
        third = lambda x: autograd.grad(second, x, materialize_grads=True)[0]
        x = jnp.asarray(0.5)
        assert autograd.grad(lambda x: first(x, jnp.ones(())), x, allow_unused=True) == (None,)
        assert second(x) == 0 and third(x) == 0

    def test_contradictory_options(self):
        with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when"):
            autograd.grad(quadratic, (X, Y), allow_unused=False, materialize_grads=True)


class TestBatchedCotangents:
    def test_a_first_dimension_of_cotangents_is_one_of_gradients(self):
        batch = jnp.arange(12.0).reshape(3, 2, 2)
        (got,) = autograd.grad(lambda x: x**2, X, (batch,), is_grads_batched=True)
        np.testing.assert_allclose(got, 2 * X * batch)
        gx, gy = autograd.grad(
            lambda x, y: x * 2, (X, Y), batch, is_grads_batched=True, allow_unused=True
        )
        np.testing.assert_allclose(gx, 2 * batch)
        assert gy is None

    def test_of_a_scalar(self):
        (got,) = autograd.grad(lambda x: x.sum(), X, jnp.arange(3), is_grads_batched=True)
        np.testing.assert_array_equal(got, np.arange(3.0)[:, None, None] * np.ones((2, 2)))

    @pytest.mark.parametrize("shape", [(2, 2), (2, 1), (), (3, 2, 2, 1)])
    def test_the_other_dimensions_are_the_outputs(self, shape):
        with pytest.raises(
            RuntimeError, match="If `is_grads_batched=True`, we interpret the first"
        ):
            autograd.grad(lambda x: x, X, jnp.ones(shape), is_grads_batched=True)


def test_a_missing_derivative_is_an_error_only_when_asked_for():
    """As for a primitive whose author gives none."""
    ahead = jex.core.Primitive("only_ahead")
    ahead.def_impl(lambda x: x)
    ahead.def_abstract_eval(lambda x: x)
    assert ahead.bind(X) is X
    with pytest.raises(NotImplementedError, match="only_ahead"):
        autograd.grad(ahead.bind, X)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, Y)
        with pytest.raises(NotImplementedError, match="only_ahead"):
            ahead.bind(dual)


def test_composes_with_transforms():
    f = lambda x, y: autograd.grad(quadratic, (x, y), jnp.ones(2))[0]
    everything = lambda x, y: (
        functx.vmap(f)(x, y),
        functx.jacrev(f)(x[0], y[0]),
        functx.jacfwd(f, 1)(x[0], y[0]),
        jax.jit(f)(x[0], y[0]),
    )
    mapped, of_x, of_y, jitted = compiled(everything)(X, Y)
    np.testing.assert_allclose(mapped, 2 * X + Y)
    np.testing.assert_allclose(of_x, 2 * np.eye(2))
    np.testing.assert_allclose(of_y, np.eye(2))
    np.testing.assert_allclose(jitted, 2 * X[0] + Y[0])


def test_differentiates_in_a_no_grad_region_where_its_result_is_constant():
    def f(x):
        with functx.no_grad():
            (slope,) = autograd.grad(functx.sin, x)
        return x * slope

    x = X[0, 0]
    np.testing.assert_allclose(functx.grad(f)(x), np.cos(x))
