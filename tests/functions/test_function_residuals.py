"""What a `Function` keeps, how often it runs, what it closes over, and how it reads in a jaxpr."""

import functools as ft
import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

import functx
from functx._transforms.programs.labels import label_of
from functx._transforms.programs.walking import equations


X = np.asarray([0.3, -1.2, 2.0])


class Layer(functx.Function):
    """Keeps one byte for each element, and the weight."""

    @staticmethod
    def forward(ctx, x, w):
        y = x * w
        ctx.save_for_backward(y > 0, w)
        return jnp.sin(jnp.maximum(y, 0)) * 0 + jnp.maximum(y, 0)

    @staticmethod
    def backward(ctx, grad_output):
        mask, w = ctx.saved_tensors
        return jnp.where(mask, grad_output * w, 0), None


def test_backward_keeps_what_was_saved_and_nothing_else():
    x = jnp.ones((1000,), "float32")
    kept = functx.residuals.saved_residuals(lambda x: Layer.apply(x, jnp.float32(2)), x)
    assert kept.bytes == 1000 + 4
    program = jax.make_jaxpr(lambda x, w: jax.vjp(lambda x: Layer.apply(x, w), x)[1](x))(x, 2 * x)
    names = [eqn.primitive.name for eqn in program.jaxpr.eqns]
    assert names.count("function_call") == 1 and not {"sin", "max"} & set(names)


def test_a_function_is_one_equation_with_its_name():
    calls = lambda f: [label_of(e) for e in equations(jax.make_jaxpr(f)(X, X).jaxpr)]
    assert calls(Layer.apply) == ["Layer"]
    assert calls(jax.jit(Layer.apply))[-1] == "Layer"
    pushed = calls(lambda x, t: jax.jvp(lambda x: Layer.apply(x, x), (x,), (t,)))
    assert pushed.count("Layer") == 1 and pushed.count("LayerBackward") == 1
    assert "function_call[call=Layer]" in str(jax.make_jaxpr(Layer.apply)(X, X))


def test_what_is_not_differentiated_takes_no_part():
    program = str(jax.make_jaxpr(jax.grad(lambda x: x + Layer.apply(2.0 * jnp.ones(()), 3.0)))(1.0))
    assert "function_tangent" not in program and "gt" not in program


def counted():
    ran = []

    class Counted(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ran.append("forward")
            ctx.save_for_backward(jnp.cos(x))
            return jnp.sin(x)

        @staticmethod
        def backward(ctx, grad_output):
            ran.append("backward")
            (c,) = ctx.saved_tensors
            return grad_output * c

    return Counted.apply, ran


@pytest.mark.parametrize(
    "transform, forward, backward",
    [
        (lambda f: f, 1, 0),
        (jax.jit, 1, 0),
        (jax.grad, 1, 1),
        (lambda f: jax.grad(jax.jit(f)), 1, 1),
        (lambda f: jax.jit(jax.grad(jax.jit(f))), 1, 1),
        (lambda f: jax.vmap(jax.grad(f)), 1, 1),
        (lambda f: jax.grad(lambda x: jax.vmap(f)(x[None])[0]), 1, 1),
        (lambda f: jax.jit(jax.vmap(jax.grad(jax.checkpoint(f)))), 1, 1),
        (lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, length=5)[0], 1, 0),
        (jax.hessian, 2, 2),  # the second of forward is for the derivative of what it keeps
    ],
)
def test_forward_runs_once_and_so_does_backward(transform, forward, backward):
    f, ran = counted()
    run = transform(f)
    try:
        run(jnp.asarray(0.5))
    except ValueError:  # of what is mapped
        run(jnp.asarray([0.5]))
    assert ran.count("forward") <= forward and ran.count("backward") <= backward


def test_a_compiled_function_runs_no_python():
    f, ran = counted()
    run = jax.jit(jax.value_and_grad(f))
    for x in (0.3, 0.4, 0.5):
        np.testing.assert_allclose(run(x), (np.sin(x), np.cos(x)), rtol=1e-12)
    assert ran == ["forward", "backward"]


def test_forward_may_look_at_values_where_nothing_is_traced():
    class Clamp(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.inside = bool((abs(x) < 1).all())
            return x if ctx.inside else np.clip(np.asarray(x), -1, 1)

        @staticmethod
        def backward(ctx, grad_output):
            return 3 * grad_output if ctx.inside else 0 * grad_output

    for transform in (jax.grad, functx.grad, lambda f: lambda x: jax.vjp(f, x)[1](1.0)[0]):
        assert transform(Clamp.apply)(0.5) == 3 and transform(Clamp.apply)(2.0) == 0
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(Clamp.apply)(0.5)


def test_a_second_derivative_goes_through_what_setup_context_computes_of_the_output():
    class Opaque(functx.Function):
        """Its implementation has no derivative; that of what is kept is known all the same."""

        @staticmethod
        def forward(x):
            like = jax.ShapeDtypeStruct(x.shape, x.dtype)
            return jax.pure_callback(np.exp, like, x, vmap_method="expand_dims")

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.tripled = 3 * output

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.tripled * grad_output

    for order in range(1, 4):
        f = Opaque.apply
        for i in range(order):
            f = (jax.grad, jax.jacfwd)[i % 2](f)
        np.testing.assert_allclose(jax.jit(f)(0.5), 3**order * np.exp(0.5), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(jax.grad(Opaque.apply)))(X), 9 * np.exp(X), 1e-6)


def closing(w, x):
    """`x w`, and three times its derivative by `x`, with `w` from outside."""

    class Closing(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.w = w
            return x * w

        @staticmethod
        def backward(ctx, grad_output):
            return 3 * ctx.w * grad_output

    return Closing.apply(x)


def test_forward_may_close_over_what_is_traced():
    w, x = np.asarray(5.0), np.asarray(2.0)
    for run in (jax.jit(closing), jax.jit(jax.jit(closing))):
        assert run(w, x) == 10
    assert jax.jit(jax.grad(closing, 1))(w, x) == 15
    assert jax.grad(jax.jit(closing), 1)(w, x) == 15
    np.testing.assert_allclose(jax.vmap(closing)(X, X), X * X)
    np.testing.assert_allclose(jax.vmap(jax.grad(closing, 1))(X, X), 3 * X)
    np.testing.assert_allclose(jax.vmap(jax.grad(closing, 1), (0, None))(X, x), 3 * X)
    np.testing.assert_allclose(jax.vmap(jax.grad(closing, 1), (None, 0))(w, X), [15] * 3)
    np.testing.assert_allclose(
        jax.grad(lambda x: jax.vmap(closing, (0, None))(X, x).sum())(x), 3 * X.sum()
    )
    looped = lambda w, x: lax.fori_loop(0, 2, lambda i, c: closing(w, c), x)
    assert jax.jit(jax.grad(looped, 1))(w, x) == 225
    # The derivative by `x`, in a function that is differentiated by `w` where that is constant.
    held = lambda w: jax.grad(closing, 1)(lax.stop_gradient(w), 1.0) * w
    assert jax.grad(held)(2.0) == 6


def test_what_forward_closes_over_is_not_differentiated():
    for transform in (jax.grad, jax.jacfwd, lambda f: jax.jit(jax.grad(f)), functx.grad):
        with pytest.raises(
            RuntimeError, match=r"(?s)Closing: .* f64\[\], which the function closes over.*detach"
        ):
            transform(closing)(jnp.asarray(3.0), 2.0)


def test_backward_says_what_to_do_with_an_array_from_elsewhere():
    def f(w, x):
        class Late(functx.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, grad_output):
                return w * grad_output

        return Late.apply(x)

    # While what it reads is alive, it reads it.
    assert jax.jit(jax.grad(f, 1))(3.0, 2.0) == 3
    assert jax.grad(lambda w: jax.vmap(jax.grad(lambda x: f(w, x)))(X).sum())(2.0) == 3
    for transform in (jax.grad, jax.jacfwd):
        with pytest.raises(
            jax.errors.UnexpectedTracerError, match=r"(?s)Late: `backward` reads.*ctx.name"
        ):
            transform(lambda x: f(x, x))(2.0)


@pytest.mark.parametrize("name", ["eager", "vmap", "grad", "jit", "vjp"])
def test_a_call_keeps_nothing_alive(name):
    transforms = {
        "eager": lambda f: f,
        "vmap": jax.vmap,
        "grad": jax.grad,
        "jit": jax.jit,
        "vjp": lambda f: lambda x: jax.vjp(f, x)[0],
    }

    def once():
        class Dying(functx.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return jnp.sin(x)

            @staticmethod
            def backward(ctx, grad_output):
                (x,) = ctx.saved_tensors
                return grad_output * jnp.cos(x)

        x = jnp.ones(3) if name == "vmap" else jnp.asarray(1.0)
        transforms[name](Dying.apply)(x)
        return weakref.ref(Dying), weakref.ref(x)

    dead = once()
    gc.collect()
    assert [reference() for reference in dead] == [None, None]


def test_a_call_that_lives_keeps_no_array_that_was_not_saved():
    class Constant(functx.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

    def once():
        x = jnp.ones(3) * 7
        return functx.vjp(Constant.apply, x)[1], weakref.ref(x)

    pull, x = once()
    gc.collect()
    assert x() is None
    np.testing.assert_array_equal(pull(jnp.ones(3))[0], [2, 2, 2])


def test_a_function_inside_shard_map():
    class Product(functx.Function):
        @staticmethod
        def forward(ctx, w, x):
            ctx.save_for_backward(w, x)
            return w * x

        @staticmethod
        def backward(ctx, grad_output):
            w, x = ctx.saved_tensors
            return grad_output * x, grad_output * w

    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))

    @ft.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("d")), out_specs=P())
    def loss(w, x):
        return lax.psum((Product.apply(w, x) ** 2).sum(), "d")

    hessian = jax.jit(jax.hessian(loss))(X, X + 1)
    np.testing.assert_allclose(hessian, np.diag(2 * (X + 1) ** 2))

    class Mean(functx.Function):
        @staticmethod
        def forward(ctx, x):
            return lax.pmean(x, "d")

        @staticmethod
        def backward(ctx, grad_output):
            return 3 * lax.pmean(grad_output, "d")

    mean = jax.shard_map(Mean.apply, mesh=mesh, in_specs=P("d"), out_specs=P())
    for transform in (jax.jacrev, jax.jacfwd):
        np.testing.assert_allclose(jax.jit(transform(mean))(X), 3 * np.eye(3))


def test_the_compiled_program_is_the_hand_written_one():
    class Own(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return jnp.sin(x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * jnp.cos(x)

    def instructions(f):
        lowered = jax.jit(jax.grad(lambda x: f(x).sum())).lower(X)
        return str(lowered.compile().as_text()).count(" = ")

    plain = jax.custom_vjp(jnp.sin)
    plain.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))
    assert instructions(Own.apply) == instructions(plain)
