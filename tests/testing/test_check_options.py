"""Of an option no more is asked than a call on this device can show."""

from __future__ import annotations

from typing import Literal

import jax
import jax.numpy as jnp
import pytest

import functx
from functx._core import fail
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import call, edge, OpInfo, unfinished
from functx.testing.mutants import mutants_of


refusing = derivative_rules(jnp.sin, jvp=lambda *args: fail("folded", "has no derivative"))


def folded(x, how: Literal["tanh", "sin", "cos"] = "tanh", scale=1.0):
    return {"tanh": jnp.tanh, "sin": refusing, "cos": jnp.cos}[how](x) * scale


def ways(make):
    yield call(make(2))
    yield edge(make(2), "sin")
    yield call(make(2), "cos")


def planted(target, **known):
    return {m.kind for m in mutants_of(OpInfo(folded, ways, **known)) if m.target == target}


def test_a_refused_derivative_cannot_be_wrong():
    assert planted("how='cos'") == {"option's value", "option's gradient"}
    assert planted("how='sin'") == {"option's value"}


@pytest.mark.parametrize("platform", ["cpu", "no such platform"])
def test_an_option_that_other_devices_take_can_only_be_ignored(platform):
    kinds = {"option ignored"}
    if platform == jax.default_backend():
        kinds |= {"option's value", "option's gradient"}
    assert planted("scale", only_on={"scale": frozenset({platform})}) == kinds


@pytest.mark.parametrize("platform", ["cpu", "no such platform"])
def test_an_option_that_other_devices_take_need_not_be_given(platform):
    def plain(make):
        yield call(make(2, 3))

    info = OpInfo(functx.sum, plain, only_on={"keepdim": frozenset({platform})})
    lacks = "`keepdim` is never given" in unfinished(info)
    assert lacks == (platform == jax.default_backend())
