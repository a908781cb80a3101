"""Rules around what JAX cannot differentiate, or not trace at all."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import functx


X = np.asarray([0.3, -1.2, 2.0])


def add_kernel(x_ref, y_ref, out_ref):
    out_ref[...] = x_ref[...] + 2 * y_ref[...]


class KernelAdd(functx.Function):
    """`x + 2 y` by a Pallas kernel; returns an input as well."""

    @staticmethod
    def forward(ctx, x, y):
        like = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return pl.pallas_call(add_kernel, out_shape=like, interpret=True)(x, y), x

    @staticmethod
    def backward(ctx, grad_output, grad_x):
        return grad_output + grad_x, 2 * grad_output


def test_a_pallas_kernel_has_the_rules_derivative():
    def loss(x, y):
        z, same = KernelAdd.apply(x, y)
        return (z**3 * same).sum()

    plain = lambda x, y: ((x + 2 * y) ** 3 * x).sum()
    for transform in (
        lambda f: functx.grad(f, (0, 1)),
        lambda f: jax.jit(jax.hessian(f)),
        lambda f: lambda x, y: jax.jvp(jax.grad(f), (x, y), (y, x))[1],
    ):
        got, want = transform(loss)(X, X + 1), transform(plain)(X, X + 1)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), got, want)


def host(function, x):
    like = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(function, like, x, vmap_method="expand_dims")


class HostSin(functx.Function):
    """NumPy in `forward` and in `backward`."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return host(np.sin, x)

    @staticmethod
    @functx.autograd.once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * host(np.cos, x)


def test_numpy_runs_through_a_callback():
    for transform in (jax.grad, jax.jacfwd, lambda f: jax.jit(jax.grad(f))):
        np.testing.assert_allclose(transform(HostSin.apply)(0.5), np.cos(0.5))
        np.testing.assert_allclose(jax.vmap(transform(HostSin.apply))(X), np.cos(X))
    program = str(jax.make_jaxpr(HostSin.apply)(0.5))
    assert program.count("function_call") == 1 and "callback" not in program
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        jax.grad(jax.grad(HostSin.apply))(0.5)


def test_numpy_runs_by_itself_where_nothing_is_traced():
    class EagerSin(functx.Function):
        @staticmethod
        def forward(ctx, x):
            x = np.asarray(x)
            ctx.slope = np.cos(x)
            return np.sin(x)

        @staticmethod
        def backward(ctx, grad_output):
            return np.asarray(grad_output) * np.asarray(ctx.slope)

    np.testing.assert_allclose(EagerSin.apply(jnp.asarray(X)), np.sin(X))
    value, pull = functx.vjp(EagerSin.apply, jnp.asarray(X))
    np.testing.assert_allclose(value, np.sin(X))
    np.testing.assert_allclose(pull(jnp.ones(3))[0], np.cos(X))
    np.testing.assert_allclose(functx.grad(EagerSin.apply)(0.5), np.cos(0.5))
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.grad(jax.grad(EagerSin.apply))(0.5)


def test_backward_may_be_compiled_by_itself():
    traced = []

    @jax.jit
    def compiled(x, grad_output):
        traced.append(x.shape)
        return grad_output * 2 * x

    class Square(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            assert ctx.needs_input_grad == (True,)
            return compiled(*ctx.saved_tensors, grad_output)

    for x in (2.0, 3.0):
        assert jax.grad(Square.apply)(x) == 2 * x
    assert traced == [()]
    assert jax.grad(jax.grad(Square.apply))(2.0) == 2


def test_random_numbers_that_forward_draws_are_drawn_once():
    class Dropped(functx.Function):
        @staticmethod
        def forward(ctx, x, key):
            mask = jax.random.bernoulli(key, 0.5, x.shape)
            ctx.save_for_backward(mask)
            return jnp.where(mask, 2 * x, 0)

        @staticmethod
        def backward(ctx, grad_output):
            (mask,) = ctx.saved_tensors
            return jnp.where(mask, 2 * grad_output, 0), None

    x, key = jnp.ones(50), jax.random.key(3)
    value, pull = functx.vjp(lambda x: Dropped.apply(x, key), x)
    np.testing.assert_array_equal(pull(x)[0], value)
    keys = jax.random.split(key, 3)
    over = jax.vmap(jax.value_and_grad(lambda x, k: Dropped.apply(x, k).sum()), (None, 0))
    values, grads = over(x, keys)
    np.testing.assert_array_equal(values, grads.sum(1))

    class Noisy(functx.Function):
        @staticmethod
        def forward(ctx, x):
            noise = functx.rand(3, dtype=functx.float64)
            ctx.save_for_backward(noise)
            return x * noise

        @staticmethod
        def backward(ctx, grad_output):
            (noise,) = ctx.saved_tensors
            return grad_output * noise

    functx.manual_seed(0)
    value, pull = functx.vjp(Noisy.apply, jnp.ones(3))
    np.testing.assert_array_equal(pull(jnp.ones(3))[0], value)
    functx.manual_seed(0)
    np.testing.assert_array_equal(functx.rand(3, dtype=functx.float64), value)
    assert not (functx.rand(3, dtype=functx.float64) == value).any()
    with pytest.raises(RuntimeError, match="take a key as an argument"):
        functx.vmap(Noisy.apply, randomness="different")(jnp.ones((2, 3)))
