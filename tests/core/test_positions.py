"""Positions along dimensions of more elements than 32 bits count: int64, or refused; by shapes."""

import re

import jax
import numpy as np
import pytest

import functx


MOST = np.iinfo(np.int32).max
POSITIONS = {
    "argmax": functx.argmax,
    "argmin": functx.argmin,
    "argsort": functx.argsort,
    "cummax": lambda x: functx.cummax(x, 0).indices,
    "cummin": lambda x: functx.cummin(x, 0).indices,
    "kthvalue": lambda x: functx.kthvalue(x, 2).indices,
    "max": lambda x: functx.max(x, 0).indices,
    "median": lambda x: functx.median(x, 0).indices,
    "mode": lambda x: functx.mode(x).indices,
    "nanmedian": lambda x: functx.nanmedian(x, 0).indices,
    "sort": lambda x: functx.sort(x).indices,
}


def row(n, dtype="float32"):
    return jax.ShapeDtypeStruct((n,), dtype)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("name", POSITIONS)
def test_with_64_bit_off_more_than_it_counts_is_refused(name, dtype):
    with functx.x64(False):
        assert jax.eval_shape(POSITIONS[name], row(MOST, dtype)).dtype == np.int32
        with pytest.raises(OverflowError, match=f"^{name}: 2147483648 elements .* than int32 cou"):
            jax.eval_shape(POSITIONS[name], row(MOST + 1, dtype))


@pytest.mark.parametrize("name", POSITIONS)
def test_with_64_bit_on_nothing_is_counted_in_32(name):
    with functx.x64(True):
        assert jax.eval_shape(POSITIONS[name], row(MOST, "int8")).dtype == np.int64
        program = str(jax.make_jaxpr(POSITIONS[name])(row(MOST + 1, "int8")))
        assert re.search(r"i64\[\d*\] = (reduce_sum|iota|sort|argmax)", program)
        assert not re.search(r"i32\[(2147483648)?\] = (reduce_sum|iota|sort|argmax)", program)


def test_sorted_values_are_refused_where_positions_would_wrap():
    with functx.x64(False):
        for dtype in ("float32", "int8"):
            with pytest.raises(OverflowError, match="^sort: "):
                jax.eval_shape(functx.sort, row(MOST + 1, dtype))
        assert jax.eval_shape(functx.msort, row(MOST + 1, "int8")).shape == (MOST + 1,)


def test_a_symbolic_size_passes():
    shape = jax.export.symbolic_shape("n, m")
    with functx.x64(False):
        for find in POSITIONS.values():
            found = jax.eval_shape(find, jax.ShapeDtypeStruct(shape[:1], "float32"))
            assert found.dtype == np.int32
