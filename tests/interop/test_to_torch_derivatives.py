"""`to_torch`: PyTorch's derivatives of a function of arrays are those of the same in PyTorch."""

import gc

import jax
import jax.numpy as jnp
import pytest

import functx
from functx.interop import to_torch


torch = pytest.importorskip("torch", reason="pip install '.[torch]' brings torch")

func, forward_ad = torch.func, pytest.importorskip("torch.autograd.forward_ad")
gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck
# PyTorch's own, of what it imports at the first derivative in forward mode.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")


def with_functx(x):
    return functx.sin(x) * functx.cumsum(x * x, 0)


def with_torch(x):
    return torch.sin(x) * torch.cumsum(x * x, 0)


ours = to_torch(with_functx)


def make(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def lanes(x):
    return torch.outer(x, x.exp())


NESTS = {
    "grad": lambda f: func.grad(lambda x: f(x).sum()),
    "vjp": lambda f: lambda x: func.vjp(f, x)[1](make(3, seed=1)),
    "jvp": lambda f: lambda x: func.jvp(f, (x,), (make(3, seed=1),)),
    "jacrev": func.jacrev,
    "jacfwd": func.jacfwd,
    "hessian": func.hessian,
    "jacrev of jacrev": lambda f: func.jacrev(func.jacrev(f)),
    "jacfwd of jacfwd": lambda f: func.jacfwd(func.jacfwd(f)),
    "jacrev of jacfwd": lambda f: func.jacrev(func.jacfwd(f)),
    "third order": lambda f: func.jacfwd(func.jacrev(func.jacrev(f))),
    "vmap": lambda f: lambda x: func.vmap(f, in_dims=1, out_dims=1)(lanes(x)),
    "vmap of hessian": lambda f: lambda x: func.vmap(func.hessian(f))(lanes(x)),
    "vmap of vmap": lambda f: lambda x: func.vmap(func.vmap(f))(x[:, None, None] * x[:, None] * x),
    "vmap of vjp": lambda f: lambda x: func.vmap(func.vjp(f, x)[1])(torch.eye(3).double()),
    "grad of vmap": lambda f: func.grad(lambda x: func.vmap(f)(lanes(x)).pow(2).sum()),
    "vmap in chunks": lambda f: lambda x: func.vmap(f, chunk_size=2)(lanes(x)),
    "linearize": lambda f: lambda x: func.jvp(func.grad(lambda x: f(x).sum()), (x,), (x,))[1],
}


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_transforms_of_pytorch(nest):
    x = make(3)
    torch.testing.assert_close(nest(ours)(x), nest(with_torch)(x))


def test_gradcheck():
    x = make(3).requires_grad_()
    options = {"check_forward_ad": True, "check_undefined_grad": True}
    assert gradcheck(ours, (x,), check_backward_ad=True, check_batched_grad=False, **options)
    assert gradgradcheck(ours, (x,), check_fwd_over_rev=True)
    several = to_torch(lambda x, y, n: (functx.sin(x) * y["y"], functx.exp(y["y"]), n + 1))
    call = lambda x, y: several(x, {"y": y}, torch.arange(2))
    y = make(3, seed=1).requires_grad_()
    assert gradcheck(lambda *xs: call(*xs)[:2], (x, y), check_forward_ad=True)
    assert gradgradcheck(lambda *xs: call(*xs)[:2], (x, y))


def test_complex_gradients():
    z = make(3, dtype=torch.complex128).requires_grad_()
    mixed = to_torch(lambda z, x: functx.mul(functx.sin(z) * functx.conj(z), x))
    x = make(3).requires_grad_()
    assert gradcheck(mixed, (z, x), check_forward_ad=True)
    assert gradgradcheck(mixed, (z, x))
    reference = lambda z, x: torch.sin(z) * z.conj() * x
    weights = make(3, dtype=torch.complex128, seed=2)
    want = torch.autograd.grad(reference(z, x), (z, x), weights)
    torch.testing.assert_close(torch.autograd.grad(mixed(z, x), (z, x), weights), want)


def test_forward_mode_of_pytorch():
    x, t = make(3), make(3, seed=1)
    with forward_ad.dual_level():
        got = forward_ad.unpack_dual(ours(forward_ad.make_dual(x, t)))
        want = forward_ad.unpack_dual(with_torch(forward_ad.make_dual(x, t)))
        torch.testing.assert_close(got.primal, want.primal)
        torch.testing.assert_close(got.tangent, want.tangent)
        assert forward_ad.unpack_dual(ours(x)).tangent is None


def test_integers_and_bools_have_no_gradients():
    x = make(4).requires_grad_()
    f = to_torch(lambda x, i, m: (x[i], functx.argmax(x), x > 0, functx.where(m, x, 0.0)))
    indices, mask = torch.tensor([2, 0, 2]), torch.tensor([True, False, True, True])
    picked, at, positive, chosen = f(x, indices, mask)
    assert at == x.argmax() and torch.equal(positive, x > 0)
    assert [y.requires_grad for y in (picked, at, positive, chosen)] == [True, False, False, True]
    (picked.sum() + chosen.sum()).backward()
    assert x.grad.tolist() == [2, 0, 3, 1]
    _, tangents = func.jvp(
        lambda x: f(x, indices, mask)[0], (x.detach(),), (torch.ones(4).double(),)
    )
    assert tangents.tolist() == [1, 1, 1]


class Counted:
    """A sine with derivative rules that note when they are traced and when they run."""

    def __init__(self):
        self.traced, self.ran = [], []

        @jax.custom_vjp
        def sine(x, name):
            self.traced.append("value")
            return jnp.sin(x)

        def forward(x, name):
            self.traced.append("forward")
            return jnp.sin(x), (x, name)

        def backward(kept, cotangent):
            x, name = kept
            self.traced.append("backward")
            jax.debug.callback(lambda name: self.ran.append(int(name)), name)
            return jnp.cos(x) * cotangent, None

        sine.defvjp(forward, backward)
        self.sine = sine

    def take(self):
        jax.effects_barrier()
        traced, ran = self.traced[:], self.ran[:]
        self.traced.clear(), self.ran.clear()
        return traced, ran


def test_no_backward_program_where_nobody_needs_one():
    counted = Counted()
    f = to_torch(lambda x: counted.sine(x, jnp.float32(1)))
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        assert not f(x).requires_grad
    with functx.no_grad():
        assert not f(x).requires_grad
    with torch.inference_mode():
        f(x)
    f(x.detach())
    traced, ran = counted.take()
    assert set(traced) == {"value"} and not ran
    y = f(x)
    assert counted.take() == (["forward"], [])
    y.sum().backward()
    assert counted.take() == (["backward"], [1])
    f(x).sum().backward()
    func.grad(lambda x: f(x).sum())(x.detach())  # the forward pass is not made twice
    assert counted.take() == ([], [1, 1])


def test_nothing_is_computed_for_inputs_that_need_no_gradient():
    counted = Counted()
    f = to_torch(lambda a, b: counted.sine(a, jnp.float32(1)) + counted.sine(b, jnp.float32(2)))
    a, b = torch.ones(3, requires_grad=True), torch.ones(3)
    f(a, b).sum().backward()
    assert counted.take()[1] == [1] and b.grad is None
    b.requires_grad_()
    f(a, b).sum().backward()
    assert sorted(counted.take()[1]) == [1, 2]
    f(a.detach(), b).sum().backward()
    assert counted.take()[1] == [2]


def test_each_level_has_the_gradients_of_its_own_inputs():
    ours = to_torch(lambda a, b: functx.sin(a) * b * b)
    theirs = lambda a, b: torch.sin(a) * b * b
    a, b = make(3).requires_grad_(), make(3, seed=1).requires_grad_()
    for chosen in (a, b, (b, a)):
        want = torch.autograd.grad(theirs(a, b).sum(), chosen)
        torch.testing.assert_close(torch.autograd.grad(ours(a, b).sum(), chosen), want)

    swapped = lambda f: lambda x, y: f(y, x)

    def nested(f, x, y):
        inner = lambda x: func.grad(lambda y: f(x, y).sum())(y)
        return func.grad(lambda x: (inner(x) * f(x, y)).sum())(x)

    for x, y in ((a.detach(), b.detach()), (b.detach(), a.detach())):
        torch.testing.assert_close(nested(ours, x, y), nested(theirs, x, y))
        torch.testing.assert_close(nested(swapped(ours), x, y), nested(swapped(theirs), x, y))


def test_residuals_live_as_long_as_the_graph():
    f = to_torch(lambda x: functx.sum(functx.sin(functx.exp(x))))
    x = torch.ones(100, requires_grad=True)
    f(x).backward()
    gc.collect()
    before = len(jax.live_arrays())
    y = f(x)
    assert len(jax.live_arrays()) > before + 1
    y.backward(retain_graph=True)
    y.backward()
    gc.collect()
    assert len(jax.live_arrays()) <= before + 1  # `y` itself
    assert torch.allclose(x.grad, 3 * x.exp() * x.exp().cos())
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_an_input_that_was_written_to_is_refused():
    x = torch.ones(64, requires_grad=True)
    moved = x * 1
    y = to_torch(functx.sin)(moved)
    moved.mul_(3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_checkpoints_and_hooks_of_pytorch():
    checkpoint = pytest.importorskip("torch.utils.checkpoint").checkpoint
    x = make(3).requires_grad_()
    (want,) = torch.autograd.grad(with_torch(x).sum(), x)
    for reentrant in (False, True):
        x.grad = None
        checkpoint(ours, x, use_reentrant=reentrant).sum().backward()
        torch.testing.assert_close(x.grad, want)
    with torch.autograd.graph.save_on_cpu():
        y = ours(x)
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], want)


class Net(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.weight = torch.nn.Parameter(make(4, 3, dtype=torch.float32))
        self.bias = torch.nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return self.layer({"weight": self.weight, "bias": self.bias}, x).square().mean()


def test_training_is_that_of_pytorch():
    layer = lambda F: lambda p, x: F.gelu(F.linear(x, p["weight"], p["bias"]))
    x = make(5, 3, dtype=torch.float32, seed=3)
    weights = []
    for net in (Net(to_torch(layer(functx.nn.functional))), Net(layer(torch.nn.functional))):
        optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
        for _ in range(5):
            optimiser.zero_grad()
            net(x).backward()
            optimiser.step()
        weights.append([p.detach() for p in net.parameters()])
    torch.testing.assert_close(weights[0], weights[1], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(weights[0][1], torch.zeros(4))


def test_an_older_vmap_is_refused_with_a_remedy():
    x = make(3).requires_grad_()
    with pytest.raises(RuntimeError, match="is_grads_batched(.|\n)*torch.func.vmap"):
        torch.autograd.grad(ours(x), x, torch.eye(3).double(), is_grads_batched=True)
