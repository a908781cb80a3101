"""`to_torch`: regions, settings, threads and random numbers are those of the call."""

import threading

import jax
import jax.numpy as jnp
import pytest

import functx
from functx._core.context.regions_in_force import RegionsInForce
from functx._core.context.user_contexts import UserContext
from functx.interop import to_torch


torch = pytest.importorskip("torch", reason="pip install '.[torch]' brings torch")


def in_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def second(y, x):
    """Derivatives of first and second order; the second makes the forward pass anew."""
    (first,) = torch.autograd.grad(y.float().square().sum(), x, create_graph=True)
    (then,) = torch.autograd.grad(first.square().sum(), x)
    return first.detach(), then


def test_a_backward_pass_elsewhere_is_in_the_regions_of_the_call():
    x = torch.randn(8, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    product = to_torch(lambda x: functx.mm(functx.mm(x, x), x))
    plain = second(product(x), x)
    with functx.amp.autocast(jnp.bfloat16):
        y = product(x)
        want = second(y, x)
    assert y.dtype == torch.bfloat16
    assert not torch.equal(plain[1], want[1])
    with functx.amp.autocast(jnp.bfloat16):
        here, there = product(x), product(x)
    for got in (second(here, x), in_thread(lambda: second(there, x))):
        assert torch.equal(got[0], want[0]) and torch.equal(got[1], want[1])


def test_64_bit_is_that_of_the_call():
    with functx.x64(False):
        with functx.x64():
            x = torch.full((3,), 0.1, dtype=torch.float64, requires_grad=True)
            y = to_torch(lambda x: functx.sin(x) * x)(x)
        first, then = in_thread(lambda: second(y.double(), x))
    assert first.dtype == torch.float64
    z = x.sin() * x
    for got, want in zip((first, then), second(z, x), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


def test_all_regions_are_restored_in_a_thread():
    with functx.default_dtype(functx.float64), jax.numpy_dtype_promotion("standard"):
        here = RegionsInForce()
        want = [context.value for context in UserContext.made]

    def look():
        outside = jax.config.jax_numpy_dtype_promotion
        with here.restored():
            inside = [context.value for context in UserContext.made]
            return outside, inside, jax.config.jax_numpy_dtype_promotion, functx.get_default_dtype()

    outside, inside, promotion, dtype = in_thread(look)
    assert (outside, promotion, dtype) == ("strict", "standard", "float64")
    assert inside == want
    assert functx.get_default_dtype() == "float32"


def test_each_call_draws_anew_and_its_derivatives_draw_the_same():
    x = torch.ones(3, requires_grad=True)
    noisy = to_torch(lambda x: x * x * functx.rand(3))
    functx.manual_seed(0)
    one, two = noisy(x), noisy(x)
    functx.manual_seed(0)
    want = [torch.from_dlpack(functx.rand(3)) for _ in range(2)]
    for y, draw in zip((one, two), want, strict=True):
        assert torch.equal(y, draw)
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (then,) = torch.autograd.grad(first.sum(), x)
        assert torch.equal(first, 2 * draw) and torch.equal(then, 2 * draw)


def test_scopes_and_generators():
    x = torch.ones(3, requires_grad=True)
    noisy = to_torch(lambda x: x * functx.rand(3))
    with functx.random.scope(jax.random.key(7)):
        want = torch.from_dlpack(functx.rand(3))
    with functx.random.scope(jax.random.key(7)):
        y = noisy(x)
    assert torch.equal(y, want)
    assert torch.equal(in_thread(lambda: torch.autograd.grad(y.sum(), x)[0]), want)

    drawing = to_torch(lambda x, g: x * x * functx.rand(3, generator=g))
    generator = functx.Generator().manual_seed(3)
    one, two = drawing(x, generator), drawing(x, generator)
    assert generator.get_offset() == 2 and not torch.equal(one, two)
    (first,) = torch.autograd.grad(one.sum(), x, create_graph=True)
    (then,) = torch.autograd.grad(first.sum(), x)  # which makes the forward pass anew
    assert torch.equal(first, 2 * one) and torch.equal(then, 2 * one)


def test_lanes_draw_as_vmap_says():
    noisy = to_torch(lambda x: x * functx.rand(()))
    x, lanes = torch.ones(4), {}
    for randomness in ("same", "different"):
        functx.manual_seed(0)
        lanes[randomness] = torch.func.vmap(noisy, randomness=randomness)(x)
        functx.manual_seed(0)
        gradient = torch.func.vmap(torch.func.grad(noisy), randomness=randomness)(x)
        assert torch.equal(gradient, lanes[randomness])
    assert len(set(lanes["same"].tolist())) == 1 and len(set(lanes["different"].tolist())) == 4
    with pytest.raises(RuntimeError, match='vmap.randomness="error".'):
        torch.func.vmap(noisy)(x)


@pytest.mark.filterwarnings("default")  # of PyTorch's compiler
def test_the_compiler_of_pytorch_leaves_it_as_it_is():
    f = to_torch(lambda x: functx.sin(x))
    program = torch.compile(lambda x: f(x * 2) + 1, backend="eager")
    x = torch.ones(3, requires_grad=True)
    y = program(x)
    y.sum().backward()
    assert torch.allclose(y, (x * 2).sin() + 1) and torch.allclose(x.grad, 2 * (x * 2).cos())
    whole = torch.compile(lambda x: f(x * 2) + 1, backend="eager", fullgraph=True)
    with pytest.raises(Exception, match="disable"):
        whole(x)
