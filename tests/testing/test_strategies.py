"""Properties that hold for any shapes: promotion, batching and chunking."""

import subprocess
import sys

import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings, strategies as st

import functx
from functx._core import result_dtype
from functx.testing import ALL_DTYPES
from functx.testing.strategies import arrays, broadcastable, shapes


few = settings(max_examples=20, deadline=None, derandomize=True)


@few
@given(broadcastable(3))
def test_broadcastable_shapes_broadcast(sizes):
    np.broadcast_shapes(*sizes)


@few
@given(arrays((2,), "bfloat16"))
def test_arrays_are_of_one_dtype_that_is_named_alone(x):
    assert x.dtype == "bfloat16"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_promotion_of_arrays_is_symmetric_and_keeps_its_result(data):
    x, y = (data.draw(arrays((1,), ALL_DTYPES)) for _ in range(2))
    joined = result_dtype([x, y])
    assert result_dtype([y, x]) == joined
    assert result_dtype([x, jnp.zeros(x.shape, joined)]) == joined


@few
@given(st.data())
def test_vmap_is_a_loop_whatever_the_dimension_and_the_chunks(data):
    shape = data.draw(shapes(min_dims=1, min_side=1))
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    chunk_size = data.draw(st.none() | st.integers(1, 4))
    x = data.draw(arrays(shape))
    f = lambda row: 2 * row + jnp.sum(row)
    got = functx.vmap(f, in_dims=dim, out_dims=dim, chunk_size=chunk_size)(x)
    want = np.stack([f(row) for row in np.moveaxis(np.asarray(x), dim, 0)])
    np.testing.assert_allclose(got, np.moveaxis(want, 0, dim), rtol=1e-5, atol=1e-5)


def test_without_hypothesis_the_extra_is_named():
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from functx.testing.strategies import calls\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: functx.testing.strategies needs hypothesis; "
        "pip install 'functx[test]'"
    )
