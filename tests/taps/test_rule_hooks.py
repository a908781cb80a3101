"""Hooks before and after the backward pass of operators."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing.checks.programs import compiled


POINT = np.array([0.7, -0.4])


def test_hooks_run_in_order_and_see_what_passes():
    log = []

    def f(x, w):
        x = functx.taps.tap(x, on_grad=lambda g: log.append(("argument", g)))
        h = functx.mul(x, w)
        h = functx.taps.tap(h, on_grad=lambda g: log.append(("output", g)))
        return functx.sum(h)

    hooked = functx.taps.with_rule_hooks(
        f,
        pre=lambda name, cts: log.append((f"pre {name}", *cts)),
        post=lambda name, gradients, cts: log.append((f"post {name}", gradients, *cts)),
        where="mul",
    )
    functx.grad(hooked)(POINT, 2 * POINT)
    assert [what for what, *_ in log] == ["output", "pre mul", "post mul", "argument"]
    np.testing.assert_array_equal(log[1][1], [1, 1])
    (to_x, to_w), cotangent = log[2][1:]
    np.testing.assert_array_equal(to_x, 2 * POINT)
    assert to_w is None  # nobody asked for it
    np.testing.assert_array_equal(cotangent, [1, 1])


def test_operators_run_backwards_one_after_another():
    log = []
    note = lambda when: lambda name, *_: log.append(f"{when} {name}")
    f = lambda x: functx.sum(functx.sin(functx.exp(x)))
    functx.grad(functx.taps.with_rule_hooks(f, pre=note("pre"), post=note("post")))(POINT)
    assert log == ["pre sum", "post sum", "pre sin", "post sin", "pre exp", "post exp"]


def test_outputs_without_a_gradient_have_none_in_their_places():
    seen = []

    def f(x):
        var, mean = functx.var_mean(x)
        return mean

    hooked = functx.taps.with_rule_hooks(f, pre=lambda name, cts: seen.append(cts))
    functx.grad(hooked)(POINT)
    assert seen == [(None, 1)]


def sines(x, w):
    h, _ = lax.scan(lambda h, a: (functx.sin(h * a), None), x, np.array([1.0, 2.0]))
    h = jax.checkpoint(functx.sin)(jax.jit(functx.sin)(h)) * w
    return functx.sum(lax.cond(h[0] > 0, functx.sin, lambda h: -functx.sin(h), h))


def tapped(x):
    """The sine between two taps: what hooks that scale by 2 and 5 mean."""
    return functx.taps.tap(
        jnp.sin(functx.taps.tap(x, on_grad=lambda g: 5 * g)), on_grad=lambda g: 2 * g
    )


def tapped_sines(x, w):
    h, _ = lax.scan(lambda h, a: (tapped(h * a), None), x, np.array([1.0, 2.0]))
    h = tapped(tapped(h)) * w
    return lax.cond(h[0] > 0, tapped, lambda h: -tapped(h), h).sum()


def test_hooks_are_taps_around_the_operator_in_every_transform():
    scale = lambda a: lambda name, values, *_: [a * value for value in values]
    hooked = functx.taps.with_rule_hooks(sines, pre=scale(2), post=scale(5), where="sin")
    nests = {
        "grad": lambda f: functx.grad(f, argnums=(0, 1))(POINT, POINT),
        "jit": lambda f: jax.jit(functx.grad(f))(POINT, POINT),
        "vmap": lambda f: functx.vmap(functx.grad(f), (0, None))(jnp.stack([POINT] * 2), POINT),
        "grad of vmap": lambda f: functx.grad(lambda x: functx.vmap(f, (0, None))(x, POINT).sum())(
            jnp.stack([POINT] * 2)
        ),
        "jvp": lambda f: functx.jvp(f, (POINT, POINT), (POINT, POINT)),
        "hessian": lambda f: functx.hessian(f)(POINT, POINT),
        "jacrev of jacrev": lambda f: functx.jacrev(functx.jacrev(f))(POINT, POINT),
        "checkpoint": lambda f: functx.grad(jax.checkpoint(f))(POINT, POINT),
    }
    everything = lambda f: {name: nest(f) for name, nest in nests.items()}
    got, want = compiled(lambda: (everything(hooked), everything(tapped_sines)))()
    for name in nests:
        jax.tree.map(
            lambda a, b, name=name: np.testing.assert_allclose(a, b, rtol=1e-9, err_msg=name),
            got[name],
            want[name],
        )


def test_post_hooks_see_the_cotangents_that_pre_hooks_left():
    hooked = functx.taps.with_rule_hooks(
        lambda x, y: functx.sum(functx.mul(x, y)),
        pre=lambda name, cts: (3 * cts[0],),
        post=lambda name, gradients, cts: (gradients[0] * cts[0], gradients[1] + cts[0]),
        where=["mul"],
    )
    rule = derivative_rules(
        jnp.multiply,
        vjp=lambda primals, _, ct: (9 * ct * primals[1] * ct, 3 * ct * primals[0] + 3 * ct),
    )
    gradients = lambda f: functx.grad(f, argnums=(0, 1))
    mapped = lambda f: functx.vmap(gradients(f), (0, None))(jnp.stack([POINT, -POINT]), POINT)
    truth = lambda x, y: rule(x, y).sum()
    got, want = compiled(
        lambda: [(gradients(f)(POINT, 2 * POINT), mapped(f)) for f in (hooked, truth)]
    )()
    jax.tree.map(np.testing.assert_allclose, got, want)


@pytest.mark.parametrize(("order", "inner", "outer"), [(None, 2, 2), (1, 2, 1), (2, 1, 2)])
def test_order_selects_the_derivative_that_hooks_belong_to(order, inner, outer):
    double = lambda name, cts: (2 * cts[0],)
    f = lambda x: functx.sin(functx.sin(x))
    f = functx.taps.with_rule_hooks(f, pre=double, post=lambda *_: None, order=order)
    x = np.float64(0.7)
    sin, cos, s = np.sin(x), np.cos(x), np.sin(np.sin(x))
    first = inner**2 * np.cos(sin) * cos
    second = inner**2 * (-s * cos * (outer * cos) - np.cos(sin) * sin)
    np.testing.assert_allclose(functx.grad(f)(x), first)
    np.testing.assert_allclose(functx.grad(functx.grad(f))(x), second)


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (None, ["sum", "exp"]),
        (lambda name: name.startswith("e"), ["exp"]),
        ({"own", "cos"}, ["own", "cos"]),
        ("sin", []),
    ],
)
def test_where_names_operators_functions_with_own_rules_and_primitives(where, names):
    own = derivative_rules(
        lambda x: x, jvp=lambda primals, output, tangents: tangents[0], name="own"
    )
    seen = []
    f = lambda x: functx.sum(own(jnp.cos(functx.exp(x))))
    functx.grad(functx.taps.with_rule_hooks(f, pre=lambda name, _: seen.append(name), where=where))(
        POINT
    )
    assert seen == names


@pytest.mark.parametrize(("name", "hint"), [("sinn", "did you mean 'sin'"), ("wxyz", "calls$")])
def test_a_name_that_nothing_has_is_refused(name, hint):
    f = functx.taps.with_rule_hooks(sines, pre=lambda *_: None, where=["sin", name])
    with pytest.raises(ValueError, match=rf"with_rule_hooks: `where` names '{name}'(.|\n)*{hint}"):
        functx.grad(f)(POINT, POINT)


def test_hooks_that_return_nothing_change_nothing():
    f = functx.taps.with_rule_hooks(sines, pre=lambda *_: None, post=lambda *_: None)
    both = compiled(lambda: [functx.value_and_grad(f)(POINT, POINT) for f in (f, sines)])
    jax.tree.map(np.testing.assert_allclose, *both())


def test_complex_cotangents_are_pytorchs():
    seen = []
    note = lambda name, gradients, cts: seen.append((gradients[0], cts[0]))
    f = functx.taps.with_rule_hooks(
        lambda z: functx.abs(functx.square(z)), post=note, where="square"
    )
    gradient = functx.grad(f)(jnp.asarray(1 + 2j))
    np.testing.assert_allclose(seen[0], (2 + 4j, -0.6 + 0.8j))
    np.testing.assert_allclose(gradient, 2 + 4j)


def test_random_draws_and_outputs_of_any_kind_are_those_of_a_plain_call():
    f = lambda: (functx.randn(2), "text")
    functx.manual_seed(3)
    want = f()
    functx.manual_seed(3)
    got = functx.taps.with_rule_hooks(f)()
    np.testing.assert_array_equal(got[0], want[0])
    assert got[1] == "text"


def test_what_hooks_raise_and_return_wrongly_comes_out():
    def refuse(*_):
        raise LookupError("Boom")

    with pytest.raises(LookupError, match="Boom"):
        functx.grad(functx.taps.with_rule_hooks(sines, post=refuse))(POINT, POINT)
    wrong = functx.taps.with_rule_hooks(sines, pre=lambda name, cts: (cts[0][None],), where="sum")
    with pytest.raises(
        ValueError, match=r"with_rule_hooks: `pre\(name, cotangents\)\[0\]` must be"
    ):
        functx.grad(wrong)(POINT, POINT)
    for where in ([3], 3):
        with pytest.raises(TypeError, match="`where` must be a name"):
            functx.taps.with_rule_hooks(sines, where=where)
    with pytest.raises(TypeError, match="`pre` must be callable"):
        functx.taps.with_rule_hooks(sines, pre="sin")
