"""Samples that are derived from an entry's own."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing import call, CHECKS, OpInfo, run_cells
from functx.testing.checks.derived import derived, looked_at


def row_sums(input):
    if input.ndim < 1:
        raise RuntimeError("row_sums: `input` must have a dimension")
    return jnp.sum(input, -1)


def samples(make):
    yield call(make(2, 3))


def info(**more):
    reference = more.pop("reference", lambda input: input.sum(-1))
    return OpInfo(row_sums, samples, reference=reference, **more)


def found(entry, dtype="float32"):
    return [
        s.args or tuple(s.kwargs.values()) for s in derived(entry, dtype, list(entry.draw(dtype)))
    ]


def test_a_sample_leads_to_high_ranks_empty_arrays_small_and_wild_values():
    arrays = [np.asarray(args[0]) for args in found(info())]
    assert [x.ndim for x in arrays] == [4, 2, 2, 2]
    assert arrays[1].size == 0
    assert (0 < abs(arrays[2])).all() and (abs(arrays[2]) < 1e-3).all()
    assert np.isnan(arrays[3]).any() and np.isinf(arrays[3]).any()


def test_what_the_operator_refuses_is_not_derived():
    assert not any(np.ndim(args[0]) == 0 for args in found(info()))


def test_an_operator_that_fails_in_words_not_its_own_fails_the_entry():
    def last_sums(input):
        return jnp.sum(input, range(input.ndim)[-1])

    last_sums.spec = functx.sum.spec
    entry = OpInfo(last_sums, samples, reference=lambda input: input.sum(-1))
    with pytest.raises(IndexError, match="range object index out of range"):
        found(entry)


def test_a_reference_with_a_fault_fails_the_entry():
    def misspelled(input):
        return input.summ(-1)

    with pytest.raises(AttributeError, match="summ"):
        found(info(reference=misspelled))


def test_what_the_entry_has_is_not_derived():
    own = lambda make: iter([call(make(1, 1, 2, 3)), call(make(0)), call(make.small(3))])
    entry = OpInfo(row_sums, own, reference=lambda input: input.sum(-1))
    [wild] = [np.asarray(args[0]) for args in found(entry)]
    assert np.isnan(wild).any()


def test_where_the_reference_says_nothing_nothing_is_derived():
    def only_plain(input):
        if input.ndim != 2 or not input.size or not np.isfinite(input).all():
            raise ValueError("no formula for it")
        return input.sum(-1)

    assert [np.shape(args[0]) for args in found(info(reference=only_plain))] == [(2, 3)]
    assert found(info(reference=None)) == []


@pytest.mark.parametrize(("dtype", "value"), [("int64", 2**24 + 1), ("uint8", 200)])
def test_integers_lead_to_greater_ones(dtype, value):
    entry = info(dtypes=("float32", dtype))
    [big] = [np.asarray(args[0]) for args in found(entry, dtype)]
    assert value in big


def test_values_alone_are_looked_at():
    entry = info()
    drawn = looked_at(entry, "float32")
    own = [s for s in drawn if not s.derived]
    assert len(drawn) > len(own)
    assert all(s in own for s in CHECKS["vmap"].select(entry, drawn, "exhaustive"))
    assert CHECKS["reference"].select(entry, drawn) == drawn


def test_a_mistake_at_high_rank_fails_the_reference_check():
    def wrong(input):
        return row_sums(input) * (2 if input.ndim >= 4 else 1)

    entry = OpInfo(wrong, samples, reference=lambda input: input.sum(-1))
    assert "2 of 2 off" in str(run_cells(entry, "float32", ["reference"])["reference"].error)
