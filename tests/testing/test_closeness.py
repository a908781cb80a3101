"""How close is close: in ulps of each element, and a floor only where one is stated."""

import dataclasses

import jax
import ml_dtypes
import numpy as np
import pytest

import functx
from functx.testing import call, OpInfo, run_cell, Tolerance
from functx.testing.checks.compare import assert_close, Closeness, closeness, ulps_of, VALUES


def off(got, want, close=VALUES, dtype="float32"):
    try:
        assert_close(np.asarray(got, dtype), np.asarray(want, dtype), what="it", close=close)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("size", [1e-30, 1e-6, 1.0, 1e30])
def test_each_element_counts_by_its_own_size(size):
    assert off([1e30, size * 1.00001], [1e30, size])
    assert not off([1e30, size * (1 + 2e-7)], [1e30, size])


def test_a_floor_is_relative_to_the_largest_element_or_the_scale():
    assert off([1.0, 1e-7], [1.0, 0.0])
    assert not off([1.0, 1e-7], [1.0, 0.0], Closeness(8, floor=8))
    assert off([1e-7], [0.0], Closeness(8, floor=8))
    assert not off([1e-7], [0.0], Closeness(8, floor=8, scale=3.0))


def test_what_xla_flushes_is_zero():
    assert not off([0.0], [1e-39])
    assert off([0.0], [1e-37])


@pytest.mark.parametrize("want", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("got", [0.0, 3e38, np.nan, np.inf, -np.inf])
def test_not_finite_values_match_in_place(got, want):
    assert off([got, 1.0], [want, 1.0]) == (not np.array_equal(got, want, equal_nan=True))


def test_signs_of_zeros_count_where_they_are_asked_for():
    assert not off([0.0], [-0.0])
    assert off([0.0], [-0.0], Closeness(8, signed_zeros=True))


def test_complex_elements_count_by_modulus():
    assert not off([1 + 1e-8j], [1 + 0j], dtype="complex64")
    assert off([1 + 1e-5j], [1 + 0j], dtype="complex64")


def test_halves_count_in_their_own_ulps():
    near = Closeness(2)
    assert not off([1.0078125], [1.0], near, ml_dtypes.bfloat16)
    assert off([1.0234375], [1.0], near, ml_dtypes.bfloat16)


def test_shapes_dtypes_and_structure_count():
    with pytest.raises(AssertionError, match=r"f32\[2\], expected f32\[3\]"):
        assert_close(np.ones(2, "float32"), np.ones(3, "float32"), what="it")
    with pytest.raises(AssertionError, match=r"f32\[2\], expected f64\[2\]"):
        assert_close(np.ones(2, "float32"), np.ones(2), what="it")
    with pytest.raises(AssertionError, match="structure"):
        assert_close([np.ones(2)], (np.ones(2),), what="it")


def samples(make):
    yield call(make(2, 3))


def slightly_off(factor):
    return OpInfo(functx.sin, samples, reference=lambda x: np.sin(x) * (1 + factor * 2**-23))


def test_an_entry_may_state_ulps_and_a_floor():
    run_cell(slightly_off(2), "float32", "reference")
    with pytest.raises(AssertionError, match="ulps"):
        run_cell(slightly_off(20), "float32", "reference")
    loose = OpInfo(functx.sin, samples, tolerances=(Tolerance("a reason", floor=64),))
    sample = next(loose.draw("float32"))
    assert not off([1.0, 2e-6], [1.0, 0], closeness(loose, sample))
    assert off([1.0, 2e-6], [1.0, 0], closeness(slightly_off(2), sample))


def test_a_floor_for_each_element_does_not_excuse_small_ones_beside_large_ones():
    def stated(elementwise):
        near = Tolerance("a reason", floor=64, elementwise=elementwise)
        samples = lambda make: iter([call(make.put([1e-9, 1.0]))])
        info = OpInfo(functx.sin, samples, tolerances=(near,))
        return closeness(info, next(info.draw("float32")), computed=False)

    got, want = [1.0001e-9, 1.0], [1e-9, 1.0]
    assert not off(got, want, stated(False))
    assert off(got, want, stated(True))


def test_a_floor_may_be_of_what_the_arguments_say():
    def stated(size):
        of = lambda x: np.full_like(x, size)
        near = Tolerance("a reason", floor=64, elementwise=True, of=of)
        return dataclasses.replace(slightly_off(20), tolerances=(near,))

    run_cell(stated(1.0), "float32", "reference")
    with pytest.raises(AssertionError, match="ulps"):
        run_cell(stated(0.0), "float32", "reference")


EXACT = Tolerance("a fact", ulps=4, dtypes=frozenset({"float32"}))


def ulps_with(*tolerances, dtype="float32"):
    samples = lambda make: iter([call(make(3))])
    return ulps_of(OpInfo(functx.sin, samples, tolerances=tolerances), dtype)


def test_a_platform_may_be_looser_and_never_tighter():
    at = lambda *dtypes, ulps=64.0, device: Tolerance(
        "a fact", ulps=ulps, dtypes=frozenset(dtypes), devices=frozenset({device})
    )
    here = jax.default_backend()
    for looser, dtype, ulps in [
        (at(device=here), "float32", 64),
        (at(device=here, ulps=1.0), "float32", 4),
        (at(device=here, ulps=1.0), "float64", 8),
        (at(device="elsewhere"), "float32", 4),
        (at("float32", device=here), "float32", 64),
        (at("float32", device=here), "float64", 8),
    ]:
        assert ulps_with(EXACT, looser, dtype=dtype) == ulps


@pytest.mark.parametrize("dtype, ulps", [("float32", 4), ("float64", 8), ("bfloat16", 2)])
def test_a_tolerance_of_some_dtypes_leaves_the_others_at_the_default(dtype, ulps):
    assert ulps_with(EXACT, dtype=dtype) == ulps


def test_of_several_tolerances_the_largest_counts():
    assert ulps_with(EXACT, Tolerance("another fact", ulps=16)) == 16


def test_ulps_alone_differ_by_dtype_and_one_tolerance_has_a_floor():
    with pytest.raises(ValueError, match="states `ulps` alone"):
        Tolerance("a fact", floor=4, dtypes=frozenset({"float32"}))
    with pytest.raises(ValueError, match="sin: one of `tolerances` may have a `floor`"):
        ulps_with(Tolerance("a fact", floor=4), Tolerance("another", floor=8))
