"""Maxima of windows: elements compared with their neighbours, and read at their positions."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._ops.nn.pooling.greatest import (
    _MOST,
    _positions_by_windows,
    greatest_of,
    positions_of_greatest,
    read_at,
)
from functx._ops.nn.pooling.placement import placed


RNG = np.random.default_rng(0)
F = functx.nn.functional
PLACES = [
    ((9,), 2, {}),
    ((9,), 3, {"stride": 2, "padding": 1}),
    ((9,), 3, {"stride": 1, "dilation": 3, "ceil_mode": True}),
    ((7, 8), (3, 2), {"padding": (1, 0), "ceil_mode": True}),
    ((7, 6), 2, {"stride": (1, 4), "padding": 1, "dilation": (2, 1)}),
    ((4, 5, 6), 2, {"stride": 1, "padding": 1}),
    ((60,), _MOST, {"stride": 5}),
    ((60,), _MOST + 1, {"stride": 5}),
]
SPECIAL = [0.0, -0.0, 1e-310, -1e-310, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan]


def windows_over(x, kernel, options):
    options = {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False, **options}
    return placed(x, kernel, *options.values(), n=x.ndim - 1)


def read_at_positions(x, windows):
    return read_at(x, _positions_by_windows(x, windows))


def special_images(sizes, dtype):
    images = RNG.choice(SPECIAL, (40, *sizes), p=[0.15] * 6 + [0.03, 0.03, 0.02, 0.02])
    if "int" in dtype:
        images = RNG.integers(0, 3, images.shape)
    return jnp.asarray(images).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int64", "uint8"])
@pytest.mark.parametrize("sizes, kernel, options", PLACES)
def test_every_bit_of_a_number_is_that_of_the_element_at_the_position(
    sizes, kernel, options, dtype
):
    x = special_images(sizes, dtype)
    windows = windows_over(x, kernel, options)
    got, expected = jax.jit(lambda x: [f(x, windows) for f in (greatest_of, read_at_positions)])(x)
    nothing = np.isnan(np.asarray(expected).astype("float64"))
    np.testing.assert_array_equal(np.isnan(np.asarray(got).astype("float64")), nothing)
    raw = lambda y: np.asarray(y).view(f"u{x.dtype.itemsize}")[~nothing]
    np.testing.assert_array_equal(raw(got), raw(expected))


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("sizes, kernel, options", PLACES)
def test_positions_are_those_of_the_first_and_of_the_last_nan(sizes, kernel, options, dtype):
    x = special_images(sizes, dtype)
    windows = windows_over(x, kernel, options)
    ways = positions_of_greatest, _positions_by_windows
    got, expected = jax.jit(lambda x: [f(x, windows) for f in ways])(x)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("sizes, kernel, options", PLACES)
def test_derivatives_are_those_of_elements_at_positions(sizes, kernel, options):
    x = jnp.asarray(RNG.integers(0, 4, (3, *sizes)).astype("float64"))
    windows = windows_over(x, kernel, options)
    t = jnp.asarray(RNG.normal(size=x.shape))

    def all_of(f):
        loss = lambda x: jnp.sum(jnp.sin(f(x, windows)))
        values = lambda x: f(x, windows)
        hessian = jax.jvp(jax.grad(loss), (x,), (t,))[1]
        lanes = jax.vmap(jax.grad(loss))(jnp.stack([x, t]))
        return jax.grad(loss)(x), jax.jvp(values, (x,), (t,))[1], hessian, lanes

    got, expected = jax.jit(lambda: [all_of(f) for f in (greatest_of, read_at_positions)])()
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-14), got, expected)


def test_a_window_of_padding_alone_moves_with_nothing():
    f = lambda x: F.max_pool2d(x, 2, 1, 1, 4)
    value, moved = jax.jvp(f, (jnp.ones((1, 3, 4)),), (jnp.ones((1, 3, 4)),))
    np.testing.assert_array_equal(value, -np.inf)
    np.testing.assert_array_equal(moved, 0)


@pytest.mark.parametrize(
    "call, shape",
    [
        (lambda x: functx.max_pool1d(x, 3), (2, 9)),
        (lambda x: F.max_pool2d(x, 3, 2, 1), (2, 9, 9)),
        (lambda x: functx.max_pool3d(x, 2), (2, 4, 4, 4)),
        (lambda x: F.lp_pool2d(x, float("inf"), 2), (2, 4, 4)),
    ],
)
def test_no_position_is_computed_where_none_is_asked_for(call, shape):
    """Positions are chosen among 32-bit integers, and elements of float64 by keys of 64 bits."""
    x = jnp.ones(shape, "float64")
    text = lambda f: jax.jit(f).lower(x).compile().as_text()
    chosen = re.compile(r"= s32\[[\d,]*\]\S* select\(")
    assert not chosen.search(text(call))
    assert chosen.search(text(jax.grad(lambda x: call(x).sum())))  # so a choice would be seen
