"""Python integers beside arrays whose dtype cannot hold them are refused before they wrap."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core import OPERATORS, REGISTRY
from functx._core.operators.python_integers import number_check
from functx._core.operators.roles import RoleKind


CHECKED = sorted(
    name
    for name, spec in REGISTRY.items()
    if number_check(spec.parameters, spec.promote, spec.zero_dim_promotes_alike) is not None
    and {"int8", "uint8"} <= set(spec.accepts.value)
)


def numbers_of(name):
    """The parameters of an operator of two arrays that take a number in place of the second."""
    spec = REGISTRY[name]
    arrays = [
        n for n, role in spec.roles.items() if role.kind is RoleKind.ARRAY and not role.several
    ]
    required = [n for n in spec.parameters.positional if n not in spec.parameters.defaults]
    return [n for n in arrays[1:] if spec.roles[n].takes_number and set(required) <= {*arrays}]


@pytest.mark.parametrize("name", [name for name in CHECKED if numbers_of(name)])
def test_a_number_that_does_not_fit_is_refused(name):
    op, spec = OPERATORS[name], REGISTRY[name]
    arrays = [n for n in spec.parameters.positional if n not in spec.parameters.defaults]
    for number in numbers_of(name):
        for dtype, wrong in (("int8", 300), ("int8", 2**40), ("uint8", -1), ("int32", 2**31)):
            given = {n: jnp.ones(0, dtype) for n in arrays} | {number: wrong}
            with pytest.raises(RuntimeError, match=f"`{number}` must fit {dtype}, got {wrong}"):
                op(**given)
            with pytest.raises(RuntimeError, match=f"`{number}` must fit {dtype}, got {wrong}"):
                jax.jit(lambda given=given: op(**given))()


def test_what_holds_the_number_takes_it():
    wide = jnp.ones(2, "int16")
    np.testing.assert_array_equal(functx.mul(jnp.ones(2, "int8"), 127), [127, 127])
    np.testing.assert_array_equal(functx.mul(wide, 300), [300, 300])
    np.testing.assert_array_equal(functx.add(jnp.ones(2, "int8"), wide[0] * 300), [45, 45])
    assert functx.add(jnp.ones(2, "float16"), 300).dtype == "float16"
    assert functx.div(jnp.ones(2, "int8"), 300).dtype == "float32"
    assert functx.add(jnp.ones(2, bool), 300)[0] == 301
    assert functx.sum(jnp.ones((2, 2), "uint8"), -1).shape == (2,)


def test_the_remedy_is_named():
    with pytest.raises(RuntimeError, match="wider dtype"):
        functx.lt(jnp.ones(2, "uint8"), -1)
