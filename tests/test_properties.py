"""Algebraic facts of every operator, at calls that are drawn from its entry."""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, HealthCheck, Phase, seed, settings

import functx
from functx.testing import assert_properties, op_db
from functx.testing.checks.compare import assert_close, closeness
from functx.testing.strategies import calls


# Compiling is most of the time: the quick profile looks at one entry in eight.
EXAMPLES = {"quick": 2, "full": 10, "exhaustive": 100}
ONE_IN = {"quick": 8, "full": 1, "exhaustive": 1}
WRITTEN_IN = {"functx": functx, "jax": jax, "jnp": jnp, "np": np}


def pytest_generate_tests(metafunc):
    if "info" in metafunc.fixturenames:
        step = ONE_IN[metafunc.config.getoption("--profile")]
        metafunc.parametrize("info", op_db[::step], ids=lambda info: info.id)


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
