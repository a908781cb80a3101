"""Derivatives where rules choose constants: what the checks of conventions and limits catch."""

import jax
import jax.numpy as jnp
import pytest

from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.singular_points import zero_at_singular
from functx.testing import call, Convention, OpInfo, run_cell


def entry(op, conventions=None):
    samples = lambda make: iter([call(make(3))])
    stated = {} if conventions is None else {"conventions": conventions}
    return OpInfo(op, samples, **stated)


def at_zero(make):
    yield Convention("0", call(make.put([0.0, 0.0])), gradient=[0, 0], singular=True)


def norm_by(slope_where_zero):
    """The Euclidean norm with this slope at 0: a function of where, and of the slope elsewhere."""

    def norm(x):
        return jnp.sqrt(jnp.sum(x * x))

    def tangent(primals, output, tangents):
        none = output == 0
        slope = primals[0] / jnp.where(none, 1, output)
        return jnp.sum(slope_where_zero(none, slope) * tangents[0])

    return derivative_rules(norm, jvp=tangent)


def marked(none, slope):
    return zero_at_singular(none, slope, "of its square write square(x).sum()", in_all=True)


def unmarked(none, slope):
    return jnp.where(none, jax.lax.stop_gradient(slope), slope)


def of_one_side(none, slope):
    return slope


def test_a_marked_singular_point_passes():
    run_cell(entry(norm_by(marked), at_zero), "float64", "conventions")


@pytest.mark.parametrize(
    ("slope", "complaint"),
    [
        (unmarked, "shown, .*: detect_anomaly is not told of the infinite second derivative"),
        (of_one_side, r"hessian, .*1.0.*, expected \[\[0.0"),
    ],
)
def test_a_singular_point_that_is_not_zero_and_marked_fails(slope, complaint):
    with pytest.raises(AssertionError, match=f", 0: .*{complaint}"):
        run_cell(entry(norm_by(slope), at_zero), "float64", "conventions")


def test_a_second_derivative_that_is_finite_is_not_singular():
    smooth = lambda make: iter([Convention("0", call(make.put([0.0])), singular=True)])
    with pytest.raises(AssertionError, match=r"0: hessian, .*2.0.*detect_anomaly is not told"):
        run_cell(entry(lambda x: jnp.sum(x * x), smooth), "float64", "conventions")


def powers(slope):
    """The sum of x^4 / 4, with this rule for the slope."""
    return derivative_rules(
        lambda x: jnp.sum(x**4 / 4),
        jvp=lambda primals, output, tangents: jnp.sum(slope(primals[0]) * tangents[0]),
    )


RIGHT = {
    "smooth": powers(lambda x: x**3),
    "a norm, which has no derivative at 0": norm_by(marked),
    "a kink": lambda x: jnp.sum(jnp.abs(x)),
    "a jump": lambda x: jnp.sum(jnp.floor(x)),
    "a product": jnp.prod,
}
WRONG = {
    "1 at 0": (powers(lambda x: jnp.where(x == 0, 1, x**3)), "zeros.*: derivative 1 is"),
    "0 at 1": (powers(lambda x: jnp.where(x == 1, 0, x**3)), "ones: derivative 1 is"),
    "a constant at 1": (powers(lambda x: jnp.where(x == 1, 1, x**3)), "ones: derivative 2 is"),
}


@pytest.mark.parametrize("what", RIGHT)
def test_right_limits_pass(what):
    run_cell(entry(RIGHT[what]), "float64", "limits")


@pytest.mark.parametrize("what", WRONG)
def test_a_constant_in_a_rule_fails_the_limits(what):
    wrong, complaint = WRONG[what]
    with pytest.raises(AssertionError, match=complaint):
        run_cell(entry(wrong), "float64", "limits")


def test_a_reverse_rule_of_its_own_fails_the_limits():
    def pullback(primals, output, cotangent):
        return (cotangent * jnp.where(primals[0] == 1, 1, primals[0] ** 3),)

    wrong = derivative_rules(
        lambda x: jnp.sum(x**4 / 4),
        jvp=lambda primals, output, tangents: jnp.sum(primals[0] ** 3 * tangents[0]),
        vjp=pullback,
    )
    with pytest.raises(AssertionError, match="ones: reverse over reverse gives"):
        run_cell(entry(wrong), "float64", "limits")
