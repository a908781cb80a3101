"""`grad`, `grad_and_value`, `value_and_grad`."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.asarray([1.0, 2.0, 3.0])


def square(x):
    return (x**2).sum()


def product(x, y):
    return (x * y**2).sum()


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_allclose, got, want)


def test_gradient_of_one_argument():
    same(functx.grad(square)(X), 2 * X)


def test_gradient_is_a_tree_like_the_argument():
    tree = {"w": X, "b": [X, (X,)]}
    got = functx.grad(lambda t: square(t["w"]) + t["b"][0].sum() + product(X, t["b"][1][0]))(tree)
    same(got, {"w": 2 * X, "b": [jnp.ones(3), (2 * X * X,)]})


@pytest.mark.parametrize(
    "argnums, want",
    [
        (0, X**2),
        (1, 2 * X * X),
        (-1, 2 * X * X),
        (-2, X**2),
        ((0,), (X**2,)),
        ((1, 0), (2 * X * X, X**2)),
        ((0, -1), (X**2, 2 * X * X)),
        ("y", 2 * X * X),
        (("y", 0), (2 * X * X, X**2)),
    ],
)
def test_argnums(argnums, want):
    same(functx.grad(product, argnums)(X, X), want)


def test_argnums_names_a_keyword_argument():
    same(functx.grad(product, argnums="y")(X, y=X), 2 * X * X)
    same(functx.grad(product, argnums=(0, "y"))(X, y=X), (X**2, 2 * X * X))


def test_other_arguments_may_be_anything():
    def f(x, how, scale=1.0, name=None):
        return square(x) * (2.0 if how == "double" else 1.0) * scale

    same(functx.grad(f)(X, "double", scale=3.0, name=object()), 12 * X)


def test_orders_of_results():
    with_aux = lambda x: (square(x), {"x": x, "note": "kept"})
    gradient, value, aux = 2 * X, square(X), {"x": X, "note": "kept"}
    same(functx.grad_and_value(square)(X), (gradient, value))
    same(functx.value_and_grad(square)(X), (value, gradient))
    for got, want in [
        (functx.grad(with_aux, has_aux=True)(X), (gradient, aux)),
        (functx.grad_and_value(with_aux, has_aux=True)(X), (gradient, (value, aux))),
        (functx.value_and_grad(with_aux, has_aux=True)(X), ((value, aux), gradient)),
    ]:
        assert jax.tree.map(str, got) == jax.tree.map(str, want)


def test_python_and_numpy_numbers_are_differentiable():
    assert functx.grad(lambda x: x * x)(3.0) == 6
    assert functx.grad(lambda x: x * x)(np.float32(3)) == 6
    same(functx.grad(square)(np.asarray([1.0, 2.0])), jnp.asarray([2.0, 4.0]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_gradients_keep_the_dtype(dtype):
    assert functx.grad(square)(X.astype(dtype)).dtype == dtype


def test_a_constant_has_gradient_zero():
    same(functx.grad_and_value(lambda x: 3.0)(X), (jnp.zeros(3), 3.0))


def test_the_function_may_branch_on_values_in_eager_mode():
    same(functx.grad(lambda x: square(x) if x[0] > 0 else x.sum())(X), 2 * X)


def test_names_and_docs_are_kept():
    assert functx.grad(product).__name__ == "product"
    assert functx.grad(ft.partial(product, X))(X).shape == (3,)


@pytest.mark.parametrize("transform", [functx.grad, functx.grad_and_value, functx.value_and_grad])
@pytest.mark.parametrize(
    "func, args, error, message",
    [
        (
            lambda t: t["w"].sum(),
            ({"w": jnp.arange(3)},),
            TypeError,
            r": `args\[0\]\['w'\]` must be real or complex to be differentiated, got i64\[3\]",
        ),
        (square, (True,), TypeError, r"`args\[0\]` must be real or complex .*, got True"),
        (square, ("x",), TypeError, r"`args\[0\]` must be an array, got 'x'"),
        (jnp.sin, (X,), ValueError, r"`func` must return a scalar, got f64\[3\]"),
        (lambda x: (x.sum(), x), (X,), TypeError, r"one scalar array, got a tuple of 2(.|\n)*aux"),
        (lambda x: None, (X,), TypeError, r"one scalar array, got None"),
        (lambda x: "loss", (X,), TypeError, r"one scalar array, got 'loss'"),
        (lambda x: x.argmax(), (X,), TypeError, r"must return a floating scalar, got i64\[\]"),
        (
            lambda x: x.sum().astype(complex),
            (X,),
            TypeError,
            r"must return a real scalar, got c128\[\]",
        ),
        (square, (), IndexError, r"`argnums` 0 is out of range for 0 positional arguments"),
    ],
)
def test_refusals(transform, func, args, error, message):
    with pytest.raises(error, match=f"^{transform.__name__}: ") as caught:
        transform(func)(*args)
    assert caught.match(message)


@pytest.mark.parametrize(
    "argnums, error, message",
    [
        (2, IndexError, "`argnums` 2 is out of range for 2"),
        (-3, IndexError, "`argnums` -3 is out of range for 2"),
        ((), ValueError, "`argnums` must not be empty"),
        ((0, -2), ValueError, "must name each argument once"),
        ((0, "x"), ValueError, "must name each argument once"),
        (1.0, TypeError, "must be an int, the name of a keyword argument, or a tuple"),
        (True, TypeError, "must be an int"),
        ([0], TypeError, "must be an int"),
        ("z", TypeError, "`argnums` names 'z', which this call does not pass"),
    ],
)
def test_argnums_refusals(argnums, error, message):
    with pytest.raises(error, match=f"^grad: .*{message}"):
        functx.grad(product, argnums)(X, X)


def test_has_aux_refusals():
    with pytest.raises(TypeError, match=r"grad: .*must return a pair \(output, aux\), got f64\[\]"):
        functx.grad(square, has_aux=True)(X)
    with pytest.raises(TypeError, match="got a tuple of 3"):
        functx.grad(lambda x: (square(x), 1, 2), has_aux=True)(X)


def test_func_must_be_callable():
    with pytest.raises(TypeError, match="grad: `func` must be callable, got 3"):
        functx.grad(3)
