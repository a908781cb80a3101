"""Models ahead of time: graphs, partitions, compiled passes and exports of what people train."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx import aot
from functx.testing.checks.programs import compiled


F = functx.nn.functional
KEY = jax.random.key(3)


def draw(seed, *shape):
    x = np.random.default_rng(seed).normal(size=shape) * shape[-1] ** -0.5
    return jnp.asarray(x, "float32")


def perceptron(p, x):
    return F.cross_entropy(F.gelu(x @ p["w1"] + p["b"]) @ p["w2"], jnp.arange(len(x)) % 3)


def batch_normalized(p, x):
    y = F.conv2d(x, p["kernel"], padding=1)
    y = F.batch_norm(y, None, None, p["scale"], p["shift"], training=True)
    return functx.mean(F.max_pool2d(functx.relu(y), 2) ** 2)


def attention(p, x):
    heads = lambda y: y.reshape(*y.shape[:2], 2, -1).transpose(0, 2, 1, 3)
    q, k, v = map(heads, jnp.split(F.layer_norm(x, x.shape[-1:]) @ p["qkv"], 3, -1))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + y.transpose(0, 2, 1, 3).reshape(x.shape) @ p["out"]
    return functx.mean((x + F.gelu(x @ p["up"]) @ p["down"]) ** 2)


def recurrent(p, x):
    def step(h, x):
        z, n = jnp.split(x @ p["x"] + h @ p["h"], 2, -1)
        h = h + functx.sigmoid(z) * (functx.tanh(n) - h)
        return h, h

    return functx.mean(jax.lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x)[1] ** 2)


def dropped(p, x):
    weights = F.dropout(functx.softmax(x @ p["w"], dim=-1), 0.5, key=KEY)
    return functx.sum((weights @ p["v"]) ** 2)


MODELS = {
    "perceptron": (
        perceptron,
        {"w1": draw(0, 4, 8), "b": draw(1, 8), "w2": draw(2, 8, 3)},
        draw(3, 6, 4),
    ),
    "batch_normalized": (
        batch_normalized,
        {"kernel": draw(0, 4, 2, 3, 3), "scale": draw(1, 4), "shift": draw(2, 4)},
        draw(3, 2, 2, 6, 6),
    ),
    "attention": (
        attention,
        {"qkv": draw(0, 8, 24), "out": draw(1, 8, 8), "up": draw(2, 8, 16), "down": draw(3, 16, 8)},
        draw(4, 2, 5, 8),
    ),
    "recurrent": (recurrent, {"x": draw(0, 4, 8), "h": draw(1, 4, 8)}, draw(2, 7, 2, 4)),
    "dropped": (dropped, {"w": draw(0, 4, 5), "v": draw(1, 5, 3)}, draw(2, 6, 4)),
}


def close(got, want):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-6)


def product(f):
    """With the Hessian, of the parameters with themselves."""
    return lambda p, x: functx.hvp(lambda p: f(p, x), (p,), (p,))[1]


def together(*functions):
    """What each gives, by one program: that of all their operators one by one costs far more."""
    return compiled(lambda p, x: [f(p, x) for f in functions])


@ft.cache
def wanted(name):
    """A model's value, gradient, and Hessian times the parameters."""
    model, parameters, x = MODELS[name]
    return together(model, functx.grad(model), product(model))(parameters, x)


@pytest.mark.parametrize("name", MODELS)
class TestModels:
    def test_a_graph(self, name):
        model, parameters, x = MODELS[name]
        graph = aot.trace(model, parameters, x)
        by_code = lambda *args: graph.code.function()(*jax.tree.leaves(args))
        value, gradient, _ = wanted(name)
        got = together(graph, functx.grad(graph), by_code)(parameters, x)
        close(got, [value, gradient, [value]])

    @pytest.mark.parametrize("divide", [aot.default_partition, aot.min_cut_partition])
    def test_compiled_passes(self, name, divide):
        model, parameters, x = MODELS[name]
        passes = aot.aot_module(model, partition_fn=divide)
        _, gradient, second = wanted(name)
        close(functx.grad(passes)(parameters, x), gradient)
        close(together(product(passes))(parameters, x), [second])

    def test_exported_with_its_gradients(self, name):
        model, parameters, x = MODELS[name]
        program = aot.export_module(model, parameters, x, gradients=True)
        close(program(parameters, x), wanted(name)[:2])
