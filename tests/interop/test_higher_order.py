"""PyTorch's loops that are programs of programs, and regions of autocast, in imported modules."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .comparing import arrays, assert_same, inputs, torch_gradients, weighted  # noqa: E402
from .modules import tensor  # noqa: E402


class Mapping(torch.nn.Module):
    """A program of each row, which takes what all rows share."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(tensor(3))

    def forward(self, x):
        from torch._higher_order_ops import map

        return map(lambda row, weight: ((row * weight).sin(), row.sum()), x, self.weight)


class MappingByHand(Mapping):
    def forward(self, x):
        return torch.stack([(row * self.weight).sin() for row in x]), x.sum(1)


class Composing(torch.nn.Module):
    """All first compositions of affine maps, which do not commute."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(tensor(3))

    def forward(self, x):
        # PyTorch's function of that name takes no tensors on CPUs, its operator does.
        after = lambda a, b, c, d: [a * c, b * c + d]
        scan = torch.ops.higher_order.associative_scan
        return tuple(scan(after, [x.cos(), x * self.weight], ()))


class ComposingByHand(Composing):
    def forward(self, x):
        factors, summands = [x[0].cos()], [x[0] * self.weight]
        for row in x[1:]:
            factors.append(factors[-1] * row.cos())
            summands.append(summands[-1] * row.cos() + row * self.weight)
        return torch.stack(factors), torch.stack(summands)


PAIRS = {"map": (Mapping, MappingByHand), "associative scan": (Composing, ComposingByHand)}


@pytest.mark.parametrize("name", PAIRS)
def test_loops_are_those_by_hand(name):
    module, by_hand = [make() for make in PAIRS[name]]
    x = tensor(5, 3)
    model = from_torch(module)
    assert_same(model(model.params, inputs(x)), arrays(by_hand(x)))
    gradient = functx.grad(lambda p: weighted(model(p, inputs(x))))(model.params)
    assert_same(gradient, torch_gradients(by_hand, (x,), {}))
    steps = next(iter(model._forwards.values())).program.steps
    assert any(step.target.startswith("higher_order.") for step in steps)


class InHalves(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2, bias=False)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = self.layer(x)
            with torch.autocast("cpu", enabled=False):
                whole = self.layer(x)
        return product, whole


def test_regions_of_autocast_cast():
    module = InHalves()
    with torch.no_grad():
        module.layer.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 3.0]]))
    x = torch.tensor([[257.0, 1.0]])  # bfloat16 has no 257
    model = from_torch(module)
    product, whole = model(model.params, inputs(x))
    assert product.dtype == "bfloat16" and product.astype("float32").tolist() == [[256, 3]]
    assert whole.dtype == "float32" and whole.tolist() == [[257, 3]]
    loss = lambda library, product, whole: library.add(product.sum(), whole.sum(), alpha=2)
    slope = functx.grad(lambda p: loss(functx, *model(p, inputs(x))))(model.params)
    loss(torch, *module(x)).backward()
    np.testing.assert_array_equal(slope["layer.weight"], module.layer.weight.grad)
    assert jnp.any(slope["layer.weight"] == 256 + 2 * 257)
