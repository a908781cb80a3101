"""`vjp`."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.asarray([1.0, 2.0, 3.0])
Pair = collections.namedtuple("Pair", "first second")


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_allclose, got, want)


def test_the_pullback_returns_a_tuple_even_for_one_primal():
    output, vjp_fn = functx.vjp(jnp.sin, X)
    same(output, jnp.sin(X))
    same(vjp_fn(X), (X * jnp.cos(X),))


def test_several_primals():
    _, vjp_fn = functx.vjp(lambda d, y: d["w"] * y, {"w": X}, 2 * X)
    same(vjp_fn(jnp.ones(3)), ({"w": 2 * X}, X))


def test_trees_of_outputs_take_trees_of_cotangents():
    output, vjp_fn = functx.vjp(lambda x: Pair(x, {"b": 2 * x}), X)
    assert isinstance(output, Pair)
    same(vjp_fn(Pair(X, {"b": X})), (3 * X,))


def test_aux_comes_last():
    output, vjp_fn, aux = functx.vjp(lambda x: (2 * x, {"x": x, "name": "f"}), X, has_aux=True)
    same(output, 2 * X)
    same(vjp_fn(X), (2 * X,))
    assert aux["name"] == "f"


@pytest.mark.parametrize("nothing", [None, 0, jnp.zeros((), "int32"), "whatever"])
def test_integer_outputs_have_no_cotangent(nothing):
    _, vjp_fn = functx.vjp(lambda x: (x.argmax(), x.max()), X)
    same(vjp_fn((nothing, 1.0)), (jnp.asarray([0.0, 0.0, 1.0]),))


def test_numbers_are_cotangents_of_scalars():
    _, vjp_fn = functx.vjp(lambda x: x.astype("float32").sum(), X)
    same(vjp_fn(2), (2 * jnp.ones(3),))


def test_the_pullback_may_leave_jit_and_enter_it():
    output, vjp_fn = jax.jit(lambda x: functx.vjp(jnp.sin, x))(X)
    same(jax.jit(lambda f, ct: f(ct))(vjp_fn, X), (X * jnp.cos(X),))


def test_the_pullback_is_linear_and_may_be_called_again():
    _, vjp_fn = functx.vjp(jnp.sin, X)
    same(functx.vmap(vjp_fn)(jnp.eye(3)), (jnp.diag(jnp.cos(X)),))


@pytest.mark.parametrize(
    "cotangents, error, message",
    [
        (X, ValueError, r"must have the structure of the output of `func`, \{'a': \*\}, got \*"),
        ({"b": X}, ValueError, r"`cotangents` must have the structure .*got \{'b': \*\}"),
        ({"a": X[:2]}, ValueError, r"`cotangents\['a'\]` must be like .*, f64\[3\], got f64\[2\]"),
        ({"a": X.astype("float32")}, TypeError, r"`cotangents\['a'\]` .*f64\[3\], got f32\[3\]"),
        ({"a": jnp.arange(3)}, TypeError, r"`cotangents\['a'\]` must be like .*, got i64\[3\]"),
        ({"a": (X, X)}, TypeError, r"`cotangents\['a'\]` must be like .*, got a tuple"),
        ({"a": 1.0}, ValueError, r"`cotangents\['a'\]` must be like .*, f64\[3\], got 1.0"),
        ({"a": None}, TypeError, r"`cotangents\['a'\]` must be like .*, got None"),
    ],
)
def test_cotangents_must_match(cotangents, error, message):
    _, vjp_fn = functx.vjp(lambda x: {"a": x}, X)
    with pytest.raises(error, match="^vjp: .*" + message):
        vjp_fn(cotangents)


@pytest.mark.parametrize(
    "func, primals, message",
    [
        (jnp.sin, (jnp.arange(3),), r"`primals\[0\]` must be real or complex .*got i64\[3\]"),
        (jnp.add, (X, {"k": 1}), r"`primals\[1\]\['k'\]` must be real or complex .*got 1"),
        (lambda x: None, (X,), r"`func` must return at least one array, got None"),
        (lambda x: {"a": "text"}, (X,), r"`output\['a'\]` must be an array, got 'text'"),
        (3, (X,), r"`func` must be callable, got 3"),
    ],
)
def test_refusals(func, primals, message):
    with pytest.raises(TypeError, match="^vjp: .*" + message):
        functx.vjp(func, *primals)
