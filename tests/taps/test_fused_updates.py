"""Steps of an optimizer inside the backward pass equal those after it."""

from __future__ import annotations

import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


RNG = np.random.default_rng(0)
PARAMS = {f"w{i}": RNG.normal(size=(3, 3)) for i in range(4)} | {"scale": np.ones(())}
X = RNG.normal(size=(2, 3))


def loss(params, x):
    for i in range(4):
        x = jnp.tanh(x @ params[f"w{i}"])
    return (params["scale"] * x**2).mean()


def adam(param, gradient, state):
    """Kingma and Ba, 2015, algorithm 1."""
    count, m, v = state
    count = count + 1
    m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
    unbiased = m / (1 - 0.9**count), v / (1 - 0.999**count)
    return param - 0.01 * unbiased[0] / (jnp.sqrt(unbiased[1]) + 1e-8), (count, m, v)


def start(params):
    return jax.tree.map(lambda w: (np.zeros(()), np.zeros_like(w), np.zeros_like(w)), params)


def separately(params, state, x):
    value, gradients = functx.value_and_grad(loss)(params, x)
    leaves, tree = jax.tree.flatten(params)
    states = tree.flatten_up_to(state)
    pairs = [adam(*each) for each in zip(leaves, jax.tree.leaves(gradients), states, strict=True)]
    return tree.unflatten([w for w, _ in pairs]), tree.unflatten([s for _, s in pairs]), value


@pytest.mark.parametrize("jitted", [False, True])
def test_five_steps_of_adam(jitted):
    update = functx.taps.fused_update(loss, adam)
    if jitted:
        update = jax.jit(update, donate_argnums=(0, 1))
    want = PARAMS, start(PARAMS)
    got = jax.tree.map(jnp.asarray, want)
    reference = jax.jit(separately)
    for _ in range(5):
        *want, value = reference(*want, X)
        *got, got_value = update(*got, X)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), got, want)
        np.testing.assert_allclose(got_value, value, rtol=1e-12)
    assert np.abs(got[0]["w0"] - PARAMS["w0"]).min() > 0.005


def test_eager_gradients_never_coexist_and_the_last_layer_is_first():
    gone, shapes = [], []

    def step(param, gradient, state):
        gone.append([g() is None for g in alive])
        alive.append(weakref.ref(gradient))
        shapes.append(state)
        return param - gradient, state

    alive = []
    names = dict(zip(PARAMS, PARAMS, strict=True))
    states = {name: (Name(name),) for name in names}
    functx.taps.fused_update(loss, step)(PARAMS, states, X)
    assert gone == [[True] * n for n in range(5)]
    assert [state[0].name for state in shapes] == ["scale", "w3", "w2", "w1", "w0"]


class Name:
    """A state that says whose it is."""

    def __init__(self, name):
        self.name = name


def test_compiled_gradients_never_coexist():
    """XLA keeps at most a few of the gradients of many layers at a time."""
    layers, n = 16, 64
    params = [jax.ShapeDtypeStruct((n, n), "float32")] * layers

    def deep(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return (x**2).mean()

    step = lambda w, g, s: (w - 0.1 * (0.9 * s + g), 0.9 * s + g)
    update = jax.jit(functx.taps.fused_update(deep, step), donate_argnums=(0, 1))
    x = jax.ShapeDtypeStruct((4, n), "float32")
    memory = update.lower(params, params, x).compile().memory_analysis()
    gradients = layers * n * n * 4
    assert memory.alias_size_in_bytes == 2 * gradients  # parameters and states are written over
    assert memory.temp_size_in_bytes < gradients / 3


def test_a_parameter_that_the_loss_does_not_use_takes_a_step_too():
    update = functx.taps.fused_update(
        lambda p, x: (p["a"] * x).sum(), lambda w, g, s: (w - g - 1, s + 1)
    )
    params = {"a": jnp.ones(2), "b": jnp.ones(3)}
    new, state, value = update(params, {"a": 0, "b": 0}, 2.0)
    np.testing.assert_array_equal(new["a"], [-2, -2])
    np.testing.assert_array_equal(new["b"], [0, 0, 0])
    assert state == {"a": 1, "b": 1} and value == 4


def test_aux_and_complex_parameters():
    update = functx.taps.fused_update(
        lambda z: (jnp.abs(z) ** 2, "aux"), lambda w, g, s: (w - 0.5 * g, s), has_aux=True
    )
    new, _, (value, aux) = update(jnp.asarray(3 + 4j), None)
    assert (value, aux) == (25, "aux")
    np.testing.assert_allclose(new, 0)  # with PyTorch's gradient 2z a step of a half leads there


def test_a_scan_of_updates_trains():
    update = functx.taps.fused_update(lambda w, x: (w * x) ** 2, lambda w, g, s: (w - 0.1 * g, s))
    step = lambda w, x: (update(w, None, x)[0], None)
    got = jax.lax.scan(step, jnp.float64(1), jnp.ones(3))[0]
    np.testing.assert_allclose(got, 0.8**3)


WRONG = {
    "pair": (lambda w, g, s: w, TypeError, r"`step` must return a pair \(param, state\)"),
    "state": (lambda w, g, s: (w, (s,)), ValueError, "must return a state like the one"),
    "shape": (lambda w, g, s: (w[None], s), ValueError, r"got f64\[1\]"),
    "dtype": (lambda w, g, s: (w.astype("float32"), s), TypeError, r"got f32\[\]"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_a_step_returns_is_checked(wrong):
    step, error, message = WRONG[wrong]
    with pytest.raises(error, match="fused_update: .*" + message):
        functx.taps.fused_update(lambda w: w**2, step)(jnp.float64(1), 0)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="`state` must have a tree for each array of `params`"):
        functx.taps.fused_update(loss, adam)(PARAMS, {"w0": 0}, X)
    with pytest.raises(TypeError, match="fused_update: `step` must be callable"):
        functx.taps.fused_update(loss, 3)
    with pytest.raises(ValueError, match="fused_update: `func` must return a scalar"):
        functx.taps.fused_update(lambda w: w, adam)(X, start(X))
