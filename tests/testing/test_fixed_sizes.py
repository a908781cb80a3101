"""`FixedSizes` says which sizes of a call cannot be symbols."""

import jax.numpy as jnp
import pytest

import functx
from functx.testing import call, FixedSizes, OpInfo, run_cell
from functx.testing.checks.resizing import Resizable


def along_both_dimensions(make):
    yield call(make(2, 3), dim=0)
    yield call(make(2, 3))


ALONG = FixedSizes("input", "lengths are numbers", along="dim")
UNLESS = FixedSizes("input", "lengths are numbers", along="dim", unless="s")
COMPLETE = FixedSizes("A", "which is larger decides", dims=(-2,), given={"mode": "complete"})


@pytest.mark.parametrize(
    ("op", "options", "fixed", "dims"),
    [
        (functx.fft.fft, {"dim": 0}, ALONG, {0}),
        (functx.fft.fft, {}, ALONG, {1}),
        (functx.fft.fftn, {"dim": (0, -1)}, ALONG, {0, 1}),
        (functx.fft.fftn, {"dim": ()}, ALONG, set()),
        (functx.fft.fftn, {}, ALONG, {0, 1}),
        (functx.fft.fftn, {"s": (4,)}, UNLESS, set()),
        (functx.fft.fftn, {"s": (4, -1)}, UNLESS, {1}),
        (functx.fft.fftn, {"s": (4,), "dim": (0,)}, UNLESS, set()),
        (functx.fft.fftn, {"dim": (0,)}, UNLESS, {0}),
        (functx.linalg.qr, {"mode": "complete"}, COMPLETE, {0}),
        (functx.linalg.qr, {"mode": "reduced"}, COMPLETE, set()),
        (functx.linalg.qr, {}, COMPLETE, set()),
    ],
)
def test_options_say_which_sizes_are_fixed(op, options, fixed, dims):
    resizable = Resizable(OpInfo(op, lambda make: iter(())), call(jnp.ones((2, 3)), **options))
    assert resizable.fixed(fixed) == {(0, d) for d in dims}


def test_the_sizes_that_an_option_names_are_held_to_be_fixed():
    run_cell(
        OpInfo(functx.fft.fft, along_both_dimensions, fixed_sizes=(ALONG,)),
        "float32",
        "symbolic",
        profile="full",
    )
    needless = OpInfo(functx.fft.fftshift, along_both_dimensions, fixed_sizes=(ALONG,))
    with pytest.raises(AssertionError, match="exports with symbols for the sizes of input"):
        run_cell(needless, "float32", "symbolic")
