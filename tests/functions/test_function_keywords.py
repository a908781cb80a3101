"""`apply` with keyword arguments: their places are those of the parameters of `forward`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X, Y, Z = jnp.asarray([1.0, 2.0]), jnp.asarray(3.0), jnp.asarray(5.0)


class Joined(functx.Function):
    """`x * y + z`, with rules that tell arguments apart."""

    seen = None

    @staticmethod
    def forward(ctx, x, y, z=0.0):
        ctx.save_for_backward(x, y)
        Joined.seen = ctx.needs_input_grad
        return x * y + z

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return 10 * y * grad_output, (20 * x * grad_output).sum(), 30 * grad_output.sum()


class Apart(functx.Function):
    """The same with `setup_context`, both modes, lanes, and parameters that are keywords alone."""

    inputs = lanes = None

    @staticmethod
    def forward(x, *more, y, z=0.0):
        return x * y + z + sum(more)

    @staticmethod
    def setup_context(ctx, inputs, output):
        Apart.inputs = inputs
        ctx.x, ctx.y, ctx.count = inputs[0], inputs[-2], len(inputs) - 3

    @staticmethod
    def backward(ctx, grad_output):
        rest = [40 * grad_output.sum()] * ctx.count
        return 10 * ctx.y * grad_output, *rest, 20 * (ctx.x * grad_output).sum(), None

    @staticmethod
    def jvp(ctx, x, *more):
        return 10 * ctx.y * x + 20 * ctx.x * more[-2]

    @staticmethod
    def vmap(info, in_dims, x, *more, y, z):
        Apart.lanes = in_dims
        return jax.vmap(lambda x, y: x * y + z, (in_dims[0], in_dims[-2]))(x, y), 0


@pytest.mark.parametrize("jit", [lambda f, **_: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    "call",
    [
        lambda f, x, y, z: f(x, y, z),
        lambda f, x, y, z: f(x, y, z=z),
        lambda f, x, y, z: f(x, z=z, y=y),
        lambda f, x, y, z: f(z=z, y=y, x=x),
    ],
)
def test_gradients_come_in_the_order_of_parameters(call, jit):
    f = jit(lambda x, y, z: call(Joined.apply, x, y, z))
    np.testing.assert_array_equal(f(X, Y, Z), X * Y + Z)
    got = functx.grad(lambda *args: f(*args).sum(), argnums=(0, 1, 2))(X, Y, Z)
    assert [x.tolist() for x in got] == [[30, 30], 60, 60]
    functx.grad(lambda y: f(X, y, Z).sum())(Y)
    assert Joined.seen == (False, True, False)


def test_defaults_between_what_is_passed():
    class Middle(functx.Function):
        @staticmethod
        def forward(ctx, x, y=2.0, z=3.0):
            assert ctx.needs_input_grad[1] is False
            return x * y * z

        @staticmethod
        def backward(ctx, grad_output):
            return (grad_output, None, 7 * grad_output)

    assert functx.grad(Middle.apply, argnums=("z", 0))(Y, z=Z) == (7, 1)
    assert functx.grad(Middle.apply)(Y) == 1


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_parameters_that_are_keywords_alone(jit):
    f = jit(lambda x, y: Apart.apply(x, y=y))
    np.testing.assert_array_equal(f(X, Y), X * Y)
    functx.grad(f)(Y, Y)
    assert len(Apart.inputs) == 3 and Apart.inputs[2] == 0.0
    np.testing.assert_array_equal(Apart.apply(X, 1.0, z=Z, y=Y), X * Y + Z + 1)
    got = functx.grad(lambda *args: f(*args).sum(), argnums=(0, 1))(X, Y)
    assert [x.tolist() for x in got] == [[30, 30], 60]
    more = functx.grad(lambda w: Apart.apply(X, w, y=Y).sum())(Z)
    assert more == 80 and len(Apart.inputs) == 4
    tangent = functx.jvp(f, (X, Y), (X, Z))[1]
    np.testing.assert_array_equal(tangent, 10 * Y * X + 20 * X * Z)


def test_lanes_of_keywords():
    got = functx.vmap(Apart.apply, in_dims=None, kw_in_dims={"y": 0})(X, y=jnp.arange(3.0))
    np.testing.assert_array_equal(got, jnp.arange(3.0)[:, None] * X)
    assert Apart.lanes == (None, 0, None)
    got = functx.vmap(Joined.apply, kw_in_dims={"z": 0})(X, z=X, y=X)
    np.testing.assert_array_equal(got, X[:, None] * X + X[:, None])


def test_class_methods_and_values_that_are_no_arrays():
    class Powers(functx.Function):
        @classmethod
        def forward(cls, ctx, x, how="square"):
            ctx.save_for_backward(x)
            ctx.power = {"square": 2, "cube": 3}[how]
            return x**ctx.power

        @classmethod
        def backward(cls, ctx, grad_output):
            (x,) = ctx.saved_tensors
            return ctx.power * x ** (ctx.power - 1) * grad_output, None

    assert Powers.apply(how="cube", x=Y) == 27
    assert functx.grad(lambda x: Powers.apply(x, how="cube"))(Y) == 27


@pytest.mark.parametrize(
    "call, said",
    [
        (
            lambda: Joined.apply(X, w=Y),
            r"no keyword argument 'w'\n.*those of `forward` are x, y, z",
        ),
        (lambda: Apart.apply(X, Y, y=1.0, zz=1.0), r"no keyword argument 'zz'"),
        (lambda: Joined.apply(X, ctx=Y), "no keyword argument 'ctx'"),
        (
            lambda: Joined.apply(X, y=Y, x=X),
            r"`apply` cannot call forward\(x, y, z=0.0\): multiple",
        ),
        (lambda: Joined.apply(X, z=Y), r"cannot call forward\(x, y, z=0.0\): missing .* 'y'"),
        (lambda: Apart.apply(X), r"cannot call forward.*: missing .* 'y'"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(TypeError, match="^(Joined|Apart): .*" + said):
        call()


def test_any_keywords_have_no_place():
    class Open(functx.Function):
        @staticmethod
        def forward(ctx, x, **options):
            return x

    assert Open.apply(x=Y) == Y
    with pytest.raises(TypeError, match="Open: `apply` has no keyword argument 'scale'"):
        Open.apply(Y, scale=Z)


def test_collectives_and_keywords():
    class Pooled(functx.Function):
        @staticmethod
        def forward(ctx, x, *, weight):
            ctx.save_for_backward(weight)
            return jax.lax.psum(x * weight, "i")

        @staticmethod
        def backward(ctx, grad_output):
            (weight,) = ctx.saved_tensors
            return jax.lax.psum(grad_output, "i") * weight, None

    mapped = functx.vmap(lambda x: Pooled.apply(x, weight=Y), axis_name="i")
    np.testing.assert_array_equal(mapped(X), jnp.full(2, 9.0))
    np.testing.assert_array_equal(functx.grad(lambda x: mapped(x).sum())(X), jnp.full(2, 6.0))
