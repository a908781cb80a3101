"""Which samples a check looks at: those that show what none before them does."""

import dataclasses

import jax
import pytest
from jax import lax

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import call, cells, CHECKS, edge, held, op_db, OpInfo, run_cells
from functx.testing.checks.sample_selection import (
    first_of_sets,
    one_of_each_option,
    telling,
    telling_of_derivatives,
    telling_of_own_derivatives,
    telling_of_reverse_rules,
)


def shown(op, samples, select=telling):
    info = OpInfo(op, samples)
    drawn = list(info.draw("float32"))
    return [drawn.index(sample) for sample in select(info, drawn)]


def of_entry(op, select):
    [info] = [info for info in op_db if info.op is op]
    drawn = list(info.draw("float64"))
    return [drawn.index(sample) for sample in select(info, drawn)]


def test_a_sample_that_shows_nothing_new_is_left_out():
    def samples(make):
        yield call(make(2, 3))
        yield call(make(3, 2))
        yield call(make(2, 3), None)

    assert shown(functx.sum, samples) == [0]


def test_each_option_is_shown_once_and_each_word_by_itself():
    def samples(make):
        yield call(make(2, 3), make(2, 3))
        yield call(make(2, 3), make(2, 3), reduction="sum")
        yield call(make(4, 3), make(4, 3), reduction="sum")
        yield call(make(2, 3), make(2, 3), reduction="none")
        yield call(make(2, 3), make(2, 3), weight=make(2, 3))

    assert shown(functx.nn.functional.mse_loss, samples) == [0, 1, 3, 4]


def test_negative_dims_ranks_and_empty_arrays_are_new():
    def samples(make):
        yield call(make(2, 3), 0)
        yield call(make(2, 3), -1)
        yield call(make(2, 3, 2), 0)
        yield call(make(3), 0)
        yield call(make(), 0)
        yield call(make(0, 3), 0)
        yield call(make(2, 3), -2)

    assert shown(functx.sum, samples) == [0, 1, 2, 4, 5, 6]


def test_each_value_of_an_option_is_new_by_position_and_by_name():
    def samples(make):
        yield call(make(6), (2,), (1,), 4)
        yield call(make(6), (2,), (1,), storage_offset=1)
        yield call(make(6), (2,), (1,), storage_offset=4)
        yield call(make(6), (2,), (1,), storage_offset=1)
        yield call(make(6), (2,), (1,), None)

    assert shown(functx.as_strided, samples) == [0, 1, 2]
    assert shown(functx.as_strided, samples, one_of_each_option) == [0]


def test_options_are_new_together():
    def samples(make):
        yield call(make(2, 3), 1)
        yield call(make(2, 3), keepdim=True)
        yield call(make(2, 3), 1, keepdim=True)

    assert shown(functx.sum, samples) == [0, 1, 2]


def test_what_edges_show_is_not_shown_of_derivatives():
    def samples(make):
        yield call(make(3))
        yield edge(make(3), 0)
        yield held(make(3), 0)
        yield call(make(3), 0)

    assert shown(functx.sum, samples) == [0, 1, 2]
    assert shown(functx.sum, samples, telling_of_derivatives) == [0, 3]


ruled = derivative_rules(
    lambda x: x,
    jvp=lambda primals, output, tangents: tangents[0],
    vjp=lambda primals, output, cotangent: (cotangent,),
)
forward_alone = derivative_rules(lambda x: x, jvp=lambda primals, output, tangents: tangents[0])


@jax.custom_jvp
def custom(x):
    return x


custom.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
OWN = [ruled, forward_alone, custom, lambda x: x - lax.stop_gradient(x)]


def powers(make):
    yield call(make(3))
    yield call(make(3), power=2)
    yield call(make(2, 3))
    yield call(make(3), power=3)


@pytest.mark.parametrize("own", OWN)
def test_every_value_tells_of_a_derivative_that_is_the_operators_own(own):
    select = telling_of_own_derivatives
    derived = lambda x, power=1: x**power
    assert shown(derived, powers, select) == [0, 1]
    assert shown(lambda x, power=1: own(x**power), powers, select) == [0, 1, 2, 3]
    at_three = lambda x, power=1: own(x**power) if power == 3 else x**power
    assert shown(at_three, powers, select) == [0, 1, 3]


def test_second_derivatives_are_looked_at_in_options_where_reverse_rules_are_given():
    select = telling_of_reverse_rules
    assert shown(lambda x, power=1: ruled(x**power), powers, select) == [0, 1, 3]
    assert shown(lambda x, power=1: forward_alone(x**power), powers, select) == [0]


def double(x):
    return 2 * x - lax.stop_gradient(x)


doubled = derivative_rules(
    lambda x: x, vjp=lambda primals, output, cotangent: (2 * cotangent,), name="doubled"
)


@pytest.mark.parametrize("spoil", [doubled, double], ids=["rule", "cut"])
def test_a_gradient_that_is_off_at_one_value_given_by_name_is_seen(spoil):
    def off(*args, **kwargs):
        if kwargs.get("storage_offset") == 1:
            args = (spoil(args[0]), *args[1:])
        return functx.as_strided(*args, **kwargs)

    off.spec = functx.as_strided.spec
    [info] = [info for info in op_db if info.op is functx.as_strided]
    for checks in (["gradient"], ["reference"]):
        mutated = dataclasses.replace(info, op=off)
        outcomes = run_cells(mutated, "float64", checks)
        assert (outcomes[checks[0]].error is not None) == (checks == ["gradient"])


def test_broadcasting_numbers_and_edges_are_new():
    def samples(make):
        yield call(make(2, 3), make(2, 3))
        yield call(make(2, 3), make(3))
        yield call(make(2, 3), make(1, 3))
        yield call(make(2, 3), 2.0)
        yield edge(make.edges(), make.edges())

    assert shown(functx.mul, samples) == [0, 1, 3, 4]


def test_compositions_look_at_one_sample_for_each_set_of_arrays():
    def samples(make):
        yield call(make(0, 3), make(3))
        yield call(make(2, 3), make(3))
        yield call(make(2, 3), 2.0)
        yield call(make(4), make(4))

    assert shown(functx.mul, samples, first_of_sets) == [1, 2]


def test_derivatives_are_not_looked_at_at_edges():
    def samples(make):
        yield call(make(3, low=1))
        yield edge(make.put([0.0]))  # where the derivative is infinite

    info = OpInfo(functx.sqrt, samples)
    outcomes = run_cells(info, "float64", ["gradient", "second_gradient"])
    assert [(o.samples, o.error) for o in outcomes.values()] == [(1, None), (1, None)]


def one_array(make):
    yield call(make(2, 3))


def test_profiles_grow():
    info = OpInfo(functx.sin, one_array)
    quick, full = (set(c[1:] for c in cells([info], profile=p)) for p in ("quick", "full"))
    assert quick < full
    assert ("float64", "second_gradient") in quick
    assert ("float32", "vjp_vjp_vmap") not in quick and ("float32", "vjp_vjp_vmap") in full


def test_named_checks_and_dtypes_run_wherever_they_apply():
    info = OpInfo(functx.sin, one_array)
    named = [c[1:] for c in cells([info], ["float16"], ["vjp_vjp_vmap"])]
    assert named == [("float16", "vjp_vjp_vmap")]


def test_exhaustive_looks_at_all_samples():
    def samples(make):
        yield call(make(2, 3))
        yield call(make(3, 2))

    info = OpInfo(functx.sin, samples)
    drawn = list(info.draw("float32"))
    assert len(CHECKS["vmap"].select(info, drawn)) == 1
    assert len(CHECKS["vmap"].select(info, drawn, "exhaustive")) == 2
