"""Imported models under transforms and compilers, against torch.func and a program by hand."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .comparing import arrays, assert_same, inputs  # noqa: E402
from .modules import encoder, seeded, tensor  # noqa: E402


def mlp():
    torch.manual_seed(0)
    layers = torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)
    return torch.nn.Sequential(*layers).double()


def losses(module):
    """A loss of parameters and one sample in functx, and the same in torch."""
    model = from_torch(module)
    ours = lambda p, x: functx.sum(functx.square(model(p, x)))
    named = dict(module.named_parameters())
    call = torch.func.functional_call
    theirs = lambda p, x: (call(module, p, (x,)) ** 2).sum()
    return model, ours, {n: p.detach() for n, p in named.items()}, theirs


@pytest.mark.parametrize("make", [mlp, lambda: seeded(encoder).eval()], ids=["mlp", "encoder"])
def test_gradients_of_each_sample(make):
    module = make()
    model, ours, params, theirs = losses(module)
    x = tensor(4, 3) if len(params) < 5 else tensor(4, 5, 8)
    got = functx.vmap(functx.grad(ours), (None, 0))(model.params, inputs(x))
    one = [torch.func.grad(theirs)(params, row) for row in x]
    want = {name: np.stack([row[name].numpy() for row in one]) for name in params}
    assert_same(got, want)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.func.jvp about itself
def test_forward_mode_and_products_with_the_hessian():
    model, ours, params, theirs = losses(mlp())
    x, direction = tensor(4, 3), {n: torch.cos(p * 7) for n, p in params.items()}
    f, g = lambda p: ours(p, inputs(x)), lambda p: theirs(p, x)
    along = inputs(direction)
    assert_same(
        functx.jvp(f, (model.params,), (along,)), arrays(torch.func.jvp(g, (params,), (direction,)))
    )
    want = torch.func.jvp(torch.func.grad(g), (params,), (direction,))[1]
    assert_same(functx.jvp(functx.grad(f), (model.params,), (along,))[1], arrays(want))
    _, pullback = functx.vjp(functx.grad(f), model.params)
    assert_same(pullback(along)[0], arrays(want))


def test_compiled_programs_are_those_written_by_hand():
    """A call costs what the same program costs that is written in functx."""
    module = mlp()
    model = from_torch(module)
    F = functx.nn.functional

    def by_hand(p, x):
        x = functx.tanh(F.linear(x, p["0.weight"], p["0.bias"]))
        return F.linear(x, p["2.weight"], p["2.bias"])

    x = inputs(tensor(4, 3))

    def operations(f):
        loss = lambda p, x: functx.sum(f(p, x))
        text = functx.jit(functx.grad(loss)).lower(model.params, x).compile().as_text()
        return sorted(re.findall(r"= \S+ ([\w-]+)\(", text))

    assert operations(model) == operations(by_hand)
    ours, theirs = [str(jax.make_jaxpr(f)(model.params, x)) for f in (model, by_hand)]
    assert ours == theirs


def test_checkpoint_and_graphs():
    module = seeded(encoder).eval()
    model, ours, params, theirs = losses(module)
    x = inputs(tensor(2, 5, 8))
    plain = functx.grad(ours)(model.params, x)
    saving = functx.grad(functx.checkpoint(ours, budget=0.6))(model.params, x)
    assert_same(saving, {n: np.asarray(g) for n, g in plain.items()}, tolerance=1e-11)
    graph = functx.aot.trace(ours, model.params, x)
    called = [node.name for node in graph.nodes]
    assert any("scaled_dot_product_attention" in name for name in called)
    assert any("layer_norm" in name for name in called)


def test_inside_of_scan():
    model = from_torch(torch.nn.Linear(3, 3).double())
    x = inputs(tensor(3))

    def run(p):
        return jax.lax.scan(lambda c, _: (functx.tanh(model(p, c)), c), x, None, length=3)[0]

    state = x
    for _ in range(3):
        state = functx.tanh(model(model.params, state))
    assert_same(functx.jit(run)(model.params), np.asarray(state))
    assert all(
        jnp.any(g != 0) for g in functx.grad(lambda p: functx.sum(run(p)))(model.params).values()
    )
