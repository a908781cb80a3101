"""`check_function` passes right rules, and says which of the wrong ones is wrong, and where."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing import check_function, GradcheckError


X, Y = np.asarray([0.3, -1.2]), np.asarray([1.0, 0.5])


class Product(functx.Function):
    """`x y` and a marked output; how wrong its rules are is up to its attributes."""

    reverse_factor = forward_factor = lanes_factor = 1.0

    @staticmethod
    def forward(x, y, name):
        return x * y, name, jnp.sin(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, _ = inputs
        ctx.mark_non_differentiable(output[2])
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    @classmethod
    def backward(cls, ctx, grad_output, *_):
        x, y = ctx.saved_tensors
        return grad_output * y, cls.reverse_factor * grad_output * x, None

    @classmethod
    def jvp(cls, ctx, dx, dy, _):
        x, y = ctx.saved_tensors
        return dx * y + cls.forward_factor * x * dy, None, None

    @classmethod
    def vmap(cls, info, in_dims, x, y, name):
        return (cls.lanes_factor * x * y, name, jnp.sin(x)), (0, None, in_dims[0])


def wrong(**attributes):
    return type("Wrong", (Product,), attributes)


def test_right_rules_pass():
    assert check_function(Product, X, Y, "name") is None
    check_function(Product, X.astype("float32"), Y.astype("float32"), "name")


@pytest.mark.parametrize(
    "attributes, message",
    [
        (
            {"reverse_factor": 2.0},
            r"`backward` is wrong for output 0 .* input 1 \(`args\[1\]`\); `jvp` agrees",
        ),
        (
            {"forward_factor": 2.0},
            r"`jvp` is wrong for output 0 .* input 1 \(`args\[1\]`\); `backward` agrees",
        ),
        (
            {"forward_factor": 2.0, "reverse_factor": 2.0},
            r"`backward` and `jvp` are wrong .*; they agree with each other",
        ),
        (
            {"forward_factor": 3.0, "reverse_factor": 2.0},
            r"`backward` and `jvp` are wrong for output 0 .*\(`args\[1\]`\)\n",
        ),
        ({"lanes_factor": 2.0}, r"`vmap` is wrong for output 0, .* in_dims=\(0, 0\)"),
    ],
)
def test_which_rule_is_wrong(attributes, message):
    with pytest.raises(GradcheckError, match=rf"(?s)check_function\(Wrong\): {message}"):
        check_function(wrong(**attributes), X, Y, "name")


def test_the_convention_of_complex_gradients_is_checked():
    class Square(functx.Function):
        conjugated = True

        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z**2

        @classmethod
        def backward(cls, ctx, grad_output):
            (z,) = ctx.saved_tensors
            return 2 * (z.conj() if cls.conjugated else z) * grad_output

    z = np.asarray([1 + 2j, 0.5 - 1j])
    check_function(Square, z)
    Square.conjugated = False
    with pytest.raises(GradcheckError, match="`backward` is wrong for output 0"):
        check_function(Square, z)


def test_only_functions_are_checked():
    with pytest.raises(TypeError, match="must be a subclass of functx.Function"):
        check_function(Product.apply, X, Y, "name")


@pytest.mark.parametrize("x64", [True, False])
@pytest.mark.parametrize("attributes", [{"reverse_factor": 1.01}, {"forward_factor": 1.01}])
def test_one_percent_off_is_seen_in_single_precision_too(attributes, x64):
    with functx.x64(x64):
        single = X.astype("float32"), Y.astype("float32")
        with pytest.raises(GradcheckError, match="is wrong for output 0 ") as error:
            check_function(wrong(**attributes), *single, "name")
        assert error.value.__notes__ == ["This is of the same numbers in double precision"]
        check_function(wrong(**attributes), *single, "name", rtol=2e-2)


def test_what_computes_in_single_precision_is_checked_in_it():
    class Narrow(functx.Function):
        factor = 1.01

        @classmethod
        def forward(cls, ctx, x):
            ctx.save_for_backward(x)
            return jnp.sin(cls.taken(x))

        @classmethod
        def backward(cls, ctx, grad_output):
            (x,) = ctx.saved_tensors
            return cls.factor * grad_output * jnp.cos(x)

    def refusing(x):
        if x.dtype != np.float32:
            raise TypeError("of single precision alone")
        return x

    narrowing = lambda x: x.astype("float32")
    back = lambda x: x.astype("float32").astype(x.dtype)
    for taken in (refusing, narrowing, back):
        Narrow.taken, Narrow.factor = staticmethod(taken), 1.01
        check_function(Narrow, X.astype("float32"))
        Narrow.factor = 1.1
        with pytest.raises(GradcheckError, match="`backward` is wrong"):
            check_function(Narrow, X.astype("float32"))


@pytest.mark.parametrize("error, found", [(0.01, False), (0.05, True)])
def test_of_a_cast_inside_only_rough_errors_are_seen(error, found):
    class Cast(functx.Function):
        @staticmethod
        def forward(x):
            return jnp.square(x.astype("float32")).astype(x.dtype)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return (1 + error) * 2 * x * grad_output

    x = jnp.arange(1, 4, dtype="float32")
    if found:
        with pytest.raises(GradcheckError, match="`backward` is wrong"):
            check_function(Cast, x)
    else:
        check_function(Cast, x)
        with pytest.raises(GradcheckError, match="`backward` is wrong"):
            check_function(Cast, x, rtol=5e-3, atol=1e-3)
