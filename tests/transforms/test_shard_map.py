"""Transforms and operators that loop, inside `jax.shard_map`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec

import functx
from functx.testing.checks.programs import compiled


X = jnp.asarray([3.0, 1.0, 2.0], "float32")
V = jnp.ones(3, "float32")


def cubes(x):
    return functx.sum(x**3)


PROGRAMS = {
    "grad": functx.grad(cubes),
    "grad_and_value": functx.grad_and_value(cubes),
    "vjp": lambda x: functx.vjp(lambda x: x**2, x)[1](x),
    "jvp": lambda x: functx.jvp(lambda x: x**2, (x,), (x,)),
    "linearize": lambda x: functx.linearize(lambda x: x**2, x)[1](x),
    "jacrev": functx.jacrev(lambda x: x**2),
    "jacrev in chunks": functx.jacrev(lambda x: x**2, chunk_size=2),
    "jacfwd": functx.jacfwd(lambda x: x**2),
    "hessian": functx.hessian(cubes),
    "hvp": lambda x: functx.hvp(cubes, x, V),
    "vhp": lambda x: functx.vhp(cubes, x, V),
    "vmap": functx.vmap(functx.grad(lambda x: x**2)),
    "vmap in chunks": functx.vmap(functx.grad(lambda x: x**2), chunk_size=2),
    "searchsorted": lambda x: functx.searchsorted(jnp.arange(5.0), x),
    "searchsorted in what varies": lambda x: functx.searchsorted(functx.sort(x).values, 1.5 * V),
    "unique": lambda x: functx.unique(jnp.stack([x, x]), dim=0, size=2),
    "integer pow": lambda x: functx.pow(x.astype(int), 3),
    "sort of no elements": lambda x: functx.argsort(
        jnp.zeros((3, 0), int) + x[:, None].astype(int)
    ),
    "atan2 of no elements": lambda x: functx.atan2(jnp.zeros((0, 3), "float32"), x),
    "lcm of no elements": lambda x: functx.lcm(jnp.zeros((0, 3), int), x.astype(int)),
    "polynomials of no elements": lambda x: functx.special.legendre_polynomial_p(
        jnp.zeros((0, 3), "float32"), x
    ),
}


# JAX then compiles each operation by itself; what functx traces is the same.
WITHOUT_JIT = ("grad", "linearize", "vmap in chunks", "searchsorted in what varies")


@pytest.mark.parametrize(
    "name, jitted", [(name, True) for name in PROGRAMS] + [(name, False) for name in WITHOUT_JIT]
)
def test_inside_shard_map(name, jitted):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(AxisType.Auto,))
    spec = PartitionSpec("i")
    leading = lambda x: jax.tree.map(lambda y: y[None], PROGRAMS[name](x))
    mapped = jax.shard_map(leading, mesh=mesh, in_specs=spec, out_specs=spec)
    got, want = (compiled(mapped) if jitted else mapped)(X), compiled(PROGRAMS[name])(X)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a[0], b, rtol=1e-6), got, want)
