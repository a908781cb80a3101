"""Which operators have reverse rules of their own: names in their code rule out most of them."""

import functools as ft

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import call, op_db, OpInfo
from functx.testing.checks import own_rules
from functx.testing.checks.own_rules import has_own_rules, mentions_reverse_rules, own_parts
from functx.testing.mutants.batching import mixes_lanes


def jvp(primals, output, tangents):
    return 3 * tangents[0]


def vjp(primals, output, cotangent):
    return (3 * cotangent,)


def trebled(x):
    return 3 * x


forward_alone = derivative_rules(trebled, jvp=jvp)
given = derivative_rules(trebled, vjp=vjp)
by_name = {"given": given}


class Rules:
    ruled = staticmethod(given)


def made_in_call(x):
    return derivative_rules(trebled, jvp=jvp, vjp=vjp)(x)


def forward_made_in_call(x):
    return derivative_rules(trebled, jvp=jvp, name="trebled")(x)


def rules_unknown(x, **rules):
    return derivative_rules(trebled, **rules)(x)


def nested(x):
    return [given(y) for y in x]


@pytest.mark.parametrize(
    "f",
    [
        given,
        made_in_call,
        rules_unknown,
        nested,
        ft.partial(made_in_call, 2.0),
        ft.cache(made_in_call),
        ft.wraps(made_in_call)(lambda x: x),
        lambda x: (lambda y: given(y))(x),
        by_name,
        [forward_alone, given],
        Rules.ruled,
        lambda x: Rules.ruled(x),
        lambda x: by_name["given"](x),
    ],
)
def test_whatever_may_have_a_reverse_rule_is_traced(f):
    assert mentions_reverse_rules(f)


@pytest.mark.parametrize("f", [forward_alone, forward_made_in_call, trebled, len, 3.0])
def test_what_mentions_none_is_not_traced(f):
    assert not mentions_reverse_rules(f)


@jax.custom_jvp
def custom(x):
    return x


custom.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
mapped = jax.custom_batching.custom_vmap(lambda x: x)


@pytest.mark.parametrize(
    "f, parts",
    [
        (jnp.sin, set()),
        (lambda x: jax.jit(jnp.sort)(x) @ x, set()),
        (forward_alone, {"derivative"}),
        (lambda x: x - lax.stop_gradient(x), {"derivative"}),
        (lambda x: lax.cond(x[0] > 0, lax.stop_gradient, jnp.sin, x), {"derivative"}),
        (lambda x: jnp.linalg.solve(jnp.diag(x), x), {"derivative"}),
        (given, {"derivative", "reverse"}),
        (custom, {"derivative", "reverse"}),
        (lambda x: functx.jit(given)(x), {"derivative", "reverse"}),
        (mapped, {"derivative", "reverse", "batching"}),
        (lambda x: mixes_lanes(x, [], "alone"), {"derivative", "reverse", "batching"}),
    ],
)
def test_what_jax_does_not_derive_is_read_off_the_program(f, parts):
    info = OpInfo(f, lambda make: iter([call(make(3))]))
    [sample] = info.draw("float32", lanes=1)
    assert own_parts(info, sample) == parts


def test_a_program_that_cannot_be_traced_may_have_everything_of_its_own():
    def fails(x):
        raise RuntimeError

    info = OpInfo(fails, lambda make: iter([call(make(3))]))
    [sample] = info.draw("float32", lanes=1)
    assert own_parts(info, sample) == {"derivative", "reverse", "batching"}


@pytest.mark.full
@pytest.mark.parametrize("info", op_db, ids=lambda info: info.id)
def test_no_operator_has_reverse_rules_that_its_code_does_not_mention(info, monkeypatch):
    if info.spec is not None and not mentions_reverse_rules(info.spec.rule):
        monkeypatch.setattr(own_rules, "mentions_reverse_rules", lambda f: True)
        assert not has_own_rules.__wrapped__(info)  # which traces it now
