"""Programs with symbolic sizes at edges that the quick profile of the checks does not look at."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


def numbers(*shape):
    return jnp.asarray(np.random.default_rng(0).normal(size=shape).astype("float32"))


CASES = {
    "running maxima along an empty dimension": (lambda x: functx.cummax(x, 1), "b, 0", (3, 0)),
    "factors of an empty batch": (lambda x: functx.linalg.lu(x), "0, b, c", (0, 3, 2)),
    "bytes read from wider numbers": (lambda x: functx.view(x, "int8"), "b, c", (2, 3)),
    "wide numbers read from narrow ones": (lambda x: functx.view(x, "float64"), "b, 4", (2, 4)),
    "bytes between others": (
        lambda x: functx.nn.functional.interpolate(
            functx.clamp(x * 50 + 99, 0, 255).astype("uint8"), (x.shape[3], 5), mode="bilinear"
        ),
        "1, 1, b, c",
        (1, 1, 4, 6),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_exported_program_gives_what_the_eager_call_gives(name):
    f, dims, shape = CASES[name]
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape(dims), "float32")
    exported = jax.export.export(jax.jit(lambda x: jax.tree.leaves(f(x))))(spec)
    x = numbers(*shape)
    for got, want in zip(exported.call(x), jax.tree.leaves(f(x)), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got).view("uint8"), np.asarray(want).view("uint8"))


def test_segments_of_several_rows_of_a_size_that_is_a_symbol():
    f = lambda x, ends: functx.segment_reduce(x, "sum", offsets=ends, axis=1)
    b, n, m = jax.export.symbolic_shape("b, n, m")
    shapes = jax.ShapeDtypeStruct((b, n), "float32"), jax.ShapeDtypeStruct((b, m), "int64")
    x, ends = numbers(2, 5), jnp.asarray([[0, 2, 5], [1, 1, 3]])
    got = jax.export.export(jax.jit(f))(*shapes).call(x, ends)
    want = [[x[0, :2].sum(), x[0, 2:].sum()], [0, x[1, 1:3].sum()]]
    np.testing.assert_allclose(got, np.asarray(want), rtol=1e-6)
