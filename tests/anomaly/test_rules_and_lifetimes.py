"""Functions with own rules are named, errors in rules are located, and nothing is kept alive."""

from __future__ import annotations

import gc
import weakref

import jax
import jax.numpy as jnp
import pytest

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.debug import AnomalyError, detect_anomaly


def through(forward, **rules):
    f = derivative_rules(forward, name="MyFunc", **rules)
    return lambda x: functx.sum(f(x))


def test_a_nan_in_a_rule_names_the_rule():
    def vjp(primals, output, cotangent):
        return (cotangent * functx.log(-primals[0]),)

    gradient = detect_anomaly(functx.grad(through(jnp.sin, vjp=vjp)))
    with pytest.raises(AnomalyError, match="in the backward pass, in the rule of MyFunc") as caught:
        gradient(jnp.ones(2))
    assert (caught.value.rule, caught.value.operator) == ("MyFunc", "log")
    assert caught.value.line.function.endswith("<lambda>")  # of the forward pass


def test_a_nan_in_the_function_itself_names_it():
    with pytest.raises(AnomalyError, match="MyFunc returned nan values in output 0"):
        detect_anomaly(through(jnp.log, vjp=lambda *_: (None,)))(-jnp.ones(2))


def test_derivatives_of_derivatives_say_so():
    def vjp(primals, output, cotangent):
        return (cotangent * functx.sqrt(primals[0]) * 0.0,)

    f = through(jnp.sin, vjp=vjp)
    second = functx.grad(lambda x: functx.sum(functx.grad(f)(x)))
    with pytest.raises(AnomalyError) as caught:
        detect_anomaly(second)(jnp.zeros(2))
    assert "in the backward pass of the backward pass" in caught.value.where
    assert caught.value.rule == "MyFunc" and caught.value.operator == "sqrt"
    detect_anomaly(functx.grad(f))(jnp.zeros(2))  # the first derivative is fine


def test_errors_in_a_rule_get_a_note_with_the_line_of_the_forward_pass():
    def vjp(primals, output, cotangent):
        raise KeyError("a mistake in a rule")

    gradient = detect_anomaly(functx.grad(through(jnp.sin, vjp=vjp)))
    with pytest.raises(KeyError, match="a mistake in a rule") as caught:
        gradient(jnp.ones(2))
    (note,) = [note for note in caught.value.__notes__ if "detect_anomaly" in note]
    assert f"{__file__}:{through.__code__.co_firstlineno + 2}" in note


def test_values_are_let_go_of_after_an_error():
    class Owner:
        pass

    scale = jnp.array([2.0, 0.0])
    owner, array = Owner(), jnp.zeros(2)
    watched = [weakref.ref(owner), weakref.ref(array), weakref.ref(scale)]

    def f(x, owner=owner, scale=scale):
        return functx.sum(functx.sqrt(x * scale) * 0.0)

    gradient = detect_anomaly(functx.grad(f))
    with pytest.raises(AnomalyError) as caught:
        gradient(array)
    error = caught.value
    error.__traceback__ = None  # whose frames are the caller's
    del caught, gradient, f, owner, array, scale
    gc.collect()
    assert [ref() for ref in watched] == [None] * 3
    assert error.operator == "sqrt"


def test_programs_not_watched_have_no_trace_of_it():
    mapped = functx.vmap(functx.grad(lambda x: functx.sin(x)))
    before = str(jax.make_jaxpr(mapped)(jnp.ones(2)))
    detect_anomaly(mapped)(jnp.ones(2))
    assert str(jax.make_jaxpr(mapped)(jnp.ones(2))) == before
    assert "lanes_of" not in before


def test_a_call_like_the_last_is_not_recorded_again():
    calls = []

    def counted(x, scale):
        calls.append(scale)
        return functx.sin(x) * scale

    watched = detect_anomaly(counted)
    for scale in (2, 2, 2.0, 2.0):
        watched(jnp.ones(2), scale)
    assert len(calls) == 2
