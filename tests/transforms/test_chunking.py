"""`chunk_size` changes memory and time, never a result."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core.randomness import ambient_generator
from functx._transforms.chunking import resolved_chunk_size
from functx._transforms.programs.memory import lane_bytes


X = jnp.linspace(-1, 1, 35).reshape(7, 5)
W = jnp.linspace(0, 1, 5)

chunk_sizes = pytest.mark.parametrize("chunk_size", [1, 2, 3, 6, 7, 100, "auto"])
jits = pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])


def f(x, w):
    return {"y": jnp.sin(x) * w, "s": (x * w).sum()}, w


DIMS = [((0, None), (0, None)), ((0, None), ({"y": 1, "s": 0}, 1)), ((1, None), 0)]


@ft.cache
def results(dims, jit, chunk_size=None):
    in_dims, out_dims = DIMS[dims]
    x = X if in_dims[0] == 0 else X.T
    return jit(functx.vmap(f, in_dims, out_dims, chunk_size=chunk_size))(x, W)


@chunk_sizes
@jits
@pytest.mark.parametrize("dims", range(len(DIMS)))
def test_results_are_bitwise_those_of_one_chunk(chunk_size, jit, dims):
    parts, whole = results(dims, jit, chunk_size), results(dims, jit)
    jax.tree.map(np.testing.assert_array_equal, parts, whole)


@pytest.mark.parametrize("chunk_size", [1, 3, "auto"])
def test_derivatives_pass_through_chunks(chunk_size):
    loss = lambda x, **options: functx.vmap(lambda x: jnp.sin(x).prod(), **options)(x).sum()
    whole = jax.jit(functx.grad(loss))(X)
    for jit in (lambda g: g, jax.jit):
        parts = jit(functx.grad(lambda x: loss(x, chunk_size=chunk_size)))(X)
        np.testing.assert_allclose(parts, whole, rtol=1e-14)


@chunk_sizes
def test_chunks_inside_vmap(chunk_size):
    inner = functx.vmap(lambda x, y: x * y, (0, None), chunk_size=chunk_size)
    got = functx.vmap(inner, (None, 0))(W, X)
    np.testing.assert_array_equal(got, jnp.einsum("i,bj->bij", W, X))


@pytest.mark.parametrize("randomness", ["same", "different"])
@jits
def test_random_streams_do_not_depend_on_chunks(randomness, jit):
    def noisy(x):
        return jax.random.bits(ambient_generator.drawable().draw().derive(), x.shape)

    def run(key, chunk_size):
        with ambient_generator.scope(key):
            return functx.vmap(noisy, randomness=randomness, chunk_size=chunk_size)(X)

    whole = jax.jit(lambda key: run(key, None))(jax.random.key(0))
    lanes = {tuple(lane) for lane in whole.tolist()}
    assert len(lanes) == (1 if randomness == "same" else 7)
    for parts in jit(lambda key: [run(key, n) for n in (1, 2, 7)])(jax.random.key(0)):
        np.testing.assert_array_equal(parts, whole)


def test_the_estimate_counts_what_is_alive_at_once():
    lane = jax.ShapeDtypeStruct((100,), np.float64)
    assert lane_bytes(lambda x: x, [lane]) == 800
    assert lane_bytes(lambda x: x.sum(), [lane]) == 808
    assert lane_bytes(lambda x: jnp.sin(jnp.cos(jnp.tan(x))), [lane]) == 2400
    outer = lambda x: (x[:, None] * x).sum()
    assert 81_600 <= lane_bytes(outer, [lane]) <= 84_000
    assert lane_bytes(jax.jit(outer), [lane]) == lane_bytes(outer, [lane])
    shared = jnp.ones((100, 100))
    assert lane_bytes(lambda x: jnp.sin(shared).sum() + x.sum(), [lane]) < 2000


def test_auto_fits_into_the_budget():
    lane = [jax.ShapeDtypeStruct((100,), np.float64)]
    double = lambda x: 2 * x
    assert resolved_chunk_size("auto", 16_000, double, lane) == 10
    assert resolved_chunk_size("auto", 1, double, lane) == 1
    assert resolved_chunk_size("auto", None, double, lane) == 2**30 // 1600
    assert resolved_chunk_size(3, None, double, lane) == 3


def test_auto_gives_the_same_results():
    whole = functx.vmap(lambda x: jnp.outer(x, x))(X)
    parts = functx.vmap(lambda x: jnp.outer(x, x), chunk_size="auto", max_bytes=1000)(X)
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("dims", [("NCHW", "OIHW", "NCHW"), ("HNWC", "HOIW", "CWNH")])
def test_convolutions_in_the_loop_have_their_channels_last(dims, monkeypatch):
    """So XLA's CPU loops run them as its programs do; elsewhere they are left alone."""
    images, kernel = jnp.arange(120.0).reshape(4, 1, 5, 6), jnp.arange(12.0).reshape(1, 1, 3, 4)
    conv = jax.jit(
        lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=dims)
    )

    def convolve(image):
        x = jnp.transpose(image[None], ["NCHW".index(c) for c in dims[0]])
        return jnp.sin(conv(x, jnp.transpose(kernel, ["OIHW".index(c) for c in dims[1]])))

    chunked = lambda x: functx.vmap(convolve, chunk_size=2)(x)
    np.testing.assert_allclose(jax.jit(chunked)(images), jax.vmap(convolve)(images), rtol=1e-12)
    last = "lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2)"
    assert last in str(jax.make_jaxpr(chunked)(images))
    monkeypatch.setattr(jax, "default_backend", lambda: "cuda")
    assert last not in str(jax.make_jaxpr(lambda x: chunked(x))(images))
