"""Shapes, reads out of range, values that decide shapes, and what arrays of indices do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


def f32(*values):
    return jnp.asarray(values, "float32")


# Reads whose position is known only at run time, outside of the array.
OUTSIDE = [
    (lambda x, i: functx.select(x, 0, i), 3),
    (lambda x, i: functx.select(x, 0, i), -4),
    (lambda x, i: functx.narrow(x, 0, i, 2), 2),
    (lambda x, i: functx.narrow(x, 0, i, 2), -4),
]


@pytest.mark.parametrize("read, index", OUTSIDE)
def test_reads_outside_under_jit_are_marked(read, index):
    assert np.isnan(jax.jit(read)(f32(1, 2, 3), index)).all()
    integers = jax.jit(read)(jnp.asarray([1, 2, 3], "int16"), index)
    assert (integers == np.iinfo(np.int16).min).all()
    with pytest.raises((IndexError, RuntimeError)):
        functx.vmap(lambda i: read(f32(1, 2, 3), i))(jnp.asarray([0, index]))


@pytest.mark.parametrize("read, index", OUTSIDE)
def test_reads_outside_carry_no_gradient(read, index):
    gradient = jax.jit(jax.grad(lambda x, i: read(x, i).sum()))(f32(1, 2, 3), index)
    assert (gradient == 0).all()


@pytest.mark.parametrize("index", [0, 2, -1, -3])
def test_a_traced_index_reads_as_a_known_one(index):
    x = f32(1, 2, 3)
    assert jax.jit(lambda i: functx.select(x, 0, i))(index) == functx.select(x, 0, index)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_tensor_split_takes_positions_as_an_array(dtype):
    x = f32(0, 1, 2, 3, 4)
    at = jnp.asarray([1, 3], dtype)
    assert [y.tolist() for y in functx.tensor_split(x, at)] == [[0], [1, 2], [3, 4]]
    assert [y.shape for y in functx.tensor_split(x, jnp.asarray(2, dtype))] == [(3,), (2,)]
    gradient = functx.grad(lambda x: functx.tensor_split(x, at)[1].sum())(x)
    assert gradient.tolist() == [0, 1, 1, 0, 0]
    pieces = functx.vmap(functx.tensor_split)(jnp.stack([x, x]), jnp.stack([at, at]))
    assert [y.shape for y in pieces] == [(2, 1), (2, 2), (2, 2)]


def test_tensor_split_refuses_positions_it_cannot_know():
    x, at = f32(0, 1, 2), jnp.asarray([[1], [2]])
    with pytest.raises(RuntimeError, match="tensor_split: the shapes of the outputs depend"):
        jax.jit(functx.tensor_split)(x, at[0])
    with pytest.raises(RuntimeError, match="tensor_split: the lanes of `vmap` differ"):
        functx.vmap(lambda i: functx.tensor_split(x, i))(at)


@pytest.mark.parametrize("words", [{"sections": 2}, {"indices": (2,)}, {"indices": [2]}])
def test_tensor_split_knows_the_other_names(words):
    assert [y.shape for y in functx.tensor_split(f32(0, 1, 2), **words)] == [(2,), (1,)]


def test_bytes_are_read_as_numpy_reads_them():
    x = f32(1.5, -2, 0, 3)
    for dtype in ("uint8", "int16", "int32", "float64", "complex64", "complex128"):
        assert (functx.view(x, dtype) == np.asarray(x).view(dtype)).all()
    flags = jnp.asarray([True, False])
    assert functx.view(flags, "uint8").tolist() == [1, 0]
    assert functx.view(functx.view(flags, "uint8"), "bool").tolist() == [True, False]
    z = jnp.asarray([1 + 2j, 3 - 1j], "complex64")
    assert functx.view(z, "float32").tolist() == [1, 2, 3, -1]


def test_viewing_wide_dtypes_needs_64_bit():
    with jax.enable_x64(False), pytest.raises(RuntimeError, match="at most 32 bits, got float64"):
        functx.view(f32(1, 2), functx.float64)


@pytest.mark.parametrize("fill", [np.nan, np.inf])
def test_what_is_cut_away_leaves_no_trace(fill):
    x = jnp.full((2, 2), fill, "float32").at[1].set(1)
    assert functx.tril(x).tolist()[0][1] == 0
    assert functx.diag(f32(1, fill))[0].tolist() == [1, 0]
    gradient = functx.grad(lambda x: functx.select(x, 0, 1).sum())(x)
    assert gradient.tolist() == [[0, 0], [1, 1]]


def test_the_gradient_of_repetition_is_the_sum():
    x = f32(1, 2)
    assert functx.grad(lambda x: functx.expand(x, (3, 2)).sum())(x).tolist() == [3, 3]
    assert functx.grad(lambda x: functx.repeat(x, (2, 2)).sum())(x).tolist() == [4, 4]


def test_arguments_by_numpys_names():
    x = jnp.zeros((2, 3), "float32")
    assert functx.concatenate([x, x], axis=1).shape == (2, 6)
    assert functx.swapaxes(x, axis0=0, axis1=1).shape == (3, 2)
