"""Values that dtypes cannot hold, and derivatives by the values an array is made of."""

import jax
import jax.numpy as jnp
import pytest

import functx


@pytest.mark.parametrize(
    "make",
    [
        lambda: functx.arange(2**40, 2**40 + 2),
        lambda: functx.arange(0, 2**40, 2**39),
        lambda: functx.full((2,), 2**40),
        lambda: functx.full((2,), 2**40, dtype="int64"),
    ],
)
def test_32_bits_refuse_what_they_cannot_hold(make):
    assert make().dtype == "int64"
    with jax.enable_x64(False), pytest.raises(OverflowError, match=r"fit[\s\S]*enable_x64\(\)"):
        make()


def test_integers_without_64_bit_come_in_32():
    with jax.enable_x64(False):
        for made in (functx.arange(3), functx.full((1,), 3), functx.arange(3, dtype="int64")):
            assert made.dtype == "int32"


def test_an_integer_dtype_counts_in_integers():
    assert functx.arange(0.5, 5, 1.5, dtype="int64").tolist() == [0, 1, 2, 3, 4]
    assert functx.arange(0, 6, 2.9, dtype="int64").tolist() == [0, 2, 4]
    assert functx.arange(-3, 3, 2, dtype="uint8").tolist() == [253, 255, 1]
    assert functx.linspace(0.5, 3.5, 4, dtype="int64").tolist() == [0, 1, 2, 3]
    assert functx.linspace(3, -2, 4, dtype="int32").tolist() == [3, 1, 0, -2]


def test_a_range_takes_concrete_arrays_and_refuses_traced_ones():
    assert functx.arange(jnp.asarray(3)).tolist() == [0, 1, 2]
    assert functx.arange(jnp.asarray(3.0)).dtype == "float32"
    with pytest.raises(TypeError, match="arange: `end` must be known while tracing"):
        jax.jit(functx.arange)(3)


def test_the_ends_of_linspace_are_exact():
    for steps in (2, 3, 7, 10):
        made = functx.linspace(0.1, 0.7, steps, dtype="float64")
        assert (made[0], made[-1]) == (0.1, 0.7)


def test_values_may_be_differentiated():
    assert functx.grad(lambda v: functx.full((3,), v).sum())(jnp.float32(2)) == 3
    ends = functx.grad(lambda a, b: functx.linspace(a, b, 5).sum(), (0, 1))
    assert ends(jnp.float32(0), jnp.float32(1)) == (2.5, 2.5)


def test_the_kind_of_value_decides_the_dtype():
    made = [functx.full((1,), value).dtype for value in (True, 1, 1.0, 1j)]
    assert made == ["bool", "int64", "float32", "complex64"]
    assert functx.full((1,), jnp.asarray(2.0, "float64")).dtype == "float32"
