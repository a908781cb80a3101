"""Modules of Equinox and Flax, beyond what their pages show."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx

from .libraries import library


eqx = library("equinox")
errors = library("flax.errors")
nnx = library("flax.nnx")
pytestmark = pytest.mark.filterwarnings("default")
F = functx.nn.functional
X = jnp.linspace(-1, 1, 12, dtype="float32").reshape(6, 2)


def make_mlp(**options):
    return eqx.nn.MLP(2, "scalar", width_size=3, depth=1, key=jax.random.key(0), **options)


def squares(model, x=X):
    return functx.mean(jax.vmap(model)(x) ** 2)


def test_a_module_with_functions_among_its_leaves_is_refused_with_the_remedy():
    model = make_mlp(activation=F.gelu)
    with pytest.raises(TypeError) as error:
        functx.grad(squares)(model)
    assert "grad: `args[0].activation` must be an array, got" in str(error.value)
    assert "eqx.partition(module, eqx.is_inexact_array)" in str(error.value)
    parameters, rest = eqx.partition(model, eqx.is_inexact_array)
    ours = functx.grad(lambda p: squares(eqx.combine(p, rest)))(parameters)
    theirs = eqx.filter_grad(squares)(model)
    np.testing.assert_allclose(ours.layers[0].weight, theirs.layers[0].weight, rtol=1e-6)


def test_filtered_transforms_take_functions_of_functx():
    model = make_mlp(activation=F.silu)
    value, gradient = eqx.filter_jit(eqx.filter_value_and_grad(squares))(model)
    assert value.shape == () and gradient.layers[0].weight.shape == (3, 2)
    models = eqx.filter_vmap(lambda key: eqx.nn.Linear(2, 3, key=key))(
        jax.random.split(jax.random.key(0), 4)
    )
    apply = functx.vmap(lambda linear, x: F.relu(linear(x)), in_dims=(0, None))
    assert apply(models, X[0]).shape == (4, 3)


def test_functional_call_by_the_names_of_pytorch():
    model = make_mlp()
    zero = {"layers.0.weight": jnp.zeros((3, 2)), "layers.1.bias": jnp.asarray(2.0)}
    got = functx.functional_call(model, zero, X[0])
    other = eqx.tree_at(
        lambda m: (m.layers[0].weight, m.layers[1].bias), model, tuple(zero.values())
    )
    np.testing.assert_allclose(got, other(X[0]), rtol=1e-6)


def test_batch_norm_needs_all_lanes():
    model, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(
        2, axis_name="batch", mode="batch", inference=False
    )
    run = lambda **options: functx.vmap(
        model, in_dims=(0, None), out_dims=(0, None), axis_name="batch", **options
    )(X, state)
    np.testing.assert_allclose(run()[0], (X - X.mean(0)) / X.std(0), atol=1e-3)
    with pytest.raises(ValueError, match="chunk"):
        run(chunk_size=2)


def test_dropout_draws_for_each_lane():
    @functx.jit
    def dropped(x):
        return functx.vmap(lambda x: F.dropout(x, 0.5), randomness="different")(x)

    functx.manual_seed(0)
    rows = dropped(jnp.ones((8, 32)))
    assert len({tuple(row) for row in np.asarray(rows)}) == 8


def test_what_an_nnx_module_writes_comes_back_beside_the_value():
    class Net(nnx.Module):
        def __init__(self, rngs):
            self.norm = nnx.BatchNorm(2, use_running_average=False, rngs=rngs)
            self.out = nnx.Linear(2, 1, rngs=rngs)

        def __call__(self, x):
            return self.out(self.norm(x))

    net = Net(nnx.Rngs(0))
    graph, parameters, rest = nnx.split(net, nnx.Param, ...)

    def loss(parameters):
        model = nnx.merge(graph, parameters, rest, copy=True)
        return functx.mean(model(X + 1) ** 2), nnx.state(model, nnx.BatchStat)

    gradient, written = functx.grad(loss, has_aux=True)(parameters)
    want, wrote = jax.grad(loss, has_aux=True)(parameters)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), gradient, want)
    jax.tree.map(np.testing.assert_array_equal, written, wrote)
    assert not jnp.allclose(written["norm"]["mean"][...], 0)
    nnx.update(net, written)
    with pytest.raises(errors.TraceContextError, match="Cannot mutate BatchStat"):
        functx.grad(lambda p: functx.mean(nnx.merge(graph, p, rest)(X)))(parameters)


def test_an_ensemble_of_nnx_modules():
    make = lambda seed: nnx.split(nnx.Linear(2, 1, rngs=nnx.Rngs(seed)))
    graph = make(0)[0]
    stacked = functx.stack_trees([make(seed)[1] for seed in range(3)])
    run = functx.vmap(lambda state, x: nnx.merge(graph, state)(x), in_dims=(0, None))
    assert run(stacked, X).shape == (3, 6, 1)
