"""The functions of JAX that stand for operators have the operators' values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from functx._core import REGISTRY
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx.testing import op_db
from functx.testing.two_conventions.jax_rules import JAX_RULES
from functx.testing.two_conventions.noting import both_of, recorded_with_both
from functx.testing.two_conventions.unmatched import WITHOUT_COUNTERPART


class BothResults(Visitor):
    """Keeps what both rules of each call give."""

    def __init__(self):
        self.found = []

    def enters(self, eqn):
        return both_of(eqn) is None and super().enters(eqn)

    def equation(self, eqn, operands):
        both = both_of(eqn)
        if both is None:
            return bind(eqn, operands)
        ours = both.functx(*operands)
        self.found.append((ours, both.jax(*operands)))
        return [*ours, *ours]


def results_of_both(info, sample):
    f = lambda *arrays: jax.tree.leaves(sample.over_arrays(info.op)(*arrays))
    arrays = sample.arrays()
    look = BothResults()
    interpret(recorded_with_both(f, *arrays), arrays, look)
    return look.found


@pytest.mark.parametrize("name", JAX_RULES)
def test_values_are_the_operators(name):
    held = 0
    for info in [info for info in op_db if info.name == name]:
        for sample in list(info.samples(info.make("float32")))[:3]:
            for ours, theirs in results_of_both(info, sample):
                held += 1
                for x, y in zip(ours, theirs, strict=True):
                    if jnp.isnan(x).any():  # NaN is of either sign, and without a derivative
                        continue
                    np.testing.assert_allclose(
                        jnp.asarray(x), jnp.asarray(y), rtol=2e-3, atol=1e-4, err_msg=info.id
                    )
    assert held, "no sample calls JAX's function"


def test_operators_that_are_named_exist():
    assert REGISTRY.keys() >= JAX_RULES.keys() | WITHOUT_COUNTERPART
    assert not JAX_RULES.keys() & WITHOUT_COUNTERPART
