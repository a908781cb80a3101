"""`functx.Function` has the interface of `torch.autograd.Function`."""

import dataclasses
import enum

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


ONE, TWO, THREE = np.float64(1), np.float64(2), np.float64(3)


class Scaled(functx.Function):
    """`x + scale y + x y`, where `scale` is a Python number."""

    @staticmethod
    def forward(ctx, x, scale, y):
        ctx.scale = scale
        ctx.save_for_backward(x, y)
        return x + scale * y + x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output + grad_output * y, None, grad_output * ctx.scale + grad_output * x


def test_arguments_that_are_no_arrays_are_passed_on():
    f = lambda x, y: Scaled.apply(x, 2, y)
    assert f(jnp.asarray(3.0), jnp.asarray(5.0)) == 28
    assert functx.grad(f, (0, 1))(3.0, 5.0) == (6, 5)


def test_backward_is_differentiated_in_turn():
    hessian = functx.hessian(lambda x, y: Scaled.apply(x, 2, y), (0, 1))(3.0, 5.0)
    np.testing.assert_array_equal(hessian, [[0, 1], [1, 0]])
    third = jax.grad(jax.grad(lambda x: Scaled.apply(x * x, 2, x)))(3.0)
    assert third == 2 + 6 * 3  # of x^2 + 2 x + x^3


class Power(functx.Function):
    @staticmethod
    def forward(x, y=3):
        return x**y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        ctx.save_for_backward(x)
        ctx.y = y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.y * x ** (ctx.y - 1), None


class PowerOfClass(functx.Function):
    exponent = 3

    @classmethod
    def forward(cls, x, y=None):
        return x ** (y or cls.exponent)

    @classmethod
    def setup_context(cls, ctx, inputs, output):
        x, y = inputs
        ctx.save_for_backward(x)
        ctx.y = y or cls.exponent

    @classmethod
    def backward(cls, ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.y * x ** (ctx.y - 1), None


@pytest.mark.parametrize("cls", [Power, PowerOfClass])
def test_setup_context_sees_defaults_and_methods_may_be_class_methods(cls):
    assert cls.apply(jnp.asarray(2.0)) == 8
    assert functx.grad(cls.apply)(2.0) == 12
    assert functx.grad(lambda x: cls.apply(x, 2))(2.0) == 4


def test_defaults_are_filled_in_beside_ctx_and_need_no_gradient():
    class Plus(functx.Function):
        @staticmethod
        def forward(ctx, x, by=10, *, twice=False):
            assert len(ctx.needs_input_grad) == 3
            return x + by

        @staticmethod
        def backward(ctx, grad_output):
            return 3 * grad_output

    assert functx.value_and_grad(Plus.apply)(2.0) == (12, 3)


def test_apply_is_called_in_whichever_way_it_is_reached():
    class Model:
        def __init__(self):
            self.fn = Power.apply

        def __call__(self, x):
            return self.fn(x)

    with pytest.warns(DeprecationWarning, match="Power should not be instantiated"):
        instance = Power()
    for f in (Power.apply, Model(), instance.apply):
        assert functx.grad(f)(2.0) == 12


def test_instances_are_not_called():
    with pytest.warns(DeprecationWarning):
        instance = Power()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        instance(2.0)
    for name in ("register_hook", "next_functions", "metadata"):
        with pytest.raises(AttributeError):
            getattr(instance, name)


def test_outputs_that_are_no_arrays_come_back_as_they_are():
    marker = object()

    class Mixed(functx.Function):
        @staticmethod
        def forward(ctx, x, y, scale, z):
            ctx.scale = scale
            ctx.save_for_backward(x, y, z)
            return scale, (x + y * z) * scale, None, True, (x * y + z) * scale, marker, x

        @staticmethod
        @functx.autograd.once_differentiable
        def backward(ctx, *grads):
            assert len(grads) == 7
            assert [g is None for g in grads] == [True, False, True, True, False, True, False]
            x, y, z = ctx.saved_tensors
            a, b, c = grads[1] * ctx.scale, grads[4] * ctx.scale, grads[6]
            return a + b * y + c, a * z + b * x, None, a * y + b

        @staticmethod
        def jvp(ctx, *tangents):
            assert tangents[2] is None
            return None, tangents[0], None, None, tangents[1], None, tangents[3]

    x, y, z = jnp.asarray([0.3, 0.7]), jnp.asarray([1.1, -0.4]), jnp.asarray([2.0, 0.5])

    def run(x, y, z):
        out = Mixed.apply(x, y, 4, z)
        assert out[0] == 4 and out[2] is None and out[3] is True and out[5] is marker
        return out[1], out[4], out[6]

    def plain(x, y, z):
        return (x + y * z) * 4, (x * y + z) * 4, x

    for transform in (lambda f: f, jax.jit):
        pull = functx.vjp(transform(run), x, y, z)[1]
        want = functx.vjp(plain, x, y, z)[1]
        cotangents = (x + 1, y, z)
        jax.tree.map(np.testing.assert_allclose, pull(cotangents), want(cotangents))
    assert functx.jvp(run, (x, y, z), (y, z, x))[1][1] is not None
    np.testing.assert_array_equal(functx.jvp(run, (x, y, z), (y, z, x))[1], (y, z, x))
    values = jax.vmap(run)(x, y, z)
    jax.tree.map(np.testing.assert_allclose, values, plain(x, y, z))


def test_without_any_array_forward_just_runs():
    class Plain(functx.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y, "sum", x

        @staticmethod
        def backward(ctx, *grads):
            raise AssertionError("nothing to differentiate")

    assert Plain.apply(1.5, 2) == (3.5, "sum", 1.5)
    assert jax.jit(lambda x: x + Plain.apply(1.5, 2)[0])(1.0) == 4.5


class Mode(enum.Enum):
    DOUBLE = 2
    SQUARE = "x"


@dataclasses.dataclass
class Weird:
    x: int
    b: jax.Array


def test_enums_dataclasses_and_functions_as_arguments():
    class Chosen(functx.Function):
        @staticmethod
        def forward(ctx, x, mode, weird, function, z):
            ctx.mode, ctx.function = mode, function
            ctx.save_for_backward(x, z, weird.b)
            y = x * 2 if mode is Mode.DOUBLE else x * x
            return function(y) * weird.b + z * weird.x

        @staticmethod
        def backward(ctx, grad_output):
            x, z, b = ctx.saved_tensors
            slope = 2 if ctx.mode is Mode.DOUBLE else 2 * x
            return grad_output * b * slope * ctx.function(1.0), None, None, None, 10 * grad_output

    weird = Weird(x=4, b=jnp.asarray(1.5))
    for mode, want in [(Mode.DOUBLE, 9.0), (Mode.SQUARE, 18.0)]:
        f = lambda x, z, mode=mode: Chosen.apply(x, mode, weird, lambda y: 3 * y, z)
        for g in (functx.grad(f, (0, 1)), jax.jit(jax.grad(f, (0, 1)))):
            assert g(jnp.asarray(2.0), jnp.asarray(1.0)) == (want, 10)


def test_trees_of_arrays_go_in_and_out():
    class Dense(functx.Function):
        @staticmethod
        def forward(ctx, params, x, names):
            ctx.save_for_backward(params, [x, None])
            y = params["w"] @ x + params["b"][0]
            return {"y": y, "names": names, "tail": (y[0], None)}

        @staticmethod
        def backward(ctx, grads):
            params, (x, nothing) = ctx.saved_tensors
            assert nothing is None and grads["names"] is None
            g = grads["y"].at[0].add(grads["tail"][0])
            return {"w": jnp.outer(g, x), "b": (g, None)}, params["w"].T @ g, None

        @staticmethod
        def jvp(ctx, params, x, names):
            assert names is None
            return {"y": params["w"][:, 0], "names": None, "tail": None}

    w, b, x = (
        jnp.asarray([[0.5, -1.0], [2.0, 0.3]]),
        jnp.asarray([0.1, 0.2]),
        jnp.asarray([1.0, 3.0]),
    )

    def loss(params, x):
        out = Dense.apply(params, x, "layer")
        assert out["names"] == "layer" and out["tail"][1] is None
        return (out["y"] ** 2).sum() + out["tail"][0]

    def plain(params, x):
        y = params["w"] @ x + params["b"][0]
        return (y**2).sum() + y[0]

    params = {"w": w, "b": (b, 7)}
    array_part = lambda f: lambda w, b, x: f({"w": w, "b": (b, 7)}, x)
    got = functx.grad(array_part(loss), (0, 1, 2))(w, b, x)
    want = functx.grad(array_part(plain), (0, 1, 2))(w, b, x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), got, want)
    assert loss(params, x) == plain(params, x)
    _, tangent = jax.jvp(lambda w: Dense.apply({"w": w, "b": (b, 7)}, x, 0)["y"], (w,), (w + 1,))
    np.testing.assert_array_equal(tangent, w[:, 0] + 1)


def test_the_last_save_counts_and_none_may_be_saved():
    class Twice(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x)
            ctx.save_for_backward(x, None)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            x, nothing = ctx.saved_tensors
            assert nothing is None
            return 2 * x * grad_output, None, None  # more than there are arguments

    assert functx.grad(Twice.apply)(3.0) == 6


def test_attributes_are_kept_arrays_lists_and_anything_else():
    class Attributed(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.size, ctx.parts, ctx.name = x.shape[0], [x, 2 * x, "three"], "scale"
            ctx.constant = np.asarray([1.0, 10.0])
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            assert ctx.name == "scale" and ctx.parts.pop() == "three"
            assert isinstance(ctx.constant, jax.Array)
            total = grad_output * ctx.size
            for part in ctx.parts:
                total = total + part
            return total * ctx.constant

    x = jnp.asarray([1.0, 2.0])
    pull = functx.vjp(Attributed.apply, x)[1]
    for _ in range(2):
        np.testing.assert_array_equal(pull(jnp.ones(2))[0], [5, 80])


def test_saved_tensors_are_those_saved_for_the_mode():
    class Product(functx.Function):
        @staticmethod
        def forward(ctx, x, y, z):
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(y)
            ctx.z, ctx.product = z, x * y
            return z * ctx.product

        @staticmethod
        def jvp(ctx, x_t, y_t, z_t):
            (y,) = ctx.saved_tensors
            assert z_t is None
            return ctx.z * (y * x_t + ctx.product / y * y_t)

        @staticmethod
        def vjp(ctx, grad_output):
            x, y = ctx.saved_tensors
            return ctx.z * grad_output * y, ctx.z * grad_output * x, None

    f = lambda x, y: Product.apply(x, y, 4)
    for transform in (jax.jacrev, jax.jacfwd):
        assert transform(f, (0, 1))(1.0, 2.0) == (8, 4)
        assert transform(transform(f), 1)(1.0, 2.0) == 4
    assert jax.jvp(jax.grad(f), (1.0, 2.0), (1.0, 1.0))[1] == 4

    class OnlyBackward(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x + 0

        @staticmethod
        def jvp(ctx, tangent):
            assert len(ctx.saved_tensors) == 0
            return tangent

        @staticmethod
        def vjp(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x

    assert jax.jacfwd(OnlyBackward.apply)(2.0) == 1 and jax.jacrev(OnlyBackward.apply)(2.0) == 2


def test_numpy_arrays_are_arrays():
    got = Scaled.apply(np.asarray([1.0, 2.0]), 2, jnp.asarray([1.0, 1.0]))
    np.testing.assert_array_equal(got, [4, 6])


def test_what_is_changed_in_forward_is_a_new_array():
    class Shifted(functx.Function):
        @staticmethod
        def forward(ctx, x):
            view = x[:2]
            return x.at[:2].set(view + 2)

        @staticmethod
        def backward(ctx, grad_output):
            return 5 * grad_output

    np.testing.assert_array_equal(jax.jacrev(Shifted.apply)(jnp.ones(3)), 5 * np.eye(3))


def test_no_grad_stops_gradients():
    def constant(x):
        with functx.no_grad():
            return Power.apply(x)

    assert constant(jnp.asarray(2.0)) == 8
    assert functx.grad(lambda x: x * constant(x))(2.0) == 8
    assert jax.jvp(constant, (2.0,), (1.0,)) == (8, 0)

    def inside(x):
        with functx.no_grad():
            return functx.grad(Power.apply)(x)

    assert inside(2.0) == 12 and functx.grad(inside)(2.0) == 0
