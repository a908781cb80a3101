"""Taps beside PyTorch's hooks, on the same functions."""

import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import jax.numpy as jnp
import numpy as np

import functx


X = np.asarray([0.7, -0.4, 1.2])


def tapped(x, hook):
    """`x` with a hook, in either library."""
    if isinstance(x, torch.Tensor):
        x.register_hook(hook)
        return x
    return functx.taps.tap(x, on_grad=hook)


FUNCTIONS = {
    "square": lambda of, x, hook: of.sum(of.sin(tapped(x * x, hook)) * x),
    "product": lambda of, x, hook: of.sum(tapped(x * of.cos(x), hook) ** 3),
    "argument": lambda of, x, hook: of.sum(of.exp(tapped(x * 1, hook)) * x),
    "two": lambda of, x, hook: of.sum(tapped(of.sin(tapped(x * x, hook)) + x, hook) ** 2),
}
HOOKS = {
    "linear": lambda g: 3 * g,
    "square": lambda g: g * g,
    "norm": lambda g: g / (g * g).sum() ** 0.5,
    "nothing": lambda g: None,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("hook", HOOKS)
def test_first_and_second_derivatives_are_those_of_create_graph(function, hook):
    f, hook = FUNCTIONS[function], HOOKS[hook]
    x = torch.tensor(X, requires_grad=True)
    (first,) = torch.autograd.grad(f(torch, x, hook), x, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), x)
    gradient = functx.grad(lambda x: f(functx, x, hook))
    np.testing.assert_allclose(gradient(X), first.detach(), rtol=1e-10)
    got = functx.grad(lambda x: (gradient(x) ** 2).sum())(jnp.asarray(X))
    np.testing.assert_allclose(got, second, rtol=1e-10)


def test_gradients_of_intermediates_are_those_retained_after_all_hooks():
    def f(of, x, note):
        y = note(x * x, "y")
        first, second = of.chunk(of.sin(y), 2)
        return of.sum(note(second, "piece")) * of.sum(first)

    kept = {}

    def note(y, name):
        kept[name] = y
        y.retain_grad()
        y.register_hook(lambda g: 2 * g)
        return y

    f(torch, torch.tensor(X, requires_grad=True), note).backward()
    tap = lambda y, name: functx.taps.tap(y, name, on_grad=lambda g: 2 * g)
    got = functx.taps.tap_grads(lambda x: f(functx, x, tap))(X)
    for name, y in kept.items():
        np.testing.assert_allclose(got[name], y.grad, rtol=1e-12)


def test_a_group_sees_what_a_hook_of_several_tensors_sees():
    def group(of, x, note):
        a, b, c = note((2 * x, of.sin(x), x * x))
        return of.sum(a * c)

    seen = {"torch": [], "functx": []}

    def theirs(tensors):
        torch.autograd.graph.register_multi_grad_hook(tensors, seen["torch"].append)
        return tensors

    x = torch.tensor(X, requires_grad=True)
    group(torch, x, theirs).backward()
    ours = lambda xs: functx.taps.tap_group(xs, seen["functx"].append)
    functx.grad(lambda x: group(functx, x, ours))(X)
    assert len(seen["torch"]) == len(seen["functx"]) == 1
    for g, want in zip(seen["functx"][0], seen["torch"][0], strict=True):
        assert (g is None) == (want is None)
        if g is not None:
            np.testing.assert_allclose(g, want, rtol=1e-12)


OPERATORS = {
    "mul": lambda of, x: of.mul(x, of.cos(x)),
    "sin": lambda of, x: of.sin(x),
    "var_mean": lambda of, x: of.var_mean(x, 0)[1],
    "matmul": lambda of, x: of.matmul(x, x * 2),
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_hooks_around_an_operator_are_those_of_its_node(operator):
    f = OPERATORS[operator]
    double = lambda cotangents: tuple(None if g is None else 2 * g for g in cotangents)
    add = lambda gradients: tuple(None if g is None else g + 1 for g in gradients)
    theirs, ours = [], []

    x = torch.tensor(X, requires_grad=True)
    y = f(torch, x)
    y.grad_fn.register_prehook(double)

    def after(gradients, cotangents):
        theirs.append((gradients, cotangents))
        return add(gradients)

    y.grad_fn.register_hook(after)
    (y * torch.arange(1.0, 4.0, dtype=torch.float64)).sum().backward()

    def post(name, gradients, cotangents):
        ours.append((gradients, cotangents))
        return add(gradients)

    hooked = functx.taps.with_rule_hooks(
        lambda x: f(functx, x), pre=lambda name, cts: double(cts), post=post, where=operator
    )
    got = functx.grad(lambda x: (hooked(x) * jnp.arange(1.0, 4.0)).sum())(X)
    np.testing.assert_allclose(got, x.grad, rtol=1e-12)
    assert len(theirs) == len(ours) == 1
    for got, want in zip(ours[0], theirs[0], strict=True):
        got, want = ([g for g in gs if g is not None] for gs in (got, want))
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-12)
