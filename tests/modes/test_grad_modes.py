"""What is computed in a region of a grad mode, as derivatives see it."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.autograd import forward_ad
from functx.testing.checks.programs import compiled


X = jnp.asarray([0.7, -0.4])
V = jnp.asarray([0.9, -1.3])


def scaled(x):
    """The scale is made by operators, in a region; what comes of it is differentiated."""
    with functx.no_grad():
        scale = functx.exp(functx.sin(x))
    return functx.mul(scale, functx.cos(x))


def scaled_truth(x):
    return lax.stop_gradient(jnp.exp(jnp.sin(x))) * jnp.cos(x)


TRANSFORMS = {
    "grad": lambda f: functx.grad(lambda x: f(x).sum()),
    "jax.grad": lambda f: jax.grad(lambda x: f(x).sum()),
    "vjp": lambda f: lambda x: functx.vjp(f, x)[1](V),
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (V,))[1],
    "linearize": lambda f: lambda x: functx.linearize(f, x)[1](V),
    "jacrev": functx.jacrev,
    "jacfwd": functx.jacfwd,
    "hessian": functx.hessian,
    "jacrev of jacfwd": lambda f: functx.jacrev(functx.jacfwd(f)),
    "hvp": lambda f: lambda x: functx.hvp(lambda x: f(x).sum(), x, V)[1],
    "vhp": lambda f: lambda x: functx.vhp(lambda x: f(x).sum(), x, V)[1],
    "vmap of grad": lambda f: functx.vmap(functx.grad(f)),
    "grad of vmap": lambda f: functx.grad(lambda x: functx.vmap(f)(x).sum()),
    "grad of checkpoint": lambda f: functx.grad(lambda x: jax.checkpoint(f)(x).sum()),
    "grad of jit": lambda f: functx.grad(lambda x: jax.jit(f)(x).sum()),
    "grad of scan": lambda f: functx.grad(
        lambda x: lax.scan(lambda c, t: (f(c) + t, c), x, jnp.stack([x, x]))[0].sum()
    ),
    "hessian of scan": lambda f: functx.hessian(
        lambda x: lax.scan(lambda c, _: (f(c), None), x, length=2)[0].sum()
    ),
    "grad of cond": lambda f: functx.grad(
        lambda x: lax.cond(x[0] > 0, lambda x: f(x).sum(), lambda x: x.sum(), x)
    ),
}


@pytest.fixture(scope="module")
def by_transform():
    def everything(x):
        return {name: (t(scaled)(x), t(scaled_truth)(x)) for name, t in TRANSFORMS.items()}

    return compiled(everything)(X)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_operators_in_a_no_grad_region_give_constants(by_transform, name):
    got, want = by_transform[name]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_eager_derivatives_see_the_region_too():
    got = functx.grad(lambda x: scaled(x).sum())(X)
    np.testing.assert_allclose(got, jax.grad(lambda x: scaled_truth(x).sum())(X), rtol=1e-12)
    np.testing.assert_allclose(
        functx.jvp(scaled, (X,), (V,))[1], jax.jvp(scaled_truth, (X,), (V,))[1], rtol=1e-12
    )


def test_plain_jax_numpy_in_a_region_is_not_seen():
    def f(x):
        with functx.no_grad():
            return jnp.sin(x)

    assert functx.grad(f)(0.0) == 1


def test_a_no_grad_function_is_constant_whatever_computes_it():
    assert functx.grad(lambda x: x * functx.no_grad(jnp.exp)(x))(0.0) == 1
    f = functx.no_grad(lambda x: {"a": jnp.sin(x), "n": 3, "i": jnp.arange(2), "none": None})
    out = f(X)
    assert out["n"] == 3 and out["none"] is None
    assert (jax.jacrev(lambda x: f(x)["a"])(X) == 0).all()


def test_what_a_no_grad_function_returns_is_the_same_object_where_nothing_is_cut():
    token = object()
    assert functx.no_grad(lambda: token)() is token


@pytest.mark.parametrize("inner", [functx.enable_grad, lambda: functx.set_grad_enabled(True)])
def test_enable_grad_restores_derivatives_inside(inner):
    def f(x):
        with functx.no_grad(), inner():
            return functx.sin(x)

    assert functx.grad(f)(0.0) == 1


def test_regions_nest_and_restore():
    assert functx.is_grad_enabled()
    with functx.no_grad():
        with functx.enable_grad():
            assert functx.is_grad_enabled()
            with functx.no_grad():
                assert not functx.is_grad_enabled()
        assert not functx.is_grad_enabled()
    assert functx.is_grad_enabled()


def test_a_region_is_left_by_exceptions():
    with pytest.raises(KeyError), functx.no_grad():
        raise KeyError
    assert functx.is_grad_enabled()


def test_one_region_may_be_entered_again_and_inside_itself():
    region = functx.no_grad()
    for _ in range(2):
        with region, functx.enable_grad():
            with region:
                assert not functx.is_grad_enabled()
            assert functx.is_grad_enabled()
    assert functx.is_grad_enabled()


def test_set_grad_enabled_sets_at_once_and_for_good():
    try:
        functx.set_grad_enabled(False)
        assert not functx.is_grad_enabled()
        functx.set_grad_enabled(True)
        assert functx.is_grad_enabled()
    finally:
        functx.set_grad_enabled(True)


def test_a_setting_made_inside_a_region_ends_with_it():
    with functx.set_grad_enabled(False):
        functx.set_grad_enabled(True)
        assert functx.is_grad_enabled()
    assert functx.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_restores_the_mode():
    setting = functx.set_grad_enabled(False)
    assert not functx.is_grad_enabled()
    sin = setting(functx.sin)
    assert functx.is_grad_enabled()
    assert functx.grad(sin)(0.0) == 0


@pytest.mark.parametrize("mode", [0, None, "off"])
def test_a_setting_is_a_bool(mode):
    with pytest.raises(TypeError, match="set_grad_enabled: `mode` must be a bool, got"):
        functx.set_grad_enabled(mode)


def test_modes_are_each_threads_own():
    seen = []
    with functx.no_grad():
        thread = threading.Thread(target=lambda: seen.append(functx.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_transforms_differentiate_in_a_region_all_the_same():
    def everything(x):
        return {name: t(functx.sin)(x) for name, t in IN_A_REGION.items()}

    with functx.no_grad():
        inside = compiled(everything)(X)
    outside = compiled(everything)(X)
    for got, want in zip(jax.tree.leaves(inside), jax.tree.leaves(outside), strict=True):
        np.testing.assert_array_equal(got, want)
        assert np.any(got)


IN_A_REGION = {name: TRANSFORMS[name] for name in TRANSFORMS if name != "jax.grad"}


def test_the_mode_in_a_differentiated_function_is_the_usual_one():
    modes = []

    def f(x):
        modes.append(functx.is_grad_enabled())
        return x

    with functx.no_grad():
        functx.grad(f)(1.0)
        functx.vjp(f, 1.0)
        functx.jvp(f, (1.0,), (1.0,))
        functx.jacfwd(f)(1.0)
        assert not functx.is_grad_enabled()
    assert modes and all(modes)


@pytest.fixture(scope="module")
def around_a_region():
    def total(tree):
        return sum(y.sum() for y in jax.tree.leaves(tree))

    def everything(x):
        pairs = {}
        for name, transform in IN_A_REGION.items():

            def f(x, transform=transform):
                with functx.no_grad():
                    inner = transform(functx.sin)(x)
                return total(inner) * x

            pairs[name] = functx.jacrev(f)(x), total(transform(functx.sin)(x)) * jnp.eye(2)
        return pairs

    return compiled(everything)(X)


@pytest.mark.parametrize("name", IN_A_REGION)
def test_to_transforms_around_a_region_the_derivatives_in_it_are_constants(around_a_region, name):
    got, want = around_a_region[name]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_pullback_made_in_a_region_is_a_constant_map():
    def f(x):
        with functx.no_grad():
            _, pull = functx.vjp(functx.sin, x)
        return pull(x)[0]

    np.testing.assert_allclose(functx.grad(f)(X[0]), np.cos(X[0]))  # and not x cos(x)'s


def test_a_pullback_used_in_a_region_gives_constants():
    def f(x):
        _, pull = functx.vjp(functx.sin, x)
        with functx.no_grad():
            return pull(x)[0]

    assert functx.grad(f)(X[0]) == 0


def test_a_function_with_own_rules_is_constant_in_a_region():
    tripled = derivative_rules(jnp.sin, jvp=lambda xs, y, ts: 3 * jnp.cos(xs[0]) * ts[0])

    def f(x):
        with functx.no_grad():
            y = tripled(x)
        return x * y

    np.testing.assert_allclose(functx.grad(f)(0.3), np.sin(0.3))
    np.testing.assert_allclose(functx.grad(tripled)(0.3), 3 * np.cos(0.3))


class Tripled(functx.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return jnp.sin(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        assert functx.is_grad_enabled()
        return 3 * jnp.cos(x) * grad


def test_a_function_class_respects_grad_modes():
    def f(x):
        with functx.no_grad():
            y = Tripled.apply(x)
        return (x * y).sum()

    np.testing.assert_allclose(functx.grad(f)(X), np.sin(X))
    with functx.no_grad():
        got = functx.grad(lambda x: Tripled.apply(x).sum())(X)
    np.testing.assert_allclose(got, 3 * np.cos(np.asarray(X)))
    with functx.inference_mode():
        y = Tripled.apply(X)
    np.testing.assert_allclose(y, np.sin(X))


def test_rules_of_operators_are_linear_wherever_a_pullback_is_used():
    """The reverse rule is the transpose of a forward rule made of operators."""
    f = derivative_rules(jnp.sin, jvp=lambda xs, y, ts: functx.mul(functx.cos(xs[0]), ts[0]))
    _, pull = jax.vjp(f, 0.3)
    with functx.no_grad():
        (got,) = pull(1.0)
    np.testing.assert_allclose(got, np.cos(0.3))


def test_rules_see_the_usual_mode_and_restore_it():
    modes = []

    def vjp(xs, y, ct):
        modes.append(functx.is_grad_enabled())
        with functx.no_grad():
            nested = functx.grad(lambda z: functx.sum(z**3))(xs[0])
        modes.append(functx.is_grad_enabled())
        return (ct * nested,)

    f = derivative_rules(lambda x: x**3, vjp=vjp)
    np.testing.assert_allclose(functx.grad(f)(2.0), 12)
    with functx.no_grad():
        np.testing.assert_allclose(functx.grad(f)(2.0), 12)
        assert not functx.is_grad_enabled()
    assert modes == [True] * 4


def test_no_cache_mixes_modes():
    body = lambda c, _: (functx.sin(c), None)  # one function, traced in both modes
    twice = lambda x: lax.scan(body, x, length=2)[0]
    jitted = jax.jit(twice)

    def inside(x):
        with functx.no_grad():
            return jitted(x) + twice(x)

    outside = lambda x: jitted(x) + twice(x)
    for _ in range(2):
        assert functx.grad(inside)(0.0) == 0
        assert functx.grad(outside)(0.0) == 2


def test_no_grad_leaves_no_trace_in_compiled_programs():
    def plain(x):
        return functx.sin(x)

    def inside(x):
        with functx.no_grad():
            return functx.sin(x)

    text = [jax.jit(f).lower(1.0).as_text().replace("inside", "plain") for f in (plain, inside)]
    assert text[0] == text[1]


def test_detach_makes_constants_of_trees():
    f = lambda x: functx.detach({"a": x, "n": 3})["a"] * x
    assert functx.grad(f)(3.0) == 3
    assert functx.jvp(f, (3.0,), (1.0,))[1] == 3
    assert functx.detach({"a": np.ones(2), "s": "text"})["s"] == "text"


def test_the_other_branch_of_what_is_detached_keeps_its_gradient():
    x, y = jnp.asarray([1.0, 2.0]), jnp.asarray([3.0, 4.0])
    f = lambda x, y: (functx.detach(x + 2) * (y + 2)).sum()
    got = functx.grad(f, (0, 1))(x, y)
    np.testing.assert_array_equal(got[0], [0, 0])
    np.testing.assert_array_equal(got[1], x + 2)


def test_tangents_alone_can_be_switched_off():
    def f(x):
        with forward_ad.set_fwd_grad_enabled(False):
            y = functx.sin(x)
        return x * y

    truth = lambda x: x * jnp.sin(x)
    product = functx.jvp(f, (X,), (V,))[1]
    np.testing.assert_allclose(product, V * jnp.sin(X))
    np.testing.assert_allclose(functx.vjp(f, X)[1](V)[0], jax.vjp(truth, X)[1](V)[0])
    np.testing.assert_allclose(functx.linearize(f, X)[1](V), product)
    np.testing.assert_allclose(
        compiled(functx.vmap(functx.grad(functx.grad(f))))(X),
        jax.vmap(jax.grad(jax.grad(truth)))(X),
    )


def test_tangents_are_switched_and_asked_for_like_grad():
    assert forward_ad.is_fwd_grad_enabled()
    try:
        forward_ad.set_fwd_grad_enabled(False)
        assert not forward_ad.is_fwd_grad_enabled()
        with forward_ad.set_fwd_grad_enabled(True):
            assert forward_ad.is_fwd_grad_enabled()
        assert not forward_ad.is_fwd_grad_enabled() and functx.is_grad_enabled()
    finally:
        forward_ad.set_fwd_grad_enabled(True)
    with pytest.raises(TypeError, match=r"forward_ad.set_fwd_grad_enabled: `mode` must be a bool"):
        forward_ad.set_fwd_grad_enabled(None)
