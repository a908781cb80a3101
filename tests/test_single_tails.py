"""Functions of the normal distribution in single precision are those in double, rounded once."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


LEAST = float(np.finfo(np.float32).tiny)
RNG = np.random.default_rng(0)
WHOLE = np.concatenate(
    [
        RNG.uniform(-15, 15, 3000),
        np.exp(RNG.uniform(np.log(1e-30), np.log(3e38), 3000)) * RNG.choice([-1, 1], 3000),
        [0, -0.0, 1, -1, 11, -11, 15, 26, 3e38, -3e38],
    ]
)
UNIT = np.concatenate([RNG.uniform(0, 1, 3000), np.exp(RNG.uniform(-80, 0, 3000))])
NEAR_1 = np.concatenate([UNIT, 1 - np.exp(RNG.uniform(-16, 0, 1000)), [0.5, 1 - 2.0**-24]])
SPECIAL = functx.special


def slope(function):
    return lambda x: functx.func.jvp(function, (x,), (jnp.ones_like(x),))[1]


def error_in_ulps(got, want):
    """Of the normal numbers; where the exact value is none, `got` must be `want` rounded."""
    got = np.asarray(got, np.float64)
    normal = (np.abs(want) >= LEAST) & (np.abs(want) <= np.finfo(np.float32).max)
    with np.errstate(over="ignore"):
        rounded = want.astype(np.float32)
    small = np.abs(want) < LEAST  # may be flushed
    np.testing.assert_array_equal(got[~normal & ~small], rounded[~normal & ~small])
    assert np.all(np.abs(got[small]) <= LEAST)
    ulps = np.spacing(np.abs(rounded[normal])).astype(float)
    return np.max(np.abs(got[normal] - want[normal]) / ulps)


@pytest.mark.parametrize(
    "function, points",
    [
        (functx.erfc, WHOLE),
        (functx.erfinv, np.concatenate([NEAR_1, -NEAR_1, [1, -1, 1.5, -1.5, 0, -0.0]])),
        (SPECIAL.erfcx, WHOLE),
        (SPECIAL.ndtr, WHOLE),
        (SPECIAL.ndtri, np.concatenate([NEAR_1, [0, 1, -1, 2]])),
        (SPECIAL.log_ndtr, WHOLE),
        (slope(SPECIAL.erfcx), WHOLE),
        (slope(SPECIAL.log_ndtr), WHOLE),
    ],
    ids=["erfc", "erfinv", "erfcx", "ndtr", "ndtri", "log_ndtr", "erfcx'", "log_ndtr'"],
)
def test_results_are_rounded_once(function, points):
    x = points.astype(np.float32)
    want = np.asarray(function(jnp.asarray(x, jnp.float64)))
    x, want = x[~np.isnan(want)], want[~np.isnan(want)]
    for program in function, jax.jit(function), jax.vmap(function):
        assert error_in_ulps(program(jnp.asarray(x)), want) <= 0.51


@pytest.mark.parametrize(
    "function, beyond",
    [
        (functx.erfc, ()),
        (functx.erfinv, (-2, 2)),
        (SPECIAL.erfcx, ()),
        (SPECIAL.ndtr, ()),
        (SPECIAL.ndtri, (-1, 2, -np.inf, np.inf)),
        (SPECIAL.log_ndtr, ()),
    ],
)
def test_ends_are_those_of_double_precision(function, beyond):
    nan = jnp.asarray([np.nan, *beyond], "float32")
    assert np.isnan(function(nan)).all()
    if not beyond:
        ends = np.asarray([np.inf, -np.inf, 0.0, -0.0])
        want = np.asarray(function(jnp.asarray(ends))).astype(np.float32)
        got = np.asarray(function(jnp.asarray(ends, "float32")))
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_slopes_of_quantiles_come_from_the_tail():
    p = np.concatenate([UNIT, 1 - UNIT[:3000], [0.5]]).astype(np.float32)
    p = p[(p > 0) & (p < 1)]
    want = np.asarray(slope(SPECIAL.ndtri)(jnp.asarray(p, jnp.float64)))
    got = np.asarray(slope(SPECIAL.ndtri)(jnp.asarray(p)), np.float64)
    fits = want < np.finfo(np.float32).max
    # The quantile was rounded to single precision, which moves the factor beside `p` little.
    np.testing.assert_allclose(got[fits], want[fits], rtol=4 * 2.0**-24)


def test_orders_of_derivatives_agree_in_both_precisions():
    """Second derivatives take a ratio of their own."""
    x = np.concatenate([RNG.uniform(-9, 12, 500), [-30, 50, 1e4]])
    for function, order in itertools.product((SPECIAL.log_ndtr, SPECIAL.erfcx), (1, 2)):
        at = function
        for _ in range(order):
            at = slope(at)
        x32 = jnp.asarray(x[:500] if function is SPECIAL.erfcx else x, "float32")
        got, want = at(x32), np.asarray(at(x32.astype(jnp.float64)))
        fits = (np.abs(want) > LEAST) & (np.abs(want) < 1e38)
        np.testing.assert_allclose(np.asarray(got)[fits], want[fits], rtol=1e-6)
