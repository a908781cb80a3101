"""Imported models whose equal layers run as loops."""

import copy
import functools as ft

import jax
import numpy as np
import pytest

import functx
from functx.aot import repeated_layers
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .comparing import arrays, assert_same, inputs, torch_gradients, weighted  # noqa: E402
from .modules import seeded  # noqa: E402


def encoder(dropout=0.0, depth=4):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, dropout=dropout, batch_first=True)
    return torch.nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


def stages():
    first, second = ([Block(c) for _ in range(3)] for c in (2, 4))
    return torch.nn.Sequential(*first, torch.nn.Conv2d(2, 4, 3, stride=2), *second)


MODELS = {
    "transformer": (encoder, (2, 5, 8), [4]),
    "residual": (stages, (2, 2, 7, 7), [3, 3]),
}


def made(name):
    make, shape, counts = MODELS[name]
    module = seeded(make).double()
    for p in module.parameters():  # layers of an encoder begin as copies of one
        p.data = torch.randn_like(p) / 3
    return module, torch.randn(shape, dtype=torch.float64), counts


@pytest.mark.parametrize("name", MODELS)
def test_evaluation_and_gradients_are_those_of_the_module(name):
    module, x, counts = made(name)
    module.eval()
    model = from_torch(module, roll=True)
    found = repeated_layers(from_torch(module), model.params, inputs(x))
    assert [each.layers for each in found] == counts
    program = jax.make_jaxpr(model)(model.params, inputs(x))
    assert str(program).count(" scan[") == len(counts)
    out, gradient = functx.jit(
        lambda p, x: (model(p, x), functx.grad(lambda p: weighted(model(p, x)))(p))
    )(model.params, inputs(x))
    assert_same(out, arrays(module(x)))
    assert gradient.keys() == dict(module.named_parameters()).keys()
    assert_same(gradient, torch_gradients(copy.deepcopy(module), (x,), {}))


def test_training_returns_the_buffers_of_all_layers():
    module, x, _ = made("residual")
    model = from_torch(module, roll=True)
    step = functx.jit(lambda p, b, x: model.apply(p, b, x))
    out, buffers = step(model.params, model.buffers, inputs(x))
    twin = copy.deepcopy(module).train()
    assert_same(out, arrays(twin(x)))
    assert_same(buffers, {name: arrays(b) for name, b in twin.named_buffers()})


def test_dropout_draws_the_numbers_of_the_model_as_it_is():
    module = seeded(ft.partial(encoder, dropout=0.4)).double()
    x, key = np.random.default_rng(0).normal(size=(2, 5, 8)), jax.random.key(5)

    def trained(model, params, x):
        return functx.jit(lambda p, x, k: model.apply(p, model.buffers, x, key=k)[0])(
            params, x, key
        )

    plain, rolled = from_torch(module), from_torch(module, roll=True)
    assert_same(trained(rolled, plain.params, x), trained(plain, plain.params, x), tolerance=1e-9)
    with functx.random.scope(key):
        ambient, _ = rolled.apply(plain.params, plain.buffers, x)
    assert_same(ambient, trained(plain, plain.params, x), tolerance=1e-9)


def test_exported_programs_keep_their_dynamic_sizes():
    module, x, _ = made("transformer")
    size = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(module.eval(), (x,), dynamic_shapes=({0: size},))
    model = from_torch(program, roll=True)
    more = torch.cat([x, x + 1, x - 1])
    assert_same(functx.jit(model)(model.params, inputs(more)), arrays(module(more)))


def test_per_sample_gradients():
    module, x, _ = made("transformer")
    grads = lambda model: functx.jit(
        functx.vmap(functx.grad(lambda p, x: weighted(model(p, x[None]))), in_dims=(None, 0))
    )
    plain, rolled = (from_torch(module.eval(), roll=roll) for roll in (False, True))
    got, want = (grads(model)(plain.params, inputs(x)) for model in (rolled, plain))
    assert_same(got, want, tolerance=1e-9)


def test_a_wrong_option_and_lacking_parameters_are_refused():
    with pytest.raises(TypeError, match="from_torch: `roll` must be a bool, got 'yes'"):
        from_torch(torch.nn.Linear(2, 2), roll="yes")
    model = from_torch(encoder().double().eval(), roll=True)
    with pytest.raises(ValueError, match="from_torch: `params` lacks 'layers.0"):
        model({}, np.zeros((2, 5, 8)))
