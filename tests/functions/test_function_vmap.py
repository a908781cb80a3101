"""A `Function`'s own rule for lanes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing.checks.programs import compiled


X, Y = np.asarray([0.3, -1.2, 2.0]), np.asarray([1.0, 0.5])
told = []


class Outer(functx.Function):
    """`sin(x) y`, with derivatives three times too large and a rule for lanes that is noticed."""

    @staticmethod
    def forward(x, y, name):
        return jnp.sin(x) * y, name

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, _ = inputs
        ctx.save_for_backward(x, y, output[0])

    @staticmethod
    def backward(ctx, grad_output, _):
        x, y, z = ctx.saved_tensors
        return 3 * grad_output * jnp.cos(x) * y, 3 * grad_output * z / y, None

    @staticmethod
    def vmap(info, in_dims, x, y, name):
        told.append((info.batch_size, info.randomness, in_dims))
        x = x if in_dims[0] is None else jnp.moveaxis(x, in_dims[0], -1)
        y = y if in_dims[1] is None else jnp.moveaxis(y, in_dims[1], -1)
        return (jnp.sin(x) * y, name), (-1, None)


def plain(x, y):
    return 3 * jnp.sin(x) * y - 2 * jax.lax.stop_gradient(jnp.sin(x) * y)


def own(x, y):
    z, name = Outer.apply(x, y, "name")
    assert name == "name"
    return z


@pytest.mark.parametrize("dims", [(0, None), (None, 0), (0, 0)])
def test_the_own_rule_is_used_and_its_derivative_is_that_of_the_rules(dims):
    x = X if dims[0] == 0 else X[0]
    y = X + 4 if dims[1] == 0 else Y[0]
    told.clear()
    np.testing.assert_allclose(jax.vmap(own, dims)(x, y), jax.vmap(plain, dims)(x, y))
    assert told == [(3, "error", (*dims, None))]
    for transform in (
        lambda f: jax.vmap(jax.grad(f, (0, 1)), dims),
        lambda f: jax.grad(lambda x, y: jax.vmap(f, dims)(x, y).sum(), (0, 1)),
        lambda f: jax.vmap(jax.grad(jax.grad(f), 1), dims),
        lambda f: jax.hessian(lambda x, y: jax.vmap(f, dims)(x, y).sum()),
        lambda f: jax.jit(jax.vmap(functx.grad(f), dims)),
    ):
        told.clear()
        got, want = (compiled(transform(f))(x, y) for f in (own, plain))
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), got, want
        )
        assert told


def test_maps_of_maps():
    over = lambda f: jax.vmap(jax.vmap(f, (0, None)), (None, 0))
    np.testing.assert_allclose(over(own)(X, Y), over(plain)(X, Y))
    grad = lambda f: over(jax.grad(f, 1))(X, Y)
    np.testing.assert_allclose(grad(own), grad(plain))
    np.testing.assert_allclose(functx.vmap(own, (0, None), chunk_size=2)(X, 2.0), np.sin(X) * 2)


class Returned(functx.Function):
    @staticmethod
    def forward(x, returned):
        return {"a": x, "b": (x, None)}

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, x, returned):
        return returned(x)


def test_out_dims_may_stand_for_trees_and_none_for_what_is_alike():
    f = lambda x: Returned.apply(x, lambda x: ({"a": x.sum(), "b": (x, None)}, {"a": None, "b": 0}))
    got = jax.vmap(f)(X)
    np.testing.assert_allclose(got["a"], [X.sum()] * 3)
    np.testing.assert_allclose(got["b"][0], X)
    doubled = jax.vmap(lambda x: Returned.apply(x, lambda x: ({"a": 2 * x, "b": (x, None)}, 0)))(X)
    np.testing.assert_allclose(doubled["a"], 2 * X)


@pytest.mark.parametrize(
    "returned, message",
    [
        (lambda x: x, r"must return a pair \(output, out_dims\), got f64\[3\]"),
        (
            lambda x: ({"a": x, "b": x}, (0, 0)),
            "out_dims that `vmap` returns must be like its output",
        ),
        (
            lambda x: ({"a": x[:2], "b": (x, None)}, 0),
            r"returned f64\[2\] with out_dim 0, .* 3 lanes",
        ),
        (lambda x: ({"a": x, "b": (x, None)}, 1), r"returned f64\[3\] with out_dim 1"),
    ],
)
def test_what_a_rule_for_lanes_must_return(returned, message):
    with pytest.raises((TypeError, ValueError), match=f"Returned: .*{message}"):
        jax.vmap(lambda x: Returned.apply(x, returned))(X)


@pytest.mark.parametrize("flag", [False, True])
def test_lanes_are_mapped_whatever_generate_vmap_rule_says(flag):
    class Tripled(functx.Function):
        generate_vmap_rule = flag

        @staticmethod
        def forward(ctx, x):
            return jnp.sin(x)

        @staticmethod
        def backward(ctx, grad_output):
            return 3 * grad_output

    assert functx.Function.generate_vmap_rule is False
    np.testing.assert_allclose(functx.vmap(Tripled.apply)(X), np.sin(X))
    np.testing.assert_array_equal(functx.vmap(functx.grad(Tripled.apply))(X), [3, 3, 3])
