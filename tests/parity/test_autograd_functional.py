"""`functx.autograd` beside PyTorch's, on the same functions."""

import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import jax.numpy as jnp
import numpy as np

import functx
from functx.autograd import forward_ad, functional


# PyTorch's forward mode loads decompositions in a way that it has itself deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")

X = np.asarray([0.7, -0.4, 1.2])
Y = np.asarray([[1.5, 0.3, 0.2], [-0.6, 0.9, -1.1]])


def several(of):
    return lambda x, y: (of.sin(x) * y, of.sum(x * y))


def scalar(of):
    return lambda x, y: of.sum(of.exp(x) * y**2)


def single(of):
    return lambda x: of.sum(of.cos(x) ** 3)


def both(call):
    """What PyTorch and functx make of the same call, as lists of NumPy arrays."""
    theirs = call(torch, torch.autograd.functional, torch.tensor)
    ours = call(functx, functional, jnp.asarray)
    return flat(theirs), flat(ours)


def flat(tree):
    if isinstance(tree, (tuple, list)):
        return [leaf for x in tree for leaf in flat(x)]
    return [np.asarray(tree.detach() if isinstance(tree, torch.Tensor) else tree)]


CALLS = {
    "vjp": lambda of, f, a: f.vjp(several(of), (a(X), a(Y)), (a(2 * Y), a(0.5))),
    "vjp alone": lambda of, f, a: f.vjp(single(of), a(X)),
    "jvp": lambda of, f, a: f.jvp(several(of), (a(X), a(Y)), (a(2 * X), a(3 * Y))),
    "jvp alone": lambda of, f, a: f.jvp(single(of), a(X[:1])),
    "jacobian": lambda of, f, a: f.jacobian(several(of), (a(X), a(Y))),
    "jacobian alone": lambda of, f, a: f.jacobian(single(of), a(X)),
    "jacobian vectorized": lambda of, f, a: f.jacobian(several(of), (a(X), a(Y)), vectorize=True),
    "jacobian forward": lambda of, f, a: f.jacobian(
        several(of), (a(X), a(Y)), vectorize=True, strategy="forward-mode"
    ),
    "hessian": lambda of, f, a: f.hessian(scalar(of), (a(X), a(Y))),
    "hessian alone": lambda of, f, a: f.hessian(single(of), a(X)),
    "hessian forward": lambda of, f, a: f.hessian(
        scalar(of), (a(X), a(Y)), vectorize=True, outer_jacobian_strategy="forward-mode"
    ),
    "hvp": lambda of, f, a: f.hvp(scalar(of), (a(X), a(Y)), (a(2 * X), a(3 * Y))),
    "vhp": lambda of, f, a: f.vhp(scalar(of), (a(X), a(Y)), (a(2 * X), a(3 * Y))),
    "hvp alone": lambda of, f, a: f.hvp(single(of), a(X[:1])),
}


@pytest.mark.parametrize("call", CALLS)
def test_functional_api_is_pytorchs(call):
    theirs, ours = both(CALLS[call])
    assert [x.shape for x in ours] == [x.shape for x in theirs]
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


STRICT = {
    "vjp": lambda of, f, a: f.vjp(lambda x, y: of.sum(x), (a(X), a(Y)), strict=True),
    "jvp": lambda of, f, a: f.jvp(lambda x, y: of.sum(x), (a(X), a(Y)), (a(X), a(Y)), strict=True),
    "jacobian": lambda of, f, a: f.jacobian(lambda x, y: (x, y), (a(X), a(Y)), strict=True),
    "hessian": lambda of, f, a: f.hessian(lambda x: of.sum(x), a(X), strict=True),
    "hvp": lambda of, f, a: f.hvp(lambda x: of.sum(x), a(X), a(X), strict=True),
    "vhp": lambda of, f, a: f.vhp(
        lambda x, y: of.sum(x**2), (a(X), a(Y)), (a(X), a(Y)), strict=True
    ),
    "graph": lambda of, f, a: f.jacobian(lambda x: 2 * x, a(X), strict=True, create_graph=True),
}


@pytest.mark.parametrize("call", STRICT)
def test_strict_refuses_what_pytorch_refuses(call):
    for run in (
        lambda: STRICT[call](torch, torch.autograd.functional, torch.tensor),
        lambda: STRICT[call](functx, functional, jnp.asarray),
    ):
        with pytest.raises(RuntimeError, match="strict"):
            run()


def test_duals_are_pytorchs():
    def computed(of, ad, array):
        with ad.dual_level():
            x = ad.make_dual(array(X), array(2 * X))
            y = of.sin(x) * x + array(X)
            return [*ad.unpack_dual(y), ad.unpack_dual(of.sum(y)).tangent]

    theirs = computed(torch, torch.autograd.forward_ad, torch.tensor)
    ours = computed(functx, forward_ad, jnp.asarray)
    for got, want in zip(flat(ours), flat(theirs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_grad_modes_are_functorchs():
    def region(of):
        def f(x):
            with of.no_grad():
                scale = of.exp(x)
            return of.sum(scale * of.sin(x))

        return f

    def around(of, grad):
        def f(x):
            with of.no_grad():
                slope = grad(region(of))(x)
            return of.sum(slope * x)

        return f

    for make in (region, lambda of: around(of, torch.func.grad if of is torch else functx.grad)):
        got = functx.grad(make(functx))(jnp.asarray(X))
        want = torch.func.grad(make(torch))(torch.tensor(X))
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_forward_mode_departs_from_pytorch_in_a_no_grad_region():
    """There it ignores the mode, so that two ways to one Hessian differ."""

    def f(of):
        def cubed(x):
            with of.no_grad():
                y = of.square(x)
            return x * y

        return cubed

    x = torch.tensor(2.0, dtype=torch.float64)
    assert torch.func.jacfwd(f(torch))(x) == 12 and torch.func.jacrev(f(torch))(x) == 4
    assert functx.jacfwd(f(functx))(jnp.asarray(2.0)) == 4
    assert functx.jacrev(f(functx))(jnp.asarray(2.0)) == 4
