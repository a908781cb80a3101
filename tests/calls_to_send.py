"""A call of everything public that takes functions, of functions that cannot be imported."""

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import functx


Call = tuple[Callable[..., Any], tuple[Any, ...]]


def calls() -> dict[str, Call]:
    """By the public name, and how it is used."""
    x, two = jnp.asarray([0.5, 1.5]), jnp.asarray(2.0)
    forward, graph = functx.autograd.forward_ad, functx.autograd.graph

    def loss(x):
        return functx.sum(functx.sin(functx.taps.tap(x, "x")) * x)

    def pair(x):
        return functx.sin(x) * x

    def cubed(x):
        return Cube.apply(x).sum()

    class Cube(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @functx.autograd.once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * grad_output

    def newton(f, x):
        return jax.lax.fori_loop(0, 20, lambda _, x: x - f(x) / jax.grad(f)(x), x)

    def repeat(f, x):
        return jax.lax.fori_loop(0, 50, lambda _, x: f(x), x)

    def hooked(x):
        (x,) = functx.taps.tap_group((x,), lambda cotangents: [2 * g for g in cotangents])
        return functx.taps.tap(x, on_grad=lambda g: g + 1).sum()

    def halved(x):
        with functx.residuals.residual_hooks(lambda x: x / 2, lambda x: 2 * x):
            return functx.grad(loss)(x)

    def offloaded(x):
        with functx.residuals.offload_residuals(), graph.save_on_cpu():
            return functx.grad(loss)(x)

    def descend(w, gradient, state):
        return w - gradient, state

    def doubled(name, cotangents):
        return tuple(2 * g for g in cotangents)

    def squares(w, x):
        return ((w * x) ** 2).sum()

    by_policy = functx.checkpoint(loss, policy=lambda operator, *avals: operator is functx.sin)
    return {
        "autograd.functional.hessian": (ft.partial(functx.autograd.functional.hessian, loss), (x,)),
        "autograd.functional.hvp": (ft.partial(functx.autograd.functional.hvp, loss), (x, x)),
        "autograd.functional.jacobian": (
            ft.partial(functx.autograd.functional.jacobian, pair),
            (x,),
        ),
        "autograd.functional.jvp": (ft.partial(functx.autograd.functional.jvp, pair), (x, x)),
        "autograd.functional.vhp": (ft.partial(functx.autograd.functional.vhp, loss), (x, x)),
        "autograd.functional.vjp": (ft.partial(functx.autograd.functional.vjp, pair), (x, x)),
        "autograd.forward_ad.set_fwd_grad_enabled": (
            lambda x: functx.jvp(forward.set_fwd_grad_enabled(False)(pair), (x,), (x,)),
            (x,),
        ),
        "autograd.grad": (lambda x: functx.autograd.grad(loss, x), (x,)),
        "checkpoint": (functx.grad(functx.checkpoint(loss)), (x,)),
        "checkpoint, a list": (functx.grad(functx.checkpoint(loss, policy=["sin"])), (x,)),
        "checkpoint, a policy": (functx.grad(by_policy), (x,)),
        "checkpoint, a budget": (functx.grad(functx.checkpoint(loss, budget=1.0)), (x,)),
        "checkpointing.checkpoint_plan": (
            lambda x: functx.checkpointing.checkpoint_plan(loss, x, budget=1.0).bytes,
            (x,),
        ),
        "checkpointing.checkpoint_report": (
            ft.partial(functx.checkpointing.checkpoint_report, by_policy),
            (x,),
        ),
        "checkpointing.checkpoint_sequential": (
            ft.partial(functx.checkpointing.checkpoint_sequential, [pair, pair, pair], 2),
            (x,),
        ),
        "implicit.custom_fixed_point": (
            lambda a: functx.implicit.custom_fixed_point(lambda x: a * jnp.cos(x) / 4, a, repeat),
            (two,),
        ),
        "implicit.custom_linear_solve": (
            lambda b: functx.implicit.custom_linear_solve(lambda x: 2 * x, b),
            (x,),
        ),
        "implicit.custom_root": (
            functx.grad(lambda a: functx.implicit.custom_root(lambda x: x * x - a, a, newton)),
            (two,),
        ),
        "debug.checked": (
            functx.debug.checked(jax.jit(lambda i: functx.index_select(x, 0, i))),
            (jnp.asarray([1]),),
        ),
        "debug.detect_anomaly": (functx.debug.detect_anomaly(functx.grad(loss)), (x,)),
        "enable_grad": (functx.grad(functx.enable_grad(loss)), (x,)),
        "Function": (functx.grad(cubed), (x,)),
        "Function.apply": (Cube.apply, (x,)),
        "functional_call": (
            ft.partial(functx.functional_call, lambda p, x: p["w"] * x, {"w": two}),
            (x,),
        ),
        "taps.fused_update": (
            functx.taps.fused_update(squares, descend),
            (x, x, x),
        ),
        "grad": (functx.grad(loss), (x,)),
        "grad, nested": (functx.grad(lambda x: functx.grad(loss)(x).sum()), (x,)),
        "grad_and_value": (functx.grad_and_value(loss), (x,)),
        "autograd.graph.make_graph": (
            lambda x: repr(functx.autograd.graph.make_graph(loss)(x).nodes),
            (x,),
        ),
        "hessian": (functx.hessian(loss), (x,)),
        "hvp": (ft.partial(functx.hvp, loss), ((x,), (x,))),
        "inference_mode": (functx.inference_mode(pair), (x,)),
        "jacfwd": (functx.jacfwd(pair), (x,)),
        "jacrev": (functx.jacrev(pair), (x,)),
        "jit": (functx.jit(pair), (x,)),
        "jit, with options": (functx.jit(lambda x, n: n * x, static_argnums=1), (x, 3)),
        "jvp": (ft.partial(functx.jvp, pair), ((x,), (x,))),
        "linearize": (lambda x: functx.linearize(pair, x)[1](x), (x,)),
        "no_grad": (functx.grad(lambda x: (x * functx.no_grad(pair)(x)).sum()), (x,)),
        "residuals.offload_residuals": (offloaded, (x,)),
        "autograd.once_differentiable": (functx.vmap(functx.grad(lambda x: Cube.apply(x))), (x,)),
        "residuals.residual_hooks": (halved, (x,)),
        "residuals.saved_residuals": (
            lambda x: functx.residuals.saved_residuals(pair, x).bytes,
            (x,),
        ),
        "set_grad_enabled": (
            functx.grad(lambda x: (x * functx.set_grad_enabled(False)(pair)(x)).sum()),
            (x,),
        ),
        "taps.tap, taps.tap_group": (functx.grad(hooked), (x,)),
        "taps.tap_grads": (functx.taps.tap_grads(loss), (x,)),
        "taps.tap_values": (functx.taps.tap_values(loss), (x,)),
        "value_and_grad": (functx.value_and_grad(loss), (x,)),
        "taps.value_and_tap_grads": (functx.taps.value_and_tap_grads(loss), (x,)),
        "vhp": (ft.partial(functx.vhp, loss), ((x,), (x,))),
        "vjp": (lambda x: functx.vjp(pair, x)[1](x), (x,)),
        "vmap": (functx.vmap(loss), (x,)),
        "vmap, random": (
            functx.vmap(functx.nn.functional.dropout, randomness="different"),
            (jnp.ones((2, 8)),),
        ),
        "taps.with_rule_hooks": (
            functx.grad(functx.taps.with_rule_hooks(loss, pre=doubled)),
            (x,),
        ),
    }
