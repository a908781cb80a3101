"""The functions of JAX that stand for operators have the operators' values."""

import jax
import numpy as np
import pytest

from functx._core import REGISTRY
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx.testing import op_db
from functx.testing.checks.programs import CheckProgram, run_requests
from functx.testing.two_conventions.jax_rules import JAX_RULES
from functx.testing.two_conventions.noting import both_of, recorded_with_both
from functx.testing.two_conventions.unmatched import without_counterpart


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


def both_results(info, sample):
    """A program of the sample's arrays, which gives what both rules of each call give."""

    def program(*arrays):
        f = lambda *arrays: jax.tree.leaves(sample.over_arrays(info.op)(*arrays))
        look = BothResults()
        interpret(recorded_with_both(f, *arrays), arrays, look)
        return look.found

    return CheckProgram(program)(*sample.arrays())


TOGETHER = 17  # operators whose programs are compiled as one: one by one, it takes far longer
NAMES = [*JAX_RULES]


@pytest.mark.parametrize(
    "names",
    [NAMES[i : i + TOGETHER] for i in range(0, len(NAMES), TOGETHER)],
    ids=lambda names: f"{names[0]} to {names[-1]}",
)
def test_values_are_the_operators(names):
    infos = [info for info in op_db if info.name in names]
    asked = [
        (info, both_results(info, sample))
        for info in infos
        for sample in list(info.samples(info.make("float32")))[:3]
    ]
    held = set()
    for (info, _), found in zip(asked, run_requests([call for _, call in asked]), strict=True):
        assert not isinstance(found, Exception), f"{info.id}: {found}"
        for ours, theirs in found:
            held.add(info.name)
            for x, y in zip(ours, theirs, strict=True):
                if np.isnan(x).any():  # NaN is of either sign, and without a derivative
                    continue
                np.testing.assert_allclose(
                    np.asarray(x), np.asarray(y), rtol=2e-3, atol=1e-4, err_msg=info.id
                )
    assert held == set(names), "no sample calls JAX's function"


def test_operators_that_are_named_exist():
    assert REGISTRY.keys() >= JAX_RULES.keys() | without_counterpart()
    assert not JAX_RULES.keys() & without_counterpart()
