"""Gradients with respect to named taps, and the values there."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.testing.checks.programs import compiled


W, X = np.array([0.3, 0.5]), np.array([1.0, 2.0])
SCALES = np.array([1.0, 2.0, 3.0])


def same(tree, want, **tolerance):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, **tolerance), tree, want)


def layers(w, x, tap=functx.taps.tap):
    """A tap of every kind: plain, in `jit`, `checkpoint`, `scan`, `cond` and `vmap`."""
    h = tap(jnp.tanh(w * x), "plain")
    h = jax.jit(lambda h: 2 * tap(h, "jit"))(h)
    h = jax.checkpoint(lambda h: jnp.sin(tap(2 * h, "checkpoint")))(h)
    h, _ = lax.scan(lambda h, a: (tap(jnp.sin(h * a), "scan"), None), h, SCALES)
    h = lax.cond(h.sum() > 0, lambda h: 3 * tap(h, "taken"), lambda h: tap(h, "other"), h)
    h = functx.vmap(lambda a: a * tap(a * a, "lane"))(h)
    return (functx.sin(tap(h, "last")) ** 2).sum()


def perturbed(steps, w, x):
    """The same by hand: `steps` are added where the taps are."""
    h = jnp.tanh(w * x) + steps["plain"]
    h = 2 * (h + steps["jit"])
    h = jnp.sin(2 * h + steps["checkpoint"])
    for a, step in zip(SCALES, steps["scan"], strict=True):
        h = jnp.sin(h * a) + step
    h = jnp.where(h.sum() > 0, 3 * (h + steps["taken"]), h + steps["other"])
    h = h * (h * h + steps["lane"])
    return (functx.sin(h + steps["last"]) ** 2).sum()


NAMES = ["plain", "jit", "checkpoint", "scan", "taken", "other", "lane", "last"]
STEPS = {name: np.zeros((3, 2) if name == "scan" else 2) for name in NAMES}


def test_gradients_are_those_of_steps_added_by_hand():
    got, want = compiled(
        lambda w, x: (functx.taps.tap_grads(layers)(w, x), functx.grad(perturbed)(STEPS, w, x))
    )(W, X)
    assert set(got) == set(NAMES)
    same(got, want, rtol=1e-12)
    assert np.abs(got["scan"]).min() > 0 and not got["other"].any()


def test_with_the_value_and_the_gradients_of_arguments():
    value, (taps, (dw, dx)) = functx.taps.value_and_tap_grads(layers, "scan", argnums=(0, 1))(W, X)
    assert set(taps) == {"scan"}
    same((value, (dw, dx)), functx.value_and_grad(layers, argnums=(0, 1))(W, X), rtol=1e-12)
    taps, dw_alone = functx.taps.tap_grads(layers, ["last"], argnums="w")(w=W, x=X)
    same(dw_alone, dw)
    with_aux = functx.taps.value_and_tap_grads(lambda w: (layers(w, X), "aux"), (), has_aux=True)
    (value_again, aux), taps = with_aux(W)
    assert (aux, taps) == ("aux", {})
    same(value_again, value)


def test_it_composes_with_every_transform():
    """The second derivatives of `perturbed` are the oracle of all."""
    names = ("plain", "last")
    some = lambda steps, w: perturbed({**STEPS, **steps}, w, X)
    pick = lambda taps: {name: taps[name] for name in names}
    gradients = lambda w: functx.taps.tap_grads(layers, names)(w, X)
    oracle = lambda w: functx.grad(some)(pick(STEPS), w)
    nests = {
        "jit": lambda f: jax.jit(f)(W),
        "vmap": lambda f: functx.vmap(f)(jnp.stack([W, 2 * W])),
        "jacrev": lambda f: functx.jacrev(f)(W),
        "jacfwd": lambda f: functx.jacfwd(f)(W),
        "checkpoint": lambda f: jax.checkpoint(f)(W),
        "scan": lambda f: lax.scan(lambda c, w: (c, f(w)), 0, jnp.stack([W, 3 * W]))[1],
    }
    everything = lambda f: {name: nest(f) for name, nest in nests.items()}
    got, want = compiled(lambda: (everything(gradients), everything(oracle)))()
    same(got, want, rtol=1e-9)


def test_gradients_are_taken_in_any_mode_and_are_constants_there():
    def f(w):
        with functx.no_grad():
            return w * functx.taps.tap_grads(lambda x: functx.taps.tap(x * x, "y") ** 2)(w)["y"]

    assert functx.grad(f)(3.0) == 18


def test_functions_of_this_library_that_checkpoint_are_entered():
    f = lambda x: functx.checkpoint(lambda x: functx.sin(functx.taps.tap(x * x, "y")))(x)
    taps, gradient = functx.taps.tap_grads(f, argnums=0)(jnp.float64(0.5))
    np.testing.assert_allclose(taps["y"], np.cos(0.25))
    np.testing.assert_allclose(gradient, np.cos(0.25))


def test_values():
    names = [name for name in NAMES if name not in ("taken", "other")]
    output, values = functx.taps.tap_values(layers, names)(W, X)
    same(output, layers(W, X), rtol=1e-12)
    same(values["plain"], np.tanh(W * X), rtol=1e-12)
    h, scanned = np.sin(4 * np.tanh(W * X)), []
    for a in SCALES:
        scanned.append(h := np.sin(h * a))
    same(values["scan"], scanned, rtol=1e-12)
    same(values["lane"], (3 * h) ** 2, rtol=1e-12)
    same(values["last"], (3 * h) ** 3, rtol=1e-12)


def test_integers_have_values_and_no_gradients():
    f = lambda x: functx.taps.tap({"x": 2 * x, "n": jnp.arange(2)}, "both")["x"].sum()
    gradient = functx.taps.tap_grads(f)(X)["both"]
    assert gradient["n"] is None and gradient["x"].tolist() == [1, 1]
    assert functx.taps.tap_values(f)(X)[1]["both"]["n"].tolist() == [0, 1]


def test_a_branch_that_is_not_taken_has_zeros_and_no_value():
    def f(x, positive):
        return lax.cond(positive, lambda x: functx.taps.tap(x * x, "square"), lambda x: -x, x)

    assert functx.taps.tap_grads(f)(2.0, True)["square"] == 1
    assert functx.taps.tap_grads(f)(2.0, False)["square"] == 0
    with pytest.raises(ValueError, match="where a `cond` takes another branch it has no value"):
        functx.taps.tap_values(f)(2.0, True)


def test_one_name_in_every_branch_is_one_tap():
    def f(x, positive):
        up, down = (lambda x, a=a: a * functx.taps.tap(a * x, "scaled") for a in (3.0, -1.0))
        return lax.cond(positive, up, down, x)

    for positive, a in ((True, 3), (False, -1)):
        assert functx.taps.tap_grads(f)(2.0, positive)["scaled"] == a
        assert functx.taps.tap_values(f)(2.0, positive)[1]["scaled"] == 2 * a


def test_a_tap_is_a_point_of_the_program_before_and_after_an_update():
    def f(x):
        before = functx.taps.tap(x, "before")
        after = functx.taps.tap(2 * before, "after")
        return functx.sum(after)

    got = functx.taps.tap_grads(f)(jnp.ones(2))
    assert (got["before"].tolist(), got["after"].tolist()) == ([2, 2], [1, 1])


def test_outputs_of_an_operator_with_several_are_points_too():
    def f(x):
        var, mean = functx.var_mean(x)
        pieces = functx.chunk(x, 2)
        mean = functx.taps.tap(mean, "mean")
        return functx.taps.tap(pieces[1], "piece").sum() * mean + var

    got = functx.taps.tap_grads(f)(jnp.arange(4.0))
    same(got, {"mean": 5.0, "piece": np.array([1.5, 1.5])})


def test_a_function_may_be_named_as_an_operator_is():
    @jax.jit
    def square(x):
        return functx.taps.tap(x, "x") ** 2

    assert functx.taps.tap_grads(square)(3.0) == {"x": 6}


def test_taps_of_a_python_loop_are_named_one_by_one():
    def f(x):
        for i in range(3):
            x = functx.taps.tap(2 * x, f"h{i}")
        return x

    assert functx.taps.tap_grads(f)(1.0) == {"h0": 4, "h1": 2, "h2": 1}


def test_a_tap_that_the_loss_does_not_depend_on_has_zeros():
    f = lambda x: (functx.taps.tap(2 * x, "unused"), x.sum())[1]
    assert functx.taps.tap_grads(f)(X)["unused"].tolist() == [0, 0]


def test_on_grad_comes_first():
    f = lambda x: functx.taps.tap(
        functx.taps.tap(x, "x", on_grad=lambda g: 2 * g), on_grad=lambda g: 3 * g
    )
    assert functx.taps.tap_grads(f)(1.0)["x"] == 6


def test_hooks_before_the_taps_that_are_asked_for_are_not_called():
    def refuse(cotangent):
        raise LookupError("Boom")

    f = lambda x: functx.taps.tap(2 * functx.taps.tap(x, "first", on_grad=refuse), "second") ** 2
    assert functx.taps.tap_grads(f, "second")(1.0) == {"second": 4}
    with pytest.raises(LookupError, match="Boom"):
        functx.taps.tap_grads(f)(1.0)


def test_complex_gradients_are_pytorchs():
    f = lambda z: jnp.abs(functx.taps.tap(z * z, "w"))
    taps, gradient = functx.taps.tap_grads(f, argnums=0)(jnp.asarray(1 + 2j))
    np.testing.assert_allclose(taps["w"], -0.6 + 0.8j)
    np.testing.assert_allclose(gradient, 2 + 4j)


def test_random_draws_are_those_of_a_plain_call():
    f = lambda x: (functx.taps.tap(functx.randn(3, dtype=functx.float64), "noise") * x).sum()
    functx.manual_seed(3)
    noise = functx.randn(3, dtype=functx.float64)
    following = functx.randn(1)
    functx.manual_seed(3)
    np.testing.assert_array_equal(functx.taps.tap_values(f)(2.0)[1]["noise"], noise)
    assert functx.randn(1) == following


def tapped_everywhere(x):
    x = lax.while_loop(lambda x: x < 3, lambda x: functx.taps.tap(x + 1, "while"), x)
    rule = jax.custom_jvp(lambda x: functx.taps.tap(x, "rule"))
    rule.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    x = rule(x)
    x = functx.taps.tap(functx.taps.tap(x, "twice"), "twice")
    return lax.switch(
        0, [lambda x: functx.taps.tap(x, "odd"), lambda x: functx.taps.tap({"x": x}, "odd")["x"]], x
    )


REFUSED = {
    "while": "inside a `while_loop`, whose number of steps no shape can depend on\n.*lax.scan",
    "rule": "inside a function that has a derivative rule of its own",
    "twice": "`func` has several taps of this name\n.*name them apart",
    "odd": "in the branches of a `cond` its shapes or dtypes differ",
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("ask", [functx.taps.tap_grads, functx.taps.tap_values])
def test_where_a_tap_cannot_be_asked_for_the_error_says_why(ask, name):
    message = f"{ask.__name__}: the tap '{name}' cannot be asked for: .*{REFUSED[name]}"
    with pytest.raises(ValueError, match=message):
        ask(tapped_everywhere, name)(1.0)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="asks for 'h', and .* no such tap; it has: 'a', 'b'$"):
        functx.taps.tap_grads(lambda x: functx.taps.tap(functx.taps.tap(x, "b"), "a"), "h")(1.0)
    with pytest.raises(ValueError, match="it has: none"):
        functx.taps.tap_values(lambda x: functx.taps.tap(x), "h")(1.0)
    assert functx.taps.tap_grads(lambda x: x)(1.0) == {}


def test_the_loss_is_checked_as_that_of_grad():
    with pytest.raises(ValueError, match=r"tap_grads: `func` must return a scalar, got f64\[2\]"):
        functx.taps.tap_grads(lambda x: x)(X)
    with pytest.raises(TypeError, match="tap_grads: `func` must be callable"):
        functx.taps.tap_grads(3)
    with pytest.raises(
        jax.errors.TracerBoolConversionError, match="tap_grads: `func` asks whether"
    ):
        functx.taps.tap_grads(lambda x: x if x > 0 else -x)(jnp.ones(()))
