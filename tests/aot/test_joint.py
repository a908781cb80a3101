"""Joint graphs and their partitions: counts of PyTorch's tests, bytes, values, derivatives."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.aot import (
    default_partition,
    joint_graph,
    min_cut_partition,
    partition_saving,
)
from functx.testing.checks.programs import compiled


X = jnp.linspace(0.1, 1, 6, dtype="float32").reshape(2, 3)
KEY = jax.random.key(0)


def cos3(x):
    return functx.cos(functx.cos(functx.cos(x)))


def sum4(a, b, c, d):
    return functx.cos(functx.cos(a + b + c + d))


def perceptron(x, w1, w2):
    return functx.nn.functional.gelu(x @ w1) @ w2


def normalized(x, w, b):
    return functx.nn.functional.layer_norm(x, (3,), w, b)


def dropped(x):
    return functx.nn.functional.dropout(functx.sin(x), key=KEY)


def looped(x):
    step = lambda c, _: (functx.sin(functx.tanh(c)) * c, None)
    return jax.lax.scan(step, x, None, length=8)[0]


def branched(x):
    return jax.lax.cond(x[0, 0] > 0, lambda x: functx.sin(functx.exp(x)), lambda x: -x, x)


def several(x, n):
    return {"a": functx.sin(x), "index": functx.argmax(x), "n": n + 1, "b": functx.sum(x)}


def convolved(x, w):
    return functx.relu(functx.nn.functional.conv2d(x, w)) ** 2


CASES = {
    "cos3": (cos3, (X,)),
    "sum4": (sum4, (X, X, X, X)),
    "sum": (functx.sum, (X,)),
    "perceptron": (perceptron, (X, jnp.ones((3, 8), "float32") * 0.1, jnp.ones((8, 2), "float32"))),
    "normalized": (normalized, (X, jnp.ones(3, "float32"), jnp.ones(3, "float32"))),
    "dropped": (dropped, (X,)),
    "looped": (looped, (X,)),
    "branched": (branched, (X,)),
    "several": (several, (X, jnp.arange(3))),
    "convolved": (
        convolved,
        (jnp.ones((2, 3, 6, 6), "float32") * 0.1, jnp.ones((4, 3, 3, 3), "float32")),
    ),
    "svd": (lambda x: functx.linalg.svd(x @ x.T + jnp.eye(2, dtype="float32"))[1], (X,)),
}
PARTITIONS = {"default": default_partition, "min_cut": min_cut_partition}


def halves_of(partition, args, cotangents):
    """The outputs' arrays and the gradients, by the two halves."""
    results = partition.forward(*jax.tree.leaves(args))
    count = len(partition.joint.function.outputs)
    gradients = partition.backward(*results[count:], *cotangents)
    return results[:count], gradients


@ft.cache
def by_vjp(name):
    """Cotangents for the outputs of a case, its gradients, and its results."""
    function, args = CASES[name]
    return compiled(lambda *args: (*_by_vjp(function, args), function(*args)))(*args)


def _by_vjp(function, args):
    inexact = lambda x: jnp.issubdtype(x.dtype, jnp.inexact)
    moving = [i for i, x in enumerate(args) if inexact(x)]

    def at(*moved):
        full = list(args)
        for i, x in zip(moving, moved, strict=True):
            full[i] = x
        leaves = jax.tree.leaves(function(*full))
        return [y for y in leaves if inexact(y)]

    outputs, pull = jax.vjp(at, *(args[i] for i in moving))
    cotangents = [jnp.cos(jnp.arange(y.size, dtype=y.dtype)).reshape(y.shape) for y in outputs]
    return cotangents, pull(cotangents)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("how", PARTITIONS)
def test_the_halves_are_the_function_and_its_vjp(name, how):
    function, args = CASES[name]
    partition = PARTITIONS[how](joint_graph(function, *args))
    cotangents, want, results = by_vjp(name)
    # The default's halves run without jit, each of their operations as a program.
    run = compiled if how == "min_cut" else lambda f: f
    both = lambda args, cotangents: halves_of(partition, args, cotangents)
    outputs, gradients = run(both)(args, cotangents)
    for got, y in zip(outputs, jax.tree.leaves(results), strict=True):
        np.testing.assert_allclose(got, y, rtol=1e-5)
    for got, x in zip(gradients, want, strict=True):
        np.testing.assert_allclose(got, x, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["cos3", "perceptron", "looped", "normalized"])
def test_the_halves_are_transformed(name):
    function, args = CASES[name]
    partition = min_cut_partition(joint_graph(function, *args))
    cotangents, *_ = by_vjp(name)

    def energy(x):
        return sum(jnp.sum(g**2) for g in halves_of(partition, (x, *args[1:]), cotangents)[1])

    def want(x):
        pull = jax.vjp(lambda *a: [function(*a)], x, *args[1:])[1]
        return sum(jnp.sum(g**2) for g in pull(cotangents))

    def derivatives(f):
        def every(x):
            lanes = jax.vmap(f)(jnp.stack([x, x * 0.5]))
            return jax.grad(f)(x), jax.jvp(f, (x,), (x,))[1], lanes

        return compiled(every)(args[0])

    for got, truth, atol in zip(derivatives(energy), derivatives(want), (1e-5, 0, 0), strict=True):
        np.testing.assert_allclose(got, truth, rtol=1e-4, atol=atol)


@pytest.mark.parametrize(
    ("name", "forward", "backward"),
    [("cos3", (1, 2), (2, 1)), ("sum4", (4, 2), (2, 4)), ("sum", (1, 1), (1, 1))],
)
def test_inputs_and_outputs_are_as_many_as_pytorchs(name, forward, backward):
    function, args = CASES[name]
    partition = min_cut_partition(joint_graph(function, *args))
    counts = [
        (len(half.inputs), len(half.outputs)) for half in (partition.forward, partition.backward)
    ]
    assert counts == [forward, backward]


@pytest.mark.parametrize("name", CASES)
def test_a_minimum_cut_saves_no_more_than_the_default(name):
    function, args = CASES[name]
    joint = joint_graph(function, *args)
    assert min_cut_partition(joint).saved_bytes <= default_partition(joint).saved_bytes


def test_what_is_saved_and_computed_again_is_told():
    joint = joint_graph(cos3, X)
    every, fewest = default_partition(joint), min_cut_partition(joint)
    assert every.recomputed == {} and every.saved_bytes == 3 * 24 and len(every.saved) == 3
    assert fewest.saved == ("args[0]",) and fewest.saved_bytes == 24
    assert every.saved == ("args[0]", "cos f32[2,3]", "cos f32[2,3] (2)")
    assert fewest.recomputed == {"cos": 2}
    assert str(fewest) == "saved: 1 arrays, 24 bytes\n  args[0]\ncomputed again: cos x2"
    assert "saves 1 arrays, 24 bytes" in repr(fewest) and "joint graph" in repr(joint)


@pytest.mark.parametrize("name", ["perceptron", "convolved", "svd"])
def test_products_and_decompositions_are_not_computed_again(name):
    function, args = CASES[name]
    partition = min_cut_partition(joint_graph(function, *args))
    every = default_partition(joint_graph(function, *args))
    for name in ("dot_general", "correlation", "svd"):
        got, want = (
            half.forward.counts[name] + half.backward.counts[name] for half in (partition, every)
        )
        assert got == want


def test_random_numbers_are_not_drawn_again():
    partition = min_cut_partition(joint_graph(dropped, X))
    drawing = ("random_bits", "threefry2x32", "random_wrap", "random_split")
    assert not any(node.name in drawing for node in partition.backward.nodes)


def test_loops_save_what_a_cut_of_their_bodies_saves():
    joint = joint_graph(looped, X)
    whole = min_cut_partition(joint, recurse=False)
    assert min_cut_partition(joint).saved_bytes < whole.saved_bytes


def test_effects_run_once():
    def noisy(x):
        jax.debug.print("once {}", x[0, 0])
        return functx.sin(x)

    partition = min_cut_partition(joint_graph(noisy, X))
    assert partition.forward.effects and not partition.backward.effects


def test_policies_by_name():
    joint = joint_graph(cos3, X)
    kept = min_cut_partition(joint, save=["cos"])
    assert kept.saved_bytes == default_partition(joint).saved_bytes
    function, args = CASES["perceptron"]
    joint = joint_graph(function, *args)
    again = min_cut_partition(joint, recompute=["dot_general"])
    assert again.saved_bytes < min_cut_partition(joint).saved_bytes
    by_function = min_cut_partition(joint, recompute=lambda name: name == "dot_general")
    assert by_function.saved == again.saved
    cotangents, want, _ = by_vjp("perceptron")
    for got, x in zip(halves_of(again, args, cotangents)[1], want, strict=True):
        np.testing.assert_allclose(got, x, rtol=1e-4, atol=1e-6)


def test_a_set_of_ones_own_is_saved():
    partition = partition_saving(joint_graph(lambda x: functx.exp(functx.sin(x)), X), ["exp"])
    assert partition.saved == ("args[0]", "exp f32[2,3]")


def test_argnums():
    function, args = CASES["perceptron"]
    joint = joint_graph(function, *args, argnums=(1, 2))
    assert list(joint.graph.outputs)[1:] == ["gradient of args[1]", "gradient of args[2]"]
    assert joint.active == (1, 2) and joint.moves == (0,)
    tree = joint_graph(
        lambda p, x: functx.sum(p["w"] * x) + p["b"], {"w": X, "b": X[0, 0]}, X, argnums=0
    )
    assert tree.active == (0, 1)


def test_decompositions_reach_the_backward_pass():
    joint = joint_graph(
        functx.tanh, X, decompositions={"tanh": lambda x: 1 - 2 / (1 + jnp.exp(2 * x))}
    )
    assert joint.graph.counts["tanh"] == 0
    [_, gradient] = joint.graph(X, jnp.ones_like(X))
    np.testing.assert_allclose(gradient, 1 - np.tanh(X) ** 2, rtol=1e-4)


def test_errors():
    with pytest.raises(
        TypeError, match="joint_graph: `func` must have a floating or complex argument"
    ):
        joint_graph(lambda n: functx.sin(n), jnp.arange(3))
    with pytest.raises(TypeError, match="output"):
        joint_graph(lambda x: functx.argmax(x), X)
    with pytest.raises(ValueError, match="`argnums` must name arguments"):
        joint_graph(several, X, jnp.arange(3), argnums=1)
    with pytest.raises(TypeError, match="`joint` must be a joint graph, got"):
        min_cut_partition(functx.sin)
    with pytest.raises(ValueError, match="`save` names 'cosine'.*\n.*it runs cos"):
        min_cut_partition(joint_graph(cos3, X), save=["cosine"])


def test_deep_programs_are_divided():
    def deep(x):
        for _ in range(200):
            x = functx.sin(x) * functx.cos(x)
        return x

    partition = min_cut_partition(joint_graph(deep, X))
    assert partition.saved == ("args[0]",)
