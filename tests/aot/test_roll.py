"""Rolled functions have the values and the derivatives of the functions."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.aot import repeated_layers, roll
from functx.testing.checks.programs import compiled


WIDTH = 3
X = np.linspace(-1, 1, 2 * WIDTH, dtype=np.float32).reshape(2, WIDTH)


def weights(count, seed=0, shape=(WIDTH, WIDTH)):
    generator = np.random.default_rng(seed)
    return [jnp.asarray(generator.normal(size=shape) / 2, "float32") for _ in range(count)]


def plain(weights, x):
    for w in weights:
        x = functx.tanh(x @ w)
    return x


def two_carries(weights, x):
    y = x + 1
    for w in weights:
        x, y = functx.sin(y @ w), x + y
    return x * y


def shared_values(weights, x):
    mask = functx.exp(x)
    for w in weights:
        x = functx.tanh(x @ w) * mask + weights[0][0]
    return x


def constants_of_layers(weights, x):
    for i, w in enumerate(weights):
        x = functx.tanh(x @ w + np.full(WIDTH, i, np.float32)) * (0.5 + i)
    return x


def results_of_each(weights, x):
    seen = []
    for w in weights:
        y = x @ w
        seen.append(functx.sum(y**2))
        x = functx.tanh(y)
    return x, seen


def result_of_one(weights, x):
    for i, w in enumerate(weights):
        y = x @ w
        x = functx.tanh(y)
        if i == 1:
            kept = y
    return x, kept, y


def another_last(weights, x):
    x = plain(weights[:-1], x)
    return functx.exp(x @ weights[-1])


def another_first(weights, x):
    return plain(weights[1:], functx.cos(x @ weights[0]) * 2)


def two_runs(weights, x):
    x = plain(weights[:4], x)
    x = jnp.concatenate([x, x])
    for w in weights[4:]:
        x = x + functx.nn.functional.gelu(x @ w)
    return x


def compiled_layers(weights, x):
    layer = jax.jit(lambda w, x: functx.tanh(x @ w))
    for w in weights:
        x = layer(w, x)
    return x


def inside_of_a_compiled_function(weights, x):
    return jax.jit(plain)(weights, x) * 2


def inside_of_a_checkpoint(weights, x):
    return jax.checkpoint(plain)(weights, x) * 2


def checkpoints(weights, x):
    for w in weights:
        x = jax.checkpoint(lambda w, x: functx.tanh(x @ w) @ w)(w, x)
    return x


def inside_of_a_loop(weights, x):
    return lax.scan(lambda x, _: (plain(weights, x), None), x, None, length=2)[0]


def inside_of_a_branch(weights, x):
    return lax.cond(x[0, 0] < 0, lambda x: plain(weights, x), lambda x: -x, x)


def loops_in_layers(weights, x):
    for w in weights:
        x, _ = lax.scan(lambda x, _, w=w: (functx.sin(x @ w), None), x, None, length=2)
        x = lax.cond(x[0, 0] > 0, lambda x: x, lambda x: 2 * x, x)
    return x


def layers_in_layers(weights, x):
    for w in weights:
        y = x
        for _ in range(3):
            y = functx.tanh(y @ w)
        x = functx.exp(-(y**2)) + x @ w.T
    return x


def rules_of_jax(weights, x):
    for w in weights:
        x = jax.nn.relu(x @ w) + x
    return x


def rules_of_functx(weights, x):
    class Cube(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            return 3 * ctx.saved_tensors[0] ** 2 * grad

    for w in weights:
        x = Cube.apply(x @ w)
    return x


def parts_of_one_array(weights, x):
    stacked = jnp.stack(weights)
    return parts(stacked, x)


def parts(stacked, x):
    for i in range(stacked.shape[0]):
        x = functx.tanh(x @ stacked[i])
    return x


def both_ways(weights, x):
    return plain(weights[::-1], plain(weights, x))


def one_array_twice(weights, x):
    return plain([weights[0], weights[0], *weights[2:]], x)


def numbers_inside_of_layers(weights, x):
    for i, w in enumerate(weights):
        x = jax.jit(lambda w, x, i=i: functx.tanh(x @ w) * (0.5 + i))(w, x)
    return x


def arrays_inside_of_layers(weights, x):
    for i, w in enumerate(weights):
        at = np.arange(i, i + WIDTH, dtype=np.float32)
        x = lax.cond(x[0, 0] < 9, lambda w, x, at=at: functx.tanh(x @ w) * at, lambda w, x: x, w, x)
    return x


def rows_again(weights, x):
    x, seen = results_of_each(weights, x)
    for w, s in zip(weights, seen[::-1], strict=True):
        x = functx.sin(x @ w) * s
    return x


def a_row_again(weights, x):
    x, seen = results_of_each(weights, x)
    for w, s in zip(weights, [seen[1], seen[0], *seen[2:]], strict=True):
        x = functx.sin(x @ w) * s
    return x, seen


FUNCTIONS = {
    f.__name__: (f, found)
    for f, found in [
        (plain, [6]),
        (two_carries, [6]),
        (shared_values, [6]),
        (constants_of_layers, [6]),
        (results_of_each, [6]),
        (result_of_one, [6]),
        (another_last, [5]),
        (another_first, [5]),
        (two_runs, [4, 2]),
        (compiled_layers, [6]),
        (inside_of_a_compiled_function, [6]),
        (inside_of_a_checkpoint, [6]),
        (checkpoints, [6]),
        (inside_of_a_loop, [6]),
        (inside_of_a_branch, [6]),
        (loops_in_layers, [6]),
        (layers_in_layers, [6, 3]),
        (rules_of_jax, [6]),
        (rules_of_functx, [6]),
        (parts_of_one_array, [6]),
        (both_ways, [12]),
        (one_array_twice, [6]),
        (numbers_inside_of_layers, []),
        (arrays_inside_of_layers, [6]),
        (rows_again, [6, 6]),
        (a_row_again, [6, 6]),
    ]
}


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


def test_keys_are_stacked_and_carried():
    def f(key, weights, x):
        for k, w in zip(jax.random.split(key, 4), weights, strict=True):
            x = x @ w * jax.random.normal(k, x.shape, "float32")
        for w in weights:
            key, draw = jax.random.split(key)
            x = functx.tanh(x @ w + jax.random.normal(draw, x.shape, "float32"))
        return x, key

    given = jax.random.key(0), weights(4), X
    assert 4 in [each.layers for each in repeated_layers(f, *given)]
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
