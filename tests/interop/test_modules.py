"""Values and gradients of imported modules in evaluation, against PyTorch in double precision."""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .comparing import arrays, assert_same, inputs, torch_gradients, weighted  # noqa: E402
from .modules import CALLS, Convolutional, Looping, seeded, Tied  # noqa: E402


@pytest.mark.parametrize("name", CALLS)
def test_values_and_all_gradients(name):
    module, args, kwargs = CALLS[name]()
    module.eval()
    model = from_torch(module)
    ours, named = inputs(args), inputs(kwargs)
    before = copy.deepcopy(module)
    got = model(model.params, *ours, **named)
    assert_same(got, arrays(before(*args, **kwargs)))
    gradient = functx.jit(functx.grad(lambda p: weighted(model(p, *ours, **named))))
    want = torch_gradients(copy.deepcopy(module), args, kwargs)
    assert_same(gradient(model.params), want)
    assert model.params.keys() == want.keys()
    unchanged = dict(module.named_parameters()) | dict(module.named_buffers())
    for path, x in (*before.named_parameters(), *before.named_buffers()):
        if name not in ("buffers", "unrecorded"):
            assert torch.equal(unchanged[path], x)


@pytest.mark.parametrize("name", ["convolutional", "writing", "silent", "unrecorded"])
def test_gradients_by_arguments(name):
    module, (x,), _ = CALLS[name]()
    module.eval()
    model = from_torch(module)
    given = x.clone().requires_grad_()
    [want] = torch.autograd.grad(weighted(copy.deepcopy(module)(given)), [given])
    got = functx.grad(lambda x: weighted(model(model.params, x)))(inputs(x))
    assert_same(got, want.numpy())


def test_a_loop_has_forward_derivatives():
    module = Looping().double()
    x = torch.tensor([1.0, -2.0], dtype=torch.float64)
    model = from_torch(module)
    value, tangent = functx.jvp(lambda x: model({}, x), (inputs(x),), (jnp.ones(2),))
    assert_same(value, x.numpy() * 1.5**3)
    assert_same(tangent, np.full(2, 1.5**3))


def test_tied_weights_are_one_parameter():
    model = from_torch(seeded(Tied))
    assert list(model.params) == ["table.weight"]


def test_frozen_parameters_are_apart_and_may_be_given():
    module, args, _ = CALLS["frozen"]()
    model = from_torch(module)
    assert list(model.params) == ["head.weight", "head.bias"]
    assert list(model.frozen) == ["body.weight", "body.bias"]
    gradient = functx.grad(lambda p: weighted(model(p, *inputs(args))))
    module.requires_grad_(True)
    assert_same(gradient(model.params | model.frozen), torch_gradients(module, args, {}))


def test_arrays_share_the_memory_of_weights():
    module = torch.nn.Linear(16, 16)
    model = from_torch(module)
    if jax.default_backend() == "cpu":
        pointer = model.params["weight"].unsafe_buffer_pointer()
        assert pointer == module.weight.data_ptr()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_weights_in_halves(dtype):
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.LayerNorm(8))
    module = module.to(getattr(torch, dtype)).eval()
    x = torch.randn(3, 4).to(getattr(torch, dtype))
    model = from_torch(module)
    got = model(model.params, functx.asarray(x))
    assert got.dtype == dtype == model.params["0.weight"].dtype
    near = {"float16": 2e-3, "bfloat16": 2e-2}[dtype]
    want = module(x).detach().float().numpy()
    np.testing.assert_allclose(np.asarray(got.astype("float32")), want, near, near)


def test_parameters_of_another_dtype_are_exported_anew():
    module = seeded(Convolutional).float().eval()
    x = torch.randn(2, 3, 9, 9)
    model = from_torch(module)
    assert model(model.params, inputs(x)).dtype == "float32"
    wide = jax.tree.map(lambda p: p.astype("float64"), model.params)
    stats = {n: b.astype("float64") if b.ndim else b for n, b in model.buffers.items()}
    got, _ = model.apply(wide, stats, inputs(x.double()), train=False)
    assert_same(got, arrays(module.double()(x.double())))
    assert next(module.parameters()).dtype == torch.float64  # what the test made it


def test_32_bits_stand_for_64_while_64_bit_is_off():
    with functx.x64(False):
        module = seeded(Tied).float()
        tokens = torch.tensor([[1, 5]])
        model = from_torch(module)
        got = model(model.params, jnp.asarray(tokens.numpy()))
        assert got.dtype == "float32"
        np.testing.assert_allclose(got, module(tokens).detach(), 1e-5, 1e-5)


def test_a_module_is_exported_once_for_each_combination(monkeypatch):
    module, (x,), _ = CALLS["convolutional"]()
    model = from_torch(module)
    made = []
    export = model._source.exported
    monkeypatch.setattr(model._source, "exported", lambda *a: made.append(0) or export(*a))
    x = inputs(x)
    for _ in range(2):
        model(model.params, x)
        functx.jit(model)(model.params, x)
        functx.vmap(model, (None, 0))(model.params, x[:, None])
    assert len(made) == 2  # of the batch, and of one sample
    model.apply(model.params, model.buffers, x, key=jax.random.key(0))
    assert len(made) == 3


def test_modes_and_attributes_are_put_back():
    class Recording(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(2, 2)
            self.seen, self.last = [], None

        def forward(self, x):
            self.seen.append(x.shape)
            self.last = "called"
            return self.inner(x)

    module = Recording()
    module.inner.eval()
    model = from_torch(module)
    model(model.params, jnp.ones((1, 2), "float32"))
    assert module.training and not module.inner.training
    assert module.seen == [] and module.last is None
    assert isinstance(module.inner.weight, torch.nn.Parameter) and not module.inner.weight.is_meta


def test_fixed_arguments_choose_the_program():
    class Choosing(torch.nn.Module):
        def forward(self, x, twice=False, power=1):
            return (x + x if twice else x) ** power

    model = from_torch(Choosing())
    x = jnp.asarray([1.0, 3.0])
    assert model({}, x).tolist() == [1, 3]
    assert model({}, x, True).tolist() == [2, 6]
    assert model({}, x, twice=True, power=2).tolist() == [4, 36]
    assert model({}, x, power=jnp.asarray(2.0)).tolist() == [1, 9]


def test_what_is_made_has_the_dtype_of_the_export():
    class Making(torch.nn.Module):
        def forward(self, x):
            made = torch.zeros(3), torch.full((2,), 1e300), torch.arange(0.0, 1.0, 0.3)
            return *made, torch.sqrt(torch.arange(3)), torch.arange(3) / 3, x * 2

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        model = from_torch(Making())
        made = model({}, jnp.ones(2, "float32"))
        want = Making()(torch.ones(2, dtype=torch.float32))
    finally:
        torch.set_default_dtype(before)
    again = model({}, jnp.ones(2, "float32"))
    for got in (made, again):
        assert_same(got, arrays(want))
        assert [x.dtype.name for x in got] == ["float64"] * 5 + ["float32"]
