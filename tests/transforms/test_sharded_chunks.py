"""Chunks of lanes that several devices hold: each computes its own, and results stay there."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import functx
from functx.testing.checks.programs import compiled


pytestmark = pytest.mark.skipif(len(jax.devices()) < 8, reason="lanes are split over eight devices")

X = jnp.linspace(-1, 2, 192).reshape(64, 3)
jits = pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])


def on_mesh(x, spec, shape=(8,), kind=AxisType.Auto):
    names = "ab"[: len(shape)]
    mesh = jax.make_mesh(
        shape, tuple(names), axis_types=(kind,) * len(shape), devices=jax.devices()[:8]
    )
    return jax.device_put(x, NamedSharding(mesh, PartitionSpec(*spec)))


def f(x):
    return jnp.sin(x) * 2, x.sum(), jnp.ones(2)


@ft.cache
def wanted():
    return compiled(functx.vmap(f))(X)


def split(x):
    """The parts that devices hold, of each dimension."""
    return [n // m for n, m in zip(x.shape, x.sharding.shard_shape(x.shape), strict=True)]


def same(got, want):
    jax.tree.map(
        lambda a, b: np.testing.assert_array_equal(np.asarray(a), np.asarray(b)), got, want
    )


SPLIT = [
    ((8,), ("a",), 8),
    ((2, 4), ("a",), 2),
    ((2, 4), ("b",), 4),
    ((2, 4), (("b", "a"),), 8),
    ((8,), (), 1),
]


@pytest.mark.parametrize(
    "shape, spec, parts, chunk_size, jit",
    [
        *((*case, n, jax.jit) for case in SPLIT for n in (8, 20)),
        # Each operation is a program of its own here: 8 and 20 by turns.
        *((*case, 8 + 12 * (i % 2), lambda f: f) for i, case in enumerate(SPLIT)),
    ],
)
def test_results_are_split_as_arguments_are(chunk_size, shape, spec, parts, jit):
    x = on_mesh(X, spec, shape)
    got = jit(functx.vmap(f, chunk_size=chunk_size))(x)
    same(got, wanted())
    assert split(got[0]) == [parts, 1] and split(got[1]) == [parts]
    turned = jit(functx.vmap(f, 1, (-1, 0, 0), chunk_size=chunk_size))(
        on_mesh(X.T, (None, *spec), shape)
    )
    same(turned[0], wanted()[0].T)
    assert split(turned[0]) == [1, parts]


@pytest.mark.parametrize("chunk_size", [8, 24, 40])
def test_no_device_sends_lanes_to_another(chunk_size):
    x = on_mesh(X, ("a",))
    program = jax.jit(functx.vmap(f, chunk_size=chunk_size)).lower(x).compile().as_text()
    assert "while" in program or chunk_size == 40
    for sent in ("all-gather", "all-to-all", "collective-permute", "all-reduce"):
        assert sent not in program


@jits
def test_explicit_meshes(jit):
    x = on_mesh(X, ("a",), kind=AxisType.Explicit)
    with jax.set_mesh(x.sharding.mesh):
        got = jit(functx.vmap(lambda x: jnp.sin(x) * 2, chunk_size=16))(x)
    same(got, jnp.sin(X) * 2)
    assert split(got) == [8, 1]


@jits
def test_numbers_drawn_do_not_depend_on_devices(jit):
    def run(key, x, **options):
        with functx.random.scope(key):
            noisy = functx.vmap(
                lambda x: x * functx.rand(3, dtype=x.dtype), randomness="different", **options
            )
            return noisy(x)

    whole = run(jax.random.key(0), X)
    got = jit(lambda key, x: run(key, x, chunk_size=24))(jax.random.key(0), on_mesh(X, ("a",)))
    same(got, whole)
    assert split(got) == [8, 1]


@jits
def test_derivatives_are_split_as_arguments_are(jit):
    def loss(x, **options):
        return (functx.vmap(lambda x: jnp.sin(x).prod(), **options)(x) ** 2).sum()

    got = jit(functx.grad(lambda x: loss(x, chunk_size=16)))(on_mesh(X, ("a",)))
    np.testing.assert_allclose(got, compiled(functx.grad(loss))(X), rtol=1e-12)
    assert split(got) == [8, 1]


@jits
@pytest.mark.parametrize("name", ["jacrev", "jacfwd", "hessian"])
def test_jacobians_in_chunks_are_split_as_whole_ones(name, jit):
    made = getattr(functx, name)
    g = (lambda x: (x**3).sum()) if name == "hessian" else jnp.sin
    x = on_mesh(X[:, 0], ("a",))
    whole = jit(made(g))(x)
    assert max(split(whole)) == 8
    for chunk_size in (4, 16, "auto"):
        parts = jit(made(g, chunk_size=chunk_size))(x)
        np.testing.assert_allclose(parts, whole, rtol=1e-12)
        assert split(parts) == split(whole)


@jits
@pytest.mark.parametrize("size", [63, 6])
def test_lanes_that_devices_cannot_share_alike(size, jit):
    """No array is split so; a mesh of which some axes could split it is another thing."""
    x = on_mesh(X[:size], (), (2, 4))
    same(jit(functx.vmap(f, chunk_size=5))(x), functx.vmap(f)(X[:size]))


@jits
def test_fewer_lanes_at_once_than_devices_are_warned_of(jit):
    x = on_mesh(X, ("a",))
    with pytest.warns(UserWarning, match=r"^vmap: chunk_size=4 is less than the 8 devices") as told:
        same(jit(functx.vmap(f, chunk_size=4))(x), wanted())
    assert told[0].filename == __file__ or jit is jax.jit


def test_one_device_is_not_warned_of():
    same(functx.vmap(f, chunk_size=4)(X), wanted())
    same(functx.vmap(f, chunk_size=4)(on_mesh(X, ())), wanted())
    half = jax.device_put(X, jax.devices()[1])
    got = functx.vmap(f, chunk_size=4)(half)
    assert got[0].devices() == half.devices()


def test_lanes_inside_shard_map_are_those_of_one_device():
    mesh = jax.make_mesh((8,), ("a",), axis_types=(AxisType.Auto,), devices=jax.devices()[:8])
    spec = PartitionSpec("a")
    mapped = jax.shard_map(
        functx.vmap(lambda x: jnp.sin(x) * 2, chunk_size=3),
        mesh=mesh,
        in_specs=spec,
        out_specs=spec,
    )
    same(jax.jit(mapped)(X), jnp.sin(X) * 2)


def test_constraints_in_lanes_keep_the_axis_that_is_named():
    x = on_mesh(X, ("a",), (2, 4))
    replicated = NamedSharding(x.sharding.mesh, PartitionSpec())
    inside = lambda x: jax.lax.with_sharding_constraint(x, replicated) * 2
    got = jax.make_jaxpr(functx.vmap(inside, spmd_axis_name="a"))(x)
    assert str(got) == str(jax.make_jaxpr(jax.vmap(inside, spmd_axis_name="a"))(x))
    assert str(got) != str(jax.make_jaxpr(functx.vmap(inside))(x))
    got = jax.jit(functx.vmap(inside, spmd_axis_name="a", chunk_size=16))(x)
    same(got, X * 2)
    assert split(got) == [2, 1]
