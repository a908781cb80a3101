"""Imported modules in training: batch statistics, dropout by keys, buffers that are written."""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .comparing import arrays, assert_same, inputs, torch_gradients, weighted  # noqa: E402
from .modules import CALLS, Convolutional, seeded  # noqa: E402


def without_dropout(module):
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    return module


def test_batch_statistics_and_gradients():
    module, (x,), _ = CALLS["convolutional"]()
    without_dropout(module)
    model = from_torch(module)
    before = {name: np.array(b) for name, b in model.buffers.items()}

    def loss(params):
        out, buffers = model.apply(params, model.buffers, inputs(x))
        return weighted(out), (out, buffers)

    gradient, (out, buffers) = functx.jit(functx.grad(loss, has_aux=True))(model.params)
    assert_same({name: np.asarray(b) for name, b in model.buffers.items()}, before)
    twin = copy.deepcopy(module).train()
    assert_same(out, arrays(twin(x)))
    assert_same(buffers, {name: arrays(b) for name, b in twin.named_buffers()})
    assert buffers["norm.num_batches_tracked"] == 1
    assert_same(gradient, torch_gradients(copy.deepcopy(module).train(), (x,), {}))
    again, later = model.apply(model.params, buffers, inputs(x))
    twin(x)
    assert_same(later, {name: arrays(b) for name, b in twin.named_buffers()})
    assert_same(again, out)


def test_statistics_that_are_given_are_used_in_evaluation():
    module, (x,), _ = CALLS["convolutional"]()
    model = from_torch(module)
    other = {**model.buffers, "norm.running_mean": model.buffers["norm.running_mean"] + 1}
    got, same = model.apply(model.params, other, inputs(x), train=False)
    module.eval().norm.running_mean += 1
    assert_same(got, arrays(module(x)))
    assert_same(same, other)


@pytest.mark.parametrize("momentum, tracked", [(0.3, True), (0.1, False)])
def test_kinds_of_batch_norm(momentum, tracked):
    module = torch.nn.BatchNorm1d(3, momentum=momentum, track_running_stats=tracked).double()
    x = torch.randn(5, 3, dtype=torch.float64)
    model = from_torch(module)
    out, buffers = model.apply(model.params, model.buffers, inputs(x))
    twin = copy.deepcopy(module)
    assert_same(out, arrays(twin(x)))
    assert_same(buffers, {name: arrays(b) for name, b in twin.named_buffers()})


class Dropping(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.25)
        self.planes = torch.nn.Dropout2d(0.5)

    def forward(self, x):
        attended = torch.nn.functional.scaled_dot_product_attention(
            x, x, x, dropout_p=0.5 if self.training else 0.0
        )
        return self.drop(x), self.planes(x), attended


def test_dropout_draws_from_the_key():
    model = from_torch(Dropping())
    x = jnp.ones((4, 8, 16, 16), "float32")
    run = lambda key: model.apply({}, {}, x, key=key)[0]
    (some, planes, attended), again = run(jax.random.key(0)), run(jax.random.key(0))
    assert_same((some, planes, attended), again)
    other = run(jax.random.key(1))
    assert all(not np.array_equal(a, b) for a, b in zip(again, other, strict=True))
    kept = np.asarray(some) != 0
    assert abs(kept.mean() - 0.75) < 0.02 and np.allclose(np.asarray(some)[kept], 1 / 0.75)
    assert set(np.unique(np.asarray(planes).reshape(32, -1).mean(1))) <= {0.0, 2.0}
    assert 0 < (np.asarray(planes) == 0).mean() < 1
    assert np.allclose(model({}, x)[0], 1)
    # The ambient generator, and its agreement with a compiled call.
    with functx.random.scope(jax.random.key(0)):
        assert_same(model.apply({}, {}, x)[0], again)
    assert_same(functx.jit(run)(jax.random.key(0)), again, tolerance=1e-6)


def test_lanes_draw_apart():
    model = from_torch(Dropping())
    x = jnp.ones((3, 2, 4, 8, 8), "float32")
    one = lambda x: model.apply({}, {}, x)[0][0]
    with functx.random.scope(jax.random.key(0)):
        lanes = functx.vmap(one, randomness="different")(x)
    assert not np.array_equal(lanes[0], lanes[1])
    with pytest.raises(RuntimeError, match="randomness"):
        functx.vmap(one)(x)


def test_draws_of_evaluation_take_the_ambient_generator():
    class Noisy(torch.nn.Module):
        def forward(self, x):
            noise = torch.randn_like(x) + torch.rand(x.shape, dtype=x.dtype)
            return x + noise, torch.bernoulli(torch.full_like(x, 0.25)), torch.randint(3, (500,))

    model = from_torch(Noisy())
    x = jnp.zeros((500,))
    with functx.random.scope(jax.random.key(3)):
        out, coins, whole = model({}, x)
    assert abs(float(out.mean()) - 0.5) < 0.2 and abs(float(coins.mean()) - 0.25) < 0.08
    assert set(np.unique(whole)) == {0, 1, 2}
    same, _ = model.apply({}, {}, x, train=False, key=jax.random.key(3))
    assert_same(same[0], out)


def test_ensembles_of_parameters_and_buffers():
    module = without_dropout(seeded(Convolutional))
    others = [without_dropout(seeded(Convolutional)) for _ in range(2)]
    with torch.no_grad():
        others[1].conv.weight *= 2
    model = from_torch(module)
    trees = [from_torch(other) for other in others]
    params, buffers = functx.stack_trees([(t.params, t.buffers) for t in trees])
    x = torch.randn(2, 3, 9, 9, dtype=torch.float64)
    step = functx.vmap(lambda p, b: model.apply(p, b, inputs(x)))
    out, new = step(params, buffers)
    for at, other in enumerate(others):
        assert_same(out[at], arrays(other(x)))
        want = {name: arrays(b) for name, b in other.named_buffers()}
        assert_same({name: b[at] for name, b in new.items()}, want)


class Positive(torch.nn.Module):
    def forward(self, shape):
        waiting = torch.distributions.Gamma(shape, 1.0)
        shares = torch.distributions.Dirichlet(shape)
        return waiting.rsample(), shares.rsample()


def test_gamma_and_dirichlet_numbers_are_smooth_functions_of_their_shapes():
    model, key = from_torch(Positive()), jax.random.key(0)
    draws = lambda shape: model.apply({}, {}, shape, key=key)[0]
    shape = jnp.linspace(0.5, 5, 3000).astype("float64")
    numbers, shares = draws(shape)
    assert abs(numbers.mean() / shape.mean() - 1) < 0.05 and numbers.dtype == "float64"
    assert abs(shares.sum() - 1) < 1e-12
    slopes = functx.grad(lambda shape: draws(shape)[0].sum())(shape)
    wanted = torch._standard_gamma_grad(*(torch.tensor(np.asarray(x)) for x in (shape, numbers)))
    np.testing.assert_allclose(slopes, wanted, rtol=2e-3)  # PyTorch's is an approximation
    with pytest.raises(RuntimeError, match="from_torch: a draw from the ambient generator"):
        jax.jit(lambda shape: model({}, shape))(shape)
