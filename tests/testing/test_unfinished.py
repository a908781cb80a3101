"""Entries say what they lack."""

import numpy as np
import pytest

import functx
from functx.testing import call, op_db, OpInfo, Refusal, unfinished


def samples(make):
    yield call(make(2, 3))


def refusals(make):
    yield Refusal(call(make(2), 5), "out of range", IndexError)


def test_a_finished_entry_lacks_nothing():
    def giving_all(make):
        yield call(make(2, 3), 1, True, dtype="float32")

    assert unfinished(OpInfo(functx.sum, giving_all, np.sum, refusals)) == []


def test_options_that_no_sample_gives_are_named():
    lacks = unfinished(OpInfo(functx.sum, samples))
    given = [f"`{name}` is never given" for name in ("dim", "keepdim", "dtype")]
    assert lacks == ["no reference", *given]


def test_an_operator_without_arrays_must_declare_what_it_refuses():
    sizes = lambda make: iter([call(2, dtype=make.dtype)])
    assert unfinished(OpInfo(functx.zeros, sizes, lambda *args, **_: np.zeros(2))) == [
        "no refusals"
    ]


def test_a_default_does_not_count_as_given():
    def default(make):
        yield call(make(2, 3), None, False)

    assert "`keepdim` is never given" in unfinished(OpInfo(functx.sum, default))


def test_a_dtype_without_samples_is_named():
    def floats(make):
        if make.dtype.kind == "f":
            yield call(make(2))

    info = OpInfo(functx.sin, floats, dtypes=("float32", "int32"))
    assert "no sample in int32" in unfinished(info)


def test_other_entries_of_the_operator_count():
    def keeping(make):
        yield call(make(2, 3), 0, True, dtype="float64")

    other = OpInfo(functx.sum, keeping, np.sum, refusals, variant="keeping")
    assert unfinished(OpInfo(functx.sum, samples), [other]) == []


@pytest.mark.parametrize("info", op_db, ids=lambda info: info.id)
def test_no_entry_is_unfinished(info):
    siblings = [other for other in op_db if other.op is info.op and other is not info]
    assert unfinished(info, siblings) == []
