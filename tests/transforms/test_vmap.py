"""`vmap`: dimensions in, dimensions out, keyword arguments, refusals."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


A = jnp.arange(24.0).reshape(2, 3, 4)
B = jnp.arange(6.0).reshape(2, 3)
Pair = collections.namedtuple("Pair", "first second")


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_array_equal, got, want)


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_in_dims_counts_from_either_end(dim):
    got = functx.vmap(lambda x: 2 * x, in_dims=dim)(A)
    same(got, jnp.moveaxis(2 * A, dim, 0))


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_out_dims_counts_from_either_end(dim):
    got = functx.vmap(lambda x: 2 * x, out_dims=dim)(A)
    same(got, jnp.moveaxis(2 * A, 0, dim))


def test_none_leaves_an_argument_unmapped():
    got = functx.vmap(lambda x, y: x * y, in_dims=(0, None))(B, jnp.ones(3))
    same(got, B)
    same(functx.vmap(lambda x, y: x * y, in_dims=(None, 1))(jnp.ones(2), B), B.T)


@pytest.mark.parametrize(
    "in_dims, a_dim, b_dim",
    [
        (0, 0, 0),
        (({"a": 0, "b": 0},), 0, 0),
        (({"a": 1, "b": -1},), 1, 1),
        ((0,), 0, 0),
        ([0], 0, 0),
        (({"a": None, "b": 1},), None, 1),
    ],
)
def test_in_dims_may_be_a_prefix_of_the_arguments(in_dims, a_dim, b_dim):
    f = lambda tree: (tree["a"].sum(), tree["b"][0].sum())
    got = functx.vmap(f, in_dims)({"a": A, "b": (B,)})
    want = jax.vmap(f, in_axes=({"a": a_dim, "b": b_dim},))({"a": A, "b": (B,)})
    same(got, want)


def test_named_tuples():
    got = functx.vmap(
        lambda p: Pair(p.second, p.first), in_dims=(Pair(0, 1),), out_dims=Pair(1, 0)
    )(Pair(B, B.T))
    same(got, Pair(B.T, B))


@pytest.mark.parametrize("out_dims", [0, (0, 1), (0, {"b": -1}), (-1, 1)])
def test_out_dims_may_be_a_prefix_of_the_outputs(out_dims):
    f = lambda x: (x.sum(), {"b": x})
    got = functx.vmap(f, out_dims=out_dims)(B)
    same(got, jax.vmap(f, out_axes=out_dims)(B))


def test_a_tuple_of_one_out_dim_serves_a_single_output():
    same(functx.vmap(lambda x: x, out_dims=(1,))(B), B.T)


def test_outputs_that_are_the_same_in_every_lane():
    got = functx.vmap(lambda x, y: (x, y.sum()), (0, None), out_dims=(0, None))(B, B)
    same(got, (B, B.sum()))
    same(functx.vmap(lambda x: jnp.ones(3))(B), jnp.ones((2, 3)))
    same(functx.vmap(lambda x: (3, np.ones(2)))(B), (jnp.full(2, 3), jnp.ones((2, 2))))


def test_keyword_arguments_are_not_mapped():
    same(functx.vmap(lambda x, y: x + y)(B, y=jnp.ones(3)), B + 1)


def test_keyword_arguments_are_mapped_by_name():
    f = lambda x, *, y, z=0.0: x + y["t"] + z
    got = functx.vmap(f, kw_in_dims={"y": 1})(B, y={"t": B.T}, z=1.0)
    same(got, 2 * B + 1)
    got = functx.vmap(f, kw_in_dims={"y": {"t": -1}, "z": None})(B, y={"t": B.T}, z=1.0)
    same(got, 2 * B + 1)
    same(functx.vmap(lambda x: 2 * x, in_dims=None, kw_in_dims={"x": 0})(x=B), 2 * B)


def test_arguments_that_are_no_arrays():
    f = lambda x, how, options: x * (2.0 if how == "double" else 1.0) + options["shift"]
    same(functx.vmap(f, in_dims=(0, None, None))(B, "double", {"shift": 1.0, "x": None}), 2 * B + 1)


def test_no_lanes():
    same(functx.vmap(lambda x: x.sum())(B[:0]), jnp.zeros(0))
    same(functx.vmap(lambda x: x.sum(), chunk_size=2)(B[:0]), jnp.zeros(0))


def test_nested():
    inner = functx.vmap(lambda x, y: x @ y, in_dims=(None, 0))
    got = functx.vmap(inner, in_dims=(0, None))(A, jnp.ones((5, 4)))
    same(got, jnp.einsum("abc,dc->adb", A, jnp.ones((5, 4))))


def test_integers_booleans_and_keys_are_mapped():
    got = functx.vmap(lambda i, b: i + b.astype(int))(jnp.arange(2), jnp.ones(2, bool))
    same(got, jnp.asarray([1, 2]))
    keys = jax.random.split(jax.random.key(0), 3)
    assert functx.vmap(lambda k: jax.random.split(k))(keys).shape == (3, 2)


@pytest.mark.parametrize(
    "in_dims, args, error, message",
    [
        (0, (B, B.T), ValueError, r"one size, but `args\[0\]` f64\[2,3\] has 2 in dimension 0, "
         r"`args\[1\]` f64\[3,2\] has 3 in dimension 0"),
        ((0, {"w": -1}), (B, {"w": B}), ValueError, r"`args\[1\]\['w'\]` f64\[2,3\] has 3 in dim"),
        (2, (B,), IndexError, r"`in_dims` 2 is out of range for `args\[0\]`, f64\[2,3\]"),
        ((0, {"w": -3}), (B, {"w": B}), IndexError, r"-3 is out of range for `args\[1\]\['w'\]`"),
        (0, (B, 1.0), IndexError, r"out of range for `args\[1\]`, a Python number"),
        (0, (B, "x"), TypeError, r"`args\[1\]` must be an array to be mapped .*got 'x'"),
        ((0,), (B, B), ValueError, r"`in_dims`=\(0,\) does not fit .* the arguments, \(\*, \*\)"),
        (({"w": 0},), (B,), ValueError, "does not fit the structure of the arguments"),
        ((None, None), (B, B), ValueError, "at least one array must be mapped, but every in_dim"),
        (0, (), ValueError, "at least one array must be mapped, but there are no arguments"),
    ],
)  # fmt: skip
def test_refusals_of_arguments(in_dims, args, error, message):
    with pytest.raises(error, match="^vmap: .*" + message):
        functx.vmap(lambda *xs: xs, in_dims)(*args)


@pytest.mark.parametrize(
    "func, out_dims, error, message",
    [
        (lambda x: (x, x), (0, 3), IndexError, r"`out_dims` 3 is out of range for `output\[1\]`, "
         r"f64\[3\] in each lane, so 2 dim"),
        (lambda x: x, -3, IndexError, "`out_dims` -3 is out of range for `output`"),
        (lambda x: (x, x), (0, 0, 0), ValueError, r"`out_dims`=\(0, 0, 0\) does not fit"),
        (lambda x: {"a": x}, (0,), ValueError, r"`out_dims`=\(0,\) does not fit"),
        (lambda x: x, None, ValueError, "`output` differs from lane to lane, but its out_dim is"),
        (lambda x: (x, 1), (None, 0), ValueError, r"`output\[0\]` differs from lane to lane"),
        (lambda x: (x, "a"), 0, TypeError, r"`output\[1\]` must be an array, got 'a'"),
        (lambda x: None, 0, TypeError, "`func` must return at least one array, got None"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("chunk_size", [None, 1])
def test_refusals_of_outputs(func, out_dims, error, message, chunk_size):
    with pytest.raises(error, match="^vmap: .*" + message):
        functx.vmap(func, out_dims=out_dims, chunk_size=chunk_size)(B)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"in_dims": 0.5}, TypeError, "`in_dims` must be an int, None, or a tuple"),
        ({"in_dims": {"w": 0}}, TypeError, "`in_dims` must be an int, None, or a tuple"),
        ({"in_dims": (0, {"w": "x"})}, TypeError, r"`in_dims\[1\]\['w'\]` must be an int or None"),
        ({"in_dims": True}, TypeError, "`in_dims` must be"),
        ({"out_dims": (0, 1.5)}, TypeError, r"`out_dims\[1\]` must be an int or None, got 1.5"),
        ({"kw_in_dims": {"y": "x"}}, TypeError, r"`kw_in_dims\['y'\]` must be an int or None"),
        ({"kw_in_dims": [0]}, TypeError, r"`kw_in_dims` must be a dict"),
        ({"randomness": "some"}, ValueError, "`randomness` must be 'error', 'different' or 'same'"),
        ({"chunk_size": 0}, ValueError, "`chunk_size` must be at least 1, got 0"),
        ({"chunk_size": True}, TypeError, "`chunk_size` must be None, an int or 'auto'"),
        ({"max_bytes": 1}, ValueError, "`max_bytes` goes with chunk_size='auto'"),
    ],
)
def test_refusals_of_options(options, error, message):
    with pytest.raises(error, match="^vmap: " + message):
        functx.vmap(lambda x: x, **options)


def test_kw_in_dims_must_be_passed():
    with pytest.raises(ValueError, match="vmap: `kw_in_dims` names 'y', which this call does not"):
        functx.vmap(lambda x, y=0: x, kw_in_dims={"y": 0})(B)


def test_errors_of_the_mapped_function_pass():
    def f(x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        functx.vmap(f, out_dims=(None,))(B)


def test_forward_mode_of_solve_under_two_maps_of_tangents():
    keys = jax.random.split(jax.random.key(0), 4)
    a = jax.random.normal(keys[0], (3, 3)) + 4 * jnp.eye(3)
    b = jax.random.normal(keys[1], (3, 1))
    da = jax.random.normal(keys[2], (3, 3, 2, 4))
    db = jax.random.normal(keys[3], (3, 1, 2, 4))

    def tangent(a, da, b, db):
        return functx.jvp(functx.linalg.solve, (a, b), (da, db))[1]

    dims = (None, -1, None, -1)
    got = functx.vmap(functx.vmap(tangent, dims), dims)(a, da, b, db)
    want = [[tangent(a, da[..., i, j], b, db[..., i, j]) for i in range(2)] for j in range(4)]
    np.testing.assert_allclose(got, np.asarray(want), rtol=1e-9)


def test_out_dims_none_hands_back_what_is_no_array():
    x, f = jnp.arange(3.0), lambda x: (x + 1, "label", {"n": [3]})
    for options in ({}, {"chunk_size": 2}):
        stacked, label, rest = functx.vmap(f, out_dims=(0, None, None), **options)(x)
        assert (stacked == x + 1).all() and label == "label" and rest == {"n": [3]}
    with pytest.raises(
        TypeError, match=r"`output\[1\]` must be an array, got 'label'(.|\n)*out_dims=None"
    ):
        functx.vmap(f)(x)
