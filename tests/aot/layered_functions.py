"""Functions of equal layers, and how many layers each loop of them has."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import functx


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


def arrays_in_rules(weights, x):
    for i, w in enumerate(weights):
        at = np.arange(i, i + WIDTH, dtype=np.float32)
        scaled = jax.custom_jvp(lambda x, at=at: x * at)
        scaled.defjvp(lambda primals, tangents, at=at: (primals[0] * at, tangents[0] * at))
        x = scaled(functx.tanh(x @ w))
    return x


def one_reads_farther_back(weights, x):
    seen = [x]
    for i, w in enumerate(weights):
        seen.append(functx.tanh(seen[-2 if i == 3 else -1] @ w))
    return seen


def one_reads_another_result(weights, x):
    for i, w in enumerate(weights):
        y = functx.tanh(x @ w)
        z = functx.tanh(y @ w)
        x = (y if i == 3 else z) @ w
    return x


def one_reads_what_came_between(weights, x):
    for i, w in enumerate(weights):
        by = functx.exp(x.T @ x) if i == 1 else weights[i - 1]
        x = functx.tanh(x @ w) @ by
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
        (arrays_in_rules, []),
        (one_reads_farther_back, [2, 2]),
        (one_reads_another_result, [2, 2, 2]),
        (one_reads_what_came_between, [5]),
        (rows_again, [6, 6]),
        (a_row_again, [6, 6]),
    ]
}
