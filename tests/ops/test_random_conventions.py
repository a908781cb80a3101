"""What random operators promise beyond their moments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


KEY = jax.random.key(0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_numbers_stay_below_one(dtype):
    x = functx.rand(20000, dtype=dtype, key=KEY)
    assert x.dtype == dtype and (x >= 0).all() and (x < 1).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_normals_have_tails(dtype):
    assert abs(functx.randn(20000, dtype=dtype, key=KEY)).max() > 3.5


def test_a_permutation_holds_each_number_once():
    assert sorted(functx.randperm(50, key=KEY).tolist()) == list(range(50))


def test_integers_reach_both_ends_of_their_range():
    x = functx.randint(-128, 128, (20000,), dtype="int8", key=KEY)
    assert (x.min(), x.max()) == (-128, 127)
    wide = functx.randint(-(2**63), 2**63 - 1, (1000,), key=KEY)
    assert wide.min() < -(2**62) and wide.max() > 2**62


def test_64_bit_changes_no_numbers():
    draws = [
        lambda: functx.randint(1000, (5,), key=KEY),
        lambda: functx.randperm(5, key=KEY),
        lambda: functx.randn(5, key=KEY),
        lambda: functx.multinomial(jnp.ones(5, "float32"), 3, key=KEY),
    ]
    for draw in draws:
        want = draw().tolist()
        with jax.enable_x64(False):
            assert draw().tolist() == want


def test_weights_of_zero_are_drawn_last_or_never():
    weights = jnp.asarray([0.0, 1.0, 0.0, 2.0, 0.0], "float32")
    keys = jax.random.split(KEY, 2000)
    with_replacement = jax.vmap(lambda key: functx.multinomial(weights, 2, True, key=key))(keys)
    assert set(np.unique(with_replacement)) == {1, 3}
    all_five = jax.vmap(lambda key: functx.multinomial(weights, 5, key=key))(keys)
    assert set(np.unique(all_five[:, :2])) == {1, 3}
    assert (np.sort(all_five, axis=1) == np.arange(5)).all()


def test_certain_coins():
    p = jnp.asarray([0.0, 1.0], "float32")
    keys = jax.random.split(KEY, 1000)
    assert (jax.vmap(lambda key: functx.bernoulli(p, key=key))(keys) == p).all()


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: functx.normal(x, 1.0, key=KEY),
        lambda x: functx.normal(0.0, x, key=KEY),
        lambda x: functx.bernoulli(x, key=KEY),
    ],
)
def test_draws_carry_no_gradient(draw):
    x = jnp.asarray([0.5, 0.25], "float32")
    assert functx.grad(lambda x: draw(x).sum())(x).tolist() == [0, 0]


def test_values_are_checked_inside_transforms():
    x = jnp.asarray([0.5, 1.5], "float32")
    with pytest.raises(RuntimeError, match=r"bernoulli: `input` must lie in \[0, 1\], got 1.5"):
        functx.vmap(lambda p: functx.bernoulli(p, key=KEY))(x)
    with pytest.raises(RuntimeError, match="normal: `std` must not be negative, got -0.5"):
        functx.grad(lambda s: functx.normal(0.0, -s, key=KEY).sum())(x)


def test_a_draw_like_an_array():
    x = functx.normal(jnp.zeros((2, 3), "float16"), 5.0, 0.0, key=KEY)
    assert x.dtype == "float16" and (x == 5).all() and x.shape == (2, 3)
