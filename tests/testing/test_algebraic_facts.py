"""Each algebraic fact fails of a function of which it is not true, and of that fact alone."""

import jax
import jax.numpy as jnp
import pytest
from faults import differs_by_layout, differs_under_jit
from hypothesis import find, given, Phase, settings

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import assert_properties, call, OpInfo, PROPERTIES
from functx.testing.strategies import calls


SOME = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate, Phase.shrink],
)
REVERSE = lambda factor: lambda primals, output, cotangent: (factor * cotangent,)
# A jvp that turns every tangent the same way, and one that doubles what the vjp does not.
folds = derivative_rules(
    lambda x: x, jvp=lambda primals, output, tangents: jnp.abs(tangents[0]), vjp=REVERSE(1)
)
doubles = derivative_rules(
    lambda x: x, jvp=lambda primals, output, tangents: 2 * tangents[0], vjp=REVERSE(1)
)


def counts_lanes(x):
    @jax.custom_batching.custom_vmap
    def f(x):
        return x

    @f.def_vmap
    def _(size, batched, x):
        return x * size, True

    return f(x)


def first_decides(input, other):
    return jnp.asarray(input) + jnp.asarray(other).astype(input.dtype)


first_decides.spec = functx.add.spec


def one_array(make):
    yield call(make(2))


def two_arrays(make):
    yield call(make(2), make(2))


FAULTS = {
    "linear_jvp": OpInfo(folds, one_array),
    "adjoint_vjp": OpInfo(doubles, one_array),
    "maps_commute": OpInfo(counts_lanes, one_array),
    "jit_is_eager": OpInfo(differs_under_jit, one_array),
    "layouts_agree": OpInfo(differs_by_layout, one_array),
    "promotion_is_symmetric": OpInfo(
        first_decides, two_arrays, dtypes=("int32", "float32", "float64")
    ),
}


def facts(info, names):
    @settings(SOME)
    @given(calls(info, dtypes=["float32"]))
    def hold(call):
        assert_properties(call, names)

    hold()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fact_fails_of_a_function_of_which_it_is_not_true(name):
    with pytest.raises(AssertionError) as caught:
        facts(FAULTS[name], [name])
    notes = "".join(caught.value.__notes__)
    assert f"{name} does not hold of" in notes
    assert "Failing test case" in notes or "Falsifying example" in notes


def test_every_fact_has_a_function_that_lacks_it():
    assert FAULTS.keys() == PROPERTIES.keys()


def no_arrays(make):
    yield call()


OF_DERIVATIVES = {"linear_jvp", "adjoint_vjp"}


@pytest.mark.parametrize(
    ("info", "said"),
    [
        (OpInfo(lambda x: x * 2, one_array), PROPERTIES.keys() - {"promotion_is_symmetric"}),
        (
            OpInfo(lambda x: x > 0, one_array),
            PROPERTIES.keys() - {"promotion_is_symmetric"} - OF_DERIVATIVES,
        ),
        (OpInfo(lambda x: (), one_array), {"jit_is_eager", "layouts_agree"}),
        (OpInfo(lambda: jnp.ones(3), no_arrays), {"jit_is_eager"}),
    ],
    ids=["smooth", "bools", "no results", "no arrays"],
)
def test_facts_say_nothing_of_what_a_call_has_not(info, said):
    whole = lambda c: all(x.size for x in c.sample.arrays())
    drawn = find(calls(info), whole, settings=SOME)
    assert set(assert_properties(drawn)) == said


def test_a_fact_may_be_named_alone_and_must_exist():
    drawn = find(calls("sin"), lambda c: c.sample.arrays()[0].size, settings=SOME)
    assert assert_properties(drawn, "linear_jvp") == ["linear_jvp"]
    with pytest.raises(ValueError, match="^assert_properties: (.|\n)*did you mean 'linear_jvp'"):
        assert_properties(drawn, names=["linear_jpv"])
    with pytest.raises(ValueError, match="`names` must name one at least"):
        assert_properties(drawn, [])
