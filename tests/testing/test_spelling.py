"""A call is the same program however its arguments are given."""

import dataclasses

import pytest

import functx
from functx.testing import call, op_db, run_cells
from functx.testing.calls import Calls
from functx.testing.checks.spelling import by_name, by_position


def entry(op):
    return next(info for info in op_db if info.op is op)


def written(op, write, *args, **kwargs):
    calls = Calls(op)
    return write(calls, calls.arguments(args, kwargs))


def test_by_position_what_is_left_out_before_is_written_out():
    assert written(functx.std, by_position, 1.0, keepdim=True) == ((1.0,), {"keepdim": True})
    assert written(functx.cumsum, by_position, 1.0, dim=0) == ((1.0, 0), {})
    assert written(functx.nn.functional.gelu, by_position, 1.0, approximate="tanh") == (
        (1.0, "tanh"),
        {},
    )
    given = written(functx.nn.functional.celu, by_position, 1.0, inplace=True)
    assert given == ((1.0, 1.0, True), {})


def test_by_name_defaults_are_written_out_but_those_of_traced_numbers():
    given = written(functx.nn.functional.celu, by_name, 1.0)
    assert given == ((), {"input": 1.0, "inplace": False})


def off_where(holds):
    def off(*args, **kwargs):
        out = functx.cumsum(*args, **kwargs)
        return out + out if holds(args, kwargs) else out

    off.spec = functx.cumsum.spec
    return dataclasses.replace(entry(functx.cumsum), op=off)


@pytest.mark.parametrize(
    "holds",
    [
        lambda args, kwargs: "dim" in kwargs,
        lambda args, kwargs: len(args) == 2,
        lambda args, kwargs: "dtype" in kwargs and kwargs["dtype"] is None,
        lambda args, kwargs: "input" in kwargs,
    ],
    ids=["by name", "by position", "as its default", "an array by name"],
)
def test_an_operator_that_does_something_else_in_one_way_is_found(holds):
    for op, fails in ((off_where(holds), True), (off_where(lambda args, kwargs: False), False)):
        outcome = run_cells(op, "float32", "spelling")["spelling"]
        assert (outcome.error is not None) == fails
        assert not fails or "is another program than cumsum(" in str(outcome.error)


def test_a_way_that_no_sample_has_is_looked_at():
    def samples(make):
        yield call(make(3), 0)

    op = off_where(lambda args, kwargs: "dim" in kwargs)
    outcome = run_cells(dataclasses.replace(op, samples=samples), "float32", "spelling")["spelling"]
    assert "cumsum(input=f32[3], dim=0, dtype=None)" in str(outcome.error)


def test_a_default_size_that_values_decide_is_written_out():
    def off(*args, **kwargs):
        out = functx.nonzero(*args, **kwargs)
        return out + 1 if "size" in kwargs and kwargs["size"] is None else out

    off.spec = functx.nonzero.spec
    right = entry(functx.nonzero)
    wrong = dataclasses.replace(right, op=off)
    assert run_cells(right, "float32", "spelling")["spelling"].error is None
    error = run_cells(wrong, "float32", "spelling")["spelling"].error
    assert "by name with its defaults written out" in str(error)
