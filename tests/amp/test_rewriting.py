"""Autocast as a transform: plain `jax.numpy` in a function is cast too."""

import pickle
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.amp import autocast, is_autocast_enabled


X = jnp.asarray(np.linspace(-1, 1, 6).reshape(2, 3), "float32")
W = jnp.asarray(np.linspace(0, 1, 12).reshape(3, 4), "float32")
SQUARE = jnp.asarray(np.linspace(0, 0.5, 9).reshape(3, 3), "float32")


def operand_dtypes(f, *args, primitive="dot_general"):
    """The dtypes that the primitive's operands have, anywhere in the program."""
    found = set()

    def visit(jaxpr):
        for eqn in jaxpr.eqns:
            if eqn.primitive.name == primitive:
                found.update(x.aval.dtype.name for x in eqn.invars)
            for inner in jax.tree.leaves(list(eqn.params.values())):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    visit(inner)

    visit(jax.make_jaxpr(f)(*args).jaxpr)
    return found


@pytest.mark.parametrize("lower", ["float16", "bfloat16"])
def test_products_go_down_and_what_loses_digits_up(lower):
    def f(x, w):
        y = x @ w
        return y, jnp.tanh(y) * 2 + 1, jnp.exp(y), jnp.sum(y), y**2, y + w[:2], jnp.log1p(y), -y

    got = autocast(f, lower)(X, W)
    wide = "float32"
    names = [lower, lower, wide, wide, wide, wide, wide, lower]
    assert [y.dtype.name for y in got] == names
    low = X.astype(lower) @ W.astype(lower)
    np.testing.assert_array_equal(got[0], low)
    np.testing.assert_array_equal(got[2], jnp.exp(low.astype(wide)))
    np.testing.assert_array_equal(got[5], low.astype(wide) + W[:2])


def test_convolutions_go_down():
    conv = lambda x, w: jax.lax.conv(x, w, (1,), "SAME")
    x, w = jnp.ones((1, 2, 5), "float32"), jnp.ones((3, 2, 3), "float32")
    y = autocast(conv, jnp.bfloat16)(x, w)
    assert y.dtype == "bfloat16"
    np.testing.assert_array_equal(y, conv(x.astype("bfloat16"), w.astype("bfloat16")))


def test_control_flow_keeps_its_dtypes_and_casts_inside():
    def body(c, x):
        c = jnp.tanh(c @ SQUARE + x)
        return c, c @ SQUARE

    def f(x):
        c, ys = jax.lax.scan(body, x, jnp.ones((4, 3), "float32"))
        c = jax.lax.cond(c.sum() > 0, lambda c: c @ SQUARE, lambda c: c, c)
        c = jax.lax.fori_loop(0, 2, lambda i, c: c @ SQUARE, c)
        c = jax.lax.while_loop(lambda c: c.sum() > 10, lambda c: c @ SQUARE, c)
        return c, ys, jax.jit(lambda c: c @ SQUARE)(c), jax.checkpoint(lambda c: c @ SQUARE)(c)

    half = autocast(f, jnp.bfloat16)
    assert operand_dtypes(half, X) == {"bfloat16"}
    got = half(X)
    assert [y.dtype.name for y in got] == ["float32", "float32", "bfloat16", "bfloat16"]
    for a, b in zip(got, f(X), strict=True):
        np.testing.assert_allclose(a.astype("float32"), b, rtol=0.05, atol=0.02)


def test_own_rules_survive():
    @jax.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 100,))

    class Triple(functx.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, grad):
            return grad * 50

    loss = lambda w, rule: jnp.sum(rule(X @ w))
    for rule, factor in ((f, 100), (Triple.apply, 50), (jax.nn.relu, None)):
        got = functx.grad(autocast(lambda w, rule=rule: loss(w, rule), jnp.bfloat16))(W)
        want = functx.grad(loss)(W, rule)
        assert got.dtype == "float32" and (factor is None or float(want[0, 0]) != 0)
        np.testing.assert_allclose(got, want, rtol=0.02, atol=1e-5)


def test_operators_and_jax_numpy_mix():
    def f(x, w):
        y = functx.matmul(x, w)  # casts while the function is recorded
        z = jnp.dot(x, w)
        return y, z, functx.relu(y), functx.sum(z), jnp.sum(y), functx.add(y, z)

    got = autocast(f, jnp.bfloat16, device="cuda")(X, W)
    assert [y.dtype.name for y in got[:2]] == ["bfloat16", "bfloat16"]
    # `jnp.sum` of what was a half when it was recorded rounds to that half.
    assert [y.dtype.name for y in got[2:5]] == ["bfloat16", "float32", "bfloat16"]
    np.testing.assert_array_equal(got[0], got[1])


@pytest.mark.parametrize(
    "transform",
    [
        functx.grad,
        jax.jit,
        lambda f: jax.jit(functx.grad(f)),
        functx.hessian,
        lambda f: functx.vmap(f, in_dims=1),
        lambda f: functx.vmap(functx.grad(f), in_dims=1),
        lambda f: lambda w: functx.jvp(f, (w,), (w,))[1],
    ],
)
def test_it_goes_through_transforms(transform):
    f = lambda w: jnp.sum(jnp.tanh(X @ w) ** 2)
    got = transform(autocast(f, jnp.bfloat16))(W)
    want = transform(f)(W)
    assert got.dtype == want.dtype == "float32"
    np.testing.assert_allclose(got, want, rtol=0.05, atol=0.06)
    assert operand_dtypes(transform(autocast(f, jnp.bfloat16)), W) == {"bfloat16"}


def test_it_decorates_functions_and_methods_of_any_arguments():
    class Layer:
        weight = W

        @autocast(jnp.bfloat16)
        def __call__(self, x, *, power=2, names=("a",)):
            """A layer."""
            assert is_autocast_enabled()
            return {names[0]: (x @ self.weight) ** power, "power": power}

    layer = Layer()
    out = layer(X, power=3)
    assert out["a"].dtype == "float32" and out["power"] == 3
    assert Layer.__call__.__doc__ == "A layer."
    assert functx.grad(lambda x: jnp.sum(layer(x)["a"]))(X).dtype == "float32"


def test_what_it_closes_over_is_differentiated():
    def loss(w):
        return jnp.sum(autocast(lambda x: x @ w, jnp.bfloat16)(X).astype("float32"))

    np.testing.assert_allclose(functx.grad(loss)(W), functx.grad(lambda w: jnp.sum(X @ w))(W), 0.02)


def test_doubles_integers_and_algorithms_that_are_named_stay():
    def f(x, i, y):
        algorithm = jax.lax.DotAlgorithmPreset.F32_F32_F32
        return x @ x.T, i @ i.T, jnp.dot(y, y.T, precision=algorithm)

    got = autocast(f, jnp.bfloat16)(X.astype("float64"), jnp.ones((2, 2), int), X)
    assert [y.dtype.name for y in got] == ["float64", "int64", "float32"]


def test_without_autocast_the_function_is_itself():
    f = autocast(lambda x: float(x.sum()), enabled=False)
    assert isinstance(f(X), float)
    with pytest.raises(jax.errors.ConcretizationTypeError, match="autocast"):
        autocast(lambda x: float(x.sum()), jnp.bfloat16)(X)


def test_a_region_can_be_left_inside():
    def f(x):
        with autocast(enabled=False):
            return functx.matmul(x, W)

    assert autocast(f, jnp.bfloat16)(X).dtype == "float32"  # an operator, cast as it was recorded


def generator(x):
    yield x


async def coroutine(x):
    return x


@pytest.mark.parametrize("func", [generator, coroutine])
def test_what_does_not_return_when_called_is_refused(func):
    with pytest.raises(TypeError, match="must return when it is called"):
        autocast(func, jnp.bfloat16)


def test_regions_are_pickled():
    region = pickle.loads(pickle.dumps(autocast(jnp.bfloat16, device="cuda")))
    with warnings.catch_warnings(), region:
        assert functx.matmul(X, W).dtype == "bfloat16"
