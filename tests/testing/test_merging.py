"""Programs that checks ask for are compiled as few, and fail each for itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.backend import get_backend

from functx.testing import call, OpInfo, run_cells
from functx.testing.checks import programs
from functx.testing.checks.programs import _share, _Traced, CheckProgram, run_requests


def counted(f):
    traces = []

    def traced(*args):
        traces.append(1)
        return f(*args)

    return traced, traces


def test_a_program_asked_for_twice_is_traced_once():
    f, traces = counted(jnp.sin)
    program = CheckProgram(f)
    first, second = run_requests([program(np.ones(2)), program(np.zeros(2))])
    assert len(traces) == 1
    assert float(first[0]) == np.sin(1.0) and float(second[0]) == 0


def test_a_program_that_fails_fails_alone():
    def fails(x):
        raise ZeroDivisionError("by design")

    programs = [CheckProgram(jnp.sin), CheckProgram(fails), CheckProgram(jnp.cos)]
    sine, error, cosine = run_requests([p(np.zeros(())) for p in programs])
    assert float(sine) == 0 and float(cosine) == 1
    assert isinstance(error, ZeroDivisionError)


def test_a_program_that_fails_while_it_runs_fails_alone():
    def raises(x):
        raise ZeroDivisionError("by design")

    called_back = lambda x: jax.pure_callback(raises, x, x)
    programs = [CheckProgram(f) for f in (jnp.sin, jnp.tan, called_back, jnp.cos)]
    sine, _, error, cosine = run_requests([p(np.zeros(())) for p in programs])
    assert float(sine) == 0 and float(cosine) == 1
    assert "by design" in str(error)


def test_a_program_may_run_with_64_bit_off():
    program = CheckProgram(lambda x: x + 1, x64=False)
    [narrow], wide = run_requests([program(np.ones(1)), CheckProgram(lambda x: x + 1)(np.ones(1))])
    assert (narrow.dtype, wide.dtype) == (np.float32, np.float64)


def test_time_is_shared_by_equations():
    small, large = CheckProgram(jnp.sin), CheckProgram(lambda x: jnp.sin(jnp.sin(jnp.sin(x))))
    requests = [small(np.ones(1)), large(np.ones(1)), large(np.zeros(1))]
    traced = [_Traced(requests[:1]), _Traced(requests[1:])]
    before = [request.seconds for request in requests]
    _share(6.0, traced)
    shares = [r.seconds - seconds for r, seconds in zip(requests, before, strict=True)]
    assert shares == pytest.approx([2, 2, 2])  # 1 + 1 of 6 parts, and half of 1 + 3


def wrong(x):
    return jnp.sin(x)


def test_a_check_that_fails_leaves_the_others_alone():
    info = OpInfo(wrong, lambda make: iter([call(make(2, 3))]), reference=np.cos)
    outcomes = run_cells(info, "float32", ["reference", "vmap", "jit"])
    assert [name for name, o in outcomes.items() if o.error is not None] == ["reference"]
    assert "f32[2,3]" in repr(outcomes["reference"].sample)


def test_programs_are_freed_once_there_are_many(monkeypatch):
    alive = get_backend().live_executables
    kept = [jax.jit(lambda x, n=n: x + n) for n in range(3)]
    for f in kept:
        f(jnp.ones(2))
    before = len(alive())
    monkeypatch.setattr(programs, "KEPT", before)
    programs.let_go()
    assert before == len(alive()) >= 3
    monkeypatch.setattr(programs, "KEPT", 2)
    programs.let_go()
    assert len(alive()) <= before - 3
