"""A `Function`'s rules, and no others, hold under every nest of three transforms.

`nests` says how that is seen: rules three times too large, against plain JAX.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from nests import (
    check,
    growth,
    growth_truth,
    MIX,
    nested,
    NESTS,
    POINT,
    wave,
    wave_truth,
)

import functx
from functx.testing.checks.programs import compiled


class Wave(functx.Function):
    """Keeps its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return wave(x)


class WaveReverse(Wave):
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return MIX.T @ (3 * jnp.cos(MIX @ x) * grad_output)


class WaveForward(Wave):
    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return 3 * jnp.cos(MIX @ x) * (MIX @ tangent)


class WaveBoth(WaveReverse, WaveForward):
    pass


class WaveInLanes(functx.Function):
    """Keeps what it computes in `setup_context`; has a rule for lanes."""

    @staticmethod
    def forward(x):
        return wave(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.slope = 3 * jnp.cos(MIX @ inputs[0])

    @staticmethod
    def backward(ctx, grad_output):
        return MIX.T @ (ctx.slope * grad_output)

    @staticmethod
    def vmap(info, in_dims, x):
        return jnp.sin(jnp.moveaxis(x, in_dims[0], -1).T @ MIX.T), 0


class WaveOfItsParts(functx.Function):
    """Keeps what it computes on the way."""

    @staticmethod
    def forward(ctx, x):
        angle = MIX @ x
        ctx.slopes = [3 * jnp.cos(angle), "of sin"]
        return jnp.sin(angle)

    @staticmethod
    def vjp(ctx, grad_output):
        return MIX.T @ (ctx.slopes[0] * grad_output)


class Growth(functx.Function):
    """Keeps its output."""

    @staticmethod
    def forward(ctx, x):
        y = growth(x)
        ctx.save_for_backward(y)
        ctx.save_for_forward(y)
        return y


class GrowthReverse(Growth):
    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return MIX.T @ (3 * y * grad_output)


class GrowthForward(Growth):
    @staticmethod
    def jvp(ctx, tangent):
        (y,) = ctx.saved_tensors
        return 3 * y * (MIX @ tangent)


class GrowthBoth(GrowthReverse, GrowthForward):
    pass


def applied(*classes):
    return {cls.__name__: cls.apply for cls in classes}


WAVES = applied(WaveReverse, WaveForward, WaveBoth, WaveInLanes, WaveOfItsParts)
GROWTHS = applied(GrowthReverse, GrowthForward, GrowthBoth)
NAMES = list(NESTS)


@pytest.mark.parametrize("place", range(3))
def test_nests_of_three(place):
    """Any two transforms meet in any two places; functx's own are in turn at each."""
    count = len(NAMES)
    pairs = itertools.product(range(count), repeat=2)
    nests = [(NAMES[a], NAMES[b], NAMES[(a + 3 * b + 5) % count]) for a, b in pairs]
    check(nests[place::3], WAVES, wave_truth, own={place, 2 - place}, in_turn=True)


@pytest.mark.full
@pytest.mark.parametrize("outer", NESTS)
def test_all_nests_of_three(outer):
    for middle in NESTS:
        nests = [(outer, middle, inner) for inner in NESTS]
        check(nests, WAVES, wave_truth, own={0, 2} if len(middle) % 2 else {1}, in_turn=True)


def test_nests_with_the_output_as_a_residual():
    check(itertools.product(["grad", "jacfwd", "vmap0", "scan"], NESTS), GROWTHS, growth_truth)


@pytest.mark.parametrize("inner", ["grad", "vmap0", "jit", "checkpoint", "scan", "jvp"])
def test_forward_mode_passes_a_while_loop(inner):
    def thrice(f):
        return lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1])), (0, x))[
            1
        ]

    outers = ["jvp", "jacfwd", "vmap0", "jit", "cond"]

    def everything(f):
        return lambda x: [nested([o], thrice(nested([inner], f)))(x) for o in outers]

    run = lambda x: [everything(f)(x) for f in (*WAVES.values(), wave_truth)]
    *got, want = compiled(run)(POINT)
    for cls, values in zip(WAVES, got, strict=True):
        np.testing.assert_allclose(values, want, rtol=1e-9, atol=1e-9, err_msg=cls)


class Third(functx.Function):
    """The sine, by a backward rule of operators that have rules of their own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return jnp.sin(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        spread = functx.mean(grad_output[None] * jnp.ones((3, *grad_output.shape), x.dtype), 0)
        return functx.div(spread, 3.0) * 3 * jnp.cos(x)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f, x: functx.jvp(f, (x,), (x,))[1],
        lambda f, x: functx.hessian(lambda x: functx.sum(f(x)))(x),
        lambda f, x: functx.hvp(lambda x: functx.sum(f(x)), (x,), (x,))[1][0],
        lambda f, x: functx.vmap(lambda t: functx.jvp(f, (x,), (t,))[1])(jnp.stack([x, 2 * x])),
        lambda f, x: jax.jit(lambda x: functx.jacfwd(functx.jacrev(f))(x))(x),
    ],
)
def test_backward_rules_of_operators_with_rules_have_a_forward_mode(transform):
    x = jnp.asarray([0.1, 0.5, 2.0], "float32")
    np.testing.assert_allclose(
        transform(Third.apply, x), transform(jnp.sin, x), rtol=1e-5, atol=1e-6
    )


def test_a_call_that_is_linear_is_transposed():
    x = jnp.asarray([0.1, 0.5, 2.0], "float32")
    (got,) = jax.linear_transpose(lambda y: functx.div(functx.mean(y, 0), 2.0), x)(jnp.float32(3))
    np.testing.assert_allclose(got, np.full(3, 0.5), rtol=1e-6)
