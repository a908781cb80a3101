"""Which operators have reverse rules of their own: names in their code rule out most of them."""

import functools as ft

import pytest

from functx._core.rules import derivative_rules
from functx.testing import op_db
from functx.testing.checks import own_rules
from functx.testing.checks.own_rules import has_own_rules, mentions_reverse_rules


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


@pytest.mark.full
@pytest.mark.parametrize("info", op_db, ids=lambda info: info.id)
def test_no_operator_has_reverse_rules_that_its_code_does_not_mention(info, monkeypatch):
    if info.spec is not None and not mentions_reverse_rules(info.spec.rule):
        monkeypatch.setattr(own_rules, "mentions_reverse_rules", lambda f: True)
        assert not has_own_rules.__wrapped__(info)  # which traces it now
