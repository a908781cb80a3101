"""Rolled functions have the values and the derivatives of the functions."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from layered_functions import FUNCTIONS, plain, two_carries, weights, WIDTH, X

import functx
from functx.aot import repeated_layers, roll
from functx.testing.checks.programs import compiled


def close(got, want, rtol=2e-4):
    jax.tree.map(ft.partial(np.testing.assert_allclose, rtol=rtol, atol=1e-5), got, want)


def loss(f):
    def function(weights, x):
        leaves = jax.tree.leaves(f(weights, x))
        return functx.sum(jnp.concatenate([functx.sin(y).ravel() for y in leaves]))

    return function


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_layers_are_found(name):
    f, counts = FUNCTIONS[name]
    found = repeated_layers(f, weights(6), X, min_layers=2)
    assert [each.layers for each in found] == counts


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_those_of_the_function(name):
    f, _ = FUNCTIONS[name]
    given = weights(6), X
    both = lambda f: lambda *args: (f(*args), functx.grad(loss(f), argnums=(0, 1))(*args))
    close(compiled(both(roll(f, min_layers=2)))(*given), compiled(both(f))(*given))


TRANSFORMS = {
    "vmap": lambda f: lambda w, x: functx.vmap(f, in_dims=(None, 0))(w, jnp.stack([x, -x])),
    "vmap over weights": lambda f: (
        lambda w, x: functx.vmap(f, in_dims=(0, None))([jnp.stack([y, -y]) for y in w], x)
    ),
    "jvp": lambda f: lambda w, x: functx.jvp(lambda w: f(w, x), (w,), (w,))[1],
    "hessian": lambda f: lambda w, x: functx.hessian(loss(f), argnums=1)(w, x),
    "jacfwd of grad": lambda f: lambda w, x: functx.jacfwd(functx.grad(loss(f)), argnums=1)(w, x),
    "grad of grad": lambda f: functx.grad(lambda w, x: functx.sum(functx.grad(loss(f))(w, x)[1])),
    "per-sample gradients": lambda f: (
        lambda w, x: functx.vmap(functx.grad(loss(f)), in_dims=(None, 0))(w, x[:, None])
    ),
    "checkpoint": lambda f: functx.grad(lambda w, x: loss(jax.checkpoint(f))(w, x)),
    "roll": lambda f: functx.grad(loss(roll(f))),
    "linearize": lambda f: lambda w, x: functx.linearize(lambda x: f(w, x), x)[1](x),
}
TRANSFORMED = ["two_carries", "rules_of_jax", "rules_of_functx", "layers_in_layers", "rows_again"]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_rolled_functions_are_transformed_like_the_functions(transform):
    f = FUNCTIONS[TRANSFORMED[[*TRANSFORMS].index(transform) % len(TRANSFORMED)]][0]
    given = weights(4), X
    got, want = (compiled(TRANSFORMS[transform](g))(*given) for g in (roll(f), f))
    close(got, want, rtol=2e-3)


@pytest.mark.parametrize("name", ["plain", "results_of_each", "rules_of_jax"])
def test_programs_of_gradients_are_rolled(name):
    f, _ = FUNCTIONS[name]
    gradient = functx.grad(loss(f))
    found = repeated_layers(gradient, weights(6), X)
    assert sum(each.layers for each in found) >= 10
    close(compiled(roll(gradient))(weights(6), X), compiled(gradient)(weights(6), X))


def test_it_runs_without_jit():
    close(roll(two_carries)(weights(4), X), two_carries(weights(4), X))
    close(functx.grad(loss(roll(plain)))(weights(4), X), functx.grad(loss(plain))(weights(4), X))


def test_trees_and_constants_are_as_for_the_function():
    def f(tree, *, times, scale):
        for _ in range(times):
            tree = {"x": functx.tanh(tree["x"] @ tree["w"]), "w": tree["w"]}
        return {**tree, "name": "network", "none": None, "number": scale}

    given = {"x": X, "w": weights(1)[0]}
    got, want = roll(f)(given, times=4, scale=0.5), f(given, times=4, scale=0.5)
    assert got["name"] == "network" and got["none"] is None
    close((got["x"], got["w"], got["number"]), (want["x"], want["w"], 0.5))
    assert repeated_layers(f, given, times=4, scale=0.5)[0].layers == 4


def test_it_is_a_decorator():
    @roll(min_layers=2)
    def f(weights, x):
        """Doc."""
        return plain(weights, x)

    assert f.__name__ == "f" and f.__doc__ == "Doc."
    close(f(weights(2), X), plain(weights(2), X))


def test_functions_may_close_over_what_is_traced():
    def outer(w, x):
        return functx.sum(roll(lambda x: plain([w] * 4, x))(x))

    close(
        compiled(functx.grad(outer))(weights(1)[0], X),
        compiled(functx.grad(lambda w, x: functx.sum(plain([w] * 4, x))))(weights(1)[0], X),
    )


def test_sizes_may_be_symbolic():
    rows = jax.ShapeDtypeStruct(jax.export.symbolic_shape(f"b, {WIDTH}"), jnp.float32)
    (found,) = repeated_layers(plain, weights(4), rows)
    assert (found.layers, found.carried) == (4, ("f32[b,3]",))
    gradient = functx.grad(lambda w, x: functx.sum(roll(plain)(w, x) ** 2))
    program = functx.aot.export(gradient, weights(4), rows)
    close(
        program(weights(4), X),
        compiled(functx.grad(lambda w, x: functx.sum(plain(w, x) ** 2)))(weights(4), X),
    )


def test_random_numbers_are_those_of_the_function():
    def f(weights, x):
        for w in weights:
            x = functx.nn.functional.dropout(x @ w, 0.5)
        return x + functx.rand(WIDTH)

    key = jax.random.key(3)

    def drawn(f, key):
        with functx.random.scope(key):
            return f(weights(4), X), functx.rand(2)

    close(jax.jit(ft.partial(drawn, roll(f)))(key), jax.jit(ft.partial(drawn, f))(key))
    functx.manual_seed(0)
    want = f(weights(4), X), functx.rand(2)
    functx.manual_seed(0)
    close((functx.jit(roll(f))(weights(4), X), functx.rand(2)), want)
    with functx.random.scope(key):
        (found,) = repeated_layers(lambda k, w, x: _scoped(f, k, w, x), key, weights(4), X)
    assert found.layers == 4


def _scoped(f, key, *args):
    with functx.random.scope(key):
        return f(*args)


def keys_of_one_split(key, weights, x):
    for k, w in zip(jax.random.split(key, 4), weights, strict=True):
        x = x @ w * jax.random.normal(k, x.shape, "float32")
    return x, key


def keys_of_many_splits(key, weights, x):
    for w in weights:
        key, draw = jax.random.split(key)
        x = functx.tanh(x @ w + jax.random.normal(draw, x.shape, "float32"))
    return x, key


@pytest.mark.parametrize(
    "f, kind", [(keys_of_one_split, "stacked"), (keys_of_many_splits, "carried")]
)
def test_keys_are_stacked_or_carried(f, kind):
    given = jax.random.key(0), weights(4), X
    (found,) = repeated_layers(f, *given)
    assert found.layers == 4 and any(t.startswith("key<") for t in getattr(found, kind))
    (got, key), (want, other) = compiled(roll(f))(*given), compiled(f)(*given)
    close(got, want)
    assert (jax.random.key_data(key) == jax.random.key_data(other)).all()


def test_integers_and_halves_keep_their_dtypes():
    def f(weights, x):
        count = jnp.asarray(0, "int32")
        for w in weights:
            x, count = (x @ w).astype("bfloat16"), count + jnp.sum(x > 0, dtype="int32")
        return x, count

    ws = [w.astype("bfloat16") for w in weights(5)]
    got, want = compiled(roll(f))(ws, X.astype("bfloat16")), compiled(f)(ws, X.astype("bfloat16"))
    assert [x.dtype for x in got] == [x.dtype for x in want]
    close(
        jax.tree.map(lambda x: x.astype("float32"), got),
        jax.tree.map(lambda x: x.astype("float32"), want),
        rtol=2e-2,
    )


def test_numbers_may_start_what_is_carried():
    def f(weights, x):
        total = 0.0
        for w in weights:
            x = functx.tanh(x @ w)
            total = total + functx.sum(x @ w)
        return x, total

    assert repeated_layers(f, weights(5), X)[0].layers == 5
    got, want = compiled(roll(f))(weights(5), X), compiled(f)(weights(5), X)
    assert not got[1].weak_type
    close(got, want)
