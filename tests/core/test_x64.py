"""64 bit: on, results are PyTorch's; off, they come in 32 bits, silently but never wrapped."""

import jax
import jax.numpy as jnp
import pytest

import functx


def test_on():
    assert functx.argmax(jnp.ones(3, "float32")).dtype == jnp.int64
    assert functx.zeros(2, dtype=functx.float64).dtype == jnp.float64
    assert functx.sum(jnp.ones(3, "int32")).dtype == jnp.int64


def test_off():
    with functx.x64(False):
        assert functx.argmax(jnp.ones(3)).dtype == jnp.int32
        assert functx.zeros(2, dtype=functx.float64).dtype == jnp.float32
        assert functx.sum(jnp.ones(3, "int32")).dtype == jnp.int32
        for made in (functx.arange(3), functx.full((1,), 3), functx.arange(3, dtype="int64")):
            assert made.dtype == jnp.int32


@pytest.mark.parametrize(
    "call",
    [
        lambda: functx.full((2,), 2**40),
        lambda: functx.full((2,), 2**40, dtype="int64"),
        lambda: functx.arange(0, 2**40, 2**39),
        lambda: functx.arange(2**40, 2**40 + 2),
        lambda: functx.add(functx.arange(2), 2**40),
    ],
)
def test_off_refuses_what_32_bits_cannot_hold(call):
    assert call().dtype == jnp.int64
    with functx.x64(False), pytest.raises(OverflowError, match="hint"):
        call()


def test_off_refuses_to_read_bytes_as_a_wide_dtype():
    with functx.x64(False), pytest.raises(RuntimeError, match="at most 32 bits, got float64"):
        functx.view(jnp.ones(2, "float32"), functx.float64)


def test_scope_ends():
    with functx.x64(False):
        pass
    assert functx.arange(3).dtype == jnp.int64


@pytest.mark.parametrize("enabled, call", [(True, "x64()"), (False, "x64(False)")])
def test_setting_is_no_context(enabled, call):
    before = jax.config.jax_enable_x64
    with pytest.raises(AttributeError) as caught:
        with functx.enable_x64(enabled):
            pass
    assert f"with functx.{call}:" in str(caught.value)
    assert jax.config.jax_enable_x64 == before


@pytest.mark.parametrize("setting", [functx.x64, functx.enable_x64])
def test_words_do_not_turn_it_on(setting):
    before = jax.config.jax_enable_x64
    with pytest.raises(TypeError, match="x64: `enabled` must be a bool, got 'off'"):
        setting("off")
    assert jax.config.jax_enable_x64 == before
