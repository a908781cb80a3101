"""Algebraic facts of every operator, at calls that are drawn from its entry."""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
import proved
from hypothesis import given, HealthCheck, Phase, seed, settings

import functx
from functx.testing import assert_properties, op_db
from functx.testing.checks.compare import assert_close, closeness
from functx.testing.strategies import calls


EXAMPLES = {"quick": 2, "full": 10, "exhaustive": 100}
WRITTEN_IN = {"functx": functx, "jax": jax, "jnp": jnp, "np": np}


def pytest_generate_tests(metafunc):
    if "info" in metafunc.fixturenames:
        quick = metafunc.config.getoption("--profile") == "quick"
        chosen = [info for info in op_db if not quick or has_its_turn(info)]
        metafunc.parametrize("info", chosen, ids=lambda info: info.id)


def has_its_turn(info):
    """Whether an entry has changed, or is of the sixteenth whose turn it is in this tree.

    Compiling is most of the time.
    """
    return not proved.QUICK.proves(info) or proved.part_of(info.id, "facts", parts=16) == 0


def test_facts_hold_of_every_call(info, request):
    examples = EXAMPLES[request.config.getoption("--profile")]

    @seed(zlib.crc32(info.id.encode()))
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(calls(info, special=True))
    def facts_hold(call):
        assert "jit_is_eager" in assert_properties(call)
        again = eval(repr(call), dict(WRITTEN_IN))
        assert_close(again, call(), what=repr(call), close=closeness(info, call.sample))

    facts_hold()
