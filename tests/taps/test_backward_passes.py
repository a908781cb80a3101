"""What a backward pass computes, and what it leaves alone."""

from __future__ import annotations

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxprs_in_params

import functx
from functx._core.rules.custom_derivatives import derivative_rules


X, Y = np.float32(3), np.float32(4)


def refuse(*_):
    raise LookupError("Boom")


def products(jaxpr):
    inner = (sub for eqn in jaxpr.eqns for sub in jaxprs_in_params(eqn.params))
    own = sum(eqn.primitive.name == "dot_general" for eqn in jaxpr.eqns)
    return own + sum(map(products, inner))


def test_only_the_gradients_that_are_asked_for_are_computed():
    f = lambda x, y: functx.sum(functx.matmul(x, y))
    count = lambda which: products(jax.make_jaxpr(functx.grad(f, which))(*[jnp.ones((2, 2))] * 2))
    assert (count(0), count(1), count((0, 1))) == (2, 2, 3)


@pytest.mark.parametrize("how", ["tap", "rule"])
def test_the_rule_of_a_branch_that_is_not_asked_for_does_not_run(how):
    own = derivative_rules(lambda y: 2 * y, vjp=refuse)
    through = {"tap": lambda y: functx.taps.tap(2 * y, on_grad=refuse), "rule": own}[how]
    f = lambda x, y: x * x + through(y)
    assert functx.grad(f, argnums=0)(X, Y) == 6
    with pytest.raises(LookupError, match="Boom"):
        functx.grad(f, argnums=1)(X, Y)


def test_an_argument_that_the_loss_does_not_use_has_zeros():
    assert functx.grad(lambda x, y: x, argnums=(0, 1))(3.0, 4.0) == (1, 0)


def test_a_backward_pass_can_be_split_in_two():
    """Gradients of what lies between, computed shard by shard, are cotangents of the lower half."""
    x = jnp.arange(4.0)
    middle, lower = functx.vjp(lambda x: x * x, x)
    shards = [functx.vjp(lambda m, i=i: m[i] * (1 + i), middle)[1](1.0)[0] for i in range(4)]
    whole = lambda x: sum((x * x)[i] * (1 + i) for i in range(4))
    np.testing.assert_array_equal(lower(sum(shards))[0], functx.grad(whole)(x))


def test_gradients_accumulate_in_the_carry_of_a_scan():
    def loss(w, x):
        return functx.mean((x @ w) ** 2)

    rng = np.random.default_rng(0)
    w, xs = rng.normal(size=3), rng.normal(size=(4, 5, 3))
    add = lambda total, x: (jax.tree.map(jnp.add, total, functx.grad(loss)(w, x)), None)
    total, _ = lax.scan(add, jnp.zeros_like(w), xs)
    np.testing.assert_allclose(total / 4, functx.grad(loss)(w, xs.reshape(20, 3)))


def test_gradients_accumulate_in_references():
    """JAX's own: a pull that adds to a buffer, in place."""
    _, pull = jax.vjp(lambda x: x * x, jnp.arange(3.0))
    buffer = jax.new_ref(jnp.ones(3))
    pull.with_refs(buffer)(jnp.ones(3))
    pull.with_refs(buffer)(jnp.ones(3))
    np.testing.assert_array_equal(buffer[...], [1, 5, 9])


def test_gradients_of_empty_arrays_have_the_shapes_of_their_arguments():
    f = lambda x, y: functx.sum(functx.add(x, y))
    gx, gy = functx.grad(f, argnums=(0, 1))(jnp.ones((4, 0)), jnp.ones((4, 1)))
    assert gx.shape == (4, 0)
    np.testing.assert_array_equal(gy, np.zeros((4, 1)))


@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray])
def test_the_callers_cotangent_is_not_written_to(kind):
    cotangent = kind([1.0, 2.0])
    f = lambda x: (
        functx.taps.tap(x, on_grad=lambda g: 10 * g) + x.at[0].set(0) + x[jnp.array([0, 0])]
    )
    _, pull = functx.vjp(f, jnp.ones(2))
    for run in (pull, jax.jit(pull)):
        np.testing.assert_array_equal(run(cotangent)[0], [13, 22])
        np.testing.assert_array_equal(cotangent, [1, 2])


def test_a_warning_inside_a_derivative_rule_reaches_the_caller():
    def rule(primals, output, cotangent):
        warnings.warn("from backward", stacklevel=1)
        return (cotangent,)

    own = derivative_rules(lambda x: x, vjp=rule)
    for gradient in (functx.grad(own), jax.jit(functx.grad(own))):
        with pytest.warns(UserWarning, match="from backward"):
            gradient(jnp.ones(()))
