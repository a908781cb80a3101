"""What is known of values without a program: indices and numbers in the host's memory."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core import indices_at_hand, min_max, number_at_hand


@pytest.mark.parametrize("array", [np.asarray, jnp.asarray])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_indices_that_lie_inside(array, dtype):
    known = lambda values, **how: indices_at_hand(array(np.array(values, dtype)), 3, **how)
    assert known([0, 2]) and known([]) and known(1)
    assert not known([0, 3]) and not known([-1]) and not known(-3)
    assert known([-3, 2], negative=True)
    assert not known([-4], negative=True) and not known([3], negative=True)


def test_what_is_not_at_hand_is_left_to_the_program():
    assert not indices_at_hand([0, 1], 3)
    assert not indices_at_hand(jnp.asarray([0.0]), 3)
    seen = []
    jax.vmap(lambda i: seen.append(indices_at_hand(i, 3)) or i)(jnp.arange(2))
    assert seen == [False]


def test_numbers_that_every_dtype_of_their_kind_holds():
    assert all(number_at_hand(v, "float16") for v in (1, 2.5, -65504.0, np.inf, jnp.float32(3)))
    assert not any(number_at_hand(v, "float16") for v in (65505.0, np.nan, 1j, jnp.zeros(2)))
    assert number_at_hand(-127, "int8") and number_at_hand(True, "int64")
    assert not any(number_at_hand(v, "int8") for v in (128, 1.0))
    assert not number_at_hand(1, "uint8") and not number_at_hand(1, "bool")


@pytest.mark.parametrize("index", [[3], [-1]])
def test_an_index_outside_is_refused_all_the_same(index):
    with pytest.raises(IndexError, match="`index` must lie in"):
        functx.index_select(jnp.zeros((3, 2)), 0, jnp.asarray(index))


@pytest.mark.parametrize("shape", [(), (1,), (7, 5), (40, 300)])
def test_the_ends_of_integers(shape):
    x = np.random.default_rng(0).integers(-1000, 1000, shape, dtype="int32")
    least, greatest = jax.jit(min_max)(jnp.asarray(x))
    assert (int(least), int(greatest)) == (x.min(), x.max())
