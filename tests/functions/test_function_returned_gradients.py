"""What becomes of the gradients that the rules of a `Function` return: shapes, dtypes, modes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = np.asarray([0.3, -1.2, 2.0])


def test_gradients_of_broadcast_arguments_are_summed_and_cast():
    class Add(functx.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + jnp.asarray(y, x.dtype)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output, grad_output

    x, y = np.ones((4, 2, 3)), np.ones((2, 1), np.float32)
    gx, gy = jax.grad(lambda x, y: Add.apply(x, y).sum(), (0, 1))(x, y)
    assert gx.shape == x.shape and gy.dtype == np.float32
    np.testing.assert_array_equal(gy, np.full((2, 1), 12))
    tangent = jax.jvp(lambda y: Add.apply(jnp.asarray(x), y), (y,), (y,))[1]
    np.testing.assert_array_equal(tangent, np.ones_like(x))


class Turned(functx.Function):
    """`conj(z) w` by rules in PyTorch's convention: a gradient is that of the conjugate."""

    @staticmethod
    def forward(ctx, z, w):
        ctx.save_for_backward(z, w)
        ctx.save_for_forward(z, w)
        return z.conj() * w, (z.conj() * w).real


class TurnedReverse(Turned):
    @staticmethod
    def backward(ctx, g, g_real):
        z, w = ctx.saved_tensors
        g = g + g_real.astype(g.dtype)
        return g.conj() * w, g * z


class TurnedForward(Turned):
    @staticmethod
    def jvp(ctx, dz, dw):
        z, w = ctx.saved_tensors
        tangent = dz.conj() * w + z.conj() * dw
        return tangent, tangent.real


class TurnedBoth(TurnedReverse, TurnedForward):
    pass


@pytest.mark.parametrize("cls", [TurnedReverse, TurnedForward, TurnedBoth])
def test_complex_gradients_are_pytorchs(cls):
    z, w = np.asarray([1 + 2j, -0.5j]), np.asarray([0.3 - 1j, 2 + 1j])
    plain = lambda z, w: (z.conj() * w, (z.conj() * w).real)
    tangents, cotangents = (1j * w, z), (w + z, np.asarray([0.4, -3.0]))
    for f, want in [(cls.apply, plain), (jax.jit(jax.vmap(cls.apply)), plain)]:
        jax.tree.map(
            np.testing.assert_allclose,
            jax.jvp(f, (z, w), tangents),
            jax.jvp(want, (z, w), tangents),
        )
        for vjp in (functx.vjp, jax.vjp):
            got, expected = (vjp(g, z, w)[1](cotangents) for g in (f, want))
            jax.tree.map(np.testing.assert_allclose, got, expected)
    loss = lambda f: lambda z, w: jnp.abs(f(z, w)[0]).sum() + (f(z, w)[1] ** 2).sum()
    got, expected = (functx.grad(loss(f))(z, w) for f in (cls.apply, plain))
    np.testing.assert_allclose(got, expected)
    # Second derivatives, along a direction.
    along = lambda f: lambda z: functx.jvp(functx.grad(loss(f)), (z, w), (w, z))[1]
    np.testing.assert_allclose(along(cls.apply)(z), along(plain)(z))


def test_the_gradient_of_a_real_argument_is_the_real_part():
    class Rotate(functx.Function):
        @staticmethod
        def forward(ctx, angle):
            y = jnp.exp(1j * angle.astype(complex))
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return grad_output * (1j * y).conj()

    f, plain = Rotate.apply, lambda angle: jnp.exp(1j * angle.astype(complex))
    for transform in (
        lambda f: functx.grad(lambda x: (f(x) * (2 - 1j)).real),
        lambda f: lambda x: jax.jvp(f, (x,), (x,))[1],
    ):
        np.testing.assert_allclose(transform(f)(0.7), transform(plain)(0.7), rtol=1e-12)


def test_an_array_that_is_passed_twice_is_two_arguments():
    class Ratio(functx.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x / y

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            return grad_output / y, -grad_output * x / y**2

    class RatioAndSelf(Ratio):
        @staticmethod
        def forward(x, y):
            return x, y, x / y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, output[0])

        @staticmethod
        def backward(ctx, g_x, g_y, g):
            x, y, same = ctx.saved_tensors
            return g_x + g / y, -g * same / y**2

    x = jnp.asarray(2.0)
    want = jax.hessian(jnp.divide, (0, 1))(x, x)
    np.testing.assert_allclose(jax.hessian(Ratio.apply, (0, 1))(x, x), want)
    np.testing.assert_allclose(
        jax.hessian(lambda *a: RatioAndSelf.apply(*a)[2], (0, 1))(x, x), want
    )
    assert jax.hessian(lambda x: Ratio.apply(x, x))(x) == 0


@pytest.mark.parametrize("outer", ["jvp", "backward"])
@pytest.mark.parametrize("inner", ["jvp", "backward"])
def test_forward_mode_uses_jvp_and_reverse_mode_backward(outer, inner):
    class Two(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**2

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 5 * x * tangent

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 7 * x * grad_output

    modes = {"jvp": (jax.jacfwd, 5), "backward": (jax.jacrev, 7)}
    (second, _), (first, factor) = modes[outer], modes[inner]
    assert first(Two.apply)(2.0) == 2 * factor
    assert second(first(Two.apply))(2.0) == factor
    assert jax.vmap(jax.jit(first(Two.apply)))(X)[2] == 2 * factor
