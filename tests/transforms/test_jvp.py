"""`jvp` and `linearize`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.asarray([1.0, 2.0, 3.0])
V = jnp.asarray([1.0, 0.0, -1.0])


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_allclose, got, want)


def pushed(func, primals, tangents):
    return functx.jvp(func, primals, tangents)


def linearized(func, primals, tangents):
    output, jvp_fn = functx.linearize(func, *primals)
    return output, jvp_fn(*tangents)


both = pytest.mark.parametrize("forward", [pushed, linearized])


@both
def test_value_and_directional_derivative(forward):
    same(forward(jnp.sin, (X,), (V,)), (jnp.sin(X), V * jnp.cos(X)))


@both
def test_trees(forward):
    f = lambda d, y: {"out": d["w"] * y}
    got = forward(f, ({"w": X}, X), ({"w": V}, V))
    same(got, ({"out": X**2}, {"out": 2 * X * V}))


@both
def test_integer_outputs_have_zero_tangents(forward):
    _, (index, top) = forward(lambda x: (x.argmax(), x.max()), (X,), (V,))
    assert index == 0 and index.dtype == "int64" and top == -1


@both
def test_python_numbers(forward):
    x, v = X.astype("float32"), V.astype("float32")
    same(forward(lambda x, y: x * y, (2.0, x), (1, v)), (2 * x, x + 2 * v))


@both
def test_independent_outputs_have_zero_tangents(forward):
    same(forward(lambda x: jnp.ones(2), (X,), (V,)), (jnp.ones(2), jnp.zeros(2)))


def test_aux_comes_last():
    with_aux = lambda x: (2 * x, {"x": x, "name": "f"})
    output, tangent, aux = functx.jvp(with_aux, (X,), (V,), has_aux=True)
    same((output, tangent, aux["x"]), (2 * X, 2 * V, X))
    output, jvp_fn, aux = functx.linearize(with_aux, X, has_aux=True)
    same((output, jvp_fn(V), aux["x"]), (2 * X, 2 * V, X))
    assert aux["name"] == "f"


def test_linearize_evaluates_once():
    calls = []
    _, jvp_fn = functx.linearize(lambda x: calls.append(x) or jnp.sin(x), X)
    same(functx.vmap(jvp_fn)(jnp.eye(3)), jnp.diag(jnp.cos(X)))
    assert len(calls) == 1


def test_linearize_may_leave_jit():
    output, jvp_fn = jax.jit(lambda x: functx.linearize(jnp.sin, x))(X)
    same(jvp_fn(V), V * jnp.cos(X))


def test_strict_gives_the_same_where_all_depends():
    f = lambda x: {"a": jax.jit(jnp.sin)(x), "b": x}
    same(functx.jvp(f, (X,), (V,), strict=True), functx.jvp(f, (X,), (V,)))


@pytest.mark.parametrize(
    "func, path",
    [
        (lambda x: jnp.ones(3), "output"),
        (lambda x: (x, {"b": jnp.ones(3)}), r"output\[1\]\['b'\]"),
        (jax.jit(lambda x: (x, jnp.ones(3))), r"output\[1\]"),
        (lambda x: (x, jax.lax.stop_gradient(x)), r"output\[1\]"),
        (lambda x: (x, x.argmax()), r"output\[1\]"),
    ],
)
def test_strict_refuses_outputs_that_do_not_depend_on_the_primals(func, path):
    with pytest.raises(RuntimeError, match=f"^jvp: `{path}` does not depend on `primals`"):
        functx.jvp(func, (X,), (V,), strict=True)


@both
@pytest.mark.parametrize(
    "primals, tangents, error, message",
    [
        (
            (X,),
            (V, V),
            ValueError,
            r"`tangents` must have the structure of .*\(\*,\), got \(\*",
        ),
        (
            (X,),
            (V[:2],),
            ValueError,
            r"`tangents\[0\]` must be like .*, f64\[3\], got f64\[2",
        ),
        (({"w": X},), ({"w": X.astype("float32")},), TypeError, r"`tangents\[0\]\['w'\]` .* f32"),
        ((jnp.arange(3),), (V,), TypeError, r"`primals\[0\]` must be real or complex"),
        ((X,), (jnp.arange(3),), TypeError, r"`tangents\[0\]` must be like .*got i64\[3\]"),
        ((X, "a"), (V, V), TypeError, r"`primals\[1\]` must be an array, got 'a'"),
    ],
)
def test_tangents_must_match(forward, primals, tangents, error, message):
    with pytest.raises(error, match="^(jvp|linearize): .*" + message):
        forward(lambda *xs: xs, primals, tangents)


@pytest.mark.parametrize("primals", [[X], X, ()])
def test_primals_must_be_a_tuple(primals):
    with pytest.raises(TypeError, match="^jvp: `primals` must be a tuple of the arguments"):
        functx.jvp(jnp.sin, primals, (V,))
