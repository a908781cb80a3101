"""What the rules of a `Function` are given: unknown and unneeded gradients, marked outputs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = np.asarray([0.3, -1.2, 2.0])


class Cube(functx.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @functx.autograd.once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output


ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"


def test_once_differentiable_gives_first_derivatives_in_both_modes():
    for f in (jax.grad(Cube.apply), jax.jacfwd(Cube.apply), jax.jit(jax.grad(Cube.apply))):
        assert f(2.0) == 12
    np.testing.assert_allclose(jax.vmap(jax.grad(Cube.apply))(X), 3 * X**2)
    np.testing.assert_allclose(jax.jvp(jax.vmap(Cube.apply), (X,), (X,))[1], 3 * X**3)


@pytest.mark.parametrize("outer", [jax.grad, jax.jacfwd, functx.jacrev])
def test_once_differentiable_refuses_second_derivatives(outer):
    for inner in (
        jax.grad,
        jax.jacfwd,
        lambda f: jax.jit(jax.grad(f)),
        lambda f: jax.grad(jax.jit(f)),
    ):
        with pytest.raises(RuntimeError, match=ONCE):
            outer(inner(Cube.apply))(np.float64(2))
    with pytest.raises(RuntimeError, match=ONCE):
        jax.grad(lambda v: jax.vjp(Cube.apply, 2.0)[1](v)[0])(1.0)
    with pytest.raises(RuntimeError, match=ONCE):
        outer(lambda x: jax.vmap(jax.grad(Cube.apply))(x * jnp.ones(3)).sum())(np.float64(2))


def test_once_differentiable_lets_the_rest_of_a_second_derivative_be():
    f = lambda x, y: Cube.apply(x) * y**2
    assert jax.grad(jax.grad(f, 1), 1)(2.0, 3.0) == 16
    # A gradient that is only looked at is none that is differentiated.
    seen = lambda y: (y * jax.lax.stop_gradient(jax.grad(Cube.apply)(y)), jax.grad(Cube.apply)(y))
    for transform in (lambda f: f, jax.jit):
        assert transform(jax.grad(seen, has_aux=True))(2.0) == (12, 12)


class Silent(functx.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y, None


def test_none_is_no_gradient():
    assert functx.grad(Silent.apply, (0, 1))(2.0, 3.0) == (3, 0)
    assert functx.grad(Silent.apply, (0, 1), unused="none")(2.0, 3.0) == (3, None)
    assert functx.grad(lambda x: Silent.apply(1.0 * x, x), unused="none")(3.0) == 3
    assert jax.jvp(Silent.apply, (2.0, 3.0), (1.0, 1.0)) == (6, 3)

    class NoneAtAll(Silent):
        @staticmethod
        def backward(ctx, grad_output):
            return None

    assert functx.grad(NoneAtAll.apply, (0, 1), unused="none")(2.0, 3.0) == (None, None)
    assert jax.grad(lambda x: NoneAtAll.apply(x, x) + x)(3.0) == 1


def seen(materialize, non_diff=True):
    """A function that notes which gradients are `None`; its third output is marked."""
    notes = []

    class Seen(functx.Function):
        @staticmethod
        def forward(ctx, x):
            marked = x + 2
            ctx.mark_non_differentiable(marked)
            ctx.set_materialize_grads(materialize)
            ctx._materialize_non_diff_grads = non_diff
            return x * 1, x * 2, marked, jnp.asarray(7)

        @staticmethod
        def backward(ctx, *grads):
            notes.append([None if g is None else (str(g.dtype), g.tolist()) for g in grads])
            return sum(g * (i + 1) for i, g in enumerate(grads[:2]) if g is not None)

    return Seen.apply, notes


ZERO = ("float64", 0.0)


@pytest.mark.parametrize(
    "materialize, rest", [(True, [ZERO, ZERO, ("int64", 0)]), (False, [None] * 3)]
)
def test_unknown_gradients_are_zeros_or_none(materialize, rest):
    f, notes = seen(materialize)
    two = jnp.asarray(2.0)
    assert functx.grad(lambda x: f(x)[0] * 5)(two) == 5
    assert functx.grad(lambda x: f(x)[1])(two) == 2
    assert notes[0] == [("float64", 5.0), *rest]
    assert notes[1] == [rest[0], ("float64", 1.0), *rest[1:]]
    assert functx.grad(lambda x: x + f(x)[2])(two) == 1 and len(notes) == 2


def test_unknown_gradients_stay_unknown_in_lanes_and_compiled():
    class Seen(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x, 2 * x

        @staticmethod
        def backward(ctx, one, two):
            assert one is None
            return 2 * two

    second = lambda x: Seen.apply(x)[1]
    np.testing.assert_array_equal(jax.vmap(jax.grad(second))(X), [2, 2, 2])
    np.testing.assert_array_equal(jax.grad(lambda x: jax.vmap(second)(x).sum())(X), [2, 2, 2])
    assert jax.jit(jax.grad(jax.jit(second)))(1.0) == 2


def test_gradients_of_marked_outputs_may_be_none_by_themselves():
    f, notes = seen(True, non_diff=False)
    functx.grad(lambda x: f(x)[0])(jnp.asarray(2.0))
    assert notes == [[("float64", 1.0), ZERO, None, None]]


@pytest.mark.parametrize("materialize", [True, False])
def test_tangents_that_are_not_there_are_zeros_or_none(materialize):
    class Sum(functx.Function):
        @staticmethod
        def forward(ctx, x, y, n):
            ctx.set_materialize_grads(materialize)
            return x + y

        @staticmethod
        def jvp(ctx, x_t, y_t, n_t):
            assert n_t is None and (y_t is None) is not materialize
            return 3 * x_t

    assert jax.jvp(lambda x: Sum.apply(x, jnp.asarray(5.0), 1), (2.0,), (1.0,)) == (7, 3)


def test_needs_input_grad_tells_what_is_differentiated():
    told = []

    class Product(functx.Function):
        @staticmethod
        def forward(ctx, x, y, pair, n):
            told.append(("forward", ctx.needs_input_grad))
            wanted = ctx.needs_input_grad
            ctx.save_for_backward(y if wanted[0] else None, x if wanted[1] else None)
            return x * y * n * pair[0] * pair[1]

        @staticmethod
        def backward(ctx, grad_output):
            told.append(("backward", ctx.needs_input_grad))
            y, x = ctx.saved_tensors
            gx = None if y is None else 3 * grad_output * y
            gy = None if x is None else 3 * grad_output * x
            return gx, gy, None, None

    one = jnp.ones(())
    f = lambda x, y: Product.apply(x, y, (one, one), 1)
    first, second, none = (True, False, False, False), (False, True, False, False), (False,) * 4
    assert f(2.0 * one, 5.0 * one) == 10 and told == [("forward", none)]
    for transform in (lambda f: f, jax.jit):
        told.clear()
        assert jax.grad(transform(f))(2.0, 5.0) == 15
        assert told[-2:] == [("forward", first), ("backward", first)]
    told.clear()
    assert jax.grad(f, 1)(2.0, 5.0) == 6
    assert told == [("forward", second), ("backward", second)]
    told.clear()
    jax.grad(lambda p: Product.apply(one, one, p, 1))((1.0, 2.0))
    assert told[0][1] == (False, False, True, False)
    # Of a mixed second derivative each order keeps its own.
    for outer in (jax.grad, jax.jacfwd):
        assert outer(jax.grad(f), 1)(2.0, 5.0) == 3
        assert outer(lambda x, y: jax.jit(jax.grad(jax.jit(f)))(x, y), 1)(2.0, 5.0) == 3
    assert jax.grad(lambda y: jax.vmap(jax.grad(f), (0, None))(X, y).sum())(1.0) == 9


def test_linear_layer_with_or_without_bias():
    class Linear(functx.Function):
        @staticmethod
        def forward(input, weight, bias=None):
            output = input @ weight.T
            return output if bias is None else output + bias

        @staticmethod
        def setup_context(ctx, inputs, output):
            input, weight, bias = inputs
            ctx.save_for_backward(input, weight, bias)

        @staticmethod
        def backward(ctx, grad_output):
            input, weight, bias = ctx.saved_tensors
            wanted = ctx.needs_input_grad
            return (
                grad_output @ weight if wanted[0] else None,
                grad_output.T @ input if wanted[1] else None,
                grad_output.sum(0) if bias is not None and wanted[2] else None,
            )

    x, w, b = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(4, 2), np.ones(4)
    plain = lambda x, w, b: (x @ w.T + b) ** 2
    own = lambda x, w, b: Linear.apply(x, w, b) ** 2
    for argnums in [(0,), (1, 2), (0, 1, 2)]:
        grads = [functx.grad(lambda *a, f=f: f(*a).sum(), argnums)(x, w, b) for f in (own, plain)]
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), *grads)
    without = functx.grad(lambda w: (Linear.apply(jnp.asarray(x), w) ** 2).sum())(w)
    np.testing.assert_allclose(without, functx.grad(lambda w: plain(x, w, 0 * b).sum())(w))


@pytest.mark.parametrize("save_first", [True, False])
def test_a_marked_output_gets_no_gradient(save_first):
    class Clipped(functx.Function):
        @staticmethod
        def forward(ctx, x):
            mask, kept, factor = x > 0, jnp.maximum(x, 0), 10 * x
            if save_first:
                ctx.save_for_backward(mask)
            ctx.mark_non_differentiable(mask, factor)
            if not save_first:
                ctx.save_for_backward(mask)
            return mask, kept, factor

        @staticmethod
        def backward(ctx, g_mask, g_kept, g_factor):
            assert g_mask.dtype == bool and g_factor.dtype == float
            (mask,) = ctx.saved_tensors
            return jnp.where(mask, 3 * g_kept, 0)

    def loss(x):
        mask, kept, factor = Clipped.apply(x)
        return (kept * factor).sum() + jnp.where(mask, factor, 0.0).sum()

    want = 3 * np.where(X > 0, 10 * X, 0)
    for transform in (functx.grad, lambda f: jax.jit(jax.grad(f))):
        np.testing.assert_allclose(transform(loss)(X), want)
    assert not jax.jvp(lambda x: Clipped.apply(x)[2], (X,), (X,))[1].any()
    # The marked output is a constant to second derivatives too.
    np.testing.assert_array_equal(jax.hessian(loss)(X), np.zeros((3, 3)))


def test_a_marked_output_is_a_constant_to_what_follows():
    class Detached(functx.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_non_differentiable(y)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            raise AssertionError("no gradient arrives")

    assert functx.grad(lambda x: x * Cube.apply(Detached.apply(x * x)))(1.0) == 8


def test_an_input_that_is_returned_has_the_rules_derivative():
    class Same(functx.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2

    class Pair(functx.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, one, two):
            return one * 2 + two * 2

    for x in (np.float64(3.0), np.asarray([3.0])):
        for transform in (jax.jacrev, jax.jacfwd):
            assert transform(Same.apply)(x) == 2
            assert transform(lambda x: sum(Pair.apply(x)))(x) == 4
    np.testing.assert_array_equal(jax.vmap(Same.apply)(X), X)
    hessian = jax.hessian(lambda x: Pair.apply(x * x)[0] * Pair.apply(x)[1])(3.0)
    assert hessian == 4 * 6 * 3


def test_integers_have_neither_tangents_nor_gradients():
    class Pick(functx.Function):
        @staticmethod
        def forward(ctx, x, index):
            ctx.save_for_backward(index)
            ctx.shape = x.shape
            return x[index], index + 1

        @staticmethod
        def backward(ctx, grad, grad_index):
            assert grad_index.dtype == "int64"
            (index,) = ctx.saved_tensors
            return jnp.zeros(ctx.shape, grad.dtype).at[index].set(grad), jnp.ones(())

        @staticmethod
        def jvp(ctx, tangent, index):
            assert index is None
            return tangent[0], None

    f = lambda x: Pick.apply(x, jnp.asarray(1))
    np.testing.assert_array_equal(jax.grad(lambda x: f(x)[0])(X), [0, 1, 0])
    value, tangent = jax.jvp(f, (X,), (X,))
    assert value[1] == 2 and tangent[0] == X[0] and tangent[1].dtype == jax.dtypes.float0
